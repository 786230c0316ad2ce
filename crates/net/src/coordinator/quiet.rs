//! Detects the end of a run: no application waits or plans a request, and no message is in flight.

use super::MemberHandle;
use crate::control::Instruction;
use std::time::{Duration, Instant};
use synod_core::clock::in_words;
use synod_sim::Ended;

/// Messages or timers go on, but no application waits. After this time without an input or output
/// they go on for ever, as heartbeats do, and the run is over.
const NOTHING_NEW: Duration = Duration::from_millis(300);
/// After a crash or a restart, the algorithm also gets this many times its longest timer: it
/// notices a crash by a timer, and needs others to repair what the crash broke.
const TIMERS_AFTER_A_FAULT: u64 = 4;
/// The same if an application waits and no timer is set: the message that it waits for was lost.
const NOTHING_TO_COME: Duration = Duration::from_millis(1_000);
/// The same if an application waits and timers are set, which could still help.
const PATIENCE: Duration = Duration::from_millis(5_000);
/// The reason of a run in which no message is in flight and no timer is set.
const NOTHING_CAN_HAPPEN: &str = "nothing can happen any more";

/// Detects the end of a run from the statuses of the members.
#[derive(Debug)]
pub(super) struct Quiet {
    /// The inputs and outputs of all members, and the time since when this sum has not changed.
    progress: u64,
    since: Instant,
    /// Whether a member has died or was started again.
    had_fault: bool,
    /// The current wave of questions, and the counts when it was sent.
    wave: u64,
    asked: Option<[u64; 3]>,
}

impl Default for Quiet {
    fn default() -> Self {
        Quiet { progress: 0, since: Instant::now(), had_fault: false, wave: 0, asked: None }
    }
}

impl Quiet {
    /// The run begins.
    pub(super) fn begin(&mut self) {
        self.since = Instant::now();
        self.asked = None;
    }

    /// A member has died or joins again: earlier answers no longer cover all members, and those
    /// that are alive need time to react.
    pub(super) fn on_fault(&mut self) {
        self.begin();
        self.had_fault = true;
    }

    /// How the run has ended, if it has, and the reason why what waits now waits for ever.
    pub(super) fn look(&mut self, members: &mut [MemberHandle]) -> Option<(Ended, String)> {
        if members.iter().all(|member| !member.is_alive()) {
            return Some((Ended::Quiet, NOTHING_CAN_HAPPEN.to_owned()));
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
        let bound = bound.max(self.time_to_react(living()));
        (self.since.elapsed() > bound).then(|| (ended, nothing_new(bound)))
    }

    /// The time that the algorithm needs after a fault.
    fn time_to_react<'m>(&self, living: impl Iterator<Item = &'m MemberHandle>) -> Duration {
        if !self.had_fault {
            return Duration::ZERO;
        }
        let longest_ms = living.map(|member| member.status.longest_timer_ms).max().unwrap_or(0);
        NOTHING_NEW + Duration::from_millis(longest_ms.saturating_mul(TIMERS_AFTER_A_FAULT))
    }

    /// Statuses are of different moments, so counts that match may never have held together. The
    /// coordinator therefore asks all members a second time. If no count has changed between the
    /// two waves, the counts held together at the moment between them.
    fn confirm(&mut self, members: &mut [MemberHandle]) -> Option<(Ended, String)> {
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
            return Some((Ended::Quiet, NOTHING_CAN_HAPPEN.to_owned()));
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

/// The reason of a run that could go on, and in which applications saw nothing new for so long.
fn nothing_new(bound: Duration) -> String {
    format!("nothing came of it within {}", in_words(bound.as_micros() as u64))
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
