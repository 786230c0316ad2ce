//! The judge of [atomic commitment](super).

use super::{
    AC1, AC2, AC3, AC4, AC5, AC5_REPAIRED, Commitment, Input, Outcome, Output, Transaction, Vote,
    coordinator,
};
use crate::family::{Moment, Monitor, Violation};
use crate::process::{ProcessId, ProcessSet};
use crate::setup::Setup;
use smallvec::{SmallVec, smallvec};
use std::collections::BTreeMap;

/// The number of remembered transactions for whose outcome no process waits.
const REMEMBERED: usize = 64;

/// Knows the votes, and the outcome that each process learned.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Registrar {
    participants: ProcessSet,
    up: ProcessSet,
    n: usize,
    links_work: bool,
    /// Whether a process has crashed, or a link was cut, at any time.
    failed: bool,
    cases: BTreeMap<Transaction, Case>,
}

/// The facts about one transaction.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Case {
    yes: ProcessSet,
    no: ProcessSet,
    /// The decision of each process.
    decided: SmallVec<[Option<Outcome>; 4]>,
    /// Processes that have asked to commit, or promised to, and do not know the outcome.
    wait: ProcessSet,
}

impl Monitor for Registrar {
    type Family = Commitment;

    fn new(setup: &Setup, _judged: &dyn Fn(&str) -> bool) -> Self {
        let coordinator = coordinator(setup).expect("the algorithm has accepted the coordinator");
        Registrar {
            participants: ProcessSet::all_but(setup.n, coordinator),
            up: ProcessSet::all(setup.n),
            n: setup.n,
            links_work: true,
            failed: false,
            cases: BTreeMap::new(),
        }
    }

    fn on_input(&mut self, at: ProcessId, input: &Input, _: Moment<'_>, _: &mut Vec<Violation>) {
        match input {
            Input::Commit(transaction) => {
                self.case(*transaction).wait.insert(at);
            }
            Input::Vote(transaction, Vote::Yes) => {
                self.case(*transaction).yes.insert(at);
            }
            Input::Vote(transaction, Vote::No) => {
                self.case(*transaction).no.insert(at);
            }
        }
    }

    fn on_output(
        &mut self,
        at: ProcessId,
        output: &Output,
        _: Moment<'_>,
        found: &mut Vec<Violation>,
    ) {
        match output {
            Output::Asked(_) => {}
            Output::InDoubt(transaction) => {
                self.case(*transaction).wait.insert(at);
            }
            Output::Learned(transaction, outcome) | Output::Answered(transaction, outcome) => {
                self.judge(at, *transaction, *outcome, found);
                let case = self.case(*transaction);
                case.wait.remove(at);
                case.decided[at.index()] = Some(*outcome);
                self.forget();
            }
        }
    }

    fn on_crash(&mut self, at: ProcessId) {
        self.failed = true;
        self.up.remove(at);
        for case in self.cases.values_mut() {
            case.wait.remove(at);
        }
    }

    fn on_restart(&mut self, at: ProcessId) {
        self.up.insert(at);
    }

    fn on_links(&mut self, works: &dyn Fn(ProcessId, ProcessId) -> bool) {
        let all = || ProcessId::all(self.n);
        self.links_work = all().all(|from| all().all(|to| works(from, to)));
        self.failed |= !self.links_work;
    }

    /// Messages between applications never change an outcome.
    fn has_news(&self, _from: ProcessId) -> bool {
        false
    }

    fn waiting(&self, property: &str) -> ProcessSet {
        let repaired = self.links_work && self.up.len() == self.n;
        match property {
            AC5 => self.undecided(),
            AC5_REPAIRED if repaired => self.undecided(),
            _ => ProcessSet::EMPTY,
        }
    }

    fn complaint(&self, _property: &str, at: ProcessId) -> String {
        let open = self.cases.iter().find(|(_, case)| case.wait.contains(at));
        let transaction = open.map_or(0, |(transaction, _)| *transaction);
        format!("does not know the outcome of {transaction}")
    }
}

impl Registrar {
    fn case(&mut self, transaction: Transaction) -> &mut Case {
        let n = self.n;
        self.cases.entry(transaction).or_insert_with(|| Case {
            yes: ProcessSet::EMPTY,
            no: ProcessSet::EMPTY,
            decided: smallvec![None; n],
            wait: ProcessSet::EMPTY,
        })
    }

    fn judge(
        &mut self,
        at: ProcessId,
        transaction: Transaction,
        outcome: Outcome,
        found: &mut Vec<Violation>,
    ) {
        let (failed, participants) = (self.failed, self.participants.clone());
        let case = self.case(transaction);
        let verb = verb(outcome);
        let mut violated = |property, because| found.push(Violation { property, at, because });
        let others = ProcessId::all(case.decided.len()).filter(|other| *other != at);
        let differs = |other: &ProcessId| case.decided[other.index()].is_some_and(|o| o != outcome);
        if let Some(other) = others.into_iter().find(differs) {
            let because = format!("{at} {verb} {transaction}, and {other} does not");
            violated(AC1, because);
        }
        if differs(&at) {
            violated(AC2, format!("{at} {verb} {transaction} after all"));
        }
        let missing = participants.iter().find(|voter| !case.yes.contains(*voter));
        match (outcome, missing) {
            (Outcome::Commit, Some(voter)) => {
                let because = format!("{at} {verb} {transaction}, for which {voter} did not vote");
                violated(AC3, because);
            }
            // After a fault, a time-out may abort a transaction that all would have committed.
            (Outcome::Abort, _) if !failed && case.no.is_empty() => {
                let because = format!("{at} {verb} {transaction}, against which nobody voted");
                violated(AC4, because);
            }
            _ => {}
        }
    }

    /// The living processes that wait for an outcome.
    fn undecided(&self) -> ProcessSet {
        let waits = |at: &ProcessId| self.cases.values().any(|case| case.wait.contains(*at));
        self.up.iter().filter(waits).collect()
    }

    /// Forgets the oldest transactions for which no process waits.
    fn forget(&mut self) {
        while self.cases.len() > REMEMBERED
            && self.cases.first_key_value().is_some_and(|(_, case)| case.wait.is_empty())
        {
            self.cases.pop_first();
        }
    }
}

fn verb(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Commit => "commits",
        Outcome::Abort => "aborts",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOMENT: Moment<'static> = Moment { now_us: 0, clocks: &[] };

    /// The coordinator p0, the participants p1 and p2, and the violations found.
    struct Watched(Registrar, Vec<&'static str>);

    impl Watched {
        fn new() -> Self {
            Watched(Registrar::new(&Setup::new(3), &|_| true), Vec::new())
        }

        fn asks(mut self, at: u32, input: Input) -> Self {
            self.0.on_input(ProcessId(at), &input, MOMENT, &mut Vec::new());
            self
        }

        fn both_vote_yes(self) -> Self {
            self.asks(1, Input::Vote(1, Vote::Yes)).asks(2, Input::Vote(1, Vote::Yes))
        }

        fn outputs(mut self, at: u32, output: Output) -> Self {
            let mut found = Vec::new();
            self.0.on_output(ProcessId(at), &output, MOMENT, &mut found);
            self.1.extend(found.into_iter().map(|violation| violation.property));
            self
        }

        fn learns(self, at: u32, outcome: Outcome) -> Self {
            self.outputs(at, Output::Learned(1, outcome))
        }

        fn crashes(mut self, at: u32) -> Self {
            self.0.on_crash(ProcessId(at));
            self
        }

        fn restarts(mut self, at: u32) -> Self {
            self.0.on_restart(ProcessId(at));
            self
        }

        fn waiting(&self, property: &str) -> Vec<u32> {
            self.0.waiting(property).iter().map(|at| at.0).collect()
        }
    }

    #[test]
    fn two_that_decide_differently_are_found_also_if_the_first_has_crashed() {
        let watched = Watched::new().both_vote_yes().learns(1, Outcome::Commit).crashes(1);
        assert_eq!(watched.learns(2, Outcome::Abort).1, [AC1]);
    }

    #[test]
    fn one_that_decides_otherwise_after_a_crash_is_found() {
        let watched = Watched::new().both_vote_yes().learns(1, Outcome::Commit).crashes(1);
        assert_eq!(watched.restarts(1).learns(1, Outcome::Abort).1, [AC2]);
    }

    #[test]
    fn a_commit_needs_the_votes_of_all_participants_and_not_of_the_coordinator() {
        let one = Watched::new().asks(1, Input::Vote(1, Vote::Yes));
        assert_eq!(one.learns(1, Outcome::Commit).1, [AC3]);
        assert!(Watched::new().both_vote_yes().learns(1, Outcome::Commit).1.is_empty());
    }

    #[test]
    fn an_abort_needs_a_vote_against_or_a_failure() {
        let yes = || Watched::new().both_vote_yes();
        assert_eq!(yes().outputs(0, Output::Answered(1, Outcome::Abort)).1, [AC4]);
        assert!(yes().crashes(2).learns(1, Outcome::Abort).1.is_empty());
        let against = Watched::new().asks(2, Input::Vote(1, Vote::No));
        assert!(against.learns(1, Outcome::Abort).1.is_empty());
    }

    #[test]
    fn a_participant_in_doubt_is_blocked_and_has_a_claim_only_when_all_is_repaired() {
        let watched = Watched::new().both_vote_yes().outputs(1, Output::InDoubt(1)).crashes(0);
        assert_eq!((watched.waiting(AC5), watched.waiting(AC5_REPAIRED)), (vec![1], vec![]));
        assert_eq!(watched.0.complaint(AC5, ProcessId(1)), "does not know the outcome of 1");
        let watched = watched.restarts(0);
        assert_eq!(watched.waiting(AC5_REPAIRED), [1]);
        assert_eq!(watched.learns(1, Outcome::Commit).waiting(AC5), []);
    }

    #[test]
    fn a_participant_that_starts_again_waits_only_if_it_is_still_in_doubt() {
        let watched = Watched::new().outputs(1, Output::InDoubt(1)).crashes(1).restarts(1);
        assert_eq!(watched.waiting(AC5), []);
        assert_eq!(watched.outputs(1, Output::InDoubt(1)).waiting(AC5), [1]);
    }

    #[test]
    fn a_link_that_is_cut_is_a_failure_until_it_is_mended() {
        let mut watched = Watched::new().both_vote_yes().outputs(1, Output::InDoubt(1));
        watched.0.on_links(&|from, _| from != ProcessId(0));
        assert_eq!(watched.waiting(AC5_REPAIRED), []);
        watched.0.on_links(&|_, _| true);
        assert_eq!(watched.waiting(AC5_REPAIRED), [1]);
        assert!(watched.learns(1, Outcome::Abort).1.is_empty());
    }

    #[test]
    fn what_all_have_decided_is_forgotten_some_time_and_what_is_open_is_not() {
        let decided = |watched: Watched, transaction| {
            let told = watched.outputs(0, Output::Answered(transaction, Outcome::Abort));
            let told = told.outputs(1, Output::Learned(transaction, Outcome::Abort));
            told.outputs(2, Output::Learned(transaction, Outcome::Abort))
        };
        let watched = (1..1_000).fold(Watched::new(), decided);
        assert_eq!(watched.0.cases.len(), REMEMBERED);
        let open = Watched::new().outputs(1, Output::InDoubt(0));
        assert_eq!((1..1_000).fold(open, decided).waiting(AC5), [1]);
    }
}
