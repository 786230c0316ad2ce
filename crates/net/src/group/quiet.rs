//! When a run is over: nobody wants anything, and nothing is on its way.

use super::Seat;
use crate::control::Order;
use std::time::{Duration, Instant};
use synod_sim::Ended;

/// Nobody wants anything and nobody waits, but something still goes on: after so long without an
/// input or output, it goes on for ever.
const NOTHING_NEW: Duration = Duration::from_millis(300);
/// The same if somebody waits, but no timer is set: whatever it waits for was lost.
const NOTHING_TO_COME: Duration = Duration::from_millis(1_000);
/// The same if timers are set that could help.
const PATIENCE: Duration = Duration::from_millis(5_000);

/// Looks for the end of a run.
#[derive(Debug)]
pub(super) struct Quiet {
    /// How much had happened in all when it was last looked at, and since when.
    progress: u64,
    since: Instant,
    /// The question that everybody is asked now, and how much had happened when it was asked.
    wave: u64,
    asked: Option<[u64; 3]>,
}

impl Default for Quiet {
    fn default() -> Self {
        Quiet { progress: 0, since: Instant::now(), wave: 0, asked: None }
    }
}

impl Quiet {
    /// The run begins, or begins again with somebody who was not asked yet.
    pub(super) fn begin(&mut self) {
        self.since = Instant::now();
        self.asked = None;
    }

    /// How the run has ended, if it has.
    pub(super) fn look(&mut self, seats: &mut [Seat]) -> Option<Ended> {
        if seats.iter().all(|seat| !seat.is_alive()) {
            return Some(Ended::Quiet);
        }
        let progress = seats.iter().map(|seat| seat.status.progress).sum();
        if progress != self.progress {
            self.progress = progress;
            self.since = Instant::now();
        }
        let living = || seats.iter().filter(|seat| seat.is_alive());
        let known = living().all(|seat| !seat.status.sent.is_empty());
        if !known || !living().all(|seat| seat.status.content) {
            return None;
        }
        let waits = living().any(|seat| seat.status.waits);
        let timers = living().any(|seat| seat.status.timers);
        if !timers && is_settled(seats) {
            return self.confirm(seats);
        }
        let (bound, ended) = match (waits, timers) {
            (false, _) => (NOTHING_NEW, Ended::Quiet),
            (true, false) => (NOTHING_TO_COME, Ended::Quiet),
            (true, true) => (PATIENCE, Ended::Stalled),
        };
        (self.since.elapsed() > bound).then_some(ended)
    }

    /// Members answer at different times: what looks settled may be two halves of two moments. If
    /// everybody is asked once more after that, and nothing has changed, it was true in between.
    fn confirm(&mut self, seats: &mut [Seat]) -> Option<Ended> {
        let living = || seats.iter().filter(|seat| seat.is_alive());
        let statuses = || living().map(|seat| &seat.status);
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
        let order = Order::Report { wave: self.wave };
        seats.iter_mut().filter(|seat| seat.is_alive()).for_each(|seat| seat.tell(&order));
        None
    }
}

/// Whether everything that was sent between the living has arrived.
pub(super) fn is_settled(seats: &[Seat]) -> bool {
    let living = || seats.iter().filter(|seat| seat.is_alive());
    let arrived = |from: &Seat, to: &Seat| {
        let sent = from.status.sent.get(to.who.index());
        sent == to.status.received.get(from.who.index())
    };
    living().all(|from| !from.status.held)
        && living().all(|from| living().all(|to| from.who == to.who || arrived(from, to)))
}
