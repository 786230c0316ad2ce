//! Claims that wait for a slot: those under way, and how long they took.

use crate::members::Held;
use crate::statistics::quantile;
use crate::workload::{ROUND, Time};
use serde::Serialize;
use std::collections::{BTreeMap, VecDeque};
use synod_core::family::slots::Ticket;

/// The claims that wait at any member, and those that just got their slots.
#[derive(Default)]
pub(crate) struct Waiting {
    /// The number of tickets so far. All members draw from it.
    tickets: u64,
    /// The times of the claims that have no answer.
    since: BTreeMap<Ticket, Time>,
    /// The slots of claims that waited, each with its member: the driver plans the ends of their
    /// uses.
    pub(crate) served: VecDeque<(usize, Held)>,
}

impl Waiting {
    /// A new claim.
    pub(crate) fn claim(&mut self, now: Time) -> Ticket {
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        self.since.insert(ticket, now);
        ticket
    }

    /// A claim has its answer. Returns the number of rounds that it took.
    pub(crate) fn answered(&mut self, ticket: Ticket, now: Time) -> u64 {
        let since = self.since.remove(&ticket).unwrap_or(now);
        (now - since) / ROUND
    }
}

/// How long claims waited for their slots.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Delays {
    /// The claims that waited for a round or longer, for each that got a slot.
    pub delayed: f64,
    /// Half of these waited for this many rounds at most.
    pub half: usize,
    /// Nine of ten.
    pub nine_of_ten: usize,
    /// The longest of them.
    pub longest: usize,
}

impl Delays {
    /// The delays of this histogram: by number of rounds, the claims that waited for that many.
    pub fn of(histogram: &[u64]) -> Option<Self> {
        let all: u64 = histogram.iter().sum();
        let mut late = histogram.to_vec();
        *late.first_mut()? = 0;
        let delayed = late.iter().sum::<u64>() as f64 / all as f64;
        let at = |share| quantile(&late, share).filter(|_| delayed > 0.0).unwrap_or(0);
        Some(Delays { delayed, half: at(0.5), nine_of_ten: at(0.9), longest: at(1.0) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_are_those_of_the_claims_that_waited() {
        let delays = Delays::of(&[80, 10, 0, 8, 0, 2]).expect("claims got slots");
        assert!((delays.delayed - 0.2).abs() < 1e-9);
        assert_eq!((delays.half, delays.nine_of_ten, delays.longest), (1, 3, 5));
        let none = Delays::of(&[7]).expect("claims got slots");
        assert_eq!((none.half, none.longest), (0, 0));
        assert_eq!(Delays::of(&[]), None);
    }
}
