//! Election: all processes take the one with the greatest identifier for the elected one.

mod quality;

pub use quality::{IDS, LOADS, QUALITY, TIES, VERSIONS, ids, unique_ids};

use super::{Application, Family, Mark, Moment, Monitor, Pace, Property, Violation};
use crate::card::{Parameter, Rounds};
use crate::process::{ProcessId, ProcessSet};
use crate::setup::{Setup, SetupError};
use serde::{Deserialize, Serialize};
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

/// The family of election algorithms.
#[derive(Clone, Copy, Debug)]
pub struct Election;

/// A request of the application.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Input {
    /// It calls an election.
    Start,
}

/// An output to the application.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Output {
    /// This process takes part in an election: for the moment it knows no elected process.
    Undecided,
    /// The process with this identifier is elected.
    Elected(u64),
}

/// In the end no process takes a wrong process for the elected one.
pub const E1: &str = "E1";
/// In the end every process takes some process for the elected one.
pub const E2: &str = "E2";
/// No process is told the same result twice.
pub const E3: &str = "E3";
/// In the end all processes agree on the elected one.
pub const E1_AGREE: &str = "E1-agree";
/// No two processes believe themselves elected.
pub const E1_SELF: &str = "E1-self";
/// No two processes believe in different elected ones.
pub const E1_ALWAYS: &str = "E1-always";

impl Family for Election {
    const NAME: &'static str = "election";
    const OPERATION: &'static str = "election";
    const PROPERTIES: &'static [Property] = &[
        Property {
            id: E1,
            name: "safety",
            statement: "in the end, whoever is up and takes somebody for elected takes the \
                        process with the greatest identifier among those that are up",
        },
        Property {
            id: E2,
            name: "liveness",
            statement: "if somebody who is up takes part, then in the end everybody who is up \
                        takes some process for elected",
        },
        Property {
            id: E3,
            name: "once",
            statement: "nobody is told a result that it knows already",
        },
        Property {
            id: E1_SELF,
            name: "one leader",
            statement: "no two processes that are up believe themselves elected at the same time",
        },
        Property {
            id: E1_AGREE,
            name: "agreement in the end",
            statement: "in the end no two processes that are up take different ones for elected",
        },
        Property {
            id: E1_ALWAYS,
            name: "agreement always",
            statement: "no two processes that are up believe in different elected ones at the \
                        same time",
        },
    ];
    const ESSENTIAL: &'static [&'static str] = &[E1, E2];
    const LIVENESS: &'static [&'static str] = &[E1, E2, E1_AGREE];
    const LASTING: &'static [&'static str] = &[E1, E1_AGREE];

    type Input = Input;
    type Output = Output;
    type Application = Caller;
    type Monitor = ReturningOfficer;

    fn pace(Input::Start: &Input) -> Pace {
        Pace::Think
    }

    fn mark_of_input(Input::Start: &Input) -> Mark {
        Mark::Ask
    }

    fn mark_of_output(_at: ProcessId, output: &Output) -> Mark {
        match output {
            Output::Undecided => Mark::None,
            Output::Elected(_) => Mark::Done,
        }
    }

    fn input_in_words(Input::Start: &Input) -> String {
        "starts".to_owned()
    }

    fn output_in_words(output: &Output) -> String {
        match output {
            Output::Undecided => "takes part".to_owned(),
            Output::Elected(id) => format!("elects {id}"),
        }
    }

    fn input_from_words(words: &[&str]) -> Option<Input> {
        match words {
            ["starts"] => Some(Input::Start),
            _ => None,
        }
    }

    const PHRASES: &'static [&'static str] = &["starts"];
}

/// The parameter that [`starters`] reads.
pub const STARTERS: Parameter = Parameter {
    name: "starters",
    meaning: "whose applications call elections, e.g. p0 p2, or nobody (default: all)",
};

/// The processes whose applications call elections.
pub fn starters(setup: &Setup) -> Result<ProcessSet, SetupError> {
    if setup.text("starters") == Some("nobody") {
        return Ok(ProcessSet::EMPTY);
    }
    let named = setup.processes("starters")?;
    Ok(named.map_or_else(|| ProcessSet::all(setup.n), |named| named.into_iter().collect()))
}

/// An application that calls a number of elections.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Caller {
    waits: bool,
    left: Rounds,
}

impl Application for Caller {
    type Family = Election;

    fn new(_me: ProcessId, _setup: &Setup, rounds: Rounds) -> Self {
        Caller { waits: false, left: rounds }
    }

    fn offers(&self, offer: &mut dyn FnMut(Input)) {
        if !self.waits && self.left.are_left() {
            offer(Input::Start);
        }
    }

    fn on_input(&mut self, Input::Start: &Input) {
        self.waits = true;
        self.left.use_one();
    }

    fn on_output(&mut self, output: &Output, _moment: Moment<'_>) -> Option<Input> {
        match output {
            Output::Undecided => {}
            Output::Elected(_) => self.waits = false,
        }
        None
    }

    fn on_crash(&mut self) {
        self.waits = false;
    }
}

/// Knows the belief of every process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ReturningOfficer {
    ids: Arc<[u64]>,
    up: ProcessSet,
    beliefs: SmallVec<[Belief; 4]>,
    /// Processes that believe themselves elected.
    leaders: ProcessSet,
}

/// The belief of a process about the election.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Belief {
    /// It has heard of no election.
    Nothing,
    /// It takes part in one.
    Undecided,
    /// This is the elected one.
    Elected(u64),
}

impl Monitor for ReturningOfficer {
    type Family = Election;

    fn new(setup: &Setup, _judged: &dyn Fn(&str) -> bool) -> Self {
        let ids = ids(setup).expect("the algorithm has accepted the identifiers");
        ReturningOfficer {
            ids: ids.into(),
            up: ProcessSet::all(setup.n),
            beliefs: smallvec![Belief::Nothing; setup.n],
            leaders: ProcessSet::EMPTY,
        }
    }

    fn on_input(&mut self, _: ProcessId, _: &Input, _: Moment<'_>, _: &mut Vec<Violation>) {}

    fn on_output(
        &mut self,
        at: ProcessId,
        output: &Output,
        _: Moment<'_>,
        found: &mut Vec<Violation>,
    ) {
        self.leaders.remove(at);
        match output {
            Output::Undecided => self.beliefs[at.index()] = Belief::Undecided,
            Output::Elected(id) => self.on_elected(at, *id, found),
        }
    }

    fn on_crash(&mut self, at: ProcessId) {
        self.up.remove(at);
        self.leaders.remove(at);
        // A process that starts again remembers no election.
        self.beliefs[at.index()] = Belief::Nothing;
    }

    fn on_restart(&mut self, at: ProcessId) {
        self.up.insert(at);
    }

    /// Messages between applications never change the elected process.
    fn has_news(&self, _from: ProcessId) -> bool {
        false
    }

    fn waiting(&self, property: &str) -> ProcessSet {
        match property {
            E1 => self
                .who(|belief| matches!(belief, Belief::Elected(id) if Some(id) != self.greatest())),
            E2 if self.is_called() => self.who(|belief| !matches!(belief, Belief::Elected(_))),
            E1_AGREE => self.up.iter().filter(|at| self.disagrees(*at).is_some()).collect(),
            _ => ProcessSet::EMPTY,
        }
    }

    fn complaint(&self, property: &str, at: ProcessId) -> String {
        match (self.beliefs[at.index()], self.greatest(), self.disagrees(at)) {
            (Belief::Elected(id), Some(greatest), _) if property == E1 => {
                format!("takes {id} for elected and not {greatest}")
            }
            (Belief::Elected(id), _, Some((other, theirs))) if property == E1_AGREE => {
                format!("takes {id} for elected, {other} takes {theirs}")
            }
            (Belief::Nothing, ..) => "does not take part in the election".to_owned(),
            _ => "does not know who is elected".to_owned(),
        }
    }
}

impl ReturningOfficer {
    fn on_elected(&mut self, at: ProcessId, id: u64, found: &mut Vec<Violation>) {
        let mut violated = |property, because| found.push(Violation { property, at, because });
        if self.beliefs[at.index()] == Belief::Elected(id) {
            violated(E3, format!("{at} is told once more that {id} is elected"));
        }
        if let Some((other, theirs)) = self.who_differs(at, id) {
            violated(E1_ALWAYS, format!("{at} takes {id} for elected, and {other} takes {theirs}"));
        }
        if id == self.ids[at.index()] {
            if let Some(other) = self.leaders.first() {
                violated(E1_SELF, format!("{at} believes itself elected, and so does {other}"));
            }
            self.leaders.insert(at);
        }
        self.beliefs[at.index()] = Belief::Elected(id);
    }

    /// Another process that is up and takes another one for elected.
    fn who_differs(&self, at: ProcessId, id: u64) -> Option<(ProcessId, u64)> {
        self.up.iter().filter(|other| *other != at).find_map(|other| {
            match self.beliefs[other.index()] {
                Belief::Elected(theirs) if theirs != id => Some((other, theirs)),
                _ => None,
            }
        })
    }

    /// The same, for the present belief of a process.
    fn disagrees(&self, at: ProcessId) -> Option<(ProcessId, u64)> {
        match self.beliefs[at.index()] {
            Belief::Elected(id) => self.who_differs(at, id),
            Belief::Nothing | Belief::Undecided => None,
        }
    }

    /// The processes that are up and hold such a belief.
    fn who(&self, believes: impl Fn(Belief) -> bool) -> ProcessSet {
        self.up.iter().filter(|at| believes(self.beliefs[at.index()])).collect()
    }

    /// The greatest identifier among those that are up.
    fn greatest(&self) -> Option<u64> {
        self.up.iter().map(|at| self.ids[at.index()]).max()
    }

    /// Whether a process that is up takes part in an election, or did.
    fn is_called(&self) -> bool {
        self.up.iter().any(|at| self.beliefs[at.index()] != Belief::Nothing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOMENT: Moment<'static> = Moment { now_us: 0, clocks: &[] };

    /// A group with the identifiers 5, 9 and 7, and the violations found.
    struct Watched(ReturningOfficer, Vec<&'static str>);

    impl Watched {
        fn new() -> Self {
            let setup = Setup::new(3).with("ids", "5 9 7");
            Watched(ReturningOfficer::new(&setup, &|_| true), Vec::new())
        }

        fn outputs(mut self, at: u32, output: Output) -> Self {
            let mut found = Vec::new();
            self.0.on_output(ProcessId(at), &output, MOMENT, &mut found);
            self.1.extend(found.into_iter().map(|violation| violation.property));
            self
        }

        fn elects(self, at: u32, id: u64) -> Self {
            self.outputs(at, Output::Elected(id))
        }

        fn crashes(mut self, at: u32) -> Self {
            self.0.on_crash(ProcessId(at));
            self
        }

        fn waiting(&self, property: &str) -> Vec<u32> {
            self.0.waiting(property).iter().map(|at| at.0).collect()
        }
    }

    #[test]
    fn a_process_that_takes_another_than_the_greatest_for_elected_is_wrong_in_the_end() {
        let watched = Watched::new().elects(0, 9).elects(1, 9).elects(2, 7);
        assert_eq!(watched.waiting(E1), [2]);
        assert_eq!(watched.0.complaint(E1, ProcessId(2)), "takes 7 for elected and not 9");
        assert_eq!(watched.waiting(E1_AGREE), [0, 1, 2]);
        let differ = "takes 7 for elected, p0 takes 9";
        assert_eq!(watched.0.complaint(E1_AGREE, ProcessId(2)), differ);
    }

    #[test]
    fn all_may_agree_on_a_wrong_one() {
        let watched = Watched::new().elects(0, 7).elects(2, 7).outputs(1, Output::Undecided);
        assert_eq!(watched.waiting(E1_AGREE), []);
        assert_eq!(watched.waiting(E1), [0, 2]);
    }

    #[test]
    fn the_greatest_is_the_greatest_of_those_that_are_up() {
        let watched = Watched::new().elects(0, 9).elects(2, 7).crashes(1);
        assert_eq!(watched.waiting(E1), [0]);
    }

    #[test]
    fn who_is_undecided_is_not_wrong_but_waits() {
        let watched = Watched::new().elects(0, 9).outputs(0, Output::Undecided);
        assert_eq!(watched.waiting(E1), []);
        assert_eq!(watched.waiting(E2), [0, 1, 2]);
        assert_eq!(watched.0.complaint(E2, ProcessId(0)), "does not know who is elected");
        assert_eq!(watched.0.complaint(E2, ProcessId(1)), "does not take part in the election");
    }

    #[test]
    fn no_process_waits_for_an_election_that_only_crashed_ones_heard_of() {
        let watched = Watched::new().outputs(0, Output::Undecided).crashes(0);
        assert_eq!(watched.waiting(E2), []);
    }

    #[test]
    fn a_process_that_starts_again_has_to_learn_who_is_elected() {
        let mut watched = Watched::new().elects(0, 9).elects(1, 9).elects(2, 9).crashes(0);
        assert_eq!(watched.waiting(E2), []);
        watched.0.on_restart(ProcessId(0));
        assert_eq!(watched.waiting(E2), [0]);
    }

    #[test]
    fn two_that_believe_themselves_elected_are_found_at_once() {
        assert_eq!(Watched::new().elects(1, 9).elects(2, 7).1, [E1_ALWAYS, E1_SELF]);
        assert_eq!(Watched::new().elects(1, 9).elects(0, 7).1, [E1_ALWAYS]);
        assert!(Watched::new().elects(1, 9).crashes(1).elects(2, 7).1.is_empty());
        assert!(
            Watched::new().elects(2, 7).outputs(2, Output::Undecided).elects(1, 9).1.is_empty()
        );
    }

    #[test]
    fn the_same_result_may_be_told_again_only_after_another_election() {
        assert_eq!(Watched::new().elects(0, 9).elects(0, 9).1, [E3]);
        assert!(
            Watched::new().elects(0, 9).outputs(0, Output::Undecided).elects(0, 9).1.is_empty()
        );
    }
}
