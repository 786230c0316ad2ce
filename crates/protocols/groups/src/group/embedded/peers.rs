//! The failure detector: heartbeats, the nodes that a process reaches, and the members that it
//! wants.
//!
//! A node is *heard* if its last heartbeat is not too old. It is *reached* if it is heard and says
//! that it hears us: a link that works in one direction only does not count. Among the nodes that
//! it reaches, each node looks for the smallest that wants it in its view, and *follows* that one.
//! Only a node that follows itself is a coordinator and proposes views. It wants all nodes that
//! follow no smaller one and reach each other. So if some nodes do not reach each other, the nodes
//! fall into views one after the other, in order of their names, and stay there: no node goes back
//! and forth between two views.
//!
//! - State: for each node its last heartbeat and four small numbers.

use super::Embedded;
use super::message::Hello;
use serde::{Deserialize, Serialize};
use synod_core::group::{Cause, Change, Member, ViewId};
use synod_core::{ProcessId, ProcessSet};

/// How often the ban of a node that does not answer doubles.
const MOST_DOUBLINGS: u32 = 6;

/// The longest ban, in time-outs.
pub(super) const LONGEST_BAN: u64 = 1 << MOST_DOUBLINGS;

/// The knowledge of one node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Peer {
    /// Its latest heartbeat, from its latest life.
    hello: Option<Hello>,
    /// Periods since that heartbeat; never more than one above the patience.
    silent: u32,
    /// The latest life in which it left.
    left: u32,
    /// Its view when it left.
    left_from: Option<ViewId>,
    /// Periods that it has been in another view, or on the way to one, although it is a member of
    /// ours; never more than one above twice the patience.
    astray: u32,
    /// Remaining periods in which a coordinator does not propose it, because it did not answer.
    banned: u32,
    /// Bans in a row.
    failures: u32,
}

/// The knowledge of all nodes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Peers {
    me: ProcessId,
    /// Silent periods after which a node is no longer heard.
    patience: u32,
    peers: Vec<Peer>,
    /// Periods in which a smaller node has been reached that does not want us.
    unwanted: u32,
}

impl<M> Embedded<M> {
    /// A driver's hint that a node may be gone: the connection to it was closed from there. A node
    /// that lives is heard again with its next heartbeat, so a wrong hint costs a view at most.
    pub fn doubt(&mut self, node: ProcessId) {
        self.peers.doubt(node);
    }
}

impl Peers {
    /// The knowledge at the start: no node was heard.
    pub(super) fn new(me: ProcessId, n: usize, patience: u32) -> Self {
        let unheard = Peer {
            hello: None,
            silent: 0,
            left: 0,
            left_from: None,
            astray: 0,
            banned: 0,
            failures: 0,
        };
        Peers { me, patience, peers: vec![unheard; n], unwanted: 0 }
    }

    /// Takes in a heartbeat. Returns false if it is out of date.
    pub(super) fn on_hello(&mut self, from: ProcessId, hello: Hello) -> bool {
        let peer = &mut self.peers[from.index()];
        let life = peer.hello.as_ref().map_or(0, |hello| hello.incarnation);
        if hello.incarnation < life || hello.incarnation <= peer.left {
            return false;
        }
        if hello.incarnation > life {
            (peer.astray, peer.banned, peer.failures) = (0, 0, 0);
        }
        peer.silent = 0;
        peer.hello = Some(hello);
        true
    }

    /// Another sign than silence says that a node may be gone: from the next beat on it is not
    /// heard, unless it gives a sign of life before. It is as if its last heartbeats had been lost,
    /// which may happen anyway.
    pub(super) fn doubt(&mut self, node: ProcessId) {
        if let Some(peer) = self.peers.get_mut(node.index()) {
            peer.silent = peer.silent.max(self.patience);
        }
    }

    /// A member leaves, and names its last view.
    pub(super) fn on_bye(&mut self, member: Member, view: ViewId) {
        let peer = &mut self.peers[member.node.index()];
        if member.incarnation > peer.left {
            (peer.left, peer.left_from) = (member.incarnation, Some(view));
        }
    }

    /// A period is over, in a view with these members.
    pub(super) fn on_beat(&mut self, view: ViewId, members: &[Member]) {
        for peer in &mut self.peers {
            peer.silent = (peer.silent + 1).min(self.patience + 1);
            peer.banned = peer.banned.saturating_sub(1);
        }
        for member in members {
            let peer = &mut self.peers[member.node.index()];
            let is_here = |hello: &Hello| hello.view == view && !hello.frozen;
            let here = peer.hello.as_ref().is_some_and(is_here);
            peer.astray = if here { 0 } else { (peer.astray + 1).min(2 * self.patience + 1) };
        }
        let reached = |smaller: &ProcessId| self.reached(*smaller).is_some();
        let first = ProcessId::all(self.me.index()).any(|smaller| reached(&smaller));
        let unwanted = first && self.wanted_by().is_none();
        self.unwanted = if unwanted { (self.unwanted + 1).min(self.patience + 1) } else { 0 };
    }

    /// A new view begins: its members are taken to be in it, until their heartbeats say otherwise.
    pub(super) fn on_view(&mut self, members: &[Member]) {
        for member in members {
            let peer = &mut self.peers[member.node.index()];
            (peer.astray, peer.banned, peer.failures) = (0, 0, 0);
        }
    }

    /// Bans a node that did not answer a proposal.
    pub(super) fn ban(&mut self, node: ProcessId) {
        let peer = &mut self.peers[node.index()];
        peer.banned = self.patience << peer.failures;
        peer.failures = (peer.failures + 1).min(MOST_DOUBLINGS);
    }

    /// The latest known life of a node; none if the node left or was never heard.
    pub(super) fn life(&self, node: ProcessId) -> Option<u32> {
        let peer = &self.peers[node.index()];
        let life = peer.hello.as_ref()?.incarnation;
        (life > peer.left).then_some(life)
    }

    /// The known number of restarts in the group. Our own life is `life`.
    pub(super) fn restarts(&self, life: u32) -> u64 {
        let lives = self.peers.iter().filter_map(|peer| Some(peer.hello.as_ref()?.incarnation));
        lives.chain([life]).map(|life| u64::from(life).saturating_sub(1)).sum()
    }

    /// The last heartbeat of a node that is heard.
    fn heard(&self, node: ProcessId) -> Option<&Hello> {
        let peer = &self.peers[node.index()];
        let hello = peer.hello.as_ref()?;
        (peer.silent <= self.patience && hello.incarnation > peer.left).then_some(hello)
    }

    /// The last heartbeat of a node that hears us, too.
    pub(super) fn reached(&self, node: ProcessId) -> Option<&Hello> {
        self.heard(node).filter(|hello| hello.hears.contains(self.me))
    }

    /// All nodes that are heard.
    pub(super) fn hears(&self) -> ProcessSet {
        ProcessId::all(self.peers.len()).filter(|node| self.heard(*node).is_some()).collect()
    }

    /// The smallest node that we reach and that wants us, among the nodes smaller than this one.
    fn wanted_by(&self) -> Option<ProcessId> {
        let wants = |node: &ProcessId| {
            self.reached(*node).is_some_and(|hello| hello.wants.contains(self.me))
        };
        ProcessId::all(self.me.index()).find(wants)
    }

    /// The coordinator whose proposals we take. If we reach a smaller node that does not want us,
    /// we wait for a while: it may want us soon.
    pub(super) fn follows(&self) -> ProcessId {
        if let Some(smaller) = self.wanted_by() {
            return smaller;
        }
        let waits = self.unwanted <= self.patience;
        let mut smaller = ProcessId::all(self.me.index());
        let first = smaller.find(|node| waits && self.reached(*node).is_some());
        first.unwrap_or(self.me)
    }

    /// Whether we take a proposal from a node: no smaller one wants us.
    pub(super) fn would_follow(&self, node: ProcessId) -> bool {
        self.reached(node).is_some() && self.wanted_by().is_none_or(|smaller| smaller >= node)
    }

    /// The members that we want in our view, in order, if we are a coordinator.
    pub(super) fn wanted(&self, life: u32) -> Vec<Member> {
        let mut wanted = vec![Member { node: self.me, incarnation: life }];
        let larger = ProcessId::all(self.peers.len()).skip(self.me.index() + 1);
        for node in larger.filter(|node| self.peers[node.index()].banned == 0) {
            let Some(hello) = self.reached(node).filter(|hello| hello.follows >= self.me) else {
                continue;
            };
            let mutual = |member: &Member| {
                let other = &self.peers[member.node.index()].hello;
                hello.hears.contains(member.node)
                    && other.as_ref().is_some_and(|other| other.hears.contains(node))
            };
            if wanted[1..].iter().all(mutual) {
                wanted.push(Member { node, incarnation: hello.incarnation });
            }
        }
        wanted
    }

    /// Whether one of these is reached, and follows a node smaller than us.
    pub(super) fn hesitates(&self, members: &[Member]) -> bool {
        let mut reached = members.iter().filter_map(|member| self.reached(member.node));
        reached.any(|hello| hello.follows < self.me)
    }

    /// Whether a member of our view has been in another one for too long: longer than it takes
    /// until it hears that our view began, and we hear that it is there.
    pub(super) fn is_astray(&self, members: &[Member]) -> bool {
        let astray = |member: &Member| self.peers[member.node.index()].astray > 2 * self.patience;
        members.iter().any(|member| member.node != self.me && astray(member))
    }

    /// The members of this view that are known to have left, or to be dead because their node lives
    /// again.
    pub(super) fn gone(&self, view: ViewId, members: &[Member]) -> Vec<Change> {
        let gone = |member: &Member| {
            let peer = &self.peers[member.node.index()];
            let life = peer.hello.as_ref().map_or(0, |hello| hello.incarnation);
            // A member takes no proposal below the one that it took last. So if the last view of a
            // member that left is not above ours, it was in no other view since it took the
            // proposal of ours.
            let left_here = peer.left_from.is_some_and(|last| last <= view);
            let cause = if peer.left == member.incarnation && left_here {
                Cause::Leave
            } else if life.max(peer.left) > member.incarnation {
                Cause::Restart
            } else {
                return None;
            };
            Some(Change { member: *member, cause })
        };
        members.iter().filter_map(gone).collect()
    }
}
