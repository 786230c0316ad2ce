//! Failure detection: which processes have crashed? Applications ask nothing; every process learns
//! which others it should suspect, and when a suspicion was a mistake.

use super::{Application, Family, Mark, Moment, Monitor, Pace, Property, Violation};
use crate::card::Rounds;
use crate::process::{ProcessId, ProcessSet};
use crate::protocol::Never;
use crate::setup::Setup;
use serde::{Deserialize, Serialize};

/// The family of failure detectors.
#[derive(Clone, Copy, Debug)]
pub struct Detection;

/// The output of a failure detector to the layer above it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Output {
    /// This process seems to have crashed.
    Suspect(ProcessId),
    /// It has not, or it is back: a message from it arrived.
    Restore(ProcessId),
}

/// In the end every living process suspects every crashed one.
pub const FD1: &str = "FD1";
/// No process is suspected before it crashes.
pub const FD2: &str = "FD2";
/// In the end no living process suspects another living one.
pub const FD3: &str = "FD3";

impl Family for Detection {
    const NAME: &'static str = "failure detection";
    const OPERATION: &'static str = "suspicion";
    const PROPERTIES: &'static [Property] = &[
        Property {
            id: FD1,
            name: "completeness",
            statement: "in the end everybody who is up suspects everybody who has crashed",
        },
        Property {
            id: FD2,
            name: "strong accuracy",
            statement: "nobody is suspected while it is up",
        },
        Property {
            id: FD3,
            name: "eventual accuracy",
            statement: "in the end nobody who is up suspects anybody else who is up",
        },
    ];
    const ESSENTIAL: &'static [&'static str] = &[FD1];
    const LIVENESS: &'static [&'static str] = &[FD1, FD3];
    const LASTING: &'static [&'static str] = &[FD1, FD3];
    const RUN_FOR_MS: u64 = 200;

    type Input = Never;
    type Output = Output;
    type Application = Listener;
    type Monitor = Coroner;

    fn pace(input: &Never) -> Pace {
        match *input {}
    }

    fn mark_of_input(input: &Never) -> Mark {
        match *input {}
    }

    fn mark_of_output(_at: ProcessId, output: &Output) -> Mark {
        match output {
            Output::Suspect(_) => Mark::Whole,
            Output::Restore(_) => Mark::None,
        }
    }

    fn input_in_words(input: &Never) -> String {
        match *input {}
    }

    fn output_in_words(output: &Output) -> String {
        match output {
            Output::Suspect(process) => format!("suspects {process}"),
            Output::Restore(process) => format!("trusts {process} again"),
        }
    }

    fn input_from_words(_words: &[&str]) -> Option<Never> {
        None
    }

    const PHRASES: &'static [&'static str] = &[];
}

/// An application that only listens.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Listener;

impl Application for Listener {
    type Family = Detection;

    fn new(_me: ProcessId, _setup: &Setup, _rounds: Rounds) -> Self {
        Listener
    }

    fn offers(&self, _offer: &mut dyn FnMut(Never)) {}

    fn on_input(&mut self, input: &Never) {
        match *input {}
    }

    fn on_output(&mut self, _output: &Output, _moment: Moment<'_>) -> Option<Never> {
        None
    }

    fn on_crash(&mut self) {}
}

/// Knows the crashed processes, and compares them with the suspicions of each process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Coroner {
    crashed: ProcessSet,
    /// The processes that each process suspects.
    suspects: Vec<ProcessSet>,
}

impl Monitor for Coroner {
    type Family = Detection;

    fn new(setup: &Setup, _judged: &dyn Fn(&str) -> bool) -> Self {
        Coroner { crashed: ProcessSet::EMPTY, suspects: vec![ProcessSet::EMPTY; setup.n] }
    }

    fn on_input(&mut self, _: ProcessId, input: &Never, _: Moment<'_>, _: &mut Vec<Violation>) {
        match *input {}
    }

    fn on_output(
        &mut self,
        at: ProcessId,
        output: &Output,
        _: Moment<'_>,
        found: &mut Vec<Violation>,
    ) {
        match *output {
            Output::Suspect(process) => {
                self.suspects[at.index()].insert(process);
                if !self.crashed.contains(process) {
                    let because = format!("{at} suspects {process}, which is up");
                    found.push(Violation { property: FD2, at, because });
                }
            }
            Output::Restore(process) => {
                self.suspects[at.index()].remove(process);
            }
        }
    }

    fn on_crash(&mut self, at: ProcessId) {
        self.crashed.insert(at);
        // A process that starts again remembers no suspicion.
        self.suspects[at.index()].clear();
    }

    fn on_restart(&mut self, at: ProcessId) {
        self.crashed.remove(at);
    }

    /// Messages between applications never change which processes are up.
    fn has_news(&self, _from: ProcessId) -> bool {
        false
    }

    fn waiting(&self, property: &str) -> ProcessSet {
        let up = |at: &ProcessId| !self.crashed.contains(*at);
        let wrong = |at: &ProcessId| self.mistake(property, *at).is_some();
        ProcessId::all(self.suspects.len()).filter(up).filter(wrong).collect()
    }

    fn complaint(&self, property: &str, at: ProcessId) -> String {
        match self.mistake(property, at) {
            Some(process) if property == FD1 => {
                format!("does not suspect {process}, which has crashed")
            }
            Some(process) => format!("suspects {process}, which is up"),
            None => "makes no mistake".to_owned(),
        }
    }
}

impl Coroner {
    /// The first process about which `at` is wrong: crashed and not suspected (FD1), or suspected
    /// and up (FD3).
    fn mistake(&self, property: &str, at: ProcessId) -> Option<ProcessId> {
        let suspects = &self.suspects[at.index()];
        if property == FD1 {
            self.crashed.iter().find(|crashed| !suspects.contains(*crashed))
        } else {
            suspects.iter().find(|suspect| !self.crashed.contains(*suspect))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const P0: ProcessId = ProcessId(0);
    const P1: ProcessId = ProcessId(1);
    const P2: ProcessId = ProcessId(2);

    fn outputs(monitor: &mut Coroner, at: ProcessId, output: Output) -> Vec<Violation> {
        let mut found = Vec::new();
        monitor.on_output(at, &output, Moment { now_us: 0, clocks: &[] }, &mut found);
        found
    }

    fn three() -> Coroner {
        Coroner::new(&Setup::new(3), &|_| true)
    }

    fn waiting(monitor: &Coroner, property: &str) -> Vec<ProcessId> {
        monitor.waiting(property).iter().collect()
    }

    #[test]
    fn to_suspect_a_living_process_is_a_mistake_until_it_is_taken_back() {
        let mut monitor = three();
        let found = outputs(&mut monitor, P0, Output::Suspect(P1));
        assert_eq!((found[0].property, found[0].at), (FD2, P0));
        assert_eq!(waiting(&monitor, FD3), [P0]);
        assert_eq!(monitor.complaint(FD3, P0), "suspects p1, which is up");
        assert_eq!(outputs(&mut monitor, P0, Output::Restore(P1)), []);
        assert_eq!(waiting(&monitor, FD3), []);
    }

    #[test]
    fn every_living_process_must_suspect_the_crashed() {
        let mut monitor = three();
        monitor.on_crash(P1);
        assert_eq!(waiting(&monitor, FD1), [P0, P2]);
        assert_eq!(monitor.complaint(FD1, P2), "does not suspect p1, which has crashed");
        assert_eq!(outputs(&mut monitor, P0, Output::Suspect(P1)), []);
        assert_eq!(waiting(&monitor, FD1), [P2]);
        monitor.on_crash(P2);
        assert_eq!(waiting(&monitor, FD1), [P0]);
    }

    #[test]
    fn a_process_that_restarts_is_up_again_and_suspects_no_other() {
        let mut monitor = three();
        outputs(&mut monitor, P1, Output::Suspect(P2));
        monitor.on_crash(P1);
        assert_eq!(outputs(&mut monitor, P0, Output::Suspect(P1)), []);
        monitor.on_restart(P1);
        assert_eq!(waiting(&monitor, FD1), []);
        assert_eq!(waiting(&monitor, FD3), [P0]);
    }
}
