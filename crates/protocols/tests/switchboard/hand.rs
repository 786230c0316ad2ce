//! A group service that a test drives by hand, below switchboards.

use std::collections::{BTreeMap, VecDeque};
use synod_core::family::services::{Input, Output, Tag};
use synod_core::group::{
    Act, Capabilities, Cause, Change, Delivery, Level, Member, Part, Service, Session, View, ViewId,
};
use synod_core::{ProcessId, ProcessSet};
use synod_protocols::slots::table::Owner;
use synod_protocols::switchboard::mutants::{Sound, Variant};
use synod_protocols::switchboard::{Line, Message, Switchboard};

const CAN: Capabilities =
    Capabilities { safe: true, partitionable: true, came_with: true, longest_message: usize::MAX };

/// One node: its life, its switchboard, and its view.
struct Node<V: Variant> {
    life: u32,
    board: Switchboard<V>,
    view: Option<View>,
    told: Vec<Output>,
    has_left: bool,
}

/// Nodes with switchboards, and the undelivered multicasts of the present views.
pub(crate) struct Group<V: Variant = Sound> {
    nodes: BTreeMap<u32, Node<V>>,
    pending: VecDeque<(ViewId, Member, Level, Message)>,
    epoch: u64,
    room: usize,
}

pub(crate) fn set(nodes: &[u32]) -> ProcessSet {
    nodes.iter().copied().map(ProcessId).collect()
}

impl<V: Variant> Group<V> {
    /// Nodes in no view, each with the nodes that it knows.
    pub(crate) fn new(nodes: &[(u32, &[u32])]) -> Self {
        let node = |known: &[u32]| Node {
            life: 1,
            board: Switchboard::new(set(known)),
            view: None,
            told: Vec::new(),
            has_left: false,
        };
        let nodes = nodes.iter().map(|(at, known)| (*at, node(known))).collect();
        Group { nodes, pending: VecDeque::new(), epoch: 0, room: 100 }
    }

    /// From now on the engine takes in at most this many multicasts of a node at once.
    pub(crate) fn with_room(mut self, room: usize) -> Self {
        self.room = room;
        self
    }

    fn step(
        &mut self,
        at: u32,
        run: impl FnOnce(&mut Switchboard<V>, &mut Session<'_, Switchboard<V>>),
    ) {
        let mut acts = VecDeque::new();
        let under_way = self.pending.iter().filter(|(_, from, ..)| from.node.0 == at).count();
        let node = self.nodes.get_mut(&at).expect("there is one");
        let room = if node.view.is_some() { self.room.saturating_sub(under_way) } else { 0 };
        run(&mut node.board, &mut Session::new(ProcessId(at), CAN, room, &mut acts));
        let sender = Member { node: ProcessId(at), incarnation: node.life };
        for act in acts {
            match act {
                Act::Multicast(level, message) => {
                    let view = node.view.as_ref().expect("it has room only in a view");
                    self.pending.push_back((view.id, sender, level, message));
                }
                Act::Notify(output) => node.told.push(output),
                Act::Leave => node.has_left = true,
                Act::SetTimer(..) | Act::CancelTimer(_) => {}
            }
        }
    }

    /// An application or the registry says something to a node. Returns the outputs.
    pub(crate) fn say(&mut self, at: u32, input: Input) -> Vec<Output> {
        let before = self.nodes[&at].told.len();
        self.step(at, |board, session| board.on_command(input, session));
        self.nodes[&at].told[before..].to_vec()
    }

    /// Delivers all multicasts of the present views and all that follow from them.
    pub(crate) fn deliver_all(&mut self) {
        while let Some((sent_in, sender, level, message)) = self.pending.pop_front() {
            let is_in = |node: &Node<V>| node.view.as_ref().is_some_and(|view| view.id == sent_in);
            let to: Vec<u32> =
                self.nodes.iter().filter(|(_, node)| is_in(node)).map(|(at, _)| *at).collect();
            for at in to {
                let message = message.clone();
                let delivery = Delivery { sender, sent_in, level, message };
                self.step(at, |board, session| board.on_deliver(delivery, session));
            }
            if self.nodes.get(&sender.node.0).is_some_and(is_in) {
                self.step(sender.node.0, |board, session| board.on_room(session));
            }
        }
    }

    /// These nodes get a view together, and deliver all that follows.
    pub(crate) fn view(&mut self, members: &[u32]) {
        self.begin_view(members);
        self.deliver_all();
    }

    /// These nodes get a view together; all others cannot be reached. Undelivered multicasts of
    /// their last views are lost.
    pub(crate) fn begin_view(&mut self, members: &[u32]) {
        self.epoch += 1;
        let member = |at: &u32| Member { node: ProcessId(*at), incarnation: self.nodes[at].life };
        let here: Vec<Member> = members.iter().map(member).collect();
        let id = ViewId::new(self.epoch, here[0].node);
        let mut parts: BTreeMap<Option<ViewId>, ProcessSet> = BTreeMap::new();
        for at in members {
            let from = self.nodes[at].view.as_ref().map(|view| view.id);
            parts.entry(from).or_default().insert(ProcessId(*at));
        }
        self.pending.retain(|(_, from, ..)| !members.contains(&from.node.0));
        for at in members {
            if let Some(last) = &self.nodes[at].view {
                let with = parts[&Some(last.id)].clone();
                self.step(*at, |board, session| board.on_transitional(&with, session));
            }
        }
        let came_with: Vec<Part> =
            parts.into_iter().map(|(from, members)| Part { from, members }).collect();
        for at in members {
            let last = self.nodes[at].view.as_ref().map_or(Vec::new(), |view| view.members.clone());
            let change = |member: &Member, cause| Change { member: *member, cause };
            let joined = here.iter().filter(|member| !last.contains(member));
            let left = last.iter().filter(|member| !here.contains(member));
            let view = View {
                id,
                members: here.clone(),
                joined: joined.map(|member| change(member, Cause::Merge)).collect(),
                left: left.map(|member| change(member, Cause::Partition)).collect(),
                came_with: Some(came_with.clone()),
            };
            self.nodes.get_mut(at).expect("there is one").view = Some(view.clone());
            self.step(*at, |board, session| board.on_view(&view, session));
        }
    }

    /// The process of a node dies and starts again. It knows no service, and the nodes on its disk.
    pub(crate) fn restart(&mut self, at: u32) {
        let node = self.nodes.get_mut(&at).expect("there is one");
        node.board = Switchboard::new(node.board.nodes().known.clone());
        node.life += 1;
        node.view = None;
        node.told.clear();
        self.pending.retain(|(_, from, ..)| from.node.0 != at);
    }

    /// The switchboard of a node.
    pub(crate) fn board(&self, at: u32) -> &Switchboard<V> {
        &self.nodes[&at].board
    }

    /// All outputs of a node in its present life.
    pub(crate) fn told(&self, at: u32) -> &[Output] {
        &self.nodes[&at].told
    }

    /// Whether a node has asked its engine to leave.
    pub(crate) fn has_left(&self, at: u32) -> bool {
        self.nodes[&at].has_left
    }

    /// The number of slots that a node owns, in its own table.
    pub(crate) fn owned(&self, at: u32, tag: Tag) -> u32 {
        self.board(at).lines().get(&tag).map_or(0, |line| line.pool().state().owned())
    }

    /// The number of absent slots in the table of a node.
    pub(crate) fn absent(&self, at: u32, tag: Tag) -> u32 {
        let absent = |line: &Line| line.pool().state().table.count(Owner::Absent);
        self.board(at).lines().get(&tag).map_or(0, absent)
    }
}
