//! The requests of applications and their times: the same rules for simulated and real time.

use crate::network::{Chance, Delay, below};
use synod_core::card::Load;
use synod_core::family::{Mark, Pace};
use synod_core::{Application, Family};

/// How busy the applications are.
#[derive(Clone, Copy, Debug)]
pub struct Workload {
    /// Whether they ask at random times, without a pause, or in turns.
    pub load: Load,
    /// The pause of an application before a request (not used under a saturated load).
    pub think: Delay,
    /// The time that it holds a resource.
    pub hold: Delay,
}

/// The time of an application's next request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// After this pause, in microseconds.
    After(u64),
    /// At its turn, under a sequential load.
    AtTurn,
}

impl Workload {
    /// The next request of an application and its time; None if it has none.
    pub fn plan<F: Family>(
        &self,
        application: &F::Application,
        chance: &mut Chance,
    ) -> Option<(F::Input, When)> {
        let mut pick = |many: usize| below(chance, many as u64) as usize;
        let input = application.offer(&mut pick)?;
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
