//! What an allocator shows to whoever measures it.

use synod_core::ProcessId;
use synod_core::family::slots::{Input, Output};
use synod_core::group::{Service, Session};

/// What a member has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Holding {
    /// In use.
    pub used: u32,
    /// Its own, and free.
    pub free: u32,
    /// Its own, but promised: offered, or on its way to somebody.
    pub pledged: u32,
}

impl Holding {
    /// All that is its own.
    pub fn owned(&self) -> u32 {
        self.used + self.free + self.pledged
    }
}

/// What the authors' two programs do differently within a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// Uses end before new claims are made, not after that: their program of the baseline.
    pub ends_first: bool,
    /// Lifetimes are counted in passes of the program's loop, of which there are fewer than turns: their
    /// program of SLOTS.
    pub counts_passes: bool,
}

/// An allocator that can be measured: a service of the family, at one member.
pub trait Policy: Service<Command = Input, Notice = Output> {
    /// Whether [`Policy::manage`] does anything.
    const MANAGES: bool = false;

    /// The member has done what there was to do in this turn, or round.
    fn manage(&mut self, _session: &mut Session<'_, Self>) {}

    /// How the authors' program of it goes, if there is one.
    fn program(&self) -> Program {
        Program::default()
    }

    /// A member keeps so many free slots when it gives some away because of a request.
    fn keeps(&self) -> u32 {
        0
    }

    /// How many multicasts a request takes before any answer to it: 1 if others answer it.
    fn requests(&self) -> u32 {
        0
    }

    /// What this member has.
    fn holding(&self) -> Holding;

    /// Whether two members that have delivered the same agree on who owns what.
    fn agrees(&self, _other: &Self) -> bool {
        true
    }

    /// Whether this multicast is an answer to the request of a member: one of those that it waits for.
    fn answers(message: &Self::Message, sender: ProcessId, to: ProcessId) -> bool;
}
