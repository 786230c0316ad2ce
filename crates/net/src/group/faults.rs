//! What goes wrong with processes, and when.

use synod_core::ProcessId;

/// A process to be killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kill {
    /// Which.
    pub who: ProcessId,
    /// When, in microseconds after the start.
    pub at_us: u64,
    /// When it starts again, with its disk, if it does.
    pub back_us: Option<u64>,
}

/// What is still to come.
#[derive(Debug)]
pub(super) struct Faults {
    /// When, who, and whether it is killed (or else started again); the next is the last.
    to_come: Vec<(u64, ProcessId, bool)>,
}

impl Faults {
    pub(super) fn of(kills: &[Kill]) -> Self {
        let mut to_come = Vec::new();
        for Kill { who, at_us, back_us } in kills {
            to_come.push((*at_us, *who, true));
            to_come.extend(back_us.map(|back_us| (back_us.max(*at_us), *who, false)));
        }
        // Stable: who is killed and comes back at once is killed first.
        to_come.reverse();
        to_come.sort_by_key(|(at_us, ..)| std::cmp::Reverse(*at_us));
        Faults { to_come }
    }

    /// When the next is due.
    pub(super) fn next_us(&self) -> Option<u64> {
        self.to_come.last().map(|(at_us, ..)| *at_us)
    }

    /// The next one, if it is due.
    pub(super) fn due(&mut self, now_us: u64) -> Option<(ProcessId, bool)> {
        self.next_us().filter(|at_us| *at_us <= now_us)?;
        self.to_come.pop().map(|(_, who, is_kill)| (who, is_kill))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kills_and_returns_come_in_their_order_and_none_before_its_time() {
        let (p0, p1) = (ProcessId(0), ProcessId(1));
        let mut faults = Faults::of(&[
            Kill { who: p1, at_us: 30, back_us: Some(50) },
            Kill { who: p0, at_us: 40, back_us: None },
            Kill { who: p1, at_us: 60, back_us: Some(60) },
        ]);
        assert_eq!((faults.due(29), faults.next_us()), (None, Some(30)));
        let mut order = Vec::new();
        while let Some(fault) = faults.due(60) {
            order.push(fault);
        }
        assert_eq!(order, [(p1, true), (p0, true), (p1, false), (p1, true), (p1, false)]);
        assert_eq!(faults.next_us(), None);
    }
}
