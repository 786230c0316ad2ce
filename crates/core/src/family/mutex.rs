//! Mutual exclusion: one process at a time, every process in the end, first come first served.

use super::{Application, Family, Mark, Moment, Monitor, Pace, Property, Tag, Violation};
use crate::card::Rounds;
use crate::copy::copy_list;
use crate::process::{ProcessId, ProcessSet};
use crate::setup::Setup;
use serde::{Deserialize, Serialize};
use smallvec::{SmallVec, smallvec};

/// The family of mutual exclusion algorithms.
#[derive(Clone, Copy, Debug)]
pub struct Mutex;

/// A request of the application.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Input {
    /// It wants to enter the critical section.
    Enter,
    /// It leaves.
    Exit,
}

/// An output to the application.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Output {
    /// It is in the critical section now.
    Entered,
}

/// At most one process is in the critical section.
pub const ME1: &str = "ME1";
/// Every process that asks gets in in the end.
pub const ME2: &str = "ME2";
/// Requests are granted in happened-before order.
pub const ME3: &str = "ME3";

/// In larger groups the order of requests is not judged: tags are one machine word.
pub const ORDER_JUDGED_UP_TO: usize = 64;

impl Family for Mutex {
    const NAME: &'static str = "mutual exclusion";
    const OPERATION: &'static str = "entry";
    const PROPERTIES: &'static [Property] = &[
        Property {
            id: ME1,
            name: "safety",
            statement: "at most one process is in the critical section at any time",
        },
        Property {
            id: ME2,
            name: "liveness",
            statement: "everybody who asks gets in in the end, if those inside leave",
        },
        Property {
            id: ME3,
            name: "order",
            statement: "if one request happened before another, it is granted first",
        },
    ];
    const ESSENTIAL: &'static [&'static str] = &[ME1, ME2];
    const LIVENESS: &'static [&'static str] = &[ME2];

    type Input = Input;
    type Output = Output;
    type Application = Visitor;
    type Monitor = Referee;

    fn can_judge(id: &str, n: usize) -> bool {
        id != ME3 || n <= ORDER_JUDGED_UP_TO
    }

    fn pace(input: &Input) -> Pace {
        match input {
            Input::Enter => Pace::Think,
            Input::Exit => Pace::Hold,
        }
    }

    #[inline]
    fn mark_of_input(input: &Input) -> Mark {
        match input {
            Input::Enter => Mark::Ask,
            Input::Exit => Mark::End,
        }
    }

    #[inline]
    fn mark_of_output(_at: ProcessId, Output::Entered: &Output) -> Mark {
        Mark::Begin
    }

    fn input_in_words(input: &Input) -> String {
        match input {
            Input::Enter => "requests".to_owned(),
            Input::Exit => "leaves".to_owned(),
        }
    }

    fn output_in_words(Output::Entered: &Output) -> String {
        "enters".to_owned()
    }

    fn input_from_words(words: &[&str]) -> Option<Input> {
        match words {
            ["requests"] => Some(Input::Enter),
            ["leaves"] => Some(Input::Exit),
            _ => None,
        }
    }

    const PHRASES: &'static [&'static str] = &["requests", "leaves"];
}

/// An application that visits the critical section in rounds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Visitor {
    place: Place,
    left: Rounds,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Place {
    Outside,
    Waiting,
    Inside,
}

impl Application for Visitor {
    type Family = Mutex;

    fn new(_me: ProcessId, _setup: &Setup, rounds: Rounds) -> Self {
        Visitor { place: Place::Outside, left: rounds }
    }

    #[inline]
    fn offers(&self, offer: &mut dyn FnMut(Input)) {
        match self.place {
            Place::Outside if self.left.are_left() => offer(Input::Enter),
            Place::Inside => offer(Input::Exit),
            Place::Outside | Place::Waiting => {}
        }
    }

    #[inline]
    fn on_input(&mut self, input: &Input) {
        match input {
            Input::Enter => {
                self.place = Place::Waiting;
                self.left.use_one();
            }
            Input::Exit => self.place = Place::Outside,
        }
    }

    fn on_output(&mut self, Output::Entered: &Output, _moment: Moment<'_>) -> Option<Input> {
        self.place = Place::Inside;
        None
    }

    fn on_crash(&mut self) {
        self.place = Place::Outside;
    }
}

/// Judges ME1 and ME3 at every step. ME2 is judged by the set `waiting` when no step is left.
///
/// For ME3 each process, and each message, carries the set of unanswered requests that it knows
/// of: a request that happened before mine and is not answered yet must be answered before mine.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Referee {
    inside: ProcessSet,
    waiting: ProcessSet,
    order: Option<RequestOrder>,
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct RequestOrder {
    /// All unanswered requests.
    unanswered: u64,
    /// The unanswered requests that each process knows of.
    known: Masks,
    /// The unanswered requests that happened before the unanswered request of each process.
    before: Masks,
}

/// A set of processes for each process. Small worlds are copied millions of times: no allocation.
type Masks = SmallVec<[u64; 4]>;

// By hand, because copying slices is much faster than cloning element by element.
impl Clone for RequestOrder {
    fn clone(&self) -> Self {
        RequestOrder {
            unanswered: self.unanswered,
            known: SmallVec::from_slice(&self.known),
            before: SmallVec::from_slice(&self.before),
        }
    }

    fn clone_from(&mut self, source: &Self) {
        self.unanswered = source.unanswered;
        copy_list(&mut self.known, &source.known);
        copy_list(&mut self.before, &source.before);
    }
}

impl Clone for Referee {
    fn clone(&self) -> Self {
        let Referee { inside, waiting, order } = self;
        Referee { inside: inside.clone(), waiting: waiting.clone(), order: order.clone() }
    }

    fn clone_from(&mut self, source: &Self) {
        self.inside.clone_from(&source.inside);
        self.waiting.clone_from(&source.waiting);
        self.order.clone_from(&source.order);
    }
}

fn bit(process: ProcessId) -> u64 {
    1 << process.0
}

impl Monitor for Referee {
    type Family = Mutex;

    fn new(setup: &Setup, judged: &dyn Fn(&str) -> bool) -> Self {
        let n = setup.n;
        let order = (judged(ME3) && Mutex::can_judge(ME3, n)).then(|| RequestOrder {
            unanswered: 0,
            known: smallvec![0; n],
            before: smallvec![0; n],
        });
        Referee { inside: ProcessSet::EMPTY, waiting: ProcessSet::EMPTY, order }
    }

    #[inline]
    fn on_input(&mut self, at: ProcessId, input: &Input, _: Moment<'_>, _: &mut Vec<Violation>) {
        match input {
            Input::Enter => {
                self.waiting.insert(at);
                if let Some(order) = &mut self.order {
                    order.unanswered |= bit(at);
                    // Before its own request is known: no request comes before itself.
                    order.before[at.index()] = order.known[at.index()];
                    order.known[at.index()] |= bit(at);
                }
            }
            Input::Exit => {
                self.inside.remove(at);
            }
        }
    }

    #[inline]
    fn on_output(
        &mut self,
        at: ProcessId,
        Output::Entered: &Output,
        _: Moment<'_>,
        found: &mut Vec<Violation>,
    ) {
        if let Some(other) = self.inside.first() {
            let because = format!("{at} enters while {other} is inside");
            found.push(Violation { property: ME1, at, because });
        } else if !self.waiting.contains(at) {
            let because = format!("{at} enters without having requested it");
            found.push(Violation { property: ME1, at, because });
        }
        self.inside.insert(at);
        self.waiting.remove(at);
        if let Some(order) = &mut self.order {
            let overtaken = order.before[at.index()];
            if overtaken != 0 {
                let first = ProcessId(overtaken.trailing_zeros());
                let because =
                    format!("{at} enters, though {first} requested before it and still waits");
                found.push(Violation { property: ME3, at, because });
            }
            order.forget(at);
        }
    }

    #[inline]
    fn on_send(&mut self, from: ProcessId) -> Tag {
        Tag::Requests(self.order.as_ref().map_or(0, |order| order.known[from.index()]))
    }

    #[inline]
    fn on_receive(&mut self, at: ProcessId, tag: &Tag) {
        if let (Some(order), Tag::Requests(known)) = (&mut self.order, tag) {
            order.known[at.index()] |= known;
        }
    }

    fn on_crash(&mut self, at: ProcessId) {
        self.inside.remove(at);
        self.waiting.remove(at);
        if let Some(order) = &mut self.order {
            order.forget(at);
        }
    }

    fn has_news(&self, from: ProcessId) -> bool {
        self.order.as_ref().is_some_and(|order| order.known[from.index()] != 0)
    }

    #[inline]
    fn has_stale_tags(&self) -> bool {
        self.order.is_some()
    }

    #[inline]
    fn prune(&self, tag: &mut Tag) {
        if let (Some(order), Tag::Requests(known)) = (&self.order, tag) {
            *known &= order.unanswered;
        }
    }

    #[inline]
    fn waiting(&self, _property: &str) -> ProcessSet {
        self.waiting.clone()
    }
}

impl RequestOrder {
    /// The request of `process` is answered: which processes knew of it no longer matters.
    #[inline]
    fn forget(&mut self, process: ProcessId) {
        self.unanswered &= !bit(process);
        self.before[process.index()] = 0;
        for set in self.known.iter_mut().chain(&mut self.before) {
            *set &= !bit(process);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const P0: ProcessId = ProcessId(0);
    const P1: ProcessId = ProcessId(1);

    #[test]
    fn a_process_requests_enters_and_leaves() {
        let words = [Input::Enter, Input::Exit].map(|input| Mutex::input_in_words(&input));
        assert_eq!(words, ["requests", "leaves"]);
        assert_eq!(Mutex::output_in_words(&Output::Entered), "enters");
        for (input, phrase) in [Input::Enter, Input::Exit].into_iter().zip(Mutex::PHRASES) {
            assert_eq!(Mutex::input_from_words(&[phrase]), Some(input));
        }
        assert_eq!(Mutex::input_from_words(&["enters"]), None, "that is no request");
    }

    /// The reasons of the violations when these enter, one after the other.
    fn reasons(requests: &[ProcessId], entries: &[ProcessId]) -> Vec<String> {
        let mut referee = Referee::new(&Setup::new(2), &|_| true);
        let moment = Moment { now_us: 0, clocks: &[] };
        let mut found = Vec::new();
        for at in requests {
            referee.on_input(*at, &Input::Enter, moment, &mut found);
        }
        for at in entries {
            referee.on_output(*at, &Output::Entered, moment, &mut found);
        }
        found.into_iter().map(|violation| violation.because).collect()
    }

    #[test]
    fn a_violation_is_told_in_the_same_words() {
        assert_eq!(reasons(&[P0, P1], &[P0, P1]), ["p1 enters while p0 is inside"]);
        assert_eq!(reasons(&[], &[P1]), ["p1 enters without having requested it"]);
    }
}
