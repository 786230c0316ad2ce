//! Physical clocks, as worlds model them: no protocol can read one, an application can.

use crate::process::ProcessId;
use serde::{Deserialize, Serialize};

/// The clock of one process: how far it is off, and how much faster it runs than true time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Clock {
    /// How far it was ahead of true time at time 0, in microseconds.
    pub offset_us: i64,
    /// How many microseconds it gains in each second.
    pub drift_ppm: i64,
}

impl Clock {
    /// What the clock shows at true time `now_us`.
    pub fn reading_us(self, now_us: u64) -> i64 {
        let gained = i128::from(now_us) * i128::from(self.drift_ppm) / 1_000_000;
        let reading = i128::from(now_us) + i128::from(self.offset_us) + gained;
        reading.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
    }
}

/// The moment at which something happens, as an all-seeing observer knows it.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// True time since the start of the world, in microseconds.
    pub now_us: u64,
    /// The clock of each process. Empty if all of them are perfect.
    pub clocks: &'a [Clock],
}

impl Moment<'_> {
    /// What the clock of `process` shows.
    pub fn reading_us(&self, process: ProcessId) -> i64 {
        self.clocks.get(process.index()).copied().unwrap_or_default().reading_us(self.now_us)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_drifts_gains_its_parts_per_million() {
        let clock = Clock { offset_us: -500, drift_ppm: 100 };
        assert_eq!(clock.reading_us(0), -500);
        assert_eq!(clock.reading_us(10_000_000), 10_000_500);
        assert_eq!(Clock { offset_us: i64::MAX, drift_ppm: 0 }.reading_us(5), i64::MAX);
    }
}
