//! A tuple space, as in Linda: processes put tuples in and find them by their contents.
//!
//! - `out` puts a tuple into the space.
//! - `in` takes one that fits a template out of the space; while there is none, it waits.
//! - `rd` does the same and leaves the tuple there.
//!
//! Compared with `send` and `receive`: a message has one receiver, and its sender must know the
//! name; a tuple lies in the space for all, also for processes that start later, until one takes
//! it. Both wait for a message or tuple that is missing, and both may choose by its contents:
//! `receive` by the type of the message, `in` by any field. Either can be written with the other.
//! With a field for the receiver, `out` and `in` are `send` and `receive`
//! (`send_and_receive_are_out_and_in_with_a_field_for_the_receiver` below); with a process that
//! keeps the space, `send` and `receive` are `out` and `in` (`linda.rs`).
//!
//! Source: D. Gelernter: Generative communication in Linda. ACM TOPLAS 7(1) (1985).

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::fmt;
use synod_core::ProcessId;

/// A space holds this many tuples at most.
pub const MOST_TUPLES: usize = 1_024;

/// A field of a tuple.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Field {
    /// A word.
    Word(String),
    /// A number.
    Number(u64),
}

/// A tuple: some fields in their order.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Tuple(pub Vec<Field>);

/// A template: what each field must be; `None` fits every field.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Template(pub Vec<Option<Field>>);

impl Template {
    /// Whether the tuple fits.
    pub fn fits(&self, tuple: &Tuple) -> bool {
        let fits = |(wanted, field): (&Option<Field>, &Field)| {
            wanted.as_ref().is_none_or(|wanted| wanted == field)
        };
        self.0.len() == tuple.0.len() && self.0.iter().zip(&tuple.0).all(fits)
    }
}

/// Whether a process takes the tuple that it finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Find {
    /// `in`: the tuple leaves the space.
    Take,
    /// `rd`: the tuple stays.
    Read,
}

/// A process that waits for a tuple.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Waiter {
    process: ProcessId,
    find: Find,
    template: Template,
}

/// A tuple space, and the processes that wait for tuples. A process waits for one at a time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TupleSpace {
    tuples: VecDeque<Tuple>,
    /// In the order in which they asked.
    waiters: VecDeque<Waiter>,
}

impl TupleSpace {
    /// A space with these tuples in it.
    pub fn new(tuples: impl IntoIterator<Item = Tuple>) -> Self {
        TupleSpace { tuples: tuples.into_iter().collect(), waiters: VecDeque::new() }
    }

    /// Whether no further tuple has room.
    pub fn is_full(&self) -> bool {
        self.tuples.len() >= MOST_TUPLES
    }

    /// Whether the process waits for a tuple.
    pub fn waits(&self, process: ProcessId) -> bool {
        self.waiters.iter().any(|waiter| waiter.process == process)
    }

    /// `out`: puts a tuple in. Returns the waiters that find it: readers, and at most one that
    /// takes it, in the order in which they asked.
    pub fn out(&mut self, tuple: Tuple) -> Vec<ProcessId> {
        let (mut found, mut taken) = (Vec::new(), false);
        self.waiters.retain(|waiter| {
            if taken || !waiter.template.fits(&tuple) {
                return true;
            }
            taken = waiter.find == Find::Take;
            found.push(waiter.process);
            false
        });
        if !taken {
            self.tuples.push_back(tuple);
        }
        found
    }

    /// `in` or `rd`: finds the oldest tuple that fits. If there is none, the process waits.
    pub fn find(&mut self, process: ProcessId, find: Find, template: Template) -> Option<Tuple> {
        let Some(place) = self.tuples.iter().position(|tuple| template.fits(tuple)) else {
            self.waiters.push_back(Waiter { process, find, template });
            return None;
        };
        match find {
            Find::Take => self.tuples.remove(place),
            Find::Read => self.tuples.get(place).cloned(),
        }
    }
}

impl fmt::Debug for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Field::Word(word) => f.write_str(word),
            Field::Number(number) => write!(f, "{number}"),
        }
    }
}

impl fmt::Debug for Tuple {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        listed(f, self.0.iter().map(Some))
    }
}

impl fmt::Debug for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        listed(f, self.0.iter().map(Option::as_ref))
    }
}

/// `key, 7, ?`: a question mark fits every field.
fn listed<'a>(
    f: &mut fmt::Formatter<'_>,
    fields: impl Iterator<Item = Option<&'a Field>>,
) -> fmt::Result {
    for (place, field) in fields.enumerate() {
        f.write_str(if place > 0 { ", " } else { "" })?;
        match field {
            Some(field) => fmt::Debug::fmt(field, f)?,
            None => f.write_str("?")?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(word: &str) -> Field {
        Field::Word(word.to_owned())
    }

    fn tuple(name: &str, number: u64) -> Tuple {
        Tuple(vec![word(name), Field::Number(number)])
    }

    fn any(name: &str) -> Template {
        Template(vec![Some(word(name)), None])
    }

    const P: [ProcessId; 3] = [ProcessId(0), ProcessId(1), ProcessId(2)];

    #[test]
    fn a_template_fits_where_every_field_that_it_names_is_equal() {
        assert!(any("a").fits(&tuple("a", 7)));
        assert!(!any("b").fits(&tuple("a", 7)));
        assert!(!Template(vec![Some(word("a"))]).fits(&tuple("a", 7)), "one field is too few");
    }

    #[test]
    fn in_takes_the_oldest_tuple_and_rd_leaves_it() {
        let mut space = TupleSpace::new([tuple("a", 1), tuple("a", 2)]);
        assert_eq!(space.find(P[0], Find::Read, any("a")), Some(tuple("a", 1)));
        assert_eq!(space.find(P[0], Find::Take, any("a")), Some(tuple("a", 1)));
        assert_eq!(space.find(P[0], Find::Take, any("a")), Some(tuple("a", 2)));
        assert_eq!(space.find(P[0], Find::Take, any("a")), None);
        assert!(space.waits(P[0]));
    }

    #[test]
    fn all_readers_find_a_tuple_and_one_process_takes_it() {
        let mut space = TupleSpace::default();
        for (process, find) in P.into_iter().zip([Find::Read, Find::Take, Find::Take]) {
            assert_eq!(space.find(process, find, any("a")), None);
        }
        assert_eq!(space.out(tuple("b", 1)), [], "it fits none of them");
        assert_eq!(space.out(tuple("a", 1)), [P[0], P[1]]);
        assert_eq!(space.out(tuple("a", 2)), [P[2]]);
        assert_eq!(space, TupleSpace::new([tuple("b", 1)]));
    }

    #[test]
    fn send_and_receive_are_out_and_in_with_a_field_for_the_receiver() {
        let mut space = TupleSpace::default();
        let message = |to: u64, text: &str| {
            Tuple(vec![word("request"), Field::Number(to), word(text), Field::Number(31)])
        };
        let receive =
            |me: u64| Template(vec![Some(word("request")), Some(Field::Number(me)), None, None]);
        space.out(message(34, "cinema?"));
        assert_eq!(space.find(P[1], Find::Take, receive(35)), None, "it is for another process");
        assert_eq!(space.find(P[2], Find::Take, receive(34)), Some(message(34, "cinema?")));
    }
}
