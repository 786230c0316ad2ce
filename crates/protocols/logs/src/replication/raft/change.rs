//! Membership changes (D 4.1) and leadership transfer (D 3.10), by order of the layer above.
//!
//! Voters change one at a time: any majority of the old ones and any of the new ones share a
//! server. A change counts as soon as it is in the log. The next change waits until it is
//! committed, and the first one until the leader has committed an entry of its own term.

use super::{Message, Raft, Role, Rules};
use synod_core::replication::{Entry, Parts};
use synod_core::{Cx, Data, ProcessId, ProcessSet};

impl<C: Data, S: Parts, R: Rules> Raft<C, S, R> {
    /// Makes these servers the voters, step by step.
    pub(super) fn reconfigure(&mut self, voters: ProcessSet, cx: &mut Cx<'_, Self>) {
        let is_sensible = !voters.is_empty() && voters.iter().all(|at| cx.is_member(at));
        if let Role::Leader(leadership) = &mut self.role
            && is_sensible
        {
            leadership.next_voters = Some(voters);
            self.go_on_changing(cx);
        }
    }

    /// The next step of a change, if the last is committed.
    pub(super) fn go_on_changing(&mut self, cx: &mut Cx<'_, Self>) {
        let is_settled = self.log.voters_since().is_none_or(|since| since <= self.commit);
        let Role::Leader(leadership) = &mut self.role else { return };
        if self.commit < leadership.began || !is_settled {
            return;
        }
        if let Some(next) =
            leadership.next_voters.as_ref().and_then(|to| step(self.log.voters(), to))
        {
            return self.append(Entry::Voters(next), cx);
        }
        leadership.next_voters = None;
        if !self.log.voters().contains(cx.me()) {
            self.follow(None, cx);
        }
    }

    /// Transfers the leadership, as soon as the log of the target is as long as ours.
    pub(super) fn transfer(&mut self, to: ProcessId, cx: &mut Cx<'_, Self>) {
        let votes = to != cx.me() && self.log.voters().contains(to);
        if let Role::Leader(leadership) = &mut self.role
            && votes
        {
            leadership.transfer_target = Some(to);
            self.hand_over(cx);
        }
    }

    pub(super) fn hand_over(&mut self, cx: &mut Cx<'_, Self>) {
        let last = self.log.last_index();
        let Role::Leader(leadership) = &mut self.role else { return };
        let is_ready =
            |to: &ProcessId| leadership.peers.get(to).is_some_and(|peer| peer.matched == last);
        if let Some(to) = leadership.transfer_target.filter(is_ready) {
            leadership.transfer_target = None;
            leadership.has_transferred = true;
            cx.send(to, Message::TimeoutNow { term: self.term });
        }
    }
}

/// One voter more, or one less; none, if there is nothing to change.
fn step(from: &ProcessSet, to: &ProcessSet) -> Option<ProcessSet> {
    let mut next = from.clone();
    if let Some(new) = to.iter().find(|at| !from.contains(*at)) {
        next.insert(new);
    } else {
        next.remove(from.iter().find(|at| !to.contains(*at))?);
    }
    Some(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn voters_come_and_go_one_at_a_time_first_who_comes() {
        let set = |names: &[u32]| names.iter().copied().map(ProcessId).collect::<ProcessSet>();
        let (mut now, to, mut steps) = (set(&[0, 1, 2]), set(&[2, 3, 4]), Vec::new());
        while let Some(next) = step(&now, &to) {
            steps.push(next.clone());
            now = next;
        }
        let wanted = [&[0, 1, 2, 3][..], &[0, 1, 2, 3, 4], &[1, 2, 3, 4], &[2, 3, 4]];
        assert_eq!(steps, wanted.map(set));
    }
}
