//! The times of claims, and the durations of uses. All are drawn from the seed, apart for each
//! member, so that every policy sees the same claims.

use crate::settings::{Arrivals, Lives, MEAN_LIFE_ROUNDS, Settings};
use rand_core::Rng;
use rand_distr::{Distribution, Exp1, InverseGaussian};
use synod_sim::network::{Chance, below, chance};

/// A moment, in parts of a round.
pub(crate) type Time = u64;

/// One round.
pub(crate) const ROUND: Time = 1 << 20;

/// The authors draw a new λ after so many rounds.
const LAMBDA_ROUNDS: u64 = 10_000;

/// Lifetimes are this many rounds, times 1 to 100.
const LIFE_UNIT: u64 = 10;
const LIFE_UNITS: u64 = 100;

/// The claims at all members.
pub(crate) struct Workload {
    settings: Settings,
    members: Vec<Demand>,
}

/// The claims at one member.
struct Demand {
    arrivals: Chance,
    lifetimes: Chance,
    /// For the arrivals of the authors: λ, and the time of its next draw.
    lambda: f64,
    redraw_at: Time,
    /// For random arrivals: the number of claims in a round.
    rate: f64,
}

impl Workload {
    pub(crate) fn new(settings: &Settings, seed: u64) -> Self {
        let demand = |node: usize| {
            let own = |stream: u64| chance(seed ^ ((node as u64 + 1) << 34) ^ (stream << 32));
            let (mut arrivals, lifetimes) = (own(1), own(2));
            let lambda = lambda(&mut arrivals, settings.lambda);
            Demand { arrivals, lifetimes, lambda, redraw_at: LAMBDA_ROUNDS * ROUND, rate: 0.0 }
        };
        let members = (0..settings.nodes).map(demand).collect();
        let mut workload = Workload { settings: settings.clone(), members };
        workload.reheat(0);
        workload
    }

    /// Whether another member becomes hot in this round.
    pub(crate) fn moves(&self, round: u64) -> bool {
        let every = self.settings.hot_spot.map_or(0, |spot| spot.moves_every);
        round > 0 && every > 0 && round.is_multiple_of(every)
    }

    /// Sets the rates of this round.
    pub(crate) fn reheat(&mut self, round: u64) {
        let all = self.settings.claims_per_round();
        for (node, member) in self.members.iter_mut().enumerate() {
            member.rate = all * self.settings.share_of(node, round);
        }
    }

    /// The number of claims at a member in a round.
    pub(crate) fn rate(&self, node: usize) -> f64 {
        self.members[node].rate
    }

    /// The time of the next claim at a member, after one (or the start) at this moment.
    #[inline]
    pub(crate) fn next(&mut self, node: usize, now: Time) -> Time {
        let member = &mut self.members[node];
        let draw: f64 = Exp1.sample(&mut member.arrivals);
        match self.settings.arrivals {
            Arrivals::Poisson { .. } => now + (draw / member.rate * ROUND as f64) as Time,
            Arrivals::Authors => {
                if now > member.redraw_at {
                    member.lambda = lambda(&mut member.arrivals, self.settings.lambda);
                    member.redraw_at = now + LAMBDA_ROUNDS * ROUND;
                }
                now + (1 + (draw / member.lambda).round() as u64) * ROUND
            }
        }
    }

    /// The duration of the next use of a member.
    #[inline]
    pub(crate) fn life(&mut self, node: usize) -> Time {
        let chance = &mut self.members[node].lifetimes;
        match self.settings.lives {
            Lives::Program => {
                let draw = chance.next_u64() | 1;
                (u64::MAX / draw).min(LIFE_UNITS) * LIFE_UNIT * ROUND
            }
            Lives::InverseNormal => {
                let law = InverseGaussian::new(MEAN_LIFE_ROUNDS, MEAN_LIFE_ROUNDS);
                let rounds: f64 = law.expect("both are positive").sample(chance);
                (rounds * ROUND as f64) as Time
            }
        }
    }
}

fn lambda(chance: &mut Chance, (least, most): (u64, u64)) -> f64 {
    (least + below(chance, most - least + 1)) as f64 / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{AUTHORS_RATE, MEAN_LIFE_ROUNDS};

    #[test]
    fn lifetimes_have_the_mean_that_formulas_use() {
        let mut workload = Workload::new(&Settings::published(), 1);
        let lives: Vec<f64> =
            (0..400_000).map(|_| workload.life(0) as f64 / ROUND as f64).collect();
        let mean = lives.iter().sum::<f64>() / lives.len() as f64;
        assert!((mean / MEAN_LIFE_ROUNDS - 1.0).abs() < 0.01, "{mean}");
        let at_least = |k: f64| {
            lives.iter().filter(|life| **life >= 10.0 * k).count() as f64 / lives.len() as f64
        };
        assert!((at_least(2.0) - 0.5).abs() < 0.005 && (at_least(10.0) - 0.1).abs() < 0.005);
        assert!(lives.iter().all(|life| (10.0..=1_000.0).contains(life)));
    }

    #[test]
    fn both_laws_of_lifetimes_have_the_same_mean() {
        let settings = Settings { lives: Lives::InverseNormal, ..Settings::published() };
        let mut workload = Workload::new(&settings, 1);
        let lives: Vec<f64> =
            (0..400_000).map(|_| workload.life(0) as f64 / ROUND as f64).collect();
        let mean = lives.iter().sum::<f64>() / lives.len() as f64;
        assert!((mean / MEAN_LIFE_ROUNDS - 1.0).abs() < 0.01, "{mean}");
        let square = |life: &f64| (life / mean - 1.0).powi(2);
        let variance = lives.iter().map(square).sum::<f64>() / lives.len() as f64;
        assert!((variance - 1.0).abs() < 0.05, "{variance}");
    }

    #[test]
    fn arrivals_come_as_often_as_another_lambda_says() {
        let settings = Settings { lambda: (20, 30), ..Settings::published() };
        let mut workload = Workload::new(&settings, 1);
        let (mut now, mut count) = (0, 0.0);
        while now < 400_000 * ROUND {
            now = workload.next(0, now);
            count += 1.0;
        }
        let wanted = settings.claims_per_round() / 32.0;
        assert!((count / 400_000.0 / wanted - 1.0).abs() < 0.02, "{count} {wanted}");
        assert!(wanted < AUTHORS_RATE / 1.5);
    }

    #[test]
    fn arrivals_come_as_often_as_the_load_says() {
        for settings in [Settings::published(), Settings::clean(0.857)] {
            let mut workload = Workload::new(&settings, 1);
            let mut count = 0;
            for node in 0..32 {
                let mut now = 0;
                while now < 40_000 * ROUND {
                    now = workload.next(node, now);
                    count += 1;
                }
            }
            let per_round = f64::from(count) / 40_000.0;
            let wanted = settings.claims_per_round();
            assert!((per_round / wanted - 1.0).abs() < 0.015, "{per_round} {wanted}");
            assert!((wanted / 32.0 / AUTHORS_RATE - 1.0).abs() < 0.01);
        }
    }
}
