//! The judge of generalized consensus.

use super::{
    COMPATIBLE, Command, GROWING, GeneralizedConsensus, History, Input, LEARNING, NONTRIVIAL,
    Output,
};
use crate::family::{Moment, Monitor, Violation};
use crate::process::{ProcessId, ProcessSet};
use crate::setup::Setup;

/// Records proposals and learned histories. The history of a process that crashed counts, too.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Archivist {
    up: ProcessSet,
    proposed: Vec<Option<Command>>,
    learned: Vec<History>,
}

impl Monitor for Archivist {
    type Family = GeneralizedConsensus;

    fn new(setup: &Setup, _judged: &dyn Fn(&str) -> bool) -> Self {
        Archivist {
            up: ProcessSet::all(setup.n),
            proposed: vec![None; setup.n],
            learned: vec![History::default(); setup.n],
        }
    }

    fn on_input(
        &mut self,
        at: ProcessId,
        Input::Propose(command): &Input,
        _: Moment<'_>,
        _: &mut Vec<Violation>,
    ) {
        self.proposed[at.index()] = Some(*command);
    }

    fn on_output(
        &mut self,
        at: ProcessId,
        Output::Learned(history): &Output,
        _: Moment<'_>,
        found: &mut Vec<Violation>,
    ) {
        let mut violated = |property, because| found.push(Violation { property, at, because });
        let before = &self.learned[at.index()];
        if !before.is_prefix_of(history) {
            violated(GROWING, format!("{at} learns {history:?} after {before:?}"));
        }
        let conflicts = |other: &&History| !other.is_compatible_with(history);
        if let Some(other) = self.learned.iter().find(conflicts) {
            violated(COMPATIBLE, format!("{at} learns {history:?}, and another {other:?}"));
        }
        let made_up = |command: &&Command| !self.proposed.contains(&Some(**command));
        if let Some(command) = history.commands().iter().find(made_up) {
            violated(NONTRIVIAL, format!("{at} learns {command:?}, which nobody proposed"));
        }
        self.learned[at.index()] = history.clone();
    }

    fn on_crash(&mut self, at: ProcessId) {
        self.up.remove(at);
    }

    fn on_restart(&mut self, at: ProcessId) {
        self.up.insert(at);
    }

    fn has_news(&self, _from: ProcessId) -> bool {
        false
    }

    fn waiting(&self, property: &str) -> ProcessSet {
        if property != LEARNING {
            return ProcessSet::EMPTY;
        }
        let wanted = || self.up.iter().filter_map(|of| self.proposed[of.index()]);
        let waits = |at: &ProcessId| wanted().any(|c| !self.learned[at.index()].contains(&c));
        self.up.iter().filter(waits).collect()
    }

    fn complaint(&self, _property: &str, _at: ProcessId) -> String {
        "does not learn every command".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOMENT: Moment<'static> = Moment { now_us: 0, clocks: &[] };

    fn command(of: u32, word: &str) -> Command {
        Command::from_word(ProcessId(of), word).expect("a command")
    }

    /// The violations when p0 and p1 learn these, one after the other; both have proposed.
    fn found(learned: &[(u32, &[Command])]) -> Vec<&'static str> {
        let mut archivist = Archivist::new(&Setup::new(2), &|_| true);
        let mut found = Vec::new();
        for at in 0..2 {
            let input = Input::Propose(command(at, "w0"));
            archivist.on_input(ProcessId(at), &input, MOMENT, &mut found);
        }
        for (at, commands) in learned {
            let output = Output::Learned(History::from(commands.to_vec()));
            archivist.on_output(ProcessId(*at), &output, MOMENT, &mut found);
        }
        found.into_iter().map(|violation| violation.property).collect()
    }

    #[test]
    fn histories_must_agree_grow_and_come_from_somewhere() {
        let (a, b) = (command(0, "w0"), command(1, "w0"));
        assert!(found(&[(0, &[a]), (1, &[a, b]), (0, &[a, b])]).is_empty());
        assert_eq!(found(&[(0, &[a]), (1, &[b])]), [COMPATIBLE]);
        assert_eq!(found(&[(0, &[a, b]), (0, &[a])]), [GROWING]);
        assert_eq!(found(&[(0, &[command(0, "r0")])]), [NONTRIVIAL]);
    }

    #[test]
    fn every_process_that_is_up_waits_for_the_command_of_another_that_is_up() {
        let mut archivist = Archivist::new(&Setup::new(2), &|_| true);
        let input = Input::Propose(command(0, "w0"));
        archivist.on_input(ProcessId(0), &input, MOMENT, &mut Vec::new());
        assert_eq!(archivist.waiting(LEARNING).len(), 2);
        archivist.on_crash(ProcessId(0));
        assert!(archivist.waiting(LEARNING).is_empty());
    }
}
