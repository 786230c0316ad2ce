//! A run of any algorithm that the caller drives by hand, step by step.
//!
//! A session is a scenario that is written while it is played. A step by hand becomes a line of its
//! script, and steps by the seed become the line `run`. So the script, played again, gives the same
//! events.

mod cause;
mod stepper;
mod tree;

pub use tree::{Change, Tree};

use crate::Catalogue;
use stepper::Stepper;
use synod_core::boxed::Which;
use synod_core::{ProcessId, Rule, Trigger};
use synod_sim::scenario::{Judgement, Offer, OnItsWay, ParseError, Scenario};
use synod_sim::trace::Event;
use synod_sim::world::Status;

/// A run that the caller drives by hand.
pub trait Session {
    /// The name of the algorithm.
    fn algorithm(&self) -> &str;

    /// The number of processes.
    fn processes(&self) -> usize;

    /// The time, in microseconds.
    fn now_us(&self) -> u64;

    /// The possible next steps, each named by its line. `take` accepts any other line of a script,
    /// too: `cut p0 -> p1`, `wait 10ms`.
    fn offers(&self) -> Vec<Offer>;

    /// Plays a line. If it fails, the run is unchanged.
    fn take(&mut self, line: &str) -> Result<(), ParseError>;

    /// Takes the next planned event by the seed. False if no event is planned.
    fn advance(&mut self) -> Result<bool, ParseError>;

    /// Takes back the last line, or the last step by the seed. False if there is none.
    fn back(&mut self) -> bool;

    /// An independent copy at this point of the run.
    fn branch(&self) -> Box<dyn Session>;

    /// The number of lines and steps by the seed that can be taken back.
    fn moves(&self) -> usize;

    /// The script so far.
    fn script(&self) -> Vec<String>;

    /// The script with its header: a scenario without a trace.
    fn scenario(&self) -> String;

    /// All events so far.
    fn events(&self) -> &[Event];

    /// The number of the first event of the last move; the number of all events if that move has
    /// none.
    fn last_move(&self) -> u64;

    /// The start, input, message or timer to which a process reacts with this event. None if the
    /// event is no reaction of a process.
    fn cause(&self, event: u64) -> Option<Trigger<'_>>;

    /// The rules of the card that belong to the cause of an event, each with its number on the
    /// card, from 1.
    fn rules(&self, event: u64) -> Vec<(usize, &'static Rule)>;

    /// The state of a process.
    fn state(&self, at: ProcessId) -> Snapshot;

    /// The state of a process as bytes, for a store or another machine.
    fn stored(&self, at: ProcessId) -> Vec<u8>;

    /// The state in such bytes, if they are the state of a process of this algorithm.
    fn read(&self, bytes: &[u8]) -> Option<Tree>;

    /// The states of all processes after the step of an event, with their changes in that step.
    /// None if the run has no such event.
    fn look(&self, event: u64) -> Option<Vec<Snapshot>>;

    /// The messages in flight, the oldest first.
    fn messages(&self) -> Vec<OnItsWay>;

    /// The timers that are set.
    fn timers(&self) -> Vec<(ProcessId, String)>;

    /// The verdict on every property so far.
    fn verdicts(&self) -> Vec<Judgement>;
}

/// A process at some moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The process.
    pub at: ProcessId,
    /// Whether it runs.
    pub status: Status,
    /// The algorithm's state.
    pub state: Tree,
    /// The application above it.
    pub application: Tree,
    /// The numbers of records on its disk, and of those that wait to be written.
    pub records: (usize, usize),
}

/// Opens a session and plays the script of the scenario, if the catalogue has its algorithm.
pub fn session(
    catalogue: Catalogue,
    scenario: &Scenario,
) -> Option<Result<Box<dyn Session>, ParseError>> {
    let which = catalogue(scenario.algorithm())?;
    Some(open(scenario, which))
}

fn open(scenario: &Scenario, which: Which) -> Result<Box<dyn Session>, ParseError> {
    let player = scenario.player(which)?;
    Ok(Box::new(Stepper::open(scenario, which.card(), player)?))
}
