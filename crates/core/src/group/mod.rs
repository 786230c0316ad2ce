//! Group communication: what an engine offers, and what a service above it sees.
//!
//! An *engine* keeps track of who is reachable and delivers what members multicast in one order. It
//! tells two things: a new [`View`] (these are the members now), and deliveries. A [`Service`] (a
//! pool of slots, a replicated store) is written once against that, and stands on any engine: the
//! embedded one, an abstract one that does whatever the contract allows, or somebody else's.
//!
//! # The contract
//! Extended virtual synchrony (L. Moser, Y. Amir, P. M. Melliar-Smith, D. Agarwal, ICDCS 1994):
//! - **G1** All who deliver two messages deliver them in the same order, views included. In a
//!   regular configuration nobody skips a message. One exception, because nobody can know better:
//!   those who go on without the one who orders may deliver a message of their own number after
//!   others that it was before elsewhere, all of them in the same place.
//! - **G2** Members that go together from one view to the next deliver the same messages in
//!   between: the same as long as the view lasts, and the same in the transitional configuration
//!   after it.
//! - **G3** Whoever multicasts delivers its own message, in the view in which it was sent, or in
//!   the transitional configuration after it; or, if nobody has delivered it by then, in a later
//!   view, where it still bears the view in which it was sent ([`Delivery::sent_in`]).
//! - **G4** What is multicast as [`Level::Safe`] is delivered in a regular configuration only when
//!   every member of the view has it. Not every engine can do this; see [`Capabilities`].
//! - **G5** It is told why somebody joined or left ([`Cause`]). Whoever is only unreachable may be
//!   alive: [`Cause::Partition`] is never mistaken for a death. And the death of whoever may have
//!   been elsewhere, [`Cause::Restart`], is never mistaken for a death in this view.
//! - A message is delivered in one view only: if anybody delivers it in a view (or in the
//!   transitional configuration after it), nobody delivers it in another.
//!
//! A view ends with [`Event::Transitional`]: what is delivered from there to the next view was
//! delivered by those named, who are a [`Part`] of it, and by them only for certain. The rest of
//! the view may have delivered it too, before or after other messages that we never see, or not at
//! all.
//!
//! The same view may be told twice; a service does nothing then. No engine and no service waits for
//! anybody without a limit: whoever does not answer is put out of the view.

mod catalogued;
mod served;
mod service;
mod view_by_view;

pub use catalogued::Catalogued;
pub use served::{Served, ServedTimer};
pub use service::{Act, Full, Service, Session};
pub use view_by_view::ViewByView;

use crate::card::{OwnFaults, Parameter};
use crate::process::{ProcessId, ProcessSet};
use crate::protocol::{Protocol, Wire};
use crate::setup::{Setup, SetupError};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A member: a node, and which of its lives. A node that restarts is another member.
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

/// The name of a view. Each view of a member has a greater epoch than the one before; two views
/// with the same epoch, on two sides of a partition, differ in who proposed them. A node that
/// starts again has forgotten which epochs it used: what it proposes in another life has another
/// name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ViewId {
    /// Grows from view to view.
    pub epoch: u64,
    /// Who proposed it.
    pub by: Member,
}

impl ViewId {
    /// A view that was proposed by a node in its first life.
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

/// Why somebody joined or left.
///
/// Two causes say more than that a life is over. A member that is gone by [`Cause::Leave`] or
/// [`Cause::Disconnect`] was in no view after the one that it is missed from, so it dealt with
/// nobody but that view's members. Where a member was that restarted, nobody knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Cause {
    /// It is new, or starts again: it was in no view before, or only in one of its own.
    Join,
    /// It left this view, and said so in it.
    Leave,
    /// Its process died in this view, and its living host has certified that.
    Disconnect,
    /// It is dead, for its node lives again. It may have been in other views before it died.
    Restart,
    /// It cannot be reached. It may be dead, and it may be alive.
    Partition,
    /// It can be reached again, with what it had.
    Merge,
}

/// Somebody joined or left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Change {
    /// Who.
    pub member: Member,
    /// Why.
    pub cause: Cause,
}

/// Members that come into a view together: they have delivered the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Part {
    /// The view they come from; none if they have just started.
    pub from: Option<ViewId>,
    /// Who.
    pub members: ProcessSet,
}

/// Who is in the group from now on, as all of them see it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct View {
    /// Its name.
    pub id: ViewId,
    /// Its members, in order of their names; one life of each node at most.
    pub members: Vec<Member>,
    /// Who is here and was not in *my* last view, in order; and why. In my first view, everybody,
    /// and I too.
    pub joined: Vec<Change>,
    /// Who was in *my* last view and is not here any more, in order; and why.
    pub left: Vec<Change>,
    /// Who came with whom, if the engine knows: every member is in one part.
    pub came_with: Option<Vec<Part>>,
}

impl Cause {
    /// Whether a life ended in the very view that its member is missed from.
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

    /// Whether a node is here, in whichever life.
    pub fn contains(&self, node: ProcessId) -> bool {
        self.member(node).is_some()
    }

    /// Those who came into this view together with `node`. If the engine does not tell, only those
    /// can have who did not just join.
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

/// How sure a message must be before it is delivered.
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
    /// Who multicast it.
    pub sender: Member,
    /// In which view.
    pub sent_in: ViewId,
    /// How sure it was to be.
    pub level: Level,
    /// What it says.
    pub message: M,
}

/// What an engine tells.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Event<M> {
    /// From now on these are the members.
    View(View),
    /// The view is over. From here to the next view only those named are known to deliver the same.
    Transitional(ProcessSet),
    /// A message is delivered.
    Deliver(Delivery<M>),
    /// There was no room for this multicast, and it is given back. (A service asks before; see
    /// [`Session::multicast`].)
    Refused(M),
    /// There is room again.
    Room,
    /// The engine is gone, and with it our membership: others are told that we are dead. Whatever
    /// was held in the name of this member is void. If there is a next view, we are new in it, with
    /// the next incarnation.
    Lost,
}

/// What an engine is asked.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Ask<M> {
    /// Everybody in the view shall deliver this.
    Multicast {
        /// How sure it must be.
        level: Level,
        /// What it says.
        message: M,
    },
    /// Take me out of the group.
    Leave,
}

/// What an engine can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Capabilities {
    /// It delivers [`Level::Safe`] as such; otherwise as [`Level::Agreed`].
    pub safe: bool,
    /// Every side of a partition goes on with a view of its own.
    pub partitionable: bool,
    /// It tells transitional configurations, and who came with whom.
    pub came_with: bool,
    /// How long a message may be at most, in bytes.
    pub longest_message: usize,
}

/// A protocol that offers the contract above, and states its own facts: its parameters, who may be
/// a member, and which of its timers stand for faults ([`Protocol::REDUCTIONS`]). A service above
/// repeats none of them.
pub trait Engine<M: Wire>: Protocol<Input = Ask<M>, Output = Event<M>> {
    /// What it can do.
    fn capabilities(&self) -> Capabilities;

    /// How many multicasts it takes in now. Never more than a fixed number: what is multicast and
    /// not yet delivered is held in memory.
    fn room(&self) -> usize;

    /// The parameters of the engine. Every service on it has them on its card, after its own.
    const PARAMETERS: &'static [Parameter] = &[];

    /// The faults that an engine stands for itself, if it is an idealised one.
    const OWN_FAULTS: Option<OwnFaults> = None;

    /// The engines of a group that is set up so, one for each process.
    fn engines(setup: &Setup) -> Result<Vec<Self>, SetupError>;

    /// The nodes of such a group that may be members: by default, all.
    fn nodes(setup: &Setup) -> Result<ProcessSet, SetupError> {
        Ok(ProcessSet::all(setup.n))
    }

    /// Whether this process may be a member. If not, nobody there makes requests.
    fn takes_part(&self) -> bool {
        true
    }

    /// Whether this process goes on sending although nobody wants anything.
    fn is_restless(&self) -> bool;
}
