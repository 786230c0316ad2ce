//! What members multicast.

use super::ranges::Ranges;
use super::table::Table;
use serde::{Deserialize, Serialize};
use std::fmt;
use synod_core::reductions::Fleeting;
use synod_core::{ProcessId, ProcessSet, Wire};

/// A multicast: what it says, and two numbers of whoever says it.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Message {
    /// The sender's count of claims, or the greatest that it heard of. Receivers go on from there,
    /// so that tokens grow along every chain of owners.
    pub clock: u64,
    /// How many slots were free at the sender.
    pub free: u32,
    /// What it says.
    pub body: Body,
}

/// What it says; the numbers matter less.
impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.body.fmt(f)
    }
}

/// What is said.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Body {
    /// I need so many slots; everybody answers (donation).
    Request(u32),
    /// An answer to a request: these are yours. None is an answer, too.
    Donate {
        /// Who asked.
        to: ProcessId,
        /// What it gets.
        slots: Ranges,
    },
    /// Whoever needs them may have these (offers).
    Offer(Ranges),
    /// I need slots, of those on offer (offers).
    Take {
        /// I would have so many.
        wanted: u32,
        /// If there are fewer, I wait until I have got so many.
        needed: u32,
    },
    /// These are yours; nobody asked for them. They were reserved for that member, or their owner
    /// leaves.
    Hand {
        /// Who gets them.
        to: ProcessId,
        /// What it gets.
        slots: Ranges,
    },
    /// From the primary to a member that is new: this is how things are.
    PutStatus {
        /// Who is new.
        to: ProcessId,
        /// How things are, the new member not counted.
        status: Box<Status>,
    },
    /// One part of the group to all others, when parts come together.
    MergeStatus(Box<Status>),
    /// An operator says that this node is dead, or shut out.
    Certify(ProcessId),
    /// An operator says that there is no other part of the group.
    Bootstrap,
}

impl Wire for Message {
    fn kind(&self) -> &'static str {
        match self.body {
            Body::Request(_) => "Request",
            Body::Donate { .. } => "Donate",
            Body::Offer(_) => "Offer",
            Body::Take { .. } => "Take",
            Body::Hand { .. } => "Hand",
            Body::PutStatus { .. } => "PutStatus",
            Body::MergeStatus(_) => "MergeStatus",
            Body::Certify(_) => "Certify",
            Body::Bootstrap => "Bootstrap",
        }
    }
}

impl Fleeting for Message {
    /// A cycle ends with its view, and with it what was asked and an answer that brings nothing.
    fn ends_with_its_view(&self) -> bool {
        match &self.body {
            Body::Request(_) => true,
            Body::Donate { slots, .. } => slots.is_empty(),
            _ => false,
        }
    }

    fn is_void_between_views(&self) -> bool {
        match &self.body {
            Body::Donate { slots, .. } => slots.is_empty(),
            Body::Offer(_) | Body::Hand { .. } => false,
            Body::Request(_)
            | Body::Take { .. }
            | Body::PutStatus { .. }
            | Body::MergeStatus(_)
            | Body::Certify(_)
            | Body::Bootstrap => true,
        }
    }
}

/// How things are in one part of the group.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Status {
    /// Who owns what. What the part does not own is absent.
    pub table: Table,
    /// Who is initialised.
    pub ready: ProcessSet,
    /// Who waits for a status.
    pub waiting: ProcessSet,
    /// Who does what only one shall do.
    pub primary: Option<ProcessId>,
    /// Nodes that are dead for certain.
    pub dead: ProcessSet,
    /// Who is initialised since the group was last settled.
    pub new: ProcessSet,
}

impl Status {
    /// Everybody in this part.
    pub fn members(&self) -> ProcessSet {
        self.ready.iter().chain(self.waiting.iter()).collect()
    }
}
