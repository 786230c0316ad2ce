//! Steps that a run repeats: their invariants were judged when they were taken for the first time.

use crate::trace::{Event, What};
use std::collections::VecDeque;

/// The broken invariants of the steps to be repeated, as the events of those steps show them.
///
/// The judge of the family has a state, which is part of the world; so it goes along with every
/// repeated step. Invariants have none, and asking them costs more than most steps.
#[derive(Clone, Debug)]
pub(crate) struct Past(VecDeque<Broken>);

#[derive(Clone, Copy, Debug)]
struct Broken {
    /// The number of the event that shows it.
    event: u64,
    /// The number of steps begun before that event.
    step: u64,
    invariant: &'static str,
}

impl Past {
    /// The past of these events; `begins` has for each step the number of its first event.
    pub(crate) fn of(
        events: &[Event],
        begins: &[u64],
        is_invariant: impl Fn(&str) -> bool,
    ) -> Self {
        let shows = |event: &&Event| event.what == What::Violation && is_invariant(event.kind);
        let broken = |event: &Event| Broken {
            event: event.index,
            step: begins.partition_point(|begin| *begin <= event.index) as u64,
            invariant: event.kind,
        };
        Past(events.iter().filter(shows).map(broken).collect())
    }

    /// The invariants that were broken when this step was judged before the event of that number.
    pub(super) fn broken(&mut self, step: u64, mut event: u64) -> Vec<&'static str> {
        let mut broken = Vec::new();
        while let Some(next) = self.0.pop_front_if(|next| (next.step, next.event) == (step, event))
        {
            broken.push(next.invariant);
            event += 1;
        }
        broken
    }
}
