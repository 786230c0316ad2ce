//! The actions of a world, and the events that a driver sees of them.

use super::flight::{Envelope, Slot};
use super::process::Process;
use serde::{Deserialize, Serialize};
use synod_core::{Algorithm, Notes, ProcessId, Violation};

/// One step of a world. A simulator chooses the next by time and seed, an explorer tries them all.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Action<I> {
    /// The application at a process makes a request.
    Input {
        /// The process.
        at: ProcessId,
        /// The request.
        input: I,
    },
    /// The application at a process sends a message to another, outside the algorithm.
    Tell {
        /// The process of the sending application.
        from: ProcessId,
        /// The process of the receiving application.
        to: ProcessId,
    },
    /// A message arrives.
    Deliver(Slot),
    /// A message is lost.
    Drop(Slot),
    /// A message will arrive once more.
    Duplicate(Slot),
    /// A timer runs out.
    Fire {
        /// The process.
        at: ProcessId,
        /// The number that the timer got when it was set.
        timer: u64,
    },
    /// The disk of a process has written its records.
    Sync(ProcessId),
    /// A process stops for good, or until it is started again.
    Crash(ProcessId),
    /// A crashed process starts again.
    Restart {
        /// The process.
        at: ProcessId,
        /// Whether it still has its disk.
        disk: bool,
    },
    /// A process stops for a while. It takes no events in and does not notice the pause.
    Pause(ProcessId),
    /// A paused process goes on.
    Resume(ProcessId),
    /// The links change.
    Links(LinkChange),
    /// A millisecond passes (in worlds whose time does not come from a simulator).
    Tick,
    /// A message of a synchronous world takes longer than the bound.
    Late(Slot),
    /// A step in the middle of which its process crashes.
    Cut {
        /// The step.
        step: Box<Action<I>>,
        /// The number of its messages and outputs that still go out.
        after: u32,
    },
}

impl<I> Action<I> {
    /// The same action, with the input translated.
    pub fn map<J>(self, translate: impl FnOnce(I) -> J) -> Action<J> {
        match self {
            Action::Input { at, input } => Action::Input { at, input: translate(input) },
            Action::Tell { from, to } => Action::Tell { from, to },
            Action::Deliver(slot) => Action::Deliver(slot),
            Action::Drop(slot) => Action::Drop(slot),
            Action::Duplicate(slot) => Action::Duplicate(slot),
            Action::Fire { at, timer } => Action::Fire { at, timer },
            Action::Sync(at) => Action::Sync(at),
            Action::Crash(at) => Action::Crash(at),
            Action::Restart { at, disk } => Action::Restart { at, disk },
            Action::Pause(at) => Action::Pause(at),
            Action::Resume(at) => Action::Resume(at),
            Action::Links(change) => Action::Links(change),
            Action::Tick => Action::Tick,
            Action::Late(slot) => Action::Late(slot),
            Action::Cut { step, after } => {
                Action::Cut { step: Box::new(step.map(translate)), after }
            }
        }
    }
}

/// A change of the network.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum LinkChange {
    /// A process hears only the processes of its own part. A process in no part is alone.
    Partition(Vec<Vec<ProcessId>>),
    /// One link loses all messages.
    Cut {
        /// The sender.
        from: ProcessId,
        /// The receiver.
        to: ProcessId,
    },
    /// That link works again.
    Mend {
        /// The sender.
        from: ProcessId,
        /// The receiver.
        to: ProcessId,
    },
    /// All links work again.
    Heal,
}

/// The reason why an action cannot be taken now.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Impossible(pub String);

/// An action together with the choices made in it: enough to repeat the step.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Step<I> {
    /// The action.
    pub action: Action<I>,
    /// The numbers that `cx.choose` gives, in order.
    pub choices: Vec<u32>,
}

impl<I> Step<I> {
    /// The same step, with the input translated.
    pub fn map<J>(self, translate: impl FnOnce(I) -> J) -> Step<J> {
        Step { action: self.action.map(translate), choices: self.choices }
    }
}

/// The driver of a world (simulator, explorer, scenario or replay): it answers random choices and
/// sees every event.
pub trait Driver<A: Algorithm> {
    /// Some number below `among`.
    fn choose(&mut self, among: u32) -> u32;
    /// Whether the state with this fingerprint has to be judged. An explorer reaches most states
    /// many times and judges each once.
    fn is_news(&mut self, _print: u64) -> bool {
        true
    }
    /// The broken invariants, if this driver repeats a step that was judged before; the number of
    /// the step tells which.
    fn judged_before(&mut self, _step: u64) -> Option<Vec<&'static str>> {
        None
    }
    /// Results of invariants about earlier states, if this driver keeps them.
    fn notes(&mut self) -> Option<&mut Notes> {
        None
    }
    /// The processes after a step, before they are judged: pictures show what they have.
    fn look(&mut self, _processes: &[Process<A>]) {}
    /// An event of the current step.
    fn see(&mut self, _now_us: u64, _happening: Happening<'_, A>) {}
}

/// An event during a step.
#[derive(Debug)]
pub enum Happening<'a, A: Algorithm> {
    /// A process starts.
    Started(ProcessId),
    /// An application makes a request.
    Input(ProcessId, &'a A::Input),
    /// An application gets an output.
    Output(ProcessId, &'a A::Output),
    /// A message leaves.
    Sent {
        /// Its slot. None if the link is cut: the message is sent, and lost.
        slot: Option<Slot>,
        /// The message.
        envelope: &'a Envelope<A>,
        /// The layer that sent it, 0 the topmost.
        layer: u8,
        /// Whether the network carries it for the first time: false for all but one of the
        /// receivers of a multicast, on a network that can multicast.
        carried: bool,
    },
    /// A message arrives.
    Received {
        /// Its slot until now.
        slot: Slot,
        /// The message.
        envelope: &'a Envelope<A>,
    },
    /// A message is lost.
    Lost {
        /// The message.
        envelope: &'a Envelope<A>,
        /// Why.
        why: &'static str,
    },
    /// A message will arrive once more.
    Duplicated {
        /// The slot of the original.
        of: Slot,
        /// The slot of the copy.
        slot: Slot,
        /// The copy.
        envelope: &'a Envelope<A>,
    },
    /// A timer is set.
    TimerSet {
        /// The process.
        at: ProcessId,
        /// Its number.
        timer: u64,
        /// Its duration.
        after_ms: u64,
    },
    /// A timer runs out.
    TimerFired(ProcessId, &'a A::Timer),
    /// The disk of a process has a record to write.
    Writing(ProcessId),
    /// The disk of a process has written this number of records.
    Synced(ProcessId, usize),
    /// A process crashes.
    Crashed(ProcessId),
    /// A process starts again, with its disk or without.
    Restarted(ProcessId, bool),
    /// A process stops for a while.
    Paused(ProcessId),
    /// A process goes on.
    Resumed(ProcessId),
    /// A process reports another.
    Accused(ProcessId, ProcessId, &'static str),
    /// The links change.
    Relinked(&'a LinkChange),
    /// A property is violated.
    Violated(&'a Violation),
}
