//! What travels between the processes of the embedded engine.

use serde::{Deserialize, Serialize};
use std::fmt;
use synod_core::group::{Change, Level, Member, Part, ViewId};
use synod_core::{ProcessId, ProcessSet, Wire};

/// What travels.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message<M> {
    /// A sign of life, to all configured nodes.
    Hello(Hello),
    /// I have left the group, in this view. I never was in a later one.
    Bye {
        /// Who.
        member: Member,
        /// The last view of whoever left.
        view: ViewId,
    },
    /// To the sequencer: numbers for my messages of this view, up to the one of this index.
    Request {
        /// The view.
        view: ViewId,
        /// How many of my messages in it have, or want, a number.
        index: u64,
    },
    /// From the sequencer: here are numbers.
    Grant {
        /// The view.
        view: ViewId,
        /// The first message that gets a number, by its index.
        index: u64,
        /// The number that it gets; those after it get the next ones.
        number: u64,
        /// How many.
        count: u64,
    },
    /// Messages of the sender, with consecutive numbers.
    Data {
        /// The view.
        view: ViewId,
        /// The number of the first.
        number: u64,
        /// The messages.
        entries: Vec<Entry<M>>,
    },
    /// To the sequencer: I have everything up to this number.
    Have {
        /// The view.
        view: ViewId,
        /// The number.
        number: u64,
    },
    /// From the sequencer: everybody has everything up to this number.
    Stable {
        /// The view.
        view: ViewId,
        /// The number.
        number: u64,
    },
    /// From a coordinator: let these be the members.
    Propose {
        /// The name that the view would have.
        attempt: ViewId,
        /// Who would be in it.
        members: Vec<Member>,
    },
    /// I have stopped delivering in my view; this is what I have.
    Accept(Box<Accept<M>>),
    /// All have accepted; this is what was missing.
    Prepare(Box<Prepare<M>>),
    /// I have what was missing.
    Ready {
        /// The view to be.
        attempt: ViewId,
    },
    /// All are ready: the view begins.
    Commit {
        /// The view.
        attempt: ViewId,
    },
}

impl<M: Wire> Wire for Message<M> {}

/// A sign of life, and what the sender knows.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Hello {
    /// The sender's life.
    pub incarnation: u32,
    /// The highest epoch that it has heard of.
    pub epoch: u64,
    /// The view that it is in.
    pub view: ViewId,
    /// Whether it has given that view up, and delivers no more in it.
    pub frozen: bool,
    /// Up to which number it has all messages of the view.
    pub have: u64,
    /// Whom it hears.
    pub hears: ProcessSet,
    /// From whom it takes proposals; itself, if it makes some.
    pub follows: ProcessId,
    /// Whom it wants in its view.
    pub wants: ProcessSet,
}

/// Short, because there are many.
impl fmt::Debug for Hello {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Hello { view, have, hears, follows, wants, .. } = self;
        let over = if self.frozen { " over" } else { "" };
        write!(f, "{view}{over} has {have}, hears {hears:?}, follows {follows}, wants {wants:?}")
    }
}

/// A message on its way to be delivered.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Entry<M> {
    /// The view in which it was multicast.
    pub sent_in: ViewId,
    /// How sure it must be.
    pub level: Level,
    /// What it says.
    pub message: M,
}

/// A message that has its place in the order of a view.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Numbered<M> {
    /// Its place.
    pub number: u64,
    /// Who multicast it.
    pub sender: Member,
    /// What it is.
    pub entry: Entry<M>,
}

/// What somebody has of its view, when it gives it up.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Accept<M> {
    /// For which view to be.
    pub attempt: ViewId,
    /// The view that is given up.
    pub view: ViewId,
    /// Whether that is the sender's first.
    pub fresh: bool,
    /// Who of that view is known to be dead, or to have left.
    pub gone: Vec<Change>,
    /// Up to which number it has delivered.
    pub delivered: u64,
    /// What it holds, in order: all but what is known to be everywhere.
    pub log: Vec<Numbered<M>>,
}

/// All that somebody needs to go from its view to the next.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Prepare<M> {
    /// The view to be.
    pub attempt: ViewId,
    /// Its members, in order.
    pub members: Vec<Member>,
    /// Who comes with whom.
    pub parts: Vec<Part>,
    /// Who comes from its first view.
    pub fresh: ProcessSet,
    /// Who of the receiver's view is known to be dead, or to have left.
    pub gone: Vec<Change>,
    /// Up to which number somebody who comes with the receiver has delivered.
    pub delivered: u64,
    /// What those who come with the receiver hold together, in order.
    pub log: Vec<Numbered<M>>,
}
