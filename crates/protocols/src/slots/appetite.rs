//! When a member takes slots, when it offers some, and how many: the heuristics of offers.
//!
//! A member keeps a *stock* of free slots for the time until help can come. There is no clock in a
//! protocol, so what counts is measured without one: how often the application asks for a slot
//! between our sending a multicast and our delivering it. Its mean, the *pace*, is the rate of
//! claims times the latency. As about as many slots are released as claimed, the number of free
//! ones strays in that time by about the *swing*, √(2 · pace). Whoever has fewer slots than a
//! certain part of the pace takes some: help must be under way before that many claims have come.
//! The other bounds lie above that by multiples of the swing. So a member with many claims keeps
//! more than one with few; with very many, in proportion to its claims, and its bounds lie close
//! together for their size. All bounds grow with the *plenty*, the number of free slots per member
//! in the whole group as far as is known: if there are many, it is cheaper to hold more and talk
//! less. Where many wait, a member lets go sooner, and of no more than is asked for; so in a group
//! in which all is in use nothing moves. In a group of a thousand somebody always offers and
//! somebody always waits, so what is on offer strays little: there a member offers later, and more
//! at once, and is in a hurry only if many wait.
//!
//! The multiples were found by trying: see the report of the experiment for what they achieve.

use serde::{Deserialize, Serialize};

/// What everybody knows.
#[derive(Clone, Copy, Debug)]
pub struct Market {
    /// How many members there are.
    pub members: u32,
    /// How many slots are free in the whole group, as far as is known.
    pub free: u32,
    /// How many of them are on offer.
    pub stock: u32,
    /// How many those who wait are short of.
    pub missing: u32,
}

/// What a member does with which number of free slots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Bounds {
    /// Whoever has fewer takes some…
    pub low: u32,
    /// …to have so many,…
    pub fill: u32,
    /// …and waits until it has so many.
    pub enough: u32,
    /// Whoever has more offers some…
    pub high: u32,
    /// …and keeps so many,…
    pub keep: u32,
    /// …but offers no more than so many at once.
    pub at_once: u32,
}

/// How many slots a member wants to have free.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Appetite {
    /// Always so many.
    Fixed(u32),
    /// As measured.
    Measured {
        /// The pace, in 256ths.
        pace: u32,
    },
}

/// Bounds are computed in 16ths of a slot, and multiples are given in 64ths.
const UNIT: u64 = 16 * 64;

/// A member is in the greatest hurry if one of 32 members is short of a slot, and in less if fewer
/// are.
const HURRY_AT_MOST: u64 = 64;
const HURRY: u64 = HURRY_AT_MOST * 32;

/// Multiples, in 64ths.
mod times {
    pub(super) const LOW_PACE: u64 = 46;
    pub(super) const LOW_PLENTY: u64 = 12;
    pub(super) const FILL_SWING: u64 = 61;
    pub(super) const FILL_PLENTY: u64 = 13;
    pub(super) const HIGH_SWING: u64 = 97;
    pub(super) const HIGH_STOCK: u64 = 265;
    pub(super) const HIGH_PLENTY: u64 = 51;
    pub(super) const GIVE_SWING: u64 = 59;
    pub(super) const GIVE_PLENTY: u64 = 17;
    pub(super) const URGENT_SWING: u64 = 208;
    pub(super) const URGENT_KEEP: u64 = 98;
    pub(super) const URGENT_MORE: u64 = 20;
}

impl Appetite {
    /// Before anything is measured: about one claim while a multicast is on its way.
    pub const UNKNOWN: Appetite = Appetite::Measured { pace: 256 };

    /// So often the application asked for a slot while a multicast was on its way.
    pub fn learn(&mut self, claims: u32) {
        if let Appetite::Measured { pace } = self {
            // A 32nd of what is new: it takes many messages to tell a rate from a chance.
            *pace = *pace - *pace / 32 + claims.min(1 << 20) * 8;
        }
    }

    /// What to do with which number of free slots.
    pub fn bounds(self, market: Market) -> Bounds {
        match self {
            Appetite::Fixed(stock) => Bounds {
                low: stock,
                fill: stock,
                enough: stock,
                high: stock,
                keep: stock,
                at_once: u32::MAX,
            },
            Appetite::Measured { pace } => measured(u64::from(pace), market),
        }
    }
}

fn measured(pace: u64, market: Market) -> Bounds {
    let members = u64::from(market.members.max(1));
    // In 16ths, and √(2 · pace) is because the pace is in 256ths.
    let swing = (2 * pace).isqrt();
    let plenty = u64::from(market.free) * 16 / members;
    let low = times::LOW_PACE * pace / 16 + times::LOW_PLENTY * plenty;
    let fill = low + times::FILL_SWING * swing + times::FILL_PLENTY * plenty;
    let (high, keep) = calm(low, swing, plenty, market);
    if market.missing == 0 {
        return in_order(low, fill, high, keep, u64::from(u32::MAX));
    }
    let missing = u64::from(market.missing);
    let hurry = (missing * HURRY / members).min(HURRY_AT_MOST);
    let between =
        |calm: u64, urgent: u64| (calm * (HURRY_AT_MOST - hurry) + urgent * hurry) / HURRY_AT_MOST;
    let high = between(high, low + times::URGENT_SWING * swing);
    let keep = between(keep, low + times::URGENT_KEEP * swing);
    in_order(low, fill, high, keep, missing + times::URGENT_MORE * members / 64)
}

/// When a member offers if nobody waits, and how many it keeps then.
fn calm(low: u64, swing: u64, plenty: u64, market: Market) -> (u64, u64) {
    let members = u64::from(market.members.max(1));
    let doublings = u64::from(members.ilog2()).saturating_sub(5);
    let stock = u64::from(market.stock) * 16 / members;
    let above = times::HIGH_SWING * swing + times::HIGH_PLENTY * plenty;
    let above = above + above * doublings / 24;
    let give = times::GIVE_SWING * swing + times::GIVE_PLENTY * plenty;
    let give = give + give * doublings / 6;
    let high = low + above + times::HIGH_STOCK * stock;
    (high, high.saturating_sub(give))
}

/// Whole slots, such that whoever takes does not offer then, nor the other way round.
fn in_order(low: u64, fill: u64, high: u64, keep: u64, at_once: u64) -> Bounds {
    let nearest = |bound: u64| (bound + UNIT / 2) / UNIT;
    let number = |bound: u64| u32::try_from(bound).unwrap_or(u32::MAX);
    let low = low / UNIT + 1;
    let high = high.div_ceil(UNIT).saturating_sub(1).max(low);
    Bounds {
        low: number(low),
        fill: number(nearest(fill).clamp(low, high)),
        enough: number(low),
        high: number(high),
        keep: number(nearest(keep).clamp(low, high)),
        at_once: number(at_once),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn market(free: u32, stock: u32, missing: u32) -> Market {
        Market { members: 32, free, stock, missing }
    }

    #[test]
    fn the_pace_follows_what_is_counted() {
        let mut appetite = Appetite::UNKNOWN;
        for _ in 0..300 {
            appetite.learn(12);
        }
        let Appetite::Measured { pace } = appetite else { panic!("it is measured") };
        assert!((11 * 256..=12 * 256).contains(&pace), "{pace}");
        for _ in 0..300 {
            appetite.learn(0);
        }
        assert!(matches!(appetite, Appetite::Measured { pace: 0..32 }), "{appetite:?}");
    }

    #[test]
    fn bounds_are_in_order_whatever_is_measured() {
        for pace in [0, 1, 200, 256, 5_000, 1 << 20, u32::MAX] {
            for free in [0, 10, 100, 700, u32::MAX] {
                for (stock, missing) in [(0, 0), (40, 0), (u32::MAX, 0), (0, 5), (0, u32::MAX)] {
                    let appetite = Appetite::Measured { pace };
                    let bounds = appetite.bounds(market(free, stock, missing));
                    assert!(bounds.low >= 1 && bounds.fill >= bounds.low, "{bounds:?}");
                    // Otherwise it would take and offer in turn.
                    assert!((bounds.low..=bounds.high).contains(&bounds.keep), "{bounds:?}");
                    assert!(bounds.fill <= bounds.high, "{bounds:?}");
                    assert!(bounds.at_once >= 1, "{bounds:?}");
                }
            }
        }
    }

    #[test]
    fn whoever_has_many_claims_keeps_more_and_so_does_everybody_in_times_of_plenty() {
        let few = Appetite::Measured { pace: 256 }.bounds(market(100, 5, 0));
        let many = Appetite::Measured { pace: 12 * 256 }.bounds(market(100, 5, 0));
        let plenty = Appetite::Measured { pace: 256 }.bounds(market(300, 5, 0));
        for more in [many, plenty] {
            assert!(more.low > few.low && more.fill > few.fill, "{few:?} {more:?}");
            assert!(more.high > few.high && more.keep > few.keep, "{few:?} {more:?}");
        }
    }

    #[test]
    fn whoever_has_very_many_claims_keeps_in_proportion_to_them_and_its_bounds_are_close_together()
    {
        let of = |pace: u32| Appetite::Measured { pace: pace * 256 }.bounds(market(100, 5, 0));
        let (many, more) = (of(1_000), of(100_000));
        let ratio = f64::from(more.low) / f64::from(many.low);
        assert!((99.0..101.0).contains(&ratio), "{many:?} {more:?}");
        let above = |bounds: Bounds| f64::from(bounds.high - bounds.low);
        let ratio = above(more) / above(many);
        assert!((8.0..11.0).contains(&ratio), "as the swing: {many:?} {more:?}");
    }

    #[test]
    fn in_a_large_group_one_offers_later_and_more_and_does_not_hurry_for_a_few_who_wait() {
        let of = |members, missing| {
            let appetite = Appetite::Measured { pace: 256 };
            appetite.bounds(Market { members, free: 4 * members, stock: 0, missing })
        };
        let (small, large) = (of(32, 0), of(1_024, 0));
        assert_eq!((small.low, small.fill), (large.low, large.fill));
        assert!(large.high > small.high, "{small:?} {large:?}");
        assert!(large.high - large.keep > small.high - small.keep, "{small:?} {large:?}");
        assert_eq!(of(32, 1).high, of(32, 9).high);
        assert!(of(1_024, 1).high > of(1_024, 32).high);
        assert_eq!(of(1_024, 32).high, of(1_024, 90).high);
    }
}
