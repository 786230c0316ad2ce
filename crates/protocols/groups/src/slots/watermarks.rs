//! When a member takes slots, when it offers some, and how many: the heuristics of offers.
//!
//! A member keeps a *stock* of free slots for the time until help can come. A protocol has no
//! clock, so the member measures that time in claims: it counts the claims between the sending and
//! the delivery of its own multicast. The mean of these counts, the *pace*, is the rate of claims
//! times the latency. The application releases about as many slots as it claims. So in that time
//! the number of free slots strays by about the *swing*, √(2 · pace).
//!
//! A member with fewer free slots than a certain part of the pace takes some, because help must be
//! under way before that many claims have come. The other watermarks lie above this one by
//! multiples of the swing. So a member with many claims keeps more slots than a member with few.
//! With very many claims it keeps slots in proportion to them, and its watermarks lie close
//! together for their size.
//!
//! All watermarks grow with the *plenty*, the known number of free slots per member in the whole
//! group: where slots abound, holding more of them is cheaper than messages. If many members wait,
//! a member offers sooner, and no more than they need. So in a group whose slots are all in use, no
//! slot moves. In a group of a thousand members, some always offer and some always wait, so the
//! number of slots on offer strays little. There a member offers later and more at once, and
//! hurries only if many wait.
//!
//! If a waiting member asks again in vain, every member lets go of all free slots that it does not
//! *need* itself. It keeps a part of the pace, some for the swing if that is more than an idle
//! member's, and nothing for the plenty. An idle member needs one. If the claims of that member
//! have waited for a while, it *begs*, and a member keeps one less than its lowest mark: an idle
//! member keeps none.
//!
//! The multiples were found by trying; the report of the experiment has their results.

use serde::{Deserialize, Serialize};
use synod_core::card::Parameter;
use synod_core::{Setup, SetupError};

/// The parameter for a fixed stock.
pub const STOCK: Parameter = Parameter {
    name: "stock",
    meaning: "offers: how many free slots a member keeps (default: as its claims and the latency of \
              the group demand)",
};

/// The supply of the group, as all members know it.
#[derive(Clone, Copy, Debug)]
pub struct Supply {
    /// The number of members.
    pub members: u32,
    /// The known number of free slots in the whole group.
    pub free: u32,
    /// The number of slots on offer.
    pub stock: u32,
    /// The number of slots that the waiting members need.
    pub missing: u32,
    /// Whether one of them has asked again in vain.
    pub urgent: bool,
    /// Whether claims of one of them have waited for a while since.
    pub begged: bool,
}

/// What a member does at which number of free slots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Watermarks {
    /// A member with fewer takes some,
    pub low: u32,
    /// so that it has this many,
    pub fill: u32,
    /// and waits until it has this many.
    pub enough: u32,
    /// A member with more offers some
    pub high: u32,
    /// and keeps this many,
    pub keep: u32,
    /// but offers at most this many at once.
    pub at_once: u32,
}

/// The number of free slots that a member wants to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Demand {
    /// A constant.
    Fixed(u32),
    /// Derived from the measured pace.
    Measured {
        /// The pace, in 256ths.
        pace: u32,
    },
}

/// Watermarks are computed in 16ths of a slot; multiples are in 64ths.
const UNIT: u64 = 16 * 64;

/// The hurry of a member is greatest if one of 32 members is short of a slot, and smaller if fewer
/// are.
const HURRY_AT_MOST: u64 = 64;
const HURRY: u64 = HURRY_AT_MOST * 32;

/// The swing of a member that knows nothing about its claims.
const SWING_OF_IDLE: u64 = 22;

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

impl Demand {
    /// Before the first measurement: about one claim while a multicast is under way.
    pub const UNKNOWN: Demand = Demand::Measured { pace: 256 };

    /// Reads a fixed stock from the parameters, if they name one.
    pub fn from_setup(setup: &Setup) -> Result<Self, SetupError> {
        if setup.text(STOCK.name).is_none() {
            return Ok(Demand::UNKNOWN);
        }
        let stock = setup.number(STOCK.name, 1)?;
        let bad = |_| setup.bad(STOCK.name, "not a number below 2^32");
        if stock == 0 {
            return Err(setup.bad(STOCK.name, "at least 1"));
        }
        Ok(Demand::Fixed(u32::try_from(stock).map_err(bad)?))
    }

    /// Learns the number of claims while a multicast was under way.
    pub fn learn(&mut self, claims: u32) {
        if let Demand::Measured { pace } = self {
            // The new count weighs a 32nd: only many messages tell a rate from chance.
            *pace = *pace - *pace / 32 + claims.min(1 << 20) * 8;
        }
    }

    /// The watermarks for this supply.
    pub fn watermarks(self, supply: Supply) -> Watermarks {
        match self {
            _ if supply.begged => {
                let (low, keep) = (self.low(), self.low() - 1);
                Watermarks {
                    low,
                    fill: self.need(),
                    enough: low,
                    high: keep,
                    keep,
                    at_once: u32::MAX,
                }
            }
            Demand::Measured { pace } if !supply.urgent => measured(u64::from(pace), supply),
            _ => self.spare_nothing(),
        }
    }

    /// The watermarks of a member that lets go of all that it does not need itself.
    fn spare_nothing(self) -> Watermarks {
        let (need, low, at_once) = (self.need(), self.low(), u32::MAX);
        Watermarks { low, fill: need, enough: low, high: need, keep: need, at_once }
    }

    /// With fewer free slots the member takes some, at any supply.
    pub fn low(self) -> u32 {
        match self {
            Demand::Fixed(stock) => stock,
            Demand::Measured { pace } => whole(times::LOW_PACE * u64::from(pace) / 16),
        }
    }

    /// The number of free slots that the member needs itself, for the claims until help can come:
    /// one, if it is idle.
    pub fn need(self) -> u32 {
        match self {
            Demand::Fixed(stock) => stock,
            Demand::Measured { pace } => {
                let above = swing(u64::from(pace)).saturating_sub(SWING_OF_IDLE);
                whole(times::LOW_PACE * u64::from(pace) / 16 + times::URGENT_SWING * above)
            }
        }
    }
}

/// The number of slots that are more than this bound.
fn whole(bound: u64) -> u32 {
    u32::try_from(bound / UNIT + 1).unwrap_or(u32::MAX)
}

/// The swing in 16ths, because the pace is in 256ths.
fn swing(pace: u64) -> u64 {
    (2 * pace).isqrt()
}

fn measured(pace: u64, supply: Supply) -> Watermarks {
    let members = u64::from(supply.members.max(1));
    let swing = swing(pace);
    let plenty = u64::from(supply.free) * 16 / members;
    let low = times::LOW_PACE * pace / 16 + times::LOW_PLENTY * plenty;
    let fill = low + times::FILL_SWING * swing + times::FILL_PLENTY * plenty;
    let (high, keep) = calm(low, swing, plenty, supply);
    if supply.missing == 0 {
        return in_order(low, fill, high, keep, u64::from(u32::MAX));
    }
    let missing = u64::from(supply.missing);
    let hurry = (missing * HURRY / members).min(HURRY_AT_MOST);
    let between =
        |calm: u64, urgent: u64| (calm * (HURRY_AT_MOST - hurry) + urgent * hurry) / HURRY_AT_MOST;
    let high = between(high, low + times::URGENT_SWING * swing);
    let keep = between(keep, low + times::URGENT_KEEP * swing);
    in_order(low, fill, high, keep, missing + times::URGENT_MORE * members / 64)
}

/// The bound for an offer if no member waits, and the number of slots kept then.
fn calm(low: u64, swing: u64, plenty: u64, supply: Supply) -> (u64, u64) {
    let members = u64::from(supply.members.max(1));
    let doublings = u64::from(members.ilog2()).saturating_sub(5);
    let stock = u64::from(supply.stock) * 16 / members;
    let above = times::HIGH_SWING * swing + times::HIGH_PLENTY * plenty;
    let above = above + above * doublings / 24;
    let give = times::GIVE_SWING * swing + times::GIVE_PLENTY * plenty;
    let give = give + give * doublings / 6;
    let high = low + above + times::HIGH_STOCK * stock;
    (high, high.saturating_sub(give))
}

/// Rounds to whole slots, such that a member that has just taken slots does not offer any, and vice
/// versa.
fn in_order(low: u64, fill: u64, high: u64, keep: u64, at_once: u64) -> Watermarks {
    let nearest = |bound: u64| (bound + UNIT / 2) / UNIT;
    let number = |bound: u64| u32::try_from(bound).unwrap_or(u32::MAX);
    let low = low / UNIT + 1;
    let high = high.div_ceil(UNIT).saturating_sub(1).max(low);
    Watermarks {
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

    fn supply(free: u32, stock: u32, missing: u32) -> Supply {
        Supply { members: 32, free, stock, missing, urgent: false, begged: false }
    }

    #[test]
    fn an_idle_member_needs_one_slot_and_a_busy_one_needs_more() {
        assert_eq!(swing(256), SWING_OF_IDLE);
        let need = |pace| Demand::Measured { pace }.need();
        assert_eq!([0, 256].map(need), [1, 1]);
        assert!(need(12 * 256) > 12 && need(24 * 256) > need(12 * 256));
        let urgent = Supply { urgent: true, begged: false, ..supply(300, 0, 3) };
        let watermarks = Demand::UNKNOWN.watermarks(urgent);
        assert_eq!((watermarks.high, watermarks.keep), (1, 1));
        assert!(Demand::UNKNOWN.watermarks(supply(300, 0, 3)).high > 4);
    }

    #[test]
    fn the_pace_follows_what_is_counted() {
        let mut demand = Demand::UNKNOWN;
        for _ in 0..300 {
            demand.learn(12);
        }
        let Demand::Measured { pace } = demand else { panic!("it is measured") };
        assert!((11 * 256..=12 * 256).contains(&pace), "{pace}");
        for _ in 0..300 {
            demand.learn(0);
        }
        assert!(matches!(demand, Demand::Measured { pace: 0..32 }), "{demand:?}");
    }

    #[test]
    fn bounds_are_in_order_whatever_is_measured() {
        for pace in [0, 1, 200, 256, 5_000, 1 << 20, u32::MAX] {
            for free in [0, 10, 100, 700, u32::MAX] {
                for (stock, missing) in [(0, 0), (40, 0), (u32::MAX, 0), (0, 5), (0, u32::MAX)] {
                    let demand = Demand::Measured { pace };
                    let watermarks = demand.watermarks(supply(free, stock, missing));
                    assert!(
                        watermarks.low >= 1 && watermarks.fill >= watermarks.low,
                        "{watermarks:?}"
                    );
                    // Otherwise the member would take and offer in turn.
                    assert!(
                        (watermarks.low..=watermarks.high).contains(&watermarks.keep),
                        "{watermarks:?}"
                    );
                    assert!(watermarks.fill <= watermarks.high, "{watermarks:?}");
                    assert!(watermarks.at_once >= 1, "{watermarks:?}");
                }
            }
        }
    }

    #[test]
    fn whoever_has_many_claims_keeps_more_and_so_does_everybody_in_times_of_plenty() {
        let few = Demand::Measured { pace: 256 }.watermarks(supply(100, 5, 0));
        let many = Demand::Measured { pace: 12 * 256 }.watermarks(supply(100, 5, 0));
        let plenty = Demand::Measured { pace: 256 }.watermarks(supply(300, 5, 0));
        for more in [many, plenty] {
            assert!(more.low > few.low && more.fill > few.fill, "{few:?} {more:?}");
            assert!(more.high > few.high && more.keep > few.keep, "{few:?} {more:?}");
        }
    }

    #[test]
    fn whoever_has_very_many_claims_keeps_in_proportion_to_them_and_its_bounds_are_close_together()
    {
        let of = |pace: u32| Demand::Measured { pace: pace * 256 }.watermarks(supply(100, 5, 0));
        let (many, more) = (of(1_000), of(100_000));
        let ratio = f64::from(more.low) / f64::from(many.low);
        assert!((99.0..101.0).contains(&ratio), "{many:?} {more:?}");
        let above = |watermarks: Watermarks| f64::from(watermarks.high - watermarks.low);
        let ratio = above(more) / above(many);
        assert!((8.0..11.0).contains(&ratio), "as the swing: {many:?} {more:?}");
    }

    #[test]
    fn in_a_large_group_one_offers_later_and_more_and_does_not_hurry_for_a_few_who_wait() {
        let of = |members, missing| {
            let demand = Demand::Measured { pace: 256 };
            demand.watermarks(Supply {
                members,
                free: 4 * members,
                stock: 0,
                missing,
                urgent: false,
                begged: false,
            })
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
