//! The messages that members multicast.

use super::ranges::Ranges;
use super::table::Table;
use serde::{Deserialize, Serialize};
use std::fmt;
use synod_core::reductions::Fleeting;
use synod_core::{ProcessId, ProcessSet, Wire};

/// A multicast: its body, and two numbers of its sender.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Message {
    /// The greatest number of a claim that the sender knows. A receiver numbers its own claims from
    /// there, so tokens grow along every chain of owners.
    pub clock: u64,
    /// The number of free slots at the sender.
    pub free: u32,
    /// The body.
    pub body: Body,
}

/// Prints the body only: a trace is about the rules, and no rule reads the two numbers.
impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.body.fmt(f)
    }
}

/// The body of a message.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Body {
    /// A request for this many slots; every other member answers (donation).
    Request(u32),
    /// The answer to a request: these slots go to the requester. An answer may be empty.
    Donate {
        /// The requester.
        to: ProcessId,
        /// Its new slots.
        slots: Ranges,
    },
    /// These slots of the sender are on offer to every member (offers).
    Offer(Ranges),
    /// The sender takes slots that are on offer (offers).
    Take {
        /// The number that the sender would like to have.
        wanted: u32,
        /// The number that the sender waits for, if fewer are on offer.
        needed: u32,
    },
    /// The sender has asked again in vain, and its claims have waited for a while (offers).
    Beg,
    /// A gift: the slots are reserved for the receiver, or their owner leaves.
    Hand {
        /// The receiver.
        to: ProcessId,
        /// Its new slots.
        slots: Ranges,
    },
    /// The primary initialises a new member.
    PutStatus {
        /// The new member.
        to: ProcessId,
        /// The state of the group before `to` is initialised.
        status: Box<Status>,
    },
    /// One member of each part tells the other parts what its part owns, when parts come together.
    MergeStatus(Box<Status>),
    /// An operator certifies that this node is dead, or shut out.
    Certify(ProcessId),
    /// An operator certifies that the group has no other part.
    Bootstrap,
}

impl Wire for Message {
    fn kind(&self) -> &'static str {
        match self.body {
            Body::Request(_) => "Request",
            Body::Donate { .. } => "Donate",
            Body::Offer(_) => "Offer",
            Body::Take { .. } => "Take",
            Body::Beg => "Beg",
            Body::Hand { .. } => "Hand",
            Body::PutStatus { .. } => "PutStatus",
            Body::MergeStatus(_) => "MergeStatus",
            Body::Certify(_) => "Certify",
            Body::Bootstrap => "Bootstrap",
        }
    }

    fn label(&self) -> String {
        match &self.body {
            Body::Donate { to, slots } => format!("Donate {} to {to}", few(slots)),
            Body::Offer(slots) => format!("Offer {}", few(slots)),
            Body::Take { wanted, .. } => format!("Take {wanted}"),
            Body::Hand { to, slots } => format!("Hand {} to {to}", few(slots)),
            Body::PutStatus { to, .. } => format!("PutStatus to {to}"),
            Body::MergeStatus(status) => format!("MergeStatus of {}", status.members().len()),
            Body::Request(_) | Body::Beg | Body::Certify(_) | Body::Bootstrap => {
                format!("{self:?}")
            }
        }
    }
}

/// The slots, or how many there are.
fn few(slots: &Ranges) -> String {
    if slots.iter().count() <= 1 { slots.to_string() } else { format!("{} slots", slots.len()) }
}

impl Fleeting for Message {
    /// A cycle ends with its view. So a request and an empty answer leave no trace in the next
    /// view.
    fn ends_with_its_view(&self) -> bool {
        match &self.body {
            Body::Request(_) | Body::Beg => true,
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
            | Body::Beg
            | Body::PutStatus { .. }
            | Body::MergeStatus(_)
            | Body::Certify(_)
            | Body::Bootstrap => true,
        }
    }
}

/// What one part of the group knows and owns.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Status {
    /// The owner of each slot. A slot that no member of the part owns is absent.
    pub table: Table,
    /// The initialised members.
    pub ready: ProcessSet,
    /// The members that wait for a status.
    pub waiting: ProcessSet,
    /// The member that sends statuses and inherits.
    pub primary: Option<ProcessId>,
    /// Nodes that are not here and accounted for; see `MemberState::dead`.
    pub dead: ProcessSet,
    /// The members that were initialised since the group was last settled.
    pub new: ProcessSet,
}

impl Status {
    /// All members of the part.
    pub fn members(&self) -> ProcessSet {
        self.ready.iter().chain(self.waiting.iter()).collect()
    }
}
