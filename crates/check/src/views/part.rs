//! Members between two views.

use super::members::{Members, Store};
use foldhash::fast::FixedState;
use std::collections::HashMap;
use std::rc::Rc;
use synod_core::ProcessId;
use synod_core::group::{self, Cause, Change, Member, View, ViewByView, ViewId};

/// A set of nodes, a bit for each.
pub(super) type Nodes = u64;

pub(super) fn bit(node: ProcessId) -> Nodes {
    1 << node.index()
}

/// A life that goes on. There are three kinds of life, see [`super`]: a node's first is 1.
pub(super) const PRESENT: u32 = 2;
/// A life that is over.
const PAST: u32 = 3;

/// The name of every view that is over.
pub(super) const OVER: ViewId = ViewId::new(1, ProcessId(0));
/// The name of every view that members are in.
pub(super) const NOW: ViewId = ViewId::new(2, ProcessId(0));

/// Members that left a view together and wait for their next one.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Part {
    /// Their states, in order of their names.
    pub(super) states: Vec<u32>,
    /// The members of their last view.
    pub(super) last: Vec<Member>,
    /// The nodes of whose deaths in their last view they know.
    pub(super) ended: Nodes,
}

/// All parts that the explorer has met.
pub(super) struct Parts<S: ViewByView> {
    pub(super) members: Members<S>,
    parts: Store<Part>,
    /// Members whose view is over.
    over: HashMap<u32, u32, FixedState>,
    /// The nodes of each part, and what they keep.
    summaries: Vec<(Nodes, u64)>,
    /// Parts whose memory of other lives is out of date.
    outdated: HashMap<(u32, Nodes), u32, FixedState>,
    /// Members that have left behind the rest of their view, by their state before, the members
    /// that went along, and those that died.
    left: HashMap<(u32, Nodes, Nodes), u32, FixedState>,
}

impl<S: ViewByView> Default for Parts<S> {
    fn default() -> Self {
        Parts {
            members: Members::default(),
            parts: Store::default(),
            over: HashMap::default(),
            summaries: Vec::new(),
            outdated: HashMap::default(),
            left: HashMap::default(),
        }
    }
}

impl<S: ViewByView> Parts<S> {
    pub(super) fn add(&mut self, part: Part) -> u32 {
        let nodes = self.nodes_of(&part.states);
        let kept = |state: &u32| self.members.facts(*state).keeps;
        let keeps = part.states.iter().map(kept).fold(0, |all, kept| all | kept);
        let (number, is_new) = self.parts.add(part);
        if is_new {
            self.summaries.push((nodes, keeps));
        }
        number
    }

    /// The state of a member that has delivered all messages before its next view, with the names
    /// of views and lives that all parts use.
    pub(super) fn over(&mut self, state: u32) -> u32 {
        if let Some(known) = self.over.get(&state) {
            return *known;
        }
        let mut renamed = self.members.state(state).clone();
        renamed.rename(OVER, &|member| Member { incarnation: PRESENT, ..member });
        let new = self.members.add(self.members.node(state), renamed);
        self.over.insert(state, new);
        new
    }

    fn nodes_of(&self, states: &[u32]) -> Nodes {
        states.iter().fold(0, |nodes, state| nodes | bit(self.members.node(*state)))
    }

    pub(super) fn get(&self, part: u32) -> Rc<Part> {
        self.parts.get(part).clone()
    }

    pub(super) fn len(&self) -> usize {
        self.parts.len()
    }

    pub(super) fn nodes(&self, part: u32) -> Nodes {
        self.summaries[part as usize].0
    }

    /// The resources that its members keep for their next view, a bit for each.
    pub(super) fn keeps(&self, part: u32) -> u64 {
        self.summaries[part as usize].1
    }

    /// A part whose members have left behind the rest of their view; and a member that lost by it
    /// what it kept, if there is one.
    pub(super) fn leave_behind(&mut self, part: &Part) -> (Part, Option<ProcessId>) {
        let with = self.nodes_of(&part.states);
        let last = part.last.iter().copied();
        let last: Vec<_> = last.filter(|member| with & bit(member.node) != 0).collect();
        let mut loser = None;
        let mut states = Vec::new();
        for before in &part.states {
            let key = (*before, with, part.ended);
            let after = match self.left.get(&key) {
                Some(known) => *known,
                None => {
                    let mut state = self.members.state(*before).clone();
                    state.leave_behind(&alone(part, &last));
                    self.members.add(self.members.node(*before), state)
                }
            };
            let (had, has) = (self.members.facts(*before), self.members.facts(after));
            if had.is_initialised && had.keeps & !has.owns != 0 {
                loser = Some(self.members.node(*before));
            }
            self.left.insert(key, after);
            states.push(after);
        }
        (Part { states, last, ended: 0 }, loser)
    }

    /// The same part, after the lives of these nodes have ended. Its members do not know it; but
    /// the next life of such a node is another member than the one that they remember.
    pub(super) fn outdate(&mut self, part: u32, dead: Nodes) -> u32 {
        let old = self.get(part);
        if old.last.iter().all(|member| dead & bit(member.node) == 0) {
            return part;
        }
        if let Some(known) = self.outdated.get(&(part, dead)) {
            return *known;
        }
        let end = |member: Member| match dead & bit(member.node) {
            0 => member,
            _ => Member { incarnation: PAST, ..member },
        };
        let mut states = Vec::new();
        for state in &old.states {
            let mut renamed = self.members.state(*state).clone();
            renamed.rename(OVER, &end);
            states.push(self.members.add(self.members.node(*state), renamed));
        }
        let last = old.last.iter().map(|member| end(*member)).collect();
        let new = self.add(Part { states, last, ended: old.ended });
        self.outdated.insert((part, dead), new);
        new
    }
}

/// The view that a part would get if its members met no others.
fn alone(part: &Part, members: &[Member]) -> View {
    let gone = part.last.iter().filter(|member| !members.contains(member));
    let why = |node| if part.ended & bit(node) != 0 { Cause::Disconnect } else { Cause::Partition };
    let together = members.iter().map(|member| member.node).collect();
    View {
        id: NOW,
        members: members.to_vec(),
        joined: Vec::new(),
        left: gone.map(|member| Change { member: *member, cause: why(member.node) }).collect(),
        came_with: Some(vec![group::Part { from: Some(OVER), members: together }]),
    }
}
