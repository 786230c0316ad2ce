//! The judge of consensus.

use super::{
    AGREEMENT, CONSISTENCY, Consensus, Decision, Input, OBEDIENCE, ONCE, Output, TERMINATION,
    UNANIMITY, VALIDITY, Value, commander, loyal, proposals,
};
use crate::family::{Moment, Monitor, Violation};
use crate::process::{ProcessId, ProcessSet};
use crate::setup::Setup;
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

/// Records proposals and decisions. The decision of a process that crashed later counts, too: the
/// process may have acted on it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Notary {
    rules: Arc<Rules>,
    up: ProcessSet,
    proposed: SmallVec<[Option<Value>; 4]>,
    decided: SmallVec<[Option<Decision>; 4]>,
}

/// The part that never changes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Rules {
    loyal: ProcessSet,
    commander: ProcessId,
    /// The value that each process would propose.
    proposals: Vec<Value>,
}

impl Monitor for Notary {
    type Family = Consensus;

    fn new(setup: &Setup, _judged: &dyn Fn(&str) -> bool) -> Self {
        let rules = Rules {
            loyal: loyal(setup),
            commander: commander(setup).expect("the algorithm has accepted the commander"),
            proposals: proposals(setup).expect("the algorithm has accepted the proposals"),
        };
        Notary {
            rules: Arc::new(rules),
            up: ProcessSet::all(setup.n),
            proposed: smallvec![None; setup.n],
            decided: smallvec![None; setup.n],
        }
    }

    fn on_input(
        &mut self,
        at: ProcessId,
        Input::Propose(value): &Input,
        _: Moment<'_>,
        _: &mut Vec<Violation>,
    ) {
        self.proposed[at.index()] = Some(*value);
    }

    fn on_output(
        &mut self,
        at: ProcessId,
        Output::Decided(decision): &Output,
        _: Moment<'_>,
        found: &mut Vec<Violation>,
    ) {
        if !self.rules.loyal.contains(at) {
            return;
        }
        let mut violated = |property, because| found.push(Violation { property, at, because });
        if let Some(before) = self.decided[at.index()].as_ref().filter(|old| *old != decision) {
            violated(ONCE, format!("{at} decides {decision} after it decided {before}"));
        }
        if let Some((other, theirs)) = self.who_differs(at, decision) {
            violated(AGREEMENT, format!("{at} decides {decision}, and {other} decided {theirs}"));
        }
        if let Some(because) = self.made_up(at, decision) {
            violated(VALIDITY, because);
        }
        if let Some(value) = self.unanimous().filter(|v| *decision != Decision::Value(*v)) {
            let because =
                format!("{at} decides {decision}, and all correct processes proposed {value}");
            violated(UNANIMITY, because);
        }
        if let Some(because) = self.disobeys(at, decision) {
            violated(OBEDIENCE, because);
        }
        if let Some(because) = self.misquotes(at, decision) {
            violated(CONSISTENCY, because);
        }
        self.decided[at.index()] = Some(decision.clone());
    }

    fn on_crash(&mut self, at: ProcessId) {
        self.up.remove(at);
    }

    fn on_restart(&mut self, at: ProcessId) {
        self.up.insert(at);
    }

    /// Messages between applications never change the possible decisions.
    fn has_news(&self, _from: ProcessId) -> bool {
        false
    }

    fn waiting(&self, property: &str) -> ProcessSet {
        if property != TERMINATION || !self.is_called() {
            return ProcessSet::EMPTY;
        }
        let waits = |at: &ProcessId| self.up.contains(*at) && self.decided[at.index()].is_none();
        self.rules.loyal.iter().filter(waits).collect()
    }

    fn complaint(&self, _property: &str, _at: ProcessId) -> String {
        "does not decide".to_owned()
    }
}

impl Notary {
    /// Whether a correct process that is up has proposed, or any process has decided.
    fn is_called(&self) -> bool {
        let correct = || self.rules.loyal.iter().filter(|at| self.up.contains(*at));
        correct().any(|at| self.proposed[at.index()].is_some())
            || self.decided.iter().any(Option::is_some)
    }

    /// Another correct process that decided differently.
    fn who_differs(&self, at: ProcessId, decision: &Decision) -> Option<(ProcessId, &Decision)> {
        let others = self.rules.loyal.iter().filter(|other| *other != at);
        let decided = |other: ProcessId| Some((other, self.decided[other.index()].as_ref()?));
        others.filter_map(decided).find(|(_, theirs)| *theirs != decision)
    }

    /// Complains if no process proposed this value. A traitor may have proposed any value, so with
    /// traitors every value passes.
    fn made_up(&self, at: ProcessId, decision: &Decision) -> Option<String> {
        let has_traitors = self.rules.loyal.len() < self.proposed.len();
        match decision {
            Decision::Value(value) if !has_traitors && !self.proposed.contains(&Some(*value)) => {
                Some(format!("{at} decides {value}, which nobody proposed"))
            }
            Decision::Nothing if !has_traitors => {
                Some(format!("{at} decides {decision}, which nobody proposed"))
            }
            _ => None,
        }
    }

    /// The common proposal of all correct processes, if they agree.
    fn unanimous(&self) -> Option<Value> {
        let mut values = self.rules.loyal.iter().map(|at| self.rules.proposals[at.index()]);
        let first = values.next()?;
        values.all(|value| value == first).then_some(first)
    }

    /// Complains if this is not the order of a correct commander. A crashed commander may have
    /// given none.
    fn disobeys(&self, at: ProcessId, decision: &Decision) -> Option<String> {
        let commander = self.rules.commander;
        let order = self.proposed[commander.index()]?;
        let obeys = match decision {
            Decision::Nothing => !self.up.contains(commander),
            decision => *decision == Decision::Value(order),
        };
        (self.rules.loyal.contains(commander) && !obeys).then(|| {
            format!("{at} decides {decision}, and {commander}, who is loyal, said {order}")
        })
    }

    /// Complains if the vector has another value for a correct process than the one it proposed. A
    /// crashed process may be left out.
    fn misquotes(&self, at: ProcessId, decision: &Decision) -> Option<String> {
        let Decision::Vector(values) = decision else {
            return Some(format!("{at} decides {decision}, which is no vector"));
        };
        if values.len() != self.proposed.len() {
            return Some(format!(
                "{at} decides {decision}, which is not one value for each process"
            ));
        }
        let differs = |of: &ProcessId| match (values[of.index()], self.proposed[of.index()]) {
            (None, Some(_)) => self.up.contains(*of),
            (quoted, proposed) => quoted != proposed,
        };
        let of = self.rules.loyal.iter().find(differs)?;
        Some(match self.proposed[of.index()] {
            Some(value) => format!("{at} decides {decision}, and {of} proposed {value}"),
            None => format!("{at} decides {decision}, and {of} proposed nothing"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOMENT: Moment<'static> = Moment { now_us: 0, clocks: &[] };

    /// A group of three, and the violations found.
    struct Watched(Notary, Vec<&'static str>);

    impl Watched {
        /// They propose 5, 5 and 7.
        fn new(traitors: &str) -> Self {
            let setup = Setup::new(3).with("proposals", "5 5 7").with("traitors", traitors);
            Watched(Notary::new(&setup, &|_| true), Vec::new())
        }

        fn proposes(mut self, at: u32, value: u64) -> Self {
            self.0.on_input(ProcessId(at), &Input::Propose(Value(value)), MOMENT, &mut Vec::new());
            self
        }

        fn decides(mut self, at: u32, decision: Decision) -> Self {
            let mut found = Vec::new();
            self.0.on_output(ProcessId(at), &Output::Decided(decision), MOMENT, &mut found);
            self.1.extend(found.into_iter().map(|violation| violation.property));
            self
        }

        fn value(self, at: u32, value: u64) -> Self {
            self.decides(at, Decision::Value(Value(value)))
        }

        /// The violations found, of these properties only: the others belong to other problems.
        fn found(&self, about: &[&str]) -> Vec<&'static str> {
            self.1.iter().copied().filter(|property| about.contains(property)).collect()
        }

        fn waiting(&self) -> Vec<u32> {
            self.0.waiting(TERMINATION).iter().map(|at| at.0).collect()
        }
    }

    const CONSENSUS: [&str; 4] = [AGREEMENT, ONCE, VALIDITY, UNANIMITY];

    #[test]
    fn all_may_decide_on_what_one_proposed() {
        let watched = Watched::new("").proposes(0, 5).proposes(2, 7);
        let watched = watched.value(0, 7).value(1, 7).value(2, 7).value(2, 7);
        assert!(watched.found(&CONSENSUS).is_empty());
    }

    #[test]
    fn two_that_decide_differently_do_not_agree_even_if_the_first_has_crashed() {
        let mut watched = Watched::new("").proposes(0, 5).proposes(2, 7).value(0, 5);
        watched.0.on_crash(ProcessId(0));
        assert_eq!(watched.value(1, 7).found(&CONSENSUS), [AGREEMENT]);
    }

    #[test]
    fn no_process_may_change_its_mind() {
        let watched = Watched::new("").proposes(0, 5).proposes(2, 7).value(0, 5).value(0, 7);
        assert_eq!(watched.found(&CONSENSUS), [ONCE]);
    }

    #[test]
    fn a_value_that_was_not_proposed_is_made_up_unless_there_are_traitors() {
        let watched = Watched::new("").proposes(0, 5).value(0, 6).value(1, 6);
        assert_eq!(watched.found(&CONSENSUS), [VALIDITY, VALIDITY]);
        let watched = Watched::new("").proposes(0, 5).decides(0, Decision::Nothing);
        assert_eq!(watched.found(&CONSENSUS), [VALIDITY]);
        let watched = Watched::new("p0").proposes(1, 5).value(1, 6).value(2, 6);
        assert!(watched.found(&CONSENSUS).is_empty());
    }

    #[test]
    fn if_all_loyal_processes_propose_the_same_it_is_decided() {
        let watched = Watched::new("p2").proposes(0, 5).proposes(1, 5).value(0, 7);
        assert_eq!(watched.found(&CONSENSUS), [UNANIMITY]);
    }

    #[test]
    fn what_a_traitor_decides_does_not_count() {
        let watched = Watched::new("p2").proposes(0, 5).value(0, 5).value(2, 9).value(1, 5);
        assert!(watched.found(&CONSENSUS).is_empty());
    }

    #[test]
    fn a_loyal_commander_is_obeyed_and_a_traitor_need_not_be() {
        let watched = Watched::new("").proposes(0, 5).decides(1, Decision::Nothing);
        assert_eq!(watched.found(&[OBEDIENCE]), [OBEDIENCE]);
        let watched = Watched::new("p0").proposes(0, 5).decides(1, Decision::Nothing);
        assert!(watched.found(&[OBEDIENCE]).is_empty());
    }

    #[test]
    fn a_commander_that_crashed_may_not_have_been_heard_but_is_not_misquoted() {
        let mut watched = Watched::new("").proposes(0, 5);
        watched.0.on_crash(ProcessId(0));
        let watched = watched.decides(1, Decision::Nothing);
        assert!(watched.found(&[OBEDIENCE]).is_empty());
        assert_eq!(watched.value(2, 7).found(&[OBEDIENCE]), [OBEDIENCE]);
    }

    #[test]
    fn a_vector_quotes_every_loyal_process() {
        let vector = |values: [u64; 3]| Decision::Vector(values.map(|v| Some(Value(v))).to_vec());
        let all = || Watched::new("p1").proposes(0, 5).proposes(1, 5).proposes(2, 7);
        assert!(all().decides(0, vector([5, 9, 7])).found(&[CONSISTENCY]).is_empty());
        assert_eq!(all().decides(0, vector([5, 5, 8])).found(&[CONSISTENCY]), [CONSISTENCY]);
        assert_eq!(all().value(0, 5).found(&[CONSISTENCY]), [CONSISTENCY]);
        let short = Decision::Vector(vec![Some(Value(5))]);
        assert_eq!(all().decides(0, short).found(&[CONSISTENCY]), [CONSISTENCY]);
    }

    #[test]
    fn a_crashed_process_may_be_missing_in_a_vector_but_not_misquoted() {
        let mut watched = Watched::new("").proposes(0, 5).proposes(1, 5).proposes(2, 7);
        watched.0.on_crash(ProcessId(2));
        let (five, eight) = (Some(Value(5)), Some(Value(8)));
        let watched = watched.decides(0, Decision::Vector(vec![five, five, None]));
        assert!(watched.found(&[CONSISTENCY]).is_empty());
        let watched = watched.decides(1, Decision::Vector(vec![five, five, eight]));
        assert_eq!(watched.found(&[CONSISTENCY]), [CONSISTENCY]);
    }

    #[test]
    fn every_loyal_process_that_is_up_waits_once_one_has_proposed() {
        let mut watched = Watched::new("p1");
        assert_eq!(watched.waiting(), []);
        watched = watched.proposes(1, 5);
        assert_eq!(watched.waiting(), []);
        watched = watched.proposes(0, 5);
        assert_eq!(watched.waiting(), [0, 2]);
        watched.0.on_crash(ProcessId(2));
        assert_eq!(watched.waiting(), [0]);
        watched.0.on_restart(ProcessId(2));
        assert_eq!(watched.value(0, 5).waiting(), [2]);
    }
}
