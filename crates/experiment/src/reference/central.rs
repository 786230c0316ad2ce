//! Two allocators that see the whole pool: bounds for all others.

use crate::clean::Group;
use crate::measure::{Measured, Meter};
use crate::policy::Holding;
use crate::settings::Settings;
use crate::workload::{ROUND, Time, Workload};
use std::collections::VecDeque;

/// The kind of a central allocator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One pool for all, without any latency: Erlang's formula, simulated.
    Oracle,
    /// Every round it sees the slots of all members and moves free ones; a moved slot cannot be
    /// used until it arrives. Its messages cost nothing.
    Mover,
}

/// Members that only count.
pub(crate) struct Central {
    kind: Kind,
    latency: Time,
    holdings: Vec<Holding>,
    /// The pool of the oracle.
    pool: u32,
    /// The slots on their way to a member, with their times of arrival.
    moving: VecDeque<(Time, usize)>,
    /// The number of slots on their way to each member.
    coming: Vec<u32>,
    meter: Meter,
}

impl Central {
    pub(crate) fn new(settings: &Settings, latency: u64, kind: Kind) -> Self {
        let meter =
            Meter::new(settings.nodes, settings.slots, settings.warm_up, settings.sample_every);
        let mut holdings = vec![Holding::default(); settings.nodes];
        let pool = match kind {
            Kind::Oracle => settings.slots,
            Kind::Mover => 0,
        };
        for slot in pool..settings.slots {
            holdings[slot as usize % settings.nodes].free += 1;
        }
        Central {
            kind,
            latency: latency * ROUND,
            holdings,
            pool,
            moving: VecDeque::new(),
            coming: vec![0; settings.nodes],
            meter,
        }
    }

    /// Moves free slots from the member with most to spare to the one that lacks most, until all
    /// are equally far from running out before more can come.
    fn balance(&mut self, now: Time, workload: &Workload) {
        let rounds = (self.latency / ROUND) as f64;
        loop {
            // The distance of a member's stock from its mean need, in standard deviations.
            let comfort = |node: usize, have: u32| {
                let mean = workload.rate(node) * rounds;
                (f64::from(have) - mean) / mean.sqrt().max(1e-9)
            };
            let stock =
                |node: &usize| comfort(*node, self.holdings[*node].free + self.coming[*node]);
            let all = 0..self.holdings.len();
            let poorest = all.clone().min_by(|a, b| stock(a).total_cmp(&stock(b)));
            let givers = all.filter(|node| self.holdings[*node].free > 0);
            let richest = givers.max_by(|a, b| stock(a).total_cmp(&stock(b)));
            let (Some(poorest), Some(richest)) = (poorest, richest) else { return };
            if comfort(richest, self.holdings[richest].free - 1) <= stock(&poorest) + 1e-9 {
                return;
            }
            self.holdings[richest].free -= 1;
            self.coming[poorest] += 1;
            self.moving.push_back((now + self.latency, poorest));
        }
    }
}

impl Group for Central {
    type Held = ();

    fn begin(&mut self, round: u64, workload: &Workload) {
        if self.kind == Kind::Mover {
            self.balance(round * ROUND, workload);
        }
    }

    fn next(&self) -> Option<Time> {
        self.moving.front().map(|(due, _)| *due)
    }

    fn advance(&mut self) {
        if let Some((_, node)) = self.moving.pop_front() {
            self.coming[node] -= 1;
            self.holdings[node].free += 1;
        }
    }

    fn claim(&mut self, node: usize, now: Time) -> Option<()> {
        let holding = &mut self.holdings[node];
        let stock = match self.kind {
            Kind::Oracle => &mut self.pool,
            Kind::Mover => &mut holding.free,
        };
        let got = *stock > 0;
        *stock -= u32::from(got);
        holding.used += u32::from(got);
        self.meter.claim(node, now / ROUND, got);
        got.then_some(())
    }

    fn release(&mut self, node: usize, _now: Time, (): ()) {
        self.holdings[node].used -= 1;
        match self.kind {
            Kind::Oracle => self.pool += 1,
            Kind::Mover => self.holdings[node].free += 1,
        }
    }

    fn end(&mut self, round: u64) {
        self.meter.round(round, 0.0, self.holdings.iter().copied());
    }

    fn finish(self, round: u64) -> Measured {
        self.meter.finish(round)
    }
}
