//! A table of keys and values of which every member of a group has a copy.
//!
//! A member reads its own copy and writes by multicast. Sides of a partition go on apart; when they
//! come together, each key keeps its last write. *Last* is by stamps, not by the clock on the wall:
//! a write is later than every write that its writer knew of. Of two writers that did not know of
//! each other, the one with the greater stamp wins.

use super::{Application, Family, Mark, Moment, Monitor, Pace, Property, Violation};
use crate::card::{Parameter, Rounds};
use crate::group::{Member, ViewId};
use crate::process::{ProcessId, ProcessSet};
use crate::setup::Setup;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// The family of replicated tables.
#[derive(Clone, Copy, Debug)]
pub struct SharedTable;

/// A key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Key(pub u32);

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "k{}", self.0)
    }
}

/// The time of a write, as a logical clock counts it. Later writes have greater stamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Stamp {
    /// Greater than every count that the writer knew of.
    pub count: u64,
    /// The writer. It decides between two writers that did not know of each other.
    pub writer: Member,
}

/// A value, and the stamp of its write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Entry {
    /// The stamp. It stands first, so that later entries are greater.
    pub stamp: Stamp,
    /// The value.
    pub value: u64,
}

/// The contents of a copy of the table.
pub type Entries = BTreeMap<Key, Entry>;

/// The requests of an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Input {
    /// Write this.
    Put(Key, u64),
    /// Read this key from the local copy. Another member may have written since.
    Get(Key),
    /// Operator: leave the group.
    Leave,
}

/// The answers to an application.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Output {
    /// This member is in a view, and gathers the copies of its members.
    Gathers(ViewId),
    /// All members of the view have this copy now.
    Ready(ViewId, Entries),
    /// The write has its place in the order, and every member that stays in the view has it.
    Written(Key, Stamp),
    /// The write is lost: the member is outside the group, or the engine has no room for it.
    Refused(Key),
    /// The value in the local copy.
    Read(Key, Option<u64>),
    /// The membership is lost, and with it the copy.
    Lost,
}

/// Copies are equal.
pub const SAME: &str = "same";
/// A copy never goes back to an older entry.
pub const KEPT: &str = "kept";
/// Every write is answered.
pub const ANSWERED: &str = "answered";
/// Members get their copy.
pub const READY: &str = "ready";

/// The parameter that says how many keys applications write to.
pub const KEYS: Parameter =
    Parameter { name: "keys", meaning: "how many keys applications write to (default: 2)" };

/// How many keys applications write to.
pub fn keys(setup: &Setup) -> Result<u32, crate::SetupError> {
    match setup.number(KEYS.name, 2)? {
        number @ 1..=1_000 => Ok(number as u32),
        _ => Err(setup.bad(KEYS.name, "it is a number from 1 to 1000")),
    }
}

impl Family for SharedTable {
    const NAME: &'static str = "table";
    const OPERATION: &'static str = "write";
    const PROPERTIES: &'static [Property] = &[
        Property {
            id: SAME,
            name: "same copies",
            statement: "members that are ready in the same view got the same copy there",
        },
        Property {
            id: KEPT,
            name: "nothing lost",
            statement: "a copy never has an older entry than what its member was told before, as \
                        long as the member lives",
        },
        Property {
            id: ANSWERED,
            name: "answers",
            statement: "every write is told as written or refused in the end, unless its member is \
                        lost",
        },
        Property {
            id: READY,
            name: "ready",
            statement: "every member that is in a view has its copy in the end",
        },
    ];
    const ESSENTIAL: &'static [&'static str] = &[SAME];
    const LIVENESS: &'static [&'static str] = &[ANSWERED, READY];
    const RUN_FOR_MS: u64 = 2_000;

    type Input = Input;
    type Output = Output;
    type Application = Writer;
    type Monitor = Librarian;

    fn pace(_input: &Input) -> Pace {
        Pace::Think
    }

    fn is_order(input: &Input) -> bool {
        !matches!(input, Input::Put(..))
    }

    fn mark_of_input(input: &Input) -> Mark {
        match input {
            Input::Put(..) => Mark::Ask,
            Input::Get(_) | Input::Leave => Mark::None,
        }
    }

    fn mark_of_output(_at: ProcessId, output: &Output) -> Mark {
        match output {
            Output::Written(..) => Mark::Done,
            Output::Refused(_) => Mark::Refused,
            _ => Mark::None,
        }
    }

    fn input_in_words(input: &Input) -> String {
        match input {
            Input::Put(key, value) => format!("puts {key} {value}"),
            Input::Get(key) => format!("gets {key}"),
            Input::Leave => "leaves".to_owned(),
        }
    }

    fn output_in_words(output: &Output) -> String {
        match output {
            Output::Gathers(view) => format!("gathers copies in {view}"),
            Output::Ready(view, copy) => {
                let entry = |(key, entry): (&Key, &Entry)| format!(" {key}={}", entry.value);
                let entries: String = copy.iter().map(entry).collect();
                format!("is ready in {view}:{}", if copy.is_empty() { " empty" } else { &entries })
            }
            Output::Written(key, _) => format!("has written {key}"),
            Output::Refused(key) => format!("cannot write {key} now"),
            Output::Read(key, Some(value)) => format!("reads {key}={value}"),
            Output::Read(key, None) => format!("reads {key}: nothing"),
            Output::Lost => "is out of the group".to_owned(),
        }
    }

    fn input_from_words(words: &[&str]) -> Option<Input> {
        let key = |word: &str| word.strip_prefix('k')?.parse().ok().map(Key);
        Some(match words {
            ["puts", into, value] => Input::Put(key(into)?, value.parse().ok()?),
            ["gets", from] => Input::Get(key(from)?),
            ["leaves"] => Input::Leave,
            _ => return None,
        })
    }

    const PHRASES: &'static [&'static str] = &["puts k0 7", "gets k0", "leaves"];
}

/// An application that writes one value after the other, each to any of its keys.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Writer {
    keys: u32,
    left: Rounds,
    last: u64,
    /// Whether its member has a copy.
    ready: bool,
    /// Whether it waits for an answer.
    waits: bool,
}

impl Application for Writer {
    type Family = SharedTable;

    fn new(_me: ProcessId, setup: &Setup, rounds: Rounds) -> Self {
        let keys = keys(setup).expect("the algorithm has accepted the number");
        Writer { keys, left: rounds, last: 0, ready: false, waits: false }
    }

    fn offers(&self, offer: &mut dyn FnMut(Input)) {
        if self.ready && !self.waits && self.left.are_left() {
            (0..self.keys).map(|key| Input::Put(Key(key), self.last + 1)).for_each(offer);
        }
    }

    fn on_input(&mut self, input: &Input) {
        if let Input::Put(_, value) = input {
            self.left.use_one();
            (self.last, self.waits) = (*value, true);
        }
    }

    fn on_output(&mut self, output: &Output, _moment: Moment<'_>) -> Option<Input> {
        match output {
            Output::Ready(..) => self.ready = true,
            Output::Written(..) | Output::Refused(_) => self.waits = false,
            Output::Lost => self.on_crash(),
            Output::Gathers(_) | Output::Read(..) => {}
        }
        None
    }

    fn on_crash(&mut self) {
        (self.ready, self.waits) = (false, false);
    }
}

/// The judge of replicated tables.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Librarian {
    /// What each process was told of each key, in its present life.
    told: Vec<BTreeMap<Key, Stamp>>,
    /// The view that each process is in.
    views: Vec<Option<ViewId>>,
    /// The copy of each view in which a process is ready, as the first of them told it.
    copies: BTreeMap<ViewId, Entries>,
    /// The processes that wait for an answer, and those that wait for a copy.
    asked: ProcessSet,
    gathers: ProcessSet,
}

impl Librarian {
    fn is_out(&mut self, at: ProcessId) {
        self.told[at.index()].clear();
        self.asked.remove(at);
        self.gathers.remove(at);
        self.moves(at, None);
    }

    /// Moves a process to another view. The judge forgets a view when its last process has left,
    /// because explorers may use its name again.
    fn moves(&mut self, at: ProcessId, view: Option<ViewId>) {
        self.views[at.index()] = view;
        let views = &self.views;
        self.copies.retain(|known, _| views.contains(&Some(*known)));
    }

    fn judge(&mut self, at: ProcessId, view: ViewId, copy: &Entries, found: &mut Vec<Violation>) {
        let told = &mut self.told[at.index()];
        for (key, stamp) in told.iter() {
            if copy.get(key).is_none_or(|entry| entry.stamp < *stamp) {
                let because = format!("the copy of {at} in {view} has lost a write to {key}");
                found.push(Violation { property: KEPT, at, because });
                break;
            }
        }
        told.extend(copy.iter().map(|(key, entry)| (*key, entry.stamp)));
        let first = self.copies.entry(view).or_insert_with(|| copy.clone());
        if first != copy {
            let because = format!("{at} has another copy in {view} than a member before it");
            found.push(Violation { property: SAME, at, because });
        }
    }
}

impl Monitor for Librarian {
    type Family = SharedTable;

    fn new(setup: &Setup, _judged: &dyn Fn(&str) -> bool) -> Self {
        Librarian {
            told: vec![BTreeMap::new(); setup.n],
            views: vec![None; setup.n],
            copies: BTreeMap::new(),
            asked: ProcessSet::EMPTY,
            gathers: ProcessSet::EMPTY,
        }
    }

    fn on_input(&mut self, at: ProcessId, input: &Input, _: Moment<'_>, _: &mut Vec<Violation>) {
        if matches!(input, Input::Put(..)) {
            self.asked.insert(at);
        }
    }

    fn on_output(
        &mut self,
        at: ProcessId,
        output: &Output,
        _moment: Moment<'_>,
        found: &mut Vec<Violation>,
    ) {
        match output {
            Output::Gathers(view) => {
                self.gathers.insert(at);
                self.moves(at, Some(*view));
            }
            Output::Ready(view, copy) => {
                self.gathers.remove(at);
                self.moves(at, Some(*view));
                self.judge(at, *view, copy, found);
            }
            Output::Written(key, stamp) => {
                self.asked.remove(at);
                let told = self.told[at.index()].entry(*key).or_insert(*stamp);
                *told = (*told).max(*stamp);
            }
            Output::Refused(_) => {
                self.asked.remove(at);
            }
            Output::Read(..) => {}
            Output::Lost => self.is_out(at),
        }
    }

    fn on_crash(&mut self, at: ProcessId) {
        self.is_out(at);
    }

    /// Messages between applications do not change the table.
    fn has_news(&self, _from: ProcessId) -> bool {
        false
    }

    fn waiting(&self, property: &str) -> ProcessSet {
        if property == READY { self.gathers.clone() } else { self.asked.clone() }
    }

    fn complaint(&self, property: &str, _at: ProcessId) -> String {
        let what = if property == READY { "a copy" } else { "an answer" };
        format!("waits for {what}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const P1: ProcessId = ProcessId(1);
    const VIEW: ViewId = ViewId::new(1, P1);

    fn stamp(count: u64) -> Stamp {
        Stamp { count, writer: Member { node: P1, incarnation: 1 } }
    }

    fn copy(count: u64) -> Entries {
        Entries::from([(Key(0), Entry { stamp: stamp(count), value: count })])
    }

    /// The properties that these outputs violate, one after the other.
    fn violated(told: &[(u32, Output)]) -> Vec<&'static str> {
        let mut monitor = Librarian::new(&Setup::new(3), &|_| true);
        let mut found = Vec::new();
        for (at, output) in told {
            let moment = Moment { now_us: 0, clocks: &[] };
            monitor.on_output(ProcessId(*at), output, moment, &mut found);
        }
        found.into_iter().map(|violation| violation.property).collect()
    }

    #[test]
    fn two_copies_of_one_view_are_equal() {
        let told =
            |other| [(1, Output::Ready(VIEW, copy(1))), (2, Output::Ready(VIEW, copy(other)))];
        assert_eq!(violated(&told(1)), [""; 0]);
        assert_eq!(violated(&told(2)), [SAME]);
    }

    #[test]
    fn a_name_that_comes_back_when_all_have_gone_is_another_view() {
        let gone = [1, 2].map(|at| (at, Output::Gathers(ViewId::new(2, P1))));
        let first = [(1, Output::Ready(VIEW, copy(1)))];
        let again = [(1, Output::Ready(VIEW, copy(2)))];
        assert_eq!(violated(&[&first[..], &gone, &again].concat()), [""; 0]);
    }

    #[test]
    fn what_was_written_is_in_the_next_copy_of_its_writer_unless_it_was_lost_in_between() {
        let written = (1, Output::Written(Key(0), stamp(2)));
        let older = (1, Output::Ready(VIEW, copy(1)));
        assert_eq!(violated(&[written.clone(), older.clone()]), [KEPT]);
        assert_eq!(violated(&[written.clone(), (1, Output::Ready(VIEW, copy(2)))]), [""; 0]);
        assert_eq!(violated(&[written, (1, Output::Lost), older]), [""; 0]);
    }

    #[test]
    fn words_and_inputs_mean_the_same() {
        for input in [Input::Put(Key(3), 7), Input::Get(Key(0)), Input::Leave] {
            let words = SharedTable::input_in_words(&input);
            let words: Vec<&str> = words.split(' ').collect();
            assert_eq!(SharedTable::input_from_words(&words), Some(input));
        }
        assert_eq!(SharedTable::input_from_words(&["puts", "3", "7"]), None);
    }
}
