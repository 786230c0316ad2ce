//! Group communication: the contract of an engine, and the events that a service above it sees.
//!
//! An *engine* knows which nodes are reachable, and delivers the members' multicasts in one order.
//! It reports two kinds of events to the service above it: a new [`View`] (the members from now
//! on), and deliveries. A [`Service`] (a pool of slots, a replicated store) is written once against
//! these two, and stands on any engine: the embedded one, which runs for real; the abstract one,
//! which takes every step that the contract allows; or an engine from outside this repository.
//!
//! ```text
//!        a service          on_view, on_deliver, on_command: SLOTS, a shared table
//!           │ ▲
//! multicast │ │ View, Transitional, Deliver
//!           ▼ │
//!        an engine          embedded: heartbeats, a sequencer, views by proposal and flush
//!           │ ▲             abstract: an oracle that does all that the contract allows
//!      send ▼ │ deliver
//!        the world
//! ```
//!
//! # The contract
//! Extended virtual synchrony (L. Moser, Y. Amir, P. M. Melliar-Smith, D. Agarwal, ICDCS 1994):
//! - **G1** Two members that deliver the same two messages deliver them in the same order, views
//!   included. In a regular configuration no member skips a message. There is one exception:
//!   members that are cut off from the sequencer may deliver a message of one of them after
//!   messages that it precedes elsewhere, because they cannot know its place. All of them deliver
//!   it at the same place.
//! - **G2** Members that go together from one view to the next deliver the same messages in
//!   between: the same as long as the view lasts, and the same in the transitional configuration
//!   after it.
//! - **G3** A sender delivers its own message: in the view in which it was sent, or in the
//!   transitional configuration after it; or, if no member has delivered it by then, in a later
//!   view, where it still bears the view in which it was sent ([`Delivery::sent_in`]).
//! - **G4** A message multicast as [`Level::Safe`] is delivered in a regular configuration only
//!   when every member of the view has it. Not every engine can do this; see [`Capabilities`].
//! - **G5** A view states why a member joined or left ([`Cause`]). A member that is only
//!   unreachable may be alive, so no engine reports [`Cause::Partition`] as a death. A member that
//!   restarted may have been in other views before it died, so no engine reports [`Cause::Restart`]
//!   as a death in this view.
//! - A message is delivered in one view only: if one member delivers it in a view (or in the
//!   transitional configuration after it), no member delivers it in another.
//!
//! A view ends with [`Event::Transitional`]. The members that it names, a [`Part`] of the view,
//! deliver the same messages from there to the next view. No other member is certain to deliver
//! these: the rest of the view may have delivered them too, before or after other messages that we
//! never see, or not at all.
//!
//! An engine may tell the same view twice; a service ignores the second time. Every wait of an
//! engine or a service has a limit: the engine excludes a member that does not answer from the
//! view.

mod catalogued;
mod served;
mod service;
mod view_by_view;

pub use catalogued::Catalogued;
pub use served::{Served, ServedTimer};
pub use service::{Act, Full, Service, Session};
pub use view_by_view::ViewByView;

use crate::card::{OwnFaults, Parameter, Rule};
use crate::process::{ProcessId, ProcessSet};
use crate::protocol::{Protocol, Wire};
use crate::setup::{Setup, SetupError};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A member: a node in one of its lives. A node that restarts is another member, because it has
/// forgotten its state.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Member {
    /// The node.
    pub node: ProcessId,
    /// Which of its lives, from 1.
    pub incarnation: u32,
}

/// `p1` in its first life, `p1'2` in its second.
impl fmt::Display for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.incarnation {
            1 => write!(f, "{}", self.node),
            life => write!(f, "{}'{life}", self.node),
        }
    }
}

impl fmt::Debug for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The name of a view. Each view of a member has a greater epoch than the one before. Two views
/// with the same epoch, on two sides of a partition, differ in their proposers. A node that starts
/// again has forgotten which epochs it used; the incarnation of the proposer keeps its new names
/// apart from the old ones.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ViewId {
    /// Grows from view to view.
    pub epoch: u64,
    /// The member that proposed the view.
    pub by: Member,
}

impl ViewId {
    /// The name of a view whose proposer was in its first life.
    pub const fn new(epoch: u64, by: ProcessId) -> ViewId {
        ViewId { epoch, by: Member { node: by, incarnation: 1 } }
    }
}

/// `v3.0` if p0 proposed it, `v3.0'2` if p0 did so in its second life.
impl fmt::Display for ViewId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Member { node, incarnation } = self.by;
        write!(f, "v{}.{}", self.epoch, node.0)?;
        if incarnation == 1 { Ok(()) } else { write!(f, "'{incarnation}") }
    }
}

impl fmt::Debug for ViewId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Why a member joined or left.
///
/// Two causes say more than that a life is over. A member that is gone by [`Cause::Leave`] or
/// [`Cause::Disconnect`] was in no view after the one that it is missed from, so it dealt with that
/// view's members only. The later views of a member that restarted are unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Cause {
    /// The member is new, or starts again: it was in no view before, or only in one of its own.
    Join,
    /// The member left this view, and said so in it.
    Leave,
    /// The member's process died in this view, and its living host has certified that.
    Disconnect,
    /// The member is dead, for its node lives again. It may have been in other views before it
    /// died.
    Restart,
    /// The member cannot be reached. It may be dead, and it may be alive.
    Partition,
    /// The member can be reached again, and has kept its state.
    Merge,
}

/// A member that joined or left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Change {
    /// The member.
    pub member: Member,
    /// The cause.
    pub cause: Cause,
}

/// Members that come into a view together: they have delivered the same messages.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Part {
    /// The view they come from; none if they have just started.
    pub from: Option<ViewId>,
    /// The members.
    pub members: ProcessSet,
}

/// The members of the group from now on, as each of them is told.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct View {
    /// Its name.
    pub id: ViewId,
    /// Its members, in order of their names; one life of each node at most.
    pub members: Vec<Member>,
    /// The members that were not in *my* last view, in order, each with its cause. In my first
    /// view, all members, and I too.
    pub joined: Vec<Change>,
    /// The members of *my* last view that are missing here, in order, each with its cause.
    pub left: Vec<Change>,
    /// Which members came together, if the engine knows: every member is in one part.
    pub came_with: Option<Vec<Part>>,
}

impl Cause {
    /// Whether the life ended in the very view that its member is missed from.
    pub fn is_end_in_view(self) -> bool {
        matches!(self, Cause::Leave | Cause::Disconnect)
    }
}

impl View {
    /// The members as a set.
    pub fn set(&self) -> ProcessSet {
        self.members.iter().map(|member| member.node).collect()
    }

    /// The life in which a node is here, if it is.
    pub fn member(&self, node: ProcessId) -> Option<Member> {
        let place = self.members.binary_search_by_key(&node, |member| member.node).ok()?;
        Some(self.members[place])
    }

    /// Whether the node is a member, in any of its lives.
    pub fn contains(&self, node: ProcessId) -> bool {
        self.member(node).is_some()
    }

    /// The members that came into this view together with `node`. If the engine does not say, these
    /// are at most the members that did not just join.
    pub fn companions(&self, node: ProcessId) -> ProcessSet {
        match &self.came_with {
            Some(parts) => {
                let own = parts.iter().find(|part| part.members.contains(node));
                own.map_or(ProcessSet::EMPTY, |part| part.members.clone())
            }
            None => {
                let new = |node: ProcessId| self.joined.iter().any(|new| new.member.node == node);
                self.members.iter().map(|m| m.node).filter(|other| !new(*other)).collect()
            }
        }
    }
}

/// Delivery level: the certainty that a message must have before it is delivered.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum Level {
    /// Its place in the order is known.
    #[default]
    Agreed,
    /// And every member of the view has it.
    Safe,
}

/// A message is delivered.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Delivery<M> {
    /// The member that multicast it.
    pub sender: Member,
    /// The view in which it was multicast.
    pub sent_in: ViewId,
    /// The delivery level that its sender asked for.
    pub level: Level,
    /// The message itself.
    pub message: M,
}

/// The events that an engine tells the service above it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Event<M> {
    /// These are the members from now on.
    View(View),
    /// The view is over. From here to the next view only these members are known to deliver the
    /// same.
    Transitional(ProcessSet),
    /// A message is delivered.
    Deliver(Delivery<M>),
    /// The engine has no room for this multicast, and gives it back. (A service asks before; see
    /// [`Session::multicast`].)
    Refused(M),
    /// There is room again.
    Room,
    /// The engine is gone, and with it our membership: the other members are told that we are dead.
    /// Our claims in the name of this member are void. If there is a next view, we are new in it,
    /// with the next incarnation.
    Lost,
}

/// The requests of a service to its engine.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Ask<M> {
    /// Deliver this message at every member of the view.
    Multicast {
        /// The delivery level.
        level: Level,
        /// The message.
        message: M,
    },
    /// Take me out of the group.
    Leave,
}

/// The abilities of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Capabilities {
    /// The engine delivers [`Level::Safe`] as such; otherwise as [`Level::Agreed`].
    pub safe: bool,
    /// Every side of a partition goes on with a view of its own.
    pub partitionable: bool,
    /// The engine tells transitional configurations, and which members came together.
    pub came_with: bool,
    /// Length limit of a message, in bytes.
    pub longest_message: usize,
}

/// A protocol that offers the contract above, and states its own facts: its parameters, which nodes
/// may be members, and which of its timers stand for faults ([`Protocol::REDUCTIONS`]). A service
/// above repeats none of them, so that no service can forget one.
pub trait Engine<M: Wire>: Protocol<Input = Ask<M>, Output = Event<M>> {
    /// The engine's abilities.
    fn capabilities(&self) -> Capabilities;

    /// How many multicasts the engine takes in now. It never exceeds a fixed number, because the
    /// engine holds every multicast in memory until it is delivered.
    fn room(&self) -> usize;

    /// The rules for the messages and timers of the engine. Every service on it has them on its
    /// card, after its own.
    const RULES: &'static [Rule] = &[];

    /// The parameters of the engine. Every service on it has them on its card, after its own.
    const PARAMETERS: &'static [Parameter] = &[];

    /// The faults that an engine stands for itself, if it is an idealised one.
    const OWN_FAULTS: Option<OwnFaults> = None;

    /// The engines of a group with this setup, one for each process.
    fn engines(setup: &Setup) -> Result<Vec<Self>, SetupError>;

    /// The nodes of such a group that may be members: by default, all.
    fn nodes(setup: &Setup) -> Result<ProcessSet, SetupError> {
        Ok(ProcessSet::all(setup.n))
    }

    /// Whether this process may be a member. An application runs only at a process that may.
    fn takes_part(&self) -> bool {
        true
    }

    /// The parts of the group, if this process stands for the network as a whole: by default, it
    /// does not.
    fn parts(&self) -> Vec<ProcessSet> {
        Vec::new()
    }

    /// Whether this process sends messages for ever, even without requests of an application.
    fn is_restless(&self) -> bool;
}
