//! The schedule of kills and restarts.

use synod_core::ProcessId;

/// The fate of a disk while its process is dead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fate {
    /// The disk stays intact.
    #[default]
    Kept,
    /// The last record is torn, as if the process had died while it wrote.
    Torn,
    /// One bit is flipped.
    Flipped,
    /// The disk is empty.
    Lost,
}

/// A process to be killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kill {
    /// The process.
    pub who: ProcessId,
    /// The time of its death, in microseconds after the start.
    pub at_us: u64,
    /// The time of its restart, if it has one.
    pub back_us: Option<u64>,
    /// The fate of its disk in between.
    pub disk: Fate,
}

/// The kills and restarts that are still to come.
#[derive(Debug)]
pub(super) struct Faults {
    /// The time, the process, and the fate of its disk for a restart (None: a kill). The earliest
    /// stands last.
    to_come: Vec<(u64, ProcessId, Option<Fate>)>,
}

impl Faults {
    pub(super) fn of(kills: &[Kill]) -> Self {
        let mut to_come = Vec::new();
        for Kill { who, at_us, back_us, disk } in kills {
            to_come.push((*at_us, *who, None));
            to_come.extend(back_us.map(|back_us| (back_us.max(*at_us), *who, Some(*disk))));
        }
        // The sort is stable: of a kill and a restart at the same time, the kill comes first.
        to_come.reverse();
        to_come.sort_by_key(|(at_us, ..)| std::cmp::Reverse(*at_us));
        Faults { to_come }
    }

    pub(super) fn next_us(&self) -> Option<u64> {
        self.to_come.last().map(|(at_us, ..)| *at_us)
    }

    /// Takes the next kill or restart, if it is due.
    pub(super) fn due(&mut self, now_us: u64) -> Option<(ProcessId, Option<Fate>)> {
        self.next_us().filter(|at_us| *at_us <= now_us)?;
        self.to_come.pop().map(|(_, who, back)| (who, back))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kills_and_returns_come_in_their_order_and_none_before_its_time() {
        let (p0, p1) = (ProcessId(0), ProcessId(1));
        let kill = |who, at_us, back_us| Kill { who, at_us, back_us, disk: Fate::Torn };
        let mut faults =
            Faults::of(&[kill(p1, 30, Some(50)), kill(p0, 40, None), kill(p1, 60, Some(60))]);
        assert_eq!((faults.due(29), faults.next_us()), (None, Some(30)));
        let mut order = Vec::new();
        while let Some(fault) = faults.due(60) {
            order.push(fault);
        }
        let back = Some(Fate::Torn);
        assert_eq!(order, [(p1, None), (p0, None), (p1, back), (p1, None), (p1, back)]);
        assert_eq!(faults.next_us(), None);
    }
}
