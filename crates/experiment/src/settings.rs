//! The settings of a run: members and slots, timing, and load.

use serde::{Deserialize, Serialize};

/// The mean lifetime of a use, in rounds: ten times Σ 1/k for k = 1..100.
pub const MEAN_LIFE_ROUNDS: f64 = 51.873_775_176_396_2;

/// The authors' claims per member and round: gaps of `1 + round(Exp(λ))`, with λ between .5 and .8.
pub const AUTHORS_RATE: f64 = 0.396_5;

/// The λ of the authors, in percent: two decimals, drawn anew now and then.
pub const AUTHORS_LAMBDA: (u64, u64) = (50, 80);

/// FREE_LOW of the paper.
pub const FREE_LOW: u32 = 4;

/// The settings of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The number of members.
    pub nodes: usize,
    /// The number of slots.
    pub slots: u32,
    /// The number of measured rounds.
    pub rounds: u64,
    /// The number of rounds before these, unmeasured.
    pub warm_up: u64,
    /// The timing of multicasts.
    pub timing: Timing,
    /// How the members join.
    pub start: Start,
    /// A member of a donation scheme with fewer free slots asks for more (FREE_LOW).
    pub low: u32,
    /// The times of claims.
    pub arrivals: Arrivals,
    /// The least and the greatest λ of the authors' arrivals, in percent.
    pub lambda: (u64, u64),
    /// The law of lifetimes (μ).
    pub lives: Lives,
    /// The number of rounds for which a claim waits for a slot; none: it is refused at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<u64>,
    /// Whether one member gets more than its share of the claims.
    pub hot_spot: Option<HotSpot>,
    /// Whether the group splits into two halves for a while.
    pub partition: Option<Partition>,
    /// The number of rounds between two samples of all members; 0 for none.
    pub sample_every: u64,
}

/// The latency of a multicast, and the capacity of the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Timing {
    /// As in the simulation that the paper reports: every node has one turn in a round, reads one
    /// message in a turn at most, and each send costs a turn. A node in the middle forwards at
    /// once.
    Authors,
    /// A network without limits: a multicast is delivered everywhere `latency` rounds after the
    /// round in which it is sent, when that round begins.
    Clean {
        /// The latency, in rounds.
        latency: u64,
    },
}

/// How the members join.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Start {
    /// The first owns all slots; the others join one by one.
    Join {
        /// The rounds between two joins.
        every: u64,
    },
    /// All are members from the beginning.
    Together,
}

impl Start {
    /// As in the simulation that the paper reports: a member joins every ten rounds.
    pub const AUTHORS: Start = Start::Join { every: 10 };
}

/// The times of claims.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Arrivals {
    /// As in the simulation that the paper reports: the next claim comes `1 + round(Exp(λ))` rounds
    /// after the last, with a λ from .5 to .8 for each member, drawn anew every 10,000 rounds.
    Authors,
    /// At random times.
    Poisson {
        /// The offered load: the number of slots that would be in use if there were no end of them,
        /// as a share of the pool.
        load: f64,
    },
}

/// The law of lifetimes. Both have the same mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Lives {
    /// As in the authors' program: 10·K rounds, where P(K ≥ k) = 1/k, and K is 100 at most.
    #[default]
    Program,
    /// As in the text of the paper: an inverse normal law. The text gives no parameters; the shape
    /// here is the mean, so the standard deviation is the mean, too.
    InverseNormal,
}

/// One member gets more than its share of the claims.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct HotSpot {
    /// Its share of all claims.
    pub share: f64,
    /// The number of rounds after which another member is hot; 0 for never.
    pub moves_every: u64,
}

/// The group splits into two halves, and merges again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Partition {
    /// The first round of the partition, from the beginning of the warm-up.
    pub from: u64,
    /// The first round after it.
    pub until: u64,
    /// The number of members on the first side.
    pub left: usize,
}

impl Settings {
    /// The settings of the paper: 768 slots, 32 members, under the timing of its authors.
    pub fn published() -> Self {
        Settings {
            nodes: 32,
            slots: 768,
            rounds: 100_000,
            warm_up: 0,
            timing: Timing::Authors,
            start: Start::AUTHORS,
            low: FREE_LOW,
            arrivals: Arrivals::Authors,
            lambda: AUTHORS_LAMBDA,
            lives: Lives::Program,
            wait: None,
            hot_spot: None,
            partition: None,
            sample_every: 0,
        }
    }

    /// The same pool in a network without limits, with claims at random times, in a steady state.
    pub fn clean(load: f64) -> Self {
        Settings {
            rounds: 10_000,
            warm_up: 2_000,
            timing: Timing::Clean { latency: 2 },
            start: Start::Together,
            arrivals: Arrivals::Poisson { load },
            ..Settings::published()
        }
    }

    /// The offered load, as a share of the slots.
    pub fn offered_load(&self) -> f64 {
        match self.arrivals {
            Arrivals::Poisson { load } => load,
            Arrivals::Authors => {
                self.nodes as f64 * self.authors_rate() * MEAN_LIFE_ROUNDS / f64::from(self.slots)
            }
        }
    }

    /// The claims per member and round of the authors' arrivals. The mean of `round(Exp(λ))` is
    /// Σ P(Exp(λ) ≥ k − ½) = 1 / (2 sinh(λ/2)).
    fn authors_rate(&self) -> f64 {
        if self.lambda == AUTHORS_LAMBDA {
            return AUTHORS_RATE;
        }
        let (least, most) = self.lambda;
        let rate = |percent: u64| {
            let lambda = percent as f64 / 100.0;
            1.0 / (1.0 + 1.0 / (2.0 * (lambda / 2.0).sinh()))
        };
        (least..=most).map(rate).sum::<f64>() / (most - least + 1) as f64
    }

    /// The number of claims in a round, of all members together.
    pub fn claims_per_round(&self) -> f64 {
        self.offered_load() * f64::from(self.slots) / MEAN_LIFE_ROUNDS
    }

    /// The share of all claims that each member gets in a round.
    pub fn share_of(&self, node: usize, round: u64) -> f64 {
        match self.hot_spot {
            None => 1.0 / self.nodes as f64,
            Some(spot) if node == spot.at(round, self.nodes) => spot.share,
            Some(spot) => (1.0 - spot.share) / (self.nodes - 1) as f64,
        }
    }
}

impl HotSpot {
    /// The hot member in a round.
    pub fn at(&self, round: u64, nodes: usize) -> usize {
        match self.moves_every {
            0 => 0,
            every => ((round / every) as usize * 7) % nodes,
        }
    }
}
