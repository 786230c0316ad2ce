//! What may happen next, and what is seen of it.

use super::flight::{Envelope, Slot};
use serde::{Deserialize, Serialize};
use synod_core::{Algorithm, Notes, ProcessId, Violation};

/// One step of a world. A simulator chooses the next by time and seed, an explorer tries them all.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Action<I> {
    /// The application at a process asks for something.
    Input {
        /// The process.
        at: ProcessId,
        /// What it asks.
        input: I,
    },
    /// The application at a process sends a message to another, outside the algorithm.
    Tell {
        /// Who tells.
        from: ProcessId,
        /// Who is told.
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
    /// The disk of a process has written what it was given.
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
    /// A process stops for a while: it takes nothing in, and knows nothing of it.
    Pause(ProcessId),
    /// A paused process goes on.
    Resume(ProcessId),
    /// The links change.
    Links(LinkChange),
    /// A millisecond passes (in worlds whose time does not come from a simulator).
    Tick,
    /// A message of a synchronous world will take longer than the bound.
    Late(Slot),
    /// A step in the middle of which its process crashes.
    Cut {
        /// The step.
        step: Box<Action<I>>,
        /// So many of its messages and outputs still go out.
        after: u32,
    },
}

/// A change of the network.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum LinkChange {
    /// Processes hear only those of their own part. Who is in no part is alone.
    Partition(Vec<Vec<ProcessId>>),
    /// What one sends to the other is lost.
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

/// An action that cannot be taken now, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Impossible(pub String);

/// An action together with the choices made in it: all that is needed to do it again.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Step<I> {
    /// What is done.
    pub action: Action<I>,
    /// The numbers that `cx.choose` gives, in order.
    pub choices: Vec<u32>,
}

/// Whoever moves a world: decides its choices, and sees what happens.
pub trait Driver<A: Algorithm> {
    /// Some number below `among`.
    fn choose(&mut self, among: u32) -> u32;
    /// Whether a state has to be judged. Whoever tries everything sees most states many times.
    fn is_news(&mut self, _print: u64) -> bool {
        true
    }
    /// What invariants found out in other states that this driver has seen, if it keeps that.
    fn notes(&mut self) -> Option<&mut Notes> {
        None
    }
    /// Something happens.
    fn see(&mut self, _now_us: u64, _happening: Happening<'_, A>) {}
}

/// Something that happens during a step.
#[derive(Debug)]
pub enum Happening<'a, A: Algorithm> {
    /// A process starts.
    Started(ProcessId),
    /// An application asks.
    Asked(ProcessId, &'a A::Input),
    /// An application is told.
    Told(ProcessId, &'a A::Output),
    /// A message leaves.
    Sent {
        /// Its place. None if the link is cut: it leaves, and is lost.
        slot: Option<Slot>,
        /// The message.
        envelope: &'a Envelope<A>,
        /// How many layers down it was sent.
        layer: u8,
        /// Whether the network carries it for the first time: false for all but one of the
        /// receivers of a multicast, on a network that can multicast.
        carried: bool,
    },
    /// A message arrives.
    Received {
        /// Its place until now.
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
        /// The place of the original.
        of: Slot,
        /// The place of the copy.
        slot: Slot,
        /// The copy.
        envelope: &'a Envelope<A>,
    },
    /// A timer is set.
    TimerSet {
        /// Where.
        at: ProcessId,
        /// Its number.
        timer: u64,
        /// When it runs out, from now.
        after_ms: u64,
    },
    /// A timer runs out.
    TimerFired(ProcessId, &'a A::Timer),
    /// The disk of a process has something to write.
    Writing(ProcessId),
    /// The disk of a process has written so many records.
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
