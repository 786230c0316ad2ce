//! The explorer lets disks finish first. That loses no behaviour: the same final states are
//! reached.

use std::collections::BTreeSet;
use synod_core::card::{Order, Rounds, Settings};
use synod_core::{Algorithm, Setup};
use synod_protocols::consensus::Paxos;
use synod_sim::world::{Driver, FaultsLeft};
use synod_sim::{Action, Judged, Plan, World};

struct First;

impl<A: Algorithm> Driver<A> for First {
    fn choose(&mut self, _among: u32) -> u32 {
        0
    }
}

/// The knowledge of the judges in every final state, and the number of states.
fn ends<A: Algorithm>(
    plan: &Plan,
    faults: FaultsLeft,
    disks_first: bool,
) -> (BTreeSet<String>, usize) {
    let mut world = World::<A>::new(plan).expect("the setup is valid");
    world.faults = faults;
    world.start(&mut First);
    world.keep_fingerprint();
    let (mut seen, mut ends) = (BTreeSet::from([world.whole_fingerprint(false)]), BTreeSet::new());
    let mut to_do = vec![world];
    while let Some(world) = to_do.pop() {
        let mut actions = Vec::new();
        match world.first_to_write().filter(|_| disks_first) {
            Some(at) => {
                actions.push(Action::Sync(at));
                actions.extend((world.faults.crashes > 0).then_some(Action::Crash(at)));
            }
            None => {
                world.enabled(&mut actions);
                if actions.is_empty() {
                    ends.insert(format!("{:?}", world.monitor()));
                }
                world.enabled_faults(&mut actions);
            }
        }
        for action in actions {
            let mut next = world.clone();
            next.step(&action, &mut First);
            if seen.insert(next.whole_fingerprint(false)) {
                to_do.push(next);
            }
        }
    }
    (ends, seen.len())
}

fn all_the_same_comes_about<A: Algorithm>(setup: Setup, faults: FaultsLeft) {
    let n = setup.n;
    let judged = Judged::Only(Vec::new());
    let plan = Plan { judged, setup, order: Order::Fifo, ..Plan::new(n, Rounds::Times(1)) };
    let (all, states) = ends::<A>(&plan, faults, false);
    let (first, fewer) = ends::<A>(&plan, faults, true);
    assert_eq!(all, first);
    assert!(all.len() > 1 && fewer < states, "{} ends, {fewer} of {states} states", all.len());
}

#[test]
fn all_the_same_comes_about_if_disks_finish_first() {
    let none = FaultsLeft::default();
    let crash = FaultsLeft { crashes: 1, ..none };
    let back = FaultsLeft { restarts: 1, ..crash };
    const ALONE: Settings = &[("proposers", "p0"), ("learners", "p0"), ("retry", "never")];
    for faults in [crash, back] {
        all_the_same_comes_about::<Paxos>(Setup::new(2).with_all(ALONE), faults);
    }
}
