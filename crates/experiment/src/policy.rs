//! The view of an allocator for measurements.

use synod_core::ProcessId;
use synod_core::family::slots::{Input, Output};
use synod_core::group::{Service, Session};

/// The slots of a member.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Holding {
    /// Slots in use.
    pub used: u32,
    /// Owned and free slots.
    pub free: u32,
    /// Owned and promised slots: offered, or on their way to another member.
    pub pledged: u32,
}

impl Holding {
    /// All slots that the member owns.
    pub fn owned(&self) -> u32 {
        self.used + self.free + self.pledged
    }
}

/// Differences between the authors' two programs within a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// Uses end before new claims are made, not after them: the authors' program of the baseline.
    pub ends_first: bool,
    /// Lifetimes are counted in passes of the program's loop, of which there are fewer than turns:
    /// the authors' program of SLOTS.
    pub counts_passes: bool,
}

/// An allocator that can be measured: a service of the family, at one member.
pub trait Policy: Service<Command = Input, Notice = Output> {
    /// Whether [`Policy::manage`] has an effect.
    const MANAGES: bool = false;

    /// The member has finished its work in this turn, or round.
    fn manage(&mut self, _session: &mut Session<'_, Self>) {}

    /// The peculiarities of the authors' program, if there is one.
    fn program(&self) -> Program {
        Program::default()
    }

    /// The number of free slots that a member keeps when it gives some away because of a request.
    fn keeps(&self) -> u32 {
        0
    }

    /// The number of multicasts that a request takes before any answer to it: 1 if others answer
    /// it.
    fn requests(&self) -> u32 {
        0
    }

    /// The slots of this member.
    fn holding(&self) -> Holding;

    /// Whether two members that have delivered the same multicasts agree on all owners.
    fn agrees(&self, _other: &Self) -> bool {
        true
    }

    /// Whether this multicast is one of the answers that the request of member `to` waits for.
    fn answers(message: &Self::Message, sender: ProcessId, to: ProcessId) -> bool;
}
