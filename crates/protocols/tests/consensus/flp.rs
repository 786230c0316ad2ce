//! Fischer, Lynch and Paterson: an adversary that only decides which message arrives next keeps
//! Paxos from deciding for any number of steps; a single leader or chance ends that. See
//! docs/flp.md.

use synod_core::Setup;
use synod_core::card::Rounds;
use synod_protocols::consensus::Paxos;
use synod_sim::network::{Chance, below, chance};
use synod_sim::scheduler::{Evaded, evade};
use synod_sim::world::Driver;
use synod_sim::{Judged, Plan, World};

/// A driver that always takes the first choice.
struct First;

impl Driver<Paxos> for First {
    fn choose(&mut self, _among: u32) -> u32 {
        0
    }
}

fn started(n: usize, proposers: &str) -> World<Paxos> {
    let setup = Setup::new(n).with("proposers", proposers);
    let setup = setup.with("retry", "at-once").with("durable", "no");
    let plan = Plan { setup, judged: Judged::All, ..Plan::new(n, Rounds::Times(1)) };
    let mut world = World::new(&plan).expect("the setup is valid");
    world.start(&mut First);
    world
}

fn has_anybody_accepted(world: &World<Paxos>) -> bool {
    world.processes().iter().any(|at| at.state().process().acceptor().accepted.is_some())
}

/// The greatest round that any process has promised.
fn rounds(world: &World<Paxos>) -> u32 {
    let promised =
        world.processes().iter().filter_map(|at| at.state().process().acceptor().promised);
    promised.map(|ballot| ballot.round).max().unwrap_or(0)
}

/// Lets the adversary make `steps` steps: how far it came, and the number of rounds of ballots.
fn duel(n: usize, proposers: &str, steps: u64) -> (Evaded, u32) {
    let mut world = started(n, proposers);
    let evaded = evade(&mut world, steps, has_anybody_accepted);
    assert!(!has_anybody_accepted(&world));
    (evaded, rounds(&world))
}

#[test]
fn two_proposers_never_decide_as_long_as_the_adversary_chooses_and_no_message_waits_long() {
    for (n, least_rounds, longest_wait) in [(3, 1_000, 40), (5, 600, 200)] {
        let (evaded, rounds) = duel(n, "p0 p1", 20_000);
        assert_eq!((evaded.steps, evaded.cornered), (20_000, false), "{n}");
        assert!(rounds >= least_rounds, "{n}: {rounds}");
        assert!(evaded.longest_wait <= longest_wait, "{n}: {evaded:?}");
    }
}

#[test]
fn against_a_single_leader_the_same_adversary_is_cornered_at_once() {
    let (evaded, rounds) = duel(3, "p0", 20_000);
    assert_eq!((evaded.cornered, evaded.steps, rounds), (true, 3, 1));
}

/// The steps until a process decides, if every enabled action is equally likely to happen next.
fn by_chance(seed: u64) -> (u64, u32) {
    let mut world = started(3, "p0 p1");
    let mut chance: Chance = chance(seed);
    let mut actions = Vec::new();
    // Before the first proposal, no process waits.
    while world.waiting().len() == 3 || world.steps() == 0 {
        actions.clear();
        world.enabled(&mut actions);
        let action = &actions[below(&mut chance, actions.len() as u64) as usize];
        world.step(action, &mut First);
    }
    (world.steps(), rounds(&world))
}

#[test]
fn by_chance_the_same_two_proposers_decide_soon() {
    let runs: Vec<(u64, u32)> = (0..1_000).map(by_chance).collect();
    let most_rounds = runs.iter().map(|(_, rounds)| *rounds).max().expect("there are runs");
    let mean_steps = runs.iter().map(|(steps, _)| *steps).sum::<u64>() / 1_000;
    assert!(most_rounds < 50 && mean_steps < 100, "{most_rounds} rounds, {mean_steps} steps");
}
