//! The membership, round by round: members join one by one, or all at once; and the group may split
//! into two halves and merge again.

use crate::members::member;
use crate::settings::{Partition, Settings, Start};
use synod_core::group::{Cause, Change, Part, View, ViewId};
use synod_core::{ProcessId, ProcessSet};

/// The round in which a member joins.
pub(crate) fn joins_in(settings: &Settings, node: usize) -> u64 {
    match settings.start {
        Start::Join { every } => every * (node as u64 + 1),
        Start::Together => 0,
    }
}

/// The view of each member, and the changes of views.
pub(crate) struct Membership {
    settings: Settings,
    epoch: u64,
    /// The view in which each node is, with its members.
    current: Vec<Option<(ViewId, ProcessSet)>>,
}

impl Membership {
    pub(crate) fn new(settings: &Settings) -> Self {
        Membership { settings: settings.clone(), epoch: 0, current: vec![None; settings.nodes] }
    }

    /// The views of this round, each with its receiver.
    pub(crate) fn changes(&mut self, round: u64) -> Vec<(usize, View)> {
        let n = self.settings.nodes;
        match (self.settings.start, self.settings.partition) {
            (_, Some(Partition { from, left, .. })) if round == from => {
                let mut views = self.form(&(0..left).collect::<Vec<_>>());
                views.extend(self.form(&(left..n).collect::<Vec<_>>()));
                views
            }
            (_, Some(Partition { until, .. })) if round == until => {
                self.form(&(0..n).collect::<Vec<_>>())
            }
            (Start::Together, _) if round == 0 => self.form(&(0..n).collect::<Vec<_>>()),
            (Start::Join { every }, _) if round > 0 && round.is_multiple_of(every) => {
                let there = (round / every) as usize;
                if there > n { Vec::new() } else { self.form(&(0..there).collect::<Vec<_>>()) }
            }
            _ => Vec::new(),
        }
    }

    /// A view of these members.
    fn form(&mut self, nodes: &[usize]) -> Vec<(usize, View)> {
        self.epoch += 1;
        let id = ViewId { epoch: self.epoch, by: member(nodes[0]) };
        let mut parts: Vec<Part> = Vec::new();
        for &node in nodes {
            let from = self.current[node].as_ref().map(|(id, _)| *id);
            let process = ProcessId(node as u32);
            match parts.iter_mut().find(|part| part.from == from && from.is_some()) {
                Some(part) => {
                    part.members.insert(process);
                }
                None => parts.push(Part { from, members: [process].into_iter().collect() }),
            }
        }
        let set: ProcessSet = nodes.iter().map(|node| ProcessId(*node as u32)).collect();
        let views = nodes.iter().map(|&node| (node, self.seen_by(node, id, nodes, &set, &parts)));
        let views: Vec<_> = views.collect();
        for &node in nodes {
            self.current[node] = Some((id, set.clone()));
        }
        views
    }

    fn seen_by(
        &self,
        node: usize,
        id: ViewId,
        nodes: &[usize],
        set: &ProcessSet,
        parts: &[Part],
    ) -> View {
        let known = |other: usize| match &self.current[node] {
            Some((_, members)) => members.contains(ProcessId(other as u32)),
            None => false,
        };
        let cause = |other: usize| match self.current[other] {
            None => Cause::Join,
            Some(_) => Cause::Merge,
        };
        let joined = nodes.iter().filter(|other| !known(**other));
        let gone = (0..self.settings.nodes)
            .filter(|other| known(*other) && !set.contains(ProcessId(*other as u32)));
        View {
            id,
            members: nodes.iter().map(|node| member(*node)).collect(),
            joined: joined
                .map(|other| Change { member: member(*other), cause: cause(*other) })
                .collect(),
            left: gone
                .map(|other| Change { member: member(other), cause: Cause::Partition })
                .collect(),
            came_with: Some(parts.to_vec()),
        }
    }
}
