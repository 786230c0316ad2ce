//! The messages between the processes of the embedded engine.

use serde::{Deserialize, Serialize};
use std::fmt;
use synod_core::group::{Change, Level, Member, Part, ViewId};
use synod_core::{ProcessId, ProcessSet, Wire};

/// A message between two processes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message<M> {
    /// A heartbeat, to all configured nodes.
    Hello(Hello),
    /// The sender has left the group, in this view. It never was in a later one.
    Bye {
        /// The member that left.
        member: Member,
        /// Its last view.
        view: ViewId,
    },
    /// To the sequencer: a request for numbers for the sender's messages of this view, up to this
    /// index.
    Request {
        /// The view.
        view: ViewId,
        /// How many of the sender's messages in the view have, or want, a number.
        index: u64,
    },
    /// From the sequencer: numbers for the receiver's messages.
    Grant {
        /// The view.
        view: ViewId,
        /// Index of the first message that gets a number.
        index: u64,
        /// Its number; the messages after it get the next ones.
        number: u64,
        /// How many messages get a number.
        count: u64,
    },
    /// Messages of the sender, with consecutive numbers.
    Data {
        /// The view.
        view: ViewId,
        /// The number of the first message.
        number: u64,
        /// The messages.
        entries: Vec<Entry<M>>,
    },
    /// To the sequencer: the sender has all messages up to this number.
    Have {
        /// The view.
        view: ViewId,
        /// The number.
        number: u64,
    },
    /// From the sequencer: every member has all messages up to this number.
    Stable {
        /// The view.
        view: ViewId,
        /// The number.
        number: u64,
    },
    /// From a coordinator: a proposal for the next view.
    Propose {
        /// The name of the proposed view.
        attempt: ViewId,
        /// The proposed members.
        members: Vec<Member>,
    },
    /// The sender has stopped delivering in its view; its messages of that view.
    Accept(Box<Accept<M>>),
    /// From the coordinator, when all members have accepted: the messages that the receiver lacks.
    Prepare(Box<Prepare<M>>),
    /// The sender has the messages that it lacked.
    Ready {
        /// The proposed view.
        attempt: ViewId,
    },
    /// From the coordinator, when all members are ready: the view begins.
    Commit {
        /// The view.
        attempt: ViewId,
    },
}

impl<M: Wire> Wire for Message<M> {
    fn label(&self) -> String {
        match self {
            Message::Hello(Hello { view, hears, .. }) => {
                format!("Hello {view} hears {}", hears.len())
            }
            Message::Bye { member, view } => format!("Bye {member} {view}"),
            Message::Request { view, index } => format!("Request {view} to {index}"),
            Message::Grant { view, number, .. } => format!("Grant {view} from {number}"),
            Message::Data { number, entries, .. } => match &entries[..] {
                [one] => format!("Data {number}: {}", one.message.label()),
                several => format!("Data {number} +{}", several.len()),
            },
            Message::Have { view, number } => format!("Have {view} to {number}"),
            Message::Stable { view, number } => format!("Stable {view} to {number}"),
            Message::Propose { attempt, members } => {
                format!("Propose {attempt} of {}", members.len())
            }
            Message::Accept(accept) => format!("Accept {}", accept.attempt),
            Message::Prepare(prepare) => format!("Prepare {}", prepare.attempt),
            Message::Ready { attempt } => format!("Ready {attempt}"),
            Message::Commit { attempt } => format!("Commit {attempt}"),
        }
    }
}

/// A heartbeat, with the sender's knowledge.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Hello {
    /// The sender's life.
    pub incarnation: u32,
    /// The highest epoch that the sender has heard of.
    pub epoch: u64,
    /// The sender's view.
    pub view: ViewId,
    /// Whether the sender has given that view up, and delivers no more in it.
    pub frozen: bool,
    /// The number up to which the sender has all messages of the view.
    pub have: u64,
    /// The nodes that the sender hears.
    pub hears: ProcessSet,
    /// The coordinator whose proposals the sender takes; the sender itself, if it proposes.
    pub follows: ProcessId,
    /// The members that the sender wants in its view, if it is a coordinator.
    pub wants: ProcessSet,
}

/// Short, because traces contain many heartbeats.
impl fmt::Debug for Hello {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Hello { view, have, hears, follows, wants, .. } = self;
        let over = if self.frozen { " over" } else { "" };
        write!(f, "{view}{over} has {have}, hears {hears:?}, follows {follows}, wants {wants:?}")
    }
}

/// A multicast that is not delivered yet.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Entry<M> {
    /// The view in which it was multicast.
    pub sent_in: ViewId,
    /// The delivery level.
    pub level: Level,
    /// The message itself.
    pub message: M,
}

/// A message at its place in the order of a view.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Numbered<M> {
    /// Its sequence number.
    pub number: u64,
    /// The member that multicast it.
    pub sender: Member,
    /// The multicast.
    pub entry: Entry<M>,
}

/// A member's messages of its view, when it gives the view up.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Accept<M> {
    /// The proposed view that it accepts.
    pub attempt: ViewId,
    /// The view that it gives up.
    pub view: ViewId,
    /// Whether that is the sender's first view.
    pub fresh: bool,
    /// The members of that view that the sender knows to be dead, or to have left.
    pub gone: Vec<Change>,
    /// The number up to which the sender has delivered.
    pub delivered: u64,
    /// The messages that the sender holds, in order: all that some member may lack.
    pub log: Vec<Numbered<M>>,
}

/// The messages and facts that a member needs to go from its view to the next.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Prepare<M> {
    /// The proposed view.
    pub attempt: ViewId,
    /// Its members, in order.
    pub members: Vec<Member>,
    /// Which members come together.
    pub parts: Vec<Part>,
    /// The members that come from their first view.
    pub fresh: ProcessSet,
    /// The members of the receiver's view that are known to be dead, or to have left.
    pub gone: Vec<Change>,
    /// The highest number that the receiver or a companion has delivered.
    pub delivered: u64,
    /// The messages that the receiver and its companions hold together, in order.
    pub log: Vec<Numbered<M>>,
}
