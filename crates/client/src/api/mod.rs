//! Requests, answers, and the reasons why a node refuses.

mod failure;
mod status;

pub use failure::Failure;
pub use status::{
    GroupSummary, Health, MemberStatus, Owned, PoolStatus, RegistryStatus, SessionStatus, Status,
    Use,
};

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The version of the protocol between clients and nodes.
pub const VERSION: u16 = 1;

/// The name of a session at its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SessionId(pub u64);

/// A fencing token. The claims of one item have growing tokens, at all nodes. So
/// a resource that remembers the greatest token can turn an earlier user away.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Token {
    /// The epoch of the view in which the item was claimed.
    pub epoch: u64,
    /// The number of the claim in its pool.
    pub count: u64,
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.epoch, self.count)
    }
}

/// A text is no token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a token has the form EPOCH.COUNT, for example 3.17")]
pub struct BadToken;

impl FromStr for Token {
    type Err = BadToken;

    fn from_str(text: &str) -> Result<Self, BadToken> {
        let (epoch, count) = text.split_once('.').ok_or(BadToken)?;
        let number = |text: &str| text.parse().map_err(|_| BadToken);
        Ok(Token { epoch: number(epoch)?, count: number(count)? })
    }
}

/// The definition of a pool. All nodes have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PoolSpec {
    /// The first item, for example the first port.
    pub first: u64,
    /// The number of items.
    pub size: u32,
    /// The time for which a released item rests before it is used again, in milliseconds.
    pub cooldown_ms: u64,
    /// The greatest number of items that one node may use; none: all of them.
    pub cap: Option<u32>,
}

impl PoolSpec {
    /// A pool of these items, with every other setting at its default.
    pub const fn range(first: u64, size: u32) -> Self {
        PoolSpec { first, size, cooldown_ms: 0, cap: None }
    }

    /// The item of a slot.
    pub const fn item(&self, slot: u32) -> u64 {
        self.first + slot as u64
    }

    /// The slot of an item, if the pool has it.
    pub fn slot(&self, item: u64) -> Option<u32> {
        let slot = u32::try_from(item.checked_sub(self.first)?).ok()?;
        (slot < self.size).then_some(slot)
    }
}

/// The user of a claimed item.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Holder {
    /// A session: the item is free again when the session ends.
    Session(SessionId),
    /// The bearer of this label: the item is free again when it is released.
    Label(String),
}

/// The delivery of a message to a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Level {
    /// All members that deliver the message deliver it in one order.
    #[default]
    Agreed,
    /// And no member delivers it before every member of the view has it.
    Safe,
}

/// The events that a client wants to see.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Topic {
    /// Views of the cluster.
    Views,
    /// Claims and releases at this node, and movements of items, of one pool.
    Pool(String),
    /// The messages of one group, and views.
    Group(String),
}

/// Faults of the network, made on purpose at one node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Faults {
    /// The node sends nothing to these nodes.
    pub deaf: Vec<String>,
    /// The node hears nothing from these nodes.
    pub mute: Vec<String>,
    /// The time that each message waits, in milliseconds.
    pub delay_ms: u64,
    /// This share of messages is lost, in thousandths.
    pub loss_permille: u32,
}

/// A request to a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Request {
    /// Everything about the node, in short.
    Status,
    /// Create a pool. Needs a majority of the voters.
    CreatePool(String, PoolSpec),
    /// Delete a pool. All claims in it are void. Needs a majority of the voters.
    DeletePool(String),
    /// One pool, as this node sees it.
    ShowPool(String),
    /// The items of a pool that are in use at this node.
    Uses(String),
    /// Open a session.
    OpenSession {
        /// The session ends if the node hears nothing of it for this time.
        ttl_ms: u64,
        /// Shown to operators.
        label: String,
    },
    /// The session lives.
    KeepAlive(SessionId),
    /// End a session, and give its items back.
    CloseSession(SessionId),
    /// The sessions of this node.
    Sessions,
    /// Claim an item.
    Claim {
        /// The pool.
        pool: String,
        /// This item; none: any.
        item: Option<u64>,
        /// Its user.
        holder: Holder,
        /// Wait so long for a free item, instead of being refused at once.
        wait_ms: u64,
    },
    /// Give an item back.
    Release {
        /// The pool.
        pool: String,
        /// The item.
        item: u64,
        /// The token of the claim.
        token: Token,
    },
    /// Create a group. Needs a majority of the voters.
    CreateGroup(String),
    /// Delete a group. Needs a majority of the voters.
    DeleteGroup(String),
    /// Send a message to all members of a group.
    Cast {
        /// The group.
        group: String,
        /// The delivery level.
        level: Level,
        /// The message.
        body: Vec<u8>,
    },
    /// Stream events from now on, as answers to this request.
    Watch(Topic),
    /// Certify that a node is dead and will not come back with what it had. Needs a majority.
    Forget(String),
    /// Leave the cluster: hand all items over, then stop.
    Leave,
    /// Make faults on purpose. Refused unless the node was started with them allowed.
    Faults(Faults),
}

/// A claimed item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claimed {
    /// The pool.
    pub pool: String,
    /// The item.
    pub item: u64,
    /// The fencing token.
    pub token: Token,
}

/// An event that a client watches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// These nodes reach each other from now on.
    View {
        /// The name of the view.
        view: String,
        /// Its members.
        members: Vec<String>,
    },
    /// An item is claimed at this node.
    Claimed(Claimed),
    /// An item is given back at this node.
    Released {
        /// The pool.
        pool: String,
        /// The item.
        item: u64,
    },
    /// All members of the view agree on the owners of the pool's items.
    Settled {
        /// The pool.
        pool: String,
        /// The number of items that this node owns.
        owned: u32,
        /// The number of items that no member of the view owns.
        absent: u32,
    },
    /// Two parts of the cluster claim this item, which is frozen. This must never happen.
    Alarm {
        /// The pool.
        pool: String,
        /// The item.
        item: u64,
    },
    /// A message of the group.
    Message {
        /// The group.
        group: String,
        /// The node that sent it.
        from: String,
        /// The message.
        body: Vec<u8>,
    },
    /// The client was too slow: this number of events was left out.
    Missed(u64),
}

/// What a node says to a request that it carried out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reply {
    /// It is done.
    Done,
    /// To [`Request::Status`].
    Status(Box<Status>),
    /// To [`Request::ShowPool`].
    Pool(PoolStatus),
    /// To [`Request::Uses`].
    Uses(Vec<Use>),
    /// To [`Request::OpenSession`].
    Session(SessionId),
    /// To [`Request::Sessions`].
    Sessions(Vec<SessionStatus>),
    /// To [`Request::Claim`].
    Claimed(Claimed),
    /// To [`Request::Watch`].
    Event(Event),
}

/// Which services a node can offer now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Every node of the cluster is in the view, or certified dead.
    Whole,
    /// These nodes are not in the view. Pools and groups go on with those that are.
    Partitioned(Vec<String>),
    /// The node is in no view yet, or has left.
    Outside,
}

/// The answer to a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The node that answers.
    pub node: String,
    /// Its view.
    pub view: String,
    /// Whether the cluster is whole, as far as the node knows.
    pub mode: Mode,
    /// The reply, or why there is none.
    pub result: Result<Reply, Failure>,
}
