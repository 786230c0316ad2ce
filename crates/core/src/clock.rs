//! Physical clocks, as worlds model them: no protocol can read one, an application can.

use crate::process::ProcessId;
use serde::{Deserialize, Serialize};

/// The clock of one process: its offset, and how much faster it runs than true time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Clock {
    /// Its lead over true time at time 0, in microseconds.
    pub offset_us: i64,
    /// The microseconds that it gains in each second.
    pub drift_ppm: i64,
}

impl Clock {
    /// The reading of the clock at true time `now_us`.
    pub fn reading_us(self, now_us: u64) -> i64 {
        let gained = i128::from(now_us) * i128::from(self.drift_ppm) / 1_000_000;
        let reading = i128::from(now_us) + i128::from(self.offset_us) + gained;
        reading.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
    }
}

/// The moment of an event, as an all-seeing observer knows it.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// True time since the start of the world, in microseconds.
    pub now_us: u64,
    /// The clock of each process. Empty if all of them are perfect.
    pub clocks: &'a [Clock],
}

impl Moment<'_> {
    /// The reading of the clock of `process`.
    pub fn reading_us(&self, process: ProcessId) -> i64 {
        self.clocks.get(process.index()).copied().unwrap_or_default().reading_us(self.now_us)
    }
}

/// Microseconds as people write them.
pub fn in_words(us: u64) -> String {
    match us {
        0 => "0ms".to_owned(),
        us if us % 1_000_000 == 0 => format!("{}s", us / 1_000_000),
        us if us % 1_000 == 0 => format!("{}ms", us / 1_000),
        us => format!("{us}us"),
    }
}

/// The microseconds in each second by which a clock is slowed down at most, to wait for true time.
pub const SLEW_PPM: u64 = 500;

/// How far a clock goes in `elapsed_us`, if it has to be corrected by `correction_us` from now on.
///
/// A clock that is behind jumps forward at once. A clock that is ahead never jumps back, because
/// later events would then bear earlier times: it runs slower until true time has caught up.
pub fn slew_us(correction_us: i64, elapsed_us: u64) -> i64 {
    let ahead_us = i128::from(correction_us).min(0).unsigned_abs();
    let made_good_us = ahead_us.min(u128::from(elapsed_us) * u128::from(SLEW_PPM) / 1_000_000);
    let gone_us = i128::from(elapsed_us) + i128::from(correction_us).max(0) - made_good_us as i128;
    gone_us.clamp(0, i128::from(i64::MAX)) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_in_the_largest_unit_that_needs_no_fraction() {
        let written = [0, 7, 1_500, 12_000, 3_000_000, 3_000_001].map(in_words);
        assert_eq!(written, ["0ms", "7us", "1500us", "12ms", "3s", "3000001us"]);
    }

    #[test]
    fn a_clock_that_is_behind_jumps_forward_at_once() {
        assert_eq!(slew_us(4_888, 0), 4_888);
        assert_eq!(slew_us(4_888, 10), 4_898);
    }

    #[test]
    fn a_clock_that_is_ahead_goes_slower_until_the_difference_is_made_good() {
        assert_eq!(slew_us(-1_000, 0), 0);
        assert_eq!(slew_us(-1_000, 1_000_000), 999_500);
        assert_eq!(slew_us(-1_000, 2_000_000), 1_999_000);
        assert_eq!(slew_us(-1_000, 3_000_000), 2_999_000);
    }

    #[test]
    fn a_clock_never_goes_back_however_far_it_is_ahead() {
        for correction_us in [i64::MIN, -1_000_000, -1, 0, 1, i64::MAX] {
            let readings =
                (0..10_000).step_by(7).map(|elapsed_us| slew_us(correction_us, elapsed_us));
            assert!(readings.is_sorted(), "correction {correction_us}");
        }
    }

    #[test]
    fn a_clock_that_drifts_gains_its_parts_per_million() {
        let clock = Clock { offset_us: -500, drift_ppm: 100 };
        assert_eq!(clock.reading_us(0), -500);
        assert_eq!(clock.reading_us(10_000_000), 10_000_500);
        assert_eq!(Clock { offset_us: i64::MAX, drift_ppm: 0 }.reading_us(5), i64::MAX);
    }
}
