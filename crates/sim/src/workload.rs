//! When applications ask, and what: the same in simulated time and in real time.

use crate::network::{Chance, Delay, below};
use synod_core::card::Load;
use synod_core::family::{Mark, Pace};
use synod_core::{Application, Family};

/// How busy the applications are.
#[derive(Clone, Copy, Debug)]
pub struct Workload {
    /// Whether they ask at any time, all the time, or in turns.
    pub load: Load,
    /// How long an application waits before it asks (not used under a saturated load).
    pub think: Delay,
    /// How long it holds what it got.
    pub hold: Delay,
}

/// When an application asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// After so many microseconds.
    After(u64),
    /// When its turn comes, under a sequential load.
    AtTurn,
}

impl Workload {
    /// Decides what an application asks next, and when; None if it wants nothing. `room` is for its
    /// offers.
    pub fn plan<F: Family>(
        &self,
        application: &F::Application,
        chance: &mut Chance,
        room: &mut Vec<F::Input>,
    ) -> Option<(F::Input, When)> {
        let mut pick = |many: usize| below(chance, many as u64) as usize;
        let input = application.offer(&mut pick, room)?;
        let begins = matches!(F::mark_of_input(&input), Mark::Ask | Mark::Whole);
        let when = match F::pace(&input) {
            Pace::AtOnce => When::After(0),
            _ if begins && self.load == Load::Sequential => When::AtTurn,
            Pace::Think if self.load == Load::Saturated => When::After(0),
            Pace::Think => When::After(self.think.draw(chance)),
            Pace::Hold => When::After(self.hold.draw(chance)),
        };
        Some((input, when))
    }
}
