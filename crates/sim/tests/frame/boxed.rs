//! A boxed algorithm behaves like the algorithm.

use synod_core::card::Rounds;
use synod_core::{Algorithm, Boxed, Setup};
use synod_protocols::consensus::Paxos;
use synod_protocols::mutex::{Maekawa, RicartAgrawala};
use synod_sim::network::{Chance, below, chance};
use synod_sim::world::{Driver, Happening};
use synod_sim::{Plan, World};

type InBox = Boxed;

struct Chosen(Chance);

impl<A: Algorithm> Driver<A> for Chosen {
    fn choose(&mut self, among: u32) -> u32 {
        below(&mut self.0, among.into()) as u32
    }

    fn see(&mut self, _: u64, _: Happening<'_, A>) {}
}

/// The states of a world under one seed, in print.
fn history<A: Algorithm>(plan: &Plan, seed: u64) -> Vec<String> {
    let mut chosen = Chosen(chance(seed));
    let mut world = World::<A>::new(plan).expect("the size fits");
    world.start(&mut chosen);
    let (mut actions, mut seen) = (Vec::new(), Vec::new());
    for _ in 0..300 {
        actions.clear();
        world.enabled(&mut actions);
        if actions.is_empty() {
            break;
        }
        let which = below(&mut chosen.0, actions.len() as u64) as usize;
        world.step(&actions[which], &mut chosen);
        let states: Vec<_> = world.processes().iter().map(|process| process.state()).collect();
        seen.push(format!("{:?} {states:?} {:?}", actions[which], world.found()));
    }
    seen
}

fn agrees<A: Algorithm>(n: usize) {
    for seed in 0..50 {
        let plan = Plan::new(n, Rounds::Times(2));
        let boxed = Plan { setup: Setup::new(n).of::<A>(), ..plan.clone() };
        let open = history::<A>(&plan, seed);
        assert!(open.len() > 10, "{} comes to an end after {}", A::CARD.name, open.len());
        assert_eq!(open, history::<Boxed>(&boxed, seed), "{}", A::CARD.name);
    }
}

#[test]
fn an_algorithm_does_the_same_in_a_box() {
    agrees::<RicartAgrawala>(3);
    agrees::<Maekawa>(4);
    agrees::<Paxos>(3);
}

#[test]
fn a_copy_of_a_box_goes_its_own_way() {
    let plan =
        Plan { setup: Setup::new(2).of::<RicartAgrawala>(), ..Plan::new(2, Rounds::Times(1)) };
    let mut world = World::<InBox>::new(&plan).expect("the size fits");
    world.start(&mut Chosen(chance(1)));
    world.keep_fingerprint();
    let before = world.clone();
    let mut actions = Vec::new();
    world.enabled(&mut actions);
    world.step(&actions[0], &mut Chosen(chance(1)));
    let state = |world: &World<InBox>| format!("{:?}", world.processes()[0].state());
    assert_ne!(state(&world), state(&before));
    assert_ne!(world.fingerprint(), before.fingerprint());
}
