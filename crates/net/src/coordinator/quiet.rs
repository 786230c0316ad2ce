//! Detects the end of a run: no application waits or plans a request, and no message is in flight.

use super::MemberHandle;
use crate::control::Instruction;
use std::time::{Duration, Instant};
use synod_sim::Ended;

/// Messages or timers go on, but no application waits. After this time without an input or output
/// they go on for ever, as heartbeats do, and the run is over.
const NOTHING_NEW: Duration = Duration::from_millis(300);
/// The same if an application waits and no timer is set: the message that it waits for was lost.
const NOTHING_TO_COME: Duration = Duration::from_millis(1_000);
/// The same if an application waits and timers are set, which could still help.
const PATIENCE: Duration = Duration::from_millis(5_000);

/// Detects the end of a run from the statuses of the members.
#[derive(Debug)]
pub(super) struct Quiet {
    /// The inputs and outputs of all members, and the time since when this sum has not changed.
    progress: u64,
    since: Instant,
    /// The current wave of questions, and the counts when it was sent.
    wave: u64,
    asked: Option<[u64; 3]>,
}

impl Default for Quiet {
    fn default() -> Self {
        Quiet { progress: 0, since: Instant::now(), wave: 0, asked: None }
    }
}

impl Quiet {
    /// The run begins, or a restarted member joins it: earlier answers no longer cover all members.
    pub(super) fn begin(&mut self) {
        self.since = Instant::now();
        self.asked = None;
    }

    /// How the run has ended, if it has.
    pub(super) fn look(&mut self, members: &mut [MemberHandle]) -> Option<Ended> {
        if members.iter().all(|member| !member.is_alive()) {
            return Some(Ended::Quiet);
        }
        let progress = members.iter().map(|member| member.status.progress).sum();
        if progress != self.progress {
            self.progress = progress;
            self.since = Instant::now();
        }
        let living = || members.iter().filter(|member| member.is_alive());
        let known = living().all(|member| !member.status.sent.is_empty());
        if !known || !living().all(|member| member.status.content) {
            return None;
        }
        let waits = living().any(|member| member.status.waits);
        let timers = living().any(|member| member.status.timers);
        if !timers && is_settled(members) {
            return self.confirm(members);
        }
        let (bound, ended) = match (waits, timers) {
            (false, _) => (NOTHING_NEW, Ended::Quiet),
            (true, false) => (NOTHING_TO_COME, Ended::Quiet),
            (true, true) => (PATIENCE, Ended::Stalled),
        };
        (self.since.elapsed() > bound).then_some(ended)
    }

    /// Statuses are of different moments, so counts that match may never have held together. The
    /// coordinator therefore asks all members a second time. If no count has changed between the
    /// two waves, the counts held together at the moment between them.
    fn confirm(&mut self, members: &mut [MemberHandle]) -> Option<Ended> {
        let living = || members.iter().filter(|member| member.is_alive());
        let statuses = || living().map(|member| &member.status);
        if self.asked.is_some() && statuses().any(|status| status.wave != self.wave) {
            return None;
        }
        let now = [
            statuses().map(|status| status.progress).sum(),
            statuses().flat_map(|status| &status.sent).sum(),
            living().count() as u64,
        ];
        if self.asked == Some(now) {
            return Some(Ended::Quiet);
        }
        self.asked = Some(now);
        self.wave += 1;
        let instruction = Instruction::Report { wave: self.wave };
        members
            .iter_mut()
            .filter(|member| member.is_alive())
            .for_each(|member| member.instruct(&instruction));
        None
    }
}

/// Whether all messages between living members have arrived.
pub(super) fn is_settled(members: &[MemberHandle]) -> bool {
    let living = || members.iter().filter(|member| member.is_alive());
    let arrived = |from: &MemberHandle, to: &MemberHandle| {
        let sent = from.status.sent.get(to.who.index());
        sent == to.status.received.get(from.who.index())
    };
    living().all(|from| !from.status.held)
        && living().all(|from| living().all(|to| from.who == to.who || arrived(from, to)))
}
