//! The coordinator's attempt to install a view.

use super::message::{Accept, Message, Prepare};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use synod_core::group::{Member, ViewId};
use synod_core::{ProcessId, ProcessSet, Wire};

/// A view that this coordinator tries to install.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Attempt<M> {
    pub(super) id: ViewId,
    pub(super) members: Vec<Member>,
    pub(super) phase: CoordinatorPhase<M>,
    /// Periods since the last new answer.
    pub(super) waited: u32,
}

/// The phase of an attempt, with the answers so far.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) enum CoordinatorPhase<M> {
    /// The coordinator has proposed the view; these members have accepted.
    Proposed(BTreeMap<ProcessId, Accept<M>>),
    /// The coordinator has sent each part its missing messages; the members in `ready` have them.
    Prepared { prepares: Vec<(ProcessSet, Prepare<M>)>, ready: ProcessSet },
}

impl<M> Attempt<M> {
    pub(super) fn awaits(&self, node: ProcessId) -> bool {
        match &self.phase {
            CoordinatorPhase::Proposed(accepts) => !accepts.contains_key(&node),
            CoordinatorPhase::Prepared { ready, .. } => !ready.contains(node),
        }
    }

    pub(super) fn contains(&self, node: ProcessId) -> bool {
        self.members.iter().any(|member| member.node == node)
    }

    /// The members whose answer is missing.
    pub(super) fn missing(&self) -> Vec<ProcessId> {
        self.members.iter().map(|member| member.node).filter(|node| self.awaits(*node)).collect()
    }
}

impl<M: Wire> Attempt<M> {
    /// The message that the coordinator repeats to a member that has not answered.
    pub(super) fn reminder(&self, node: ProcessId) -> Message<M> {
        let theirs = match &self.phase {
            CoordinatorPhase::Proposed(_) => None,
            CoordinatorPhase::Prepared { prepares, .. } => {
                prepares.iter().find(|(to, _)| to.contains(node))
            }
        };
        match theirs {
            None => Message::Propose { attempt: self.id, members: self.members.clone() },
            Some((_, prepare)) => Message::Prepare(Box::new(prepare.clone())),
        }
    }
}

impl<M> Prepare<M> {
    /// Whether every member is in exactly one part, and the messages are in order.
    pub(super) fn is_sound(&self) -> bool {
        let members: ProcessSet = self.members.iter().map(|member| member.node).collect();
        let together: ProcessSet = self.parts.iter().flat_map(|part| part.members.iter()).collect();
        let places: usize = self.parts.iter().map(|part| part.members.len()).sum();
        together == members
            && places == members.len()
            && self.log.windows(2).all(|pair| pair[0].number < pair[1].number)
    }
}
