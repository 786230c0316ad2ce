//! A run that is driven by hand, step by step, whatever the algorithm.
//!
//! A session is a scenario that is written while it is played. Whatever was done by hand is a line of its
//! script, and what went on by the seed is the line `run`; so the script, played again, gives the same
//! events.

mod stepper;
mod tree;

pub use tree::{Change, Tree};

use crate::Catalogue;
use stepper::Stepper;
use synod_core::boxed::{VisitFamily, Which};
use synod_core::{Family, ProcessId};
use synod_sim::scenario::{Offer, OnItsWay, ParseError, Scenario, Verdict};
use synod_sim::trace::Event;
use synod_sim::world::Status;

/// A run that is driven by hand.
pub trait Session {
    /// The name of the algorithm.
    fn algorithm(&self) -> &str;

    /// How many processes there are.
    fn processes(&self) -> usize;

    /// The time, in microseconds.
    fn now_us(&self) -> u64;

    /// What may be done next, each named by its line. Whatever else is a line of a script may be taken,
    /// too: `cut p0 -> p1`, `wait 10ms`.
    fn offers(&self) -> Vec<Offer>;

    /// Does what a line says. If it cannot be done, nothing has happened.
    fn take(&mut self, line: &str) -> Result<(), ParseError>;

    /// Goes on by the seed: what is due next happens. False if nothing is left to happen.
    fn advance(&mut self) -> Result<bool, ParseError>;

    /// Takes back the last line, or the last step by the seed. False if there is none.
    fn back(&mut self) -> bool;

    /// A copy that goes its own way from here.
    fn branch(&self) -> Box<dyn Session>;

    /// How many lines and steps by the seed can be taken back.
    fn moves(&self) -> usize;

    /// The script so far.
    fn script(&self) -> Vec<String>;

    /// The script with its header: a scenario without a trace.
    fn scenario(&self) -> String;

    /// Everything that happened.
    fn events(&self) -> &[Event];

    /// The number of the first event of the last move; as many as there are if it has none.
    fn last_move(&self) -> u64;

    /// The state of a process.
    fn state(&self, at: ProcessId) -> Snapshot;

    /// The state of a process as bytes, for a store or another machine.
    fn stored(&self, at: ProcessId) -> Vec<u8>;

    /// What such bytes say, if they are the state of a process of this algorithm.
    fn read(&self, bytes: &[u8]) -> Option<Tree>;

    /// The states of all processes after the step to which an event belongs, with what changed in it.
    /// None if there is no such event.
    fn look(&self, event: u64) -> Option<Vec<Snapshot>>;

    /// The messages on their way, the oldest first.
    fn messages(&self) -> Vec<OnItsWay>;

    /// The timers that are set.
    fn timers(&self) -> Vec<(ProcessId, String)>;

    /// How every property stands.
    fn verdicts(&self) -> Vec<Verdict>;
}

/// A process at some moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// Which it is.
    pub at: ProcessId,
    /// Whether it runs.
    pub status: Status,
    /// The algorithm's state.
    pub state: Tree,
    /// The application above it.
    pub application: Tree,
    /// How many records are on its disk, and how many wait to be written.
    pub records: (usize, usize),
}

/// Opens a session, if the catalogue has an algorithm of the name in the scenario. Its script is played
/// first.
pub fn session(
    catalogue: Catalogue,
    scenario: &Scenario,
) -> Option<Result<Box<dyn Session>, ParseError>> {
    let which = catalogue(scenario.algorithm())?;
    which.visit_family(Open { scenario, which })
}

struct Open<'s> {
    scenario: &'s Scenario,
    which: Which,
}

impl VisitFamily for Open<'_> {
    type Answer = Result<Box<dyn Session>, ParseError>;

    fn visit<F: Family>(self) -> Self::Answer {
        let player = self.scenario.player::<F>(self.which)?;
        Ok(Box::new(Stepper::open(self.scenario, player)?))
    }
}
