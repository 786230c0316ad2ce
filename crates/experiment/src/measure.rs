//! The measurements of a run.

use crate::policy::Holding;
use serde::Serialize;

/// Longer response times are counted as this one.
const LONGEST: usize = 4_096;
/// A request that is open for longer than this many rounds is blocked.
pub const BLOCKED_AFTER: u64 = 2_000;

/// The results of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Measured {
    /// The number of measured rounds.
    pub rounds: u64,
    /// Claims that got a slot.
    pub succeeded: u64,
    /// Claims that got none.
    pub failed: u64,
    /// Multicasts that were sent.
    pub multicasts: u64,
    /// Messages to one member that were sent.
    pub messages: u64,
    /// The rounds from a claim to its slot.
    pub delay_rounds: u64,
    /// By number of rounds: the claims that got their slots after waiting for that many, if claims
    /// wait.
    pub delays: Vec<u64>,
    /// The greatest number of slots in use at two members at once.
    pub used_twice: u32,
    /// The share of all slots in use, on average.
    pub used: f64,
    /// The number of multicasts that wait to be read, on average over members.
    pub queue: f64,
    /// By number of multicasts, its own included: the requests that were served after that many.
    pub response_multicasts: Vec<u64>,
    /// By number of rounds: the requests that were served after that many.
    pub response_rounds: Vec<u64>,
    /// Requests that ended without a slot.
    pub unserved: u64,
    /// Requests that brought more than was asked for, exactly that, less, nothing.
    pub outcomes: [u64; 4],
    /// Donations that left the donor with fewer free slots than it should keep.
    pub overgenerous: u64,
    /// The greatest number of requests open at once.
    pub most_open: usize,
    /// The greatest number of blocked members.
    pub most_blocked: usize,
    /// The number of members blocked at the end.
    pub blocked: usize,
    /// Disagreements on owners at the end, among members that have delivered the same multicasts.
    pub disagreements: usize,
    /// The number of slots that the members own at the end, together.
    pub owned: u32,
    /// The course of the run, if samples were taken.
    pub samples: Vec<Sample>,
}

/// The state of the group at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Sample {
    /// The round, from the beginning of the run.
    pub round: u64,
    /// The slots of every member.
    pub members: Vec<MemberSample>,
    /// Claims that got a slot since the last sample.
    pub succeeded: u64,
    /// Claims that got none since the last sample.
    pub failed: u64,
    /// Multicasts since the last sample.
    pub multicasts: u64,
    /// The number of members with an open request.
    pub open: usize,
    /// The number of blocked members among them.
    pub blocked: usize,
    /// The number of multicasts that wait to be read, on average over members.
    pub queue: f64,
}

/// The slots of one member at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MemberSample {
    /// Slots in use.
    pub used: u32,
    /// Owned and free slots.
    pub free: u32,
    /// Owned and promised slots.
    pub pledged: u32,
    /// Its claims that got a slot since the last sample.
    pub succeeded: u32,
    /// Its claims that got none since the last sample.
    pub failed: u32,
}

impl Measured {
    /// Successful claims for each multicast.
    pub fn claims_per_multicast(&self) -> f64 {
        if self.multicasts == 0 {
            return f64::INFINITY;
        }
        self.succeeded as f64 / self.multicasts as f64
    }

    /// Failed claims for each that succeeds.
    pub fn failed_per_success(&self) -> f64 {
        self.failed as f64 / (self.succeeded as f64).max(1.0)
    }

    /// Multicasts in a round.
    pub fn multicasts_per_round(&self) -> f64 {
        self.multicasts as f64 / self.rounds as f64
    }

    /// The offered load, computed from the claims.
    pub fn offered(&self, slots: u32) -> f64 {
        let claims = (self.succeeded + self.failed) as f64;
        claims / self.rounds as f64 * crate::settings::MEAN_LIFE_ROUNDS / f64::from(slots)
    }
}

/// Counts while a run goes on.
pub(crate) struct Meter {
    pub(crate) measured: Measured,
    slots: u32,
    /// Rounds before this one do not count.
    from: u64,
    sample_every: u64,
    used_sum: u64,
    queue_sum: f64,
    /// One for each member.
    requests: Vec<Request>,
    open: usize,
    since: Vec<MemberSample>,
    last: (u64, u64, u64),
}

/// The request of a member, if it has one.
#[derive(Clone, Copy, Default)]
struct Request {
    open: bool,
    served: bool,
    since_round: u64,
    asked: u32,
    heard: u32,
}

impl Meter {
    pub(crate) fn new(nodes: usize, slots: u32, from: u64, sample_every: u64) -> Self {
        Meter {
            measured: Measured::default(),
            slots,
            from,
            sample_every,
            used_sum: 0,
            queue_sum: 0.0,
            requests: vec![Request::default(); nodes],
            open: 0,
            since: vec![MemberSample::default(); nodes],
            last: (0, 0, 0),
        }
    }

    #[inline]
    pub(crate) fn claim(&mut self, node: usize, round: u64, got: bool) {
        let (all, own) = (&mut self.measured, &mut self.since[node]);
        let counts = u64::from(round >= self.from);
        if got {
            all.succeeded += counts;
            own.succeeded += 1;
        } else {
            all.failed += counts;
            own.failed += 1;
        }
    }

    /// A claim that might wait got its slot after this many rounds.
    pub(crate) fn waited(&mut self, round: u64, rounds: u64) {
        if round >= self.from {
            bump(&mut self.measured.delays, rounds as usize);
        }
    }

    #[inline]
    pub(crate) fn multicast(&mut self, round: u64) {
        self.measured.multicasts += u64::from(round >= self.from);
    }

    /// Messages to one member.
    pub(crate) fn messages(&mut self, round: u64, count: u64) {
        self.measured.messages += if round >= self.from { count } else { 0 };
    }

    /// Slots are in use at two members at once.
    #[inline]
    pub(crate) fn used_twice(&mut self, slots: u32) {
        self.measured.used_twice = self.measured.used_twice.max(slots);
    }

    /// A member asks for `asked` slots.
    pub(crate) fn asks(&mut self, node: usize, round: u64, asked: u32) {
        let request = &mut self.requests[node];
        if !request.open {
            self.open += 1;
            self.measured.most_open = self.measured.most_open.max(self.open);
        }
        *request = Request { open: true, served: false, since_round: round, asked, heard: 0 };
    }

    /// Whether a member waits for its first slot.
    #[inline]
    pub(crate) fn waits(&self, node: usize) -> bool {
        let request = &self.requests[node];
        request.open && !request.served
    }

    /// A waiting member gets one of the answers.
    #[inline]
    pub(crate) fn hears(&mut self, node: usize) {
        self.requests[node].heard += 1;
    }

    /// A waiting member has its first slot, after the multicasts it heard and `more` others.
    pub(crate) fn served(&mut self, node: usize, round: u64, more: u32) {
        let request = &mut self.requests[node];
        request.served = true;
        if round >= self.from {
            bump(&mut self.measured.response_multicasts, (request.heard + more) as usize);
            bump(&mut self.measured.response_rounds, (round - request.since_round) as usize);
        }
    }

    /// The request of a member is over.
    pub(crate) fn got(&mut self, node: usize, round: u64, got: u32) {
        let request = &mut self.requests[node];
        if !request.open {
            return;
        }
        request.open = false;
        self.open -= 1;
        if round >= self.from {
            self.measured.unserved += u64::from(got == 0);
            let outcome = match got.cmp(&request.asked) {
                std::cmp::Ordering::Greater => 0,
                std::cmp::Ordering::Equal => 1,
                std::cmp::Ordering::Less if got > 0 => 2,
                std::cmp::Ordering::Less => 3,
            };
            self.measured.outcomes[outcome] += 1;
        }
    }

    /// The end of a round.
    pub(crate) fn round(
        &mut self,
        round: u64,
        queue: f64,
        holdings: impl Iterator<Item = Holding> + Clone,
    ) {
        if round >= self.from {
            self.measured.rounds += 1;
            self.used_sum += holdings.clone().map(|holding| u64::from(holding.used)).sum::<u64>();
            self.queue_sum += queue;
        }
        if self.sample_every > 0 && round.is_multiple_of(self.sample_every) {
            self.sample(round, queue, holdings);
        }
    }

    fn blocked(&self, round: u64) -> usize {
        let long = |r: &&Request| r.open && round.saturating_sub(r.since_round) > BLOCKED_AFTER;
        self.requests.iter().filter(long).count()
    }

    fn sample(&mut self, round: u64, queue: f64, holdings: impl Iterator<Item = Holding>) {
        let all = &self.measured;
        let now = (all.succeeded, all.failed, all.multicasts);
        let members = holdings.zip(&mut self.since).map(|(holding, since)| MemberSample {
            used: holding.used,
            free: holding.free,
            pledged: holding.pledged,
            ..std::mem::take(since)
        });
        let members = members.collect();
        let blocked = self.blocked(round);
        self.measured.samples.push(Sample {
            round,
            members,
            succeeded: now.0 - self.last.0,
            failed: now.1 - self.last.1,
            multicasts: now.2 - self.last.2,
            open: self.open,
            blocked,
            queue,
        });
        self.measured.most_blocked = self.measured.most_blocked.max(blocked);
        self.last = now;
    }

    /// The run is over.
    pub(crate) fn finish(mut self, round: u64) -> Measured {
        self.measured.blocked = self.blocked(round);
        let rounds = self.measured.rounds.max(1) as f64;
        self.measured.used = self.used_sum as f64 / rounds / f64::from(self.slots);
        self.measured.queue = self.queue_sum / rounds;
        self.measured
    }
}

fn bump(histogram: &mut Vec<u64>, at: usize) {
    let at = at.min(LONGEST);
    if histogram.len() <= at {
        histogram.resize(at + 1, 0);
    }
    histogram[at] += 1;
}
