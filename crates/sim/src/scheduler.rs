//! A scheduler with an aim: it looks one step ahead, and avoids steps that defeat its aim.
//!
//! In an asynchronous system the order of messages is arbitrary, so an adversary may choose it.
//! This one takes the oldest step that does no harm to its aim, and so delays no step for longer
//! than it must: no process can tell it from a slow network.

use crate::world::{Action, Driver, World};
use std::collections::BTreeMap;
use synod_core::Algorithm;

/// The success of an adversary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evaded {
    /// The number of steps it took.
    pub steps: u64,
    /// Whether it is cornered: every possible step now defeats its aim.
    pub cornered: bool,
    /// The longest time that a message was on its way, in steps.
    pub longest_wait: u64,
}

/// Takes at most `at_most` steps, none of which makes a world that `is_bad`. Choices are always 0.
pub fn evade<A: Algorithm>(
    world: &mut World<A>,
    at_most: u64,
    is_bad: impl Fn(&World<A>) -> bool,
) -> Evaded {
    let mut sent_at = BTreeMap::new();
    let mut evaded = Evaded { steps: 0, cornered: false, longest_wait: 0 };
    while evaded.steps < at_most {
        let good = oldest_first(world).into_iter().find_map(|action| {
            let mut next = world.clone();
            next.step(&action, &mut First);
            (!is_bad(&next)).then_some(next)
        });
        let Some(next) = good else {
            evaded.cornered = true;
            break;
        };
        *world = next;
        evaded.steps += 1;
        sent_at = still_on_their_way(world, &sent_at, evaded.steps);
        let oldest = sent_at.values().min().copied().unwrap_or(evaded.steps);
        evaded.longest_wait = evaded.longest_wait.max(evaded.steps - oldest);
    }
    evaded
}

/// The possible steps: steps of processes by themselves first, then messages in the order of
/// sending, then timers.
fn oldest_first<A: Algorithm>(world: &World<A>) -> Vec<Action<A::Input>> {
    let mut actions = Vec::new();
    world.enabled(&mut actions);
    let age = |action: &Action<A::Input>| match action {
        Action::Deliver(slot) => (1, world.flight().get(*slot).map_or(0, |sent| sent.number)),
        Action::Fire { timer, .. } => (2, *timer),
        _ => (0, 0),
    };
    actions.sort_by_key(age);
    actions
}

/// The messages under way, by number, and the step at which each was first seen.
fn still_on_their_way<A: Algorithm>(
    world: &World<A>,
    before: &BTreeMap<u64, u64>,
    now: u64,
) -> BTreeMap<u64, u64> {
    let numbers = world.flight().iter().map(|(_, envelope)| envelope.number);
    numbers.map(|number| (number, before.get(&number).copied().unwrap_or(now))).collect()
}

/// Always chooses the first alternative.
struct First;

impl<A: Algorithm> Driver<A> for First {
    fn choose(&mut self, _among: u32) -> u32 {
        0
    }
}
