//! Logical time: every event gets a stamp, and the stamps respect the happened-before order.
//!
//! An event is an internal action of a process, the sending of a message, or its arrival. Event `a`
//! *happened before* `b` (`a → b`) if they are events of one process in this order, or `a` sends
//! the message that arrives at `b`, or there is an event between them: `a → c → b`. Two events are
//! *concurrent* if neither happened before the other.

use super::{Application, Family, Mark, Moment, Monitor, Pace, Property, Tag, Violation};
use crate::card::Rounds;
use crate::process::ProcessId;
use crate::setup::Setup;
use crate::stamp::{Timestamp, VectorStamp};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::fmt;

/// The family of logical clocks.
#[derive(Clone, Copy, Debug)]
pub struct LogicalTime;

/// An action of the application. Each is an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Input {
    /// An internal event: it concerns no other process.
    Act,
    /// It sends a message to this process. (The arrival is an event there.)
    Send(ProcessId),
}

/// An output to the application.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Output {
    /// The stamp of the present event. The protocol says it once for each event; if the event sends
    /// a message, before the message leaves, because otherwise the judge cannot tell the stamp of
    /// the sending.
    Stamped(Stamp),
}

/// The time of an event, as one of the clocks shows it.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Stamp {
    /// A Lamport time.
    Lamport(Timestamp),
    /// A vector time.
    Vector(VectorStamp),
}

impl Stamp {
    /// Whether the clock says that this was earlier. Stamps of different clocks are not comparable.
    pub fn clock_lt(&self, other: &Stamp) -> bool {
        match (self, other) {
            (Stamp::Lamport(mine), Stamp::Lamport(theirs)) => mine.clock_lt(*theirs),
            (Stamp::Vector(mine), Stamp::Vector(theirs)) => mine.happened_before(theirs),
            (Stamp::Lamport(_), Stamp::Vector(_)) | (Stamp::Vector(_), Stamp::Lamport(_)) => false,
        }
    }

    /// The place in the total order, of a stamp given by `process`. The sum of a vector grows along
    /// every arrow, so it is a Lamport time too.
    pub fn place(&self, process: ProcessId) -> Timestamp {
        match self {
            Stamp::Lamport(stamp) => *stamp,
            Stamp::Vector(stamp) => {
                Timestamp::new(stamp.0.iter().map(|&known| u64::from(known)).sum(), process)
            }
        }
    }
}

impl fmt::Debug for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stamp::Lamport(stamp) => stamp.fmt(f),
            Stamp::Vector(stamp) => stamp.fmt(f),
        }
    }
}

/// The clock of each process always advances.
pub const T1: &str = "T1";
/// The stamps respect the happened-before order.
pub const T2: &str = "T2";
/// Time and name order all events in one line.
pub const T3: &str = "T3";
/// The stamps tell exactly the happened-before order.
pub const T4: &str = "T4";

/// A new event is compared with this many of the latest events of each process, for the half of T4
/// that needs pairs of concurrent events. The other properties are judged for the whole run.
pub const COMPARED_WITH: usize = 16;

impl Family for LogicalTime {
    const NAME: &'static str = "time";
    const OPERATION: &'static str = "event";
    const PROPERTIES: &'static [Property] = &[
        Property {
            id: T1,
            name: "progress",
            statement: "each event of a process has a later stamp than the one before",
        },
        Property {
            id: T2,
            name: "consistency",
            statement: "if a happened before b, then a has the smaller stamp",
        },
        Property {
            id: T3,
            name: "total order",
            statement: "no two events share both time and name, so that these order all events",
        },
        Property {
            id: T4,
            name: "characterisation",
            statement: "a has the smaller stamp if and only if a happened before b",
        },
    ];
    const ESSENTIAL: &'static [&'static str] = &[T1, T2];
    const LIVENESS: &'static [&'static str] = &[];

    type Input = Input;
    type Output = Output;
    type Application = Actor;
    type Monitor = Historian;

    fn pace(_input: &Input) -> Pace {
        Pace::Think
    }

    fn mark_of_input(_input: &Input) -> Mark {
        Mark::Whole
    }

    fn mark_of_output(_at: ProcessId, Output::Stamped(_): &Output) -> Mark {
        Mark::None
    }

    fn input_in_words(input: &Input) -> String {
        match input {
            Input::Act => "acts".to_owned(),
            Input::Send(to) => format!("sends {to}"),
        }
    }

    fn output_in_words(Output::Stamped(stamp): &Output) -> String {
        format!("stamps {stamp:?}")
    }

    fn input_from_words(words: &[&str]) -> Option<Input> {
        match words {
            ["acts"] => Some(Input::Act),
            ["sends", to] => {
                to.strip_prefix('p')?.parse().ok().map(|to| Input::Send(ProcessId(to)))
            }
            _ => None,
        }
    }

    const PHRASES: &'static [&'static str] = &["acts", "sends p1"];
}

/// An application that causes events in rounds, of any kind and with any process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Actor {
    me: ProcessId,
    n: usize,
    left: Rounds,
}

impl Application for Actor {
    type Family = LogicalTime;

    fn new(me: ProcessId, setup: &Setup, rounds: Rounds) -> Self {
        Actor { me, n: setup.n, left: rounds }
    }

    fn offers(&self, offer: &mut dyn FnMut(Input)) {
        if self.left.are_left() {
            offer(Input::Act);
            let others = ProcessId::all(self.n).filter(|&process| process != self.me);
            others.map(Input::Send).for_each(offer);
        }
    }

    fn on_input(&mut self, _input: &Input) {
        self.left.use_one();
    }

    fn on_output(&mut self, _output: &Output, _moment: Moment<'_>) -> Option<Input> {
        None
    }

    fn on_crash(&mut self) {}
}

/// Knows the true happened-before order, and judges the stamps by it.
///
/// The past of an event is a set of events. With an event it holds every earlier one of the same
/// process, so it is enough to know *how many* of each process are in it. Each message carries the
/// past of its sending, and its stamp.
///
/// T1 and T2 are judged on the arrows of which all others are made: from the event before at the
/// same process, and from the sending to the arrival. As `<` is transitive, no other arrow can fail
/// if these hold. T3 can then fail only by a stamp in another process's name. T4 also forbids that
/// concurrent events have ordered stamps; for that a new event is compared with the latest
/// [`COMPARED_WITH`] events of every process. The past is kept only if T4 is judged.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Historian {
    processes: Vec<Past>,
    judged: Vec<&'static str>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Past {
    /// For each process, the number of its events that are this one's latest event, or happened
    /// before it. Empty if T4 is not judged.
    known: Vec<u32>,
    /// The stamp of its latest event that has one.
    last: Option<Stamp>,
    /// If its latest event is an arrival: the stamp of the sending.
    sent: Option<Stamp>,
    /// The latest events with their numbers, oldest first.
    recent: VecDeque<(u32, Stamp)>,
}

/// The invisible part of a message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Sending {
    known: Vec<u32>,
    stamp: Option<Stamp>,
}

impl Monitor for Historian {
    type Family = LogicalTime;

    fn new(setup: &Setup, judged: &dyn Fn(&str) -> bool) -> Self {
        let n = setup.n;
        let known = if judged(T4) { vec![0; n] } else { Vec::new() };
        let nothing = Past { known, last: None, sent: None, recent: VecDeque::default() };
        let judged = [T1, T2, T3, T4].into_iter().filter(|id| judged(id)).collect();
        Historian { processes: vec![nothing; n], judged }
    }

    fn on_input(&mut self, at: ProcessId, _: &Input, _: Moment<'_>, _: &mut Vec<Violation>) {
        self.processes[at.index()].begin_event(at, None);
    }

    fn on_output(
        &mut self,
        at: ProcessId,
        Output::Stamped(stamp): &Output,
        _: Moment<'_>,
        found: &mut Vec<Violation>,
    ) {
        self.judge_arrows(at, stamp, found);
        self.judge_concurrent(at, stamp, found);
        let past = &mut self.processes[at.index()];
        past.last = Some(stamp.clone());
        if let Some(number) = past.known.get(at.index()) {
            past.recent.push_back((*number, stamp.clone()));
            if past.recent.len() > COMPARED_WITH {
                past.recent.pop_front();
            }
        }
    }

    fn on_send(&mut self, from: ProcessId) -> Tag {
        let past = &self.processes[from.index()];
        Tag::Sending(Box::new(Sending { known: past.known.clone(), stamp: past.last.clone() }))
    }

    /// The messages of the applications are the events themselves.
    fn has_news(&self, _from: ProcessId) -> bool {
        false
    }

    fn on_receive(&mut self, at: ProcessId, tag: &Tag) {
        let Tag::Sending(tag) = tag else { return };
        let past = &mut self.processes[at.index()];
        for (mine, theirs) in past.known.iter_mut().zip(&tag.known) {
            *mine = (*mine).max(*theirs);
        }
        past.begin_event(at, tag.stamp.clone());
    }
}

impl Past {
    fn begin_event(&mut self, at: ProcessId, sent: Option<Stamp>) {
        if let Some(number) = self.known.get_mut(at.index()) {
            *number += 1;
        }
        self.sent = sent;
    }
}

impl Historian {
    /// The arrows that end at the event that now gets its stamp.
    fn judge_arrows(&self, at: ProcessId, stamp: &Stamp, found: &mut Vec<Violation>) {
        let past = &self.processes[at.index()];
        let mut violated = |property, because| {
            if self.judged.contains(&property) {
                found.push(Violation { property, at, because });
            }
        };
        if let Some(last) = past.last.as_ref().filter(|last| !last.clock_lt(stamp)) {
            let because = format!("{at} stamps {stamp:?} after {last:?}: its clock stands still");
            for property in [T1, T2, T4] {
                violated(property, because.clone());
            }
            if last.place(at) == stamp.place(at) {
                violated(T3, format!("two events have the stamp {stamp:?}"));
            }
        }
        if let Some(sent) = past.sent.as_ref().filter(|sent| !sent.clock_lt(stamp)) {
            let because =
                format!("{at} stamps {stamp:?} on the arrival of a message sent at {sent:?}");
            for property in [T2, T4] {
                violated(property, because.clone());
            }
        }
        let name = stamp.place(at).process;
        if name != at {
            violated(T3, format!("{at} stamps {stamp:?} in the name of {name}"));
        }
    }

    /// The recent events that are concurrent with the one that now gets its stamp.
    fn judge_concurrent(&self, at: ProcessId, stamp: &Stamp, found: &mut Vec<Violation>) {
        let known = &self.processes[at.index()].known;
        for (other, past) in ProcessId::all(known.len()).zip(&self.processes) {
            let concurrent =
                past.recent.iter().filter(|(number, _)| *number > known[other.index()]);
            for (_, earlier) in concurrent {
                let ((smaller, of), (larger, and)) = if earlier.clock_lt(stamp) {
                    ((earlier, other), (stamp, at))
                } else if stamp.clock_lt(earlier) {
                    ((stamp, at), (earlier, other))
                } else {
                    continue;
                };
                let because = format!(
                    "{smaller:?} of {of} is smaller than {larger:?} of {and}, though neither \
                     happened before the other"
                );
                return found.push(Violation { property: T4, at, because });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Moment<'static> = Moment { now_us: 0, clocks: &[] };

    /// A hand-made history: events, and the stamps that a clock gave to them.
    struct History(Historian, Vec<Violation>);

    impl History {
        fn of(n: usize) -> Self {
            History(Historian::new(&Setup::new(n), &|_| true), Vec::new())
        }

        fn stamped(&mut self, at: u32, stamp: Stamp) {
            self.0.on_output(ProcessId(at), &Output::Stamped(stamp), NOW, &mut self.1);
        }

        fn acts(&mut self, at: u32, stamp: Stamp) {
            self.0.on_input(ProcessId(at), &Input::Act, NOW, &mut self.1);
            self.stamped(at, stamp);
        }

        fn sends(&mut self, at: u32, stamp: Stamp) -> Tag {
            self.acts(at, stamp);
            self.0.on_send(ProcessId(at))
        }

        fn receives(&mut self, at: u32, message: &Tag, stamp: Stamp) {
            self.0.on_receive(ProcessId(at), message);
            self.stamped(at, stamp);
        }

        fn violated(&self) -> Vec<&'static str> {
            self.1.iter().map(|violation| violation.property).collect()
        }
    }

    fn lamport(time: u64, process: u32) -> Stamp {
        Stamp::Lamport(Timestamp::new(time, ProcessId(process)))
    }

    fn vector<const N: usize>(known: [u32; N]) -> Stamp {
        Stamp::Vector(VectorStamp(known.to_vec()))
    }

    #[test]
    fn a_clock_that_stands_still_is_no_clock() {
        let mut history = History::of(1);
        history.acts(0, lamport(1, 0));
        history.acts(0, lamport(1, 0));
        assert_eq!(history.violated(), [T1, T2, T4, T3]);
    }

    #[test]
    fn an_arrival_that_is_not_later_than_its_sending_is_inconsistent() {
        let mut history = History::of(2);
        history.acts(0, lamport(1, 0));
        let message = history.sends(0, lamport(2, 0));
        history.receives(1, &message, lamport(1, 1));
        assert_eq!(history.violated(), [T2, T4]);
        assert_eq!(history.1[0].because, "p1 stamps 1@p1 on the arrival of a message sent at 2@p0");
    }

    #[test]
    fn a_stamp_in_the_name_of_another_process_spoils_the_total_order() {
        let mut history = History::of(2);
        history.acts(0, lamport(1, 1));
        assert_eq!(history.violated(), [T3]);
    }

    #[test]
    fn ordered_stamps_of_concurrent_events_do_not_characterise_the_past() {
        let mut history = History::of(2);
        history.acts(0, lamport(1, 0));
        history.acts(1, lamport(1, 1));
        assert_eq!(history.violated(), [""; 0], "equal times do not claim any order");
        history.acts(1, lamport(2, 1));
        assert_eq!(history.violated(), [T4]);
    }

    #[test]
    fn an_order_that_goes_through_a_third_process_is_known() {
        let mut history = History::of(3);
        let first = history.sends(0, vector([1, 0, 0]));
        history.receives(1, &first, vector([1, 1, 0]));
        let second = history.sends(1, vector([1, 2, 0]));
        history.receives(2, &second, vector([1, 2, 1]));
        assert_eq!(history.violated(), [""; 0]);
        // A clock that counts the arrival, but does not merge the sender's vector.
        history.receives(2, &second, vector([1, 1, 2]));
        assert_eq!(history.violated(), [T1, T2, T4, T3, T2, T4]);
    }

    #[test]
    fn how_many_events_of_each_process_are_known_says_which_ones_happened_before() {
        use std::collections::BTreeSet;
        type Past = BTreeSet<(usize, u32)>;
        let mut draw = 1u64;
        let mut random = |below: u64| {
            draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (draw >> 33) % below
        };
        let n = 4;
        let mut historian = Historian::new(&Setup::new(n), &|_| true);
        // The definition: with each event go all events of the past, and its own.
        let mut latest = vec![Past::new(); n];
        let mut in_flight: Vec<(Tag, Past)> = Vec::new();
        for _ in 0..2_000 {
            let at = random(n as u64) as usize;
            let process = ProcessId(at as u32);
            if random(2) == 0 && !in_flight.is_empty() {
                let chosen = random(in_flight.len() as u64) as usize;
                let (tag, past) = in_flight.swap_remove(chosen);
                historian.on_receive(process, &tag);
                latest[at].extend(past);
            } else {
                historian.on_input(process, &Input::Act, NOW, &mut Vec::new());
            }
            let number = latest[at].range((at, 0)..=(at, u32::MAX)).count() as u32 + 1;
            latest[at].insert((at, number));
            let known = &historian.processes[at].known;
            let counted = (0..n).flat_map(|of| (1..=known[of]).map(move |number| (of, number)));
            assert!(counted.eq(latest[at].iter().copied()));
            if random(3) == 0 {
                in_flight.push((historian.on_send(process), latest[at].clone()));
            }
        }
    }

    #[test]
    fn an_arrow_is_judged_even_when_its_sending_is_long_ago() {
        let mut history = History::of(2);
        let message = history.sends(0, lamport(7, 0));
        for time in 8..100 {
            history.acts(0, lamport(time, 0));
        }
        history.receives(1, &message, lamport(7, 1));
        assert!(history.violated().contains(&T2));
    }

    #[test]
    fn words_and_inputs_mean_the_same() {
        for input in [Input::Act, Input::Send(ProcessId(2))] {
            let words = LogicalTime::input_in_words(&input);
            let words: Vec<&str> = words.split(' ').collect();
            assert_eq!(LogicalTime::input_from_words(&words), Some(input));
        }
        assert_eq!(LogicalTime::input_from_words(&["sends", "everybody"]), None);
    }
}
