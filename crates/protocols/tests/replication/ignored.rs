//! A message that a process says it will ignore changes nothing, whenever it arrives: explorers
//! leave out its delivery.

use std::collections::BTreeSet;
use synod_core::card::Rounds;
use synod_core::{Algorithm, Setup};
use synod_protocols::replication::{MultiPaxos, Pbft, Raft};
use synod_sim::network::{Chance, below, chance};
use synod_sim::world::{Body, Driver, Envelope, FaultsLeft};
use synod_sim::{Action, Plan, World};

/// Chooses by chance.
struct Any(Chance);

impl<A: Algorithm> Driver<A> for Any {
    fn choose(&mut self, among: u32) -> u32 {
        below(&mut self.0, among.into()) as u32
    }
}

fn is_ignored<A: Algorithm>(world: &World<A>, envelope: &Envelope<A>) -> bool {
    let to = world.process(envelope.to);
    let Body::Message(message) = &envelope.body else { return false };
    to.is_up() && A::REDUCTIONS.ignores(to.state(), envelope.from, message)
}

/// Takes enabled actions by chance, again and again. Returns how many messages arrived that were to
/// be ignored.
fn walk<A: Algorithm>(seed: u64, setup: Setup) -> usize {
    let plan = Plan { setup, ..Plan::new(0, Rounds::Times(3)) };
    let mut world = World::<A>::new(&plan).expect("the setup is valid");
    let mut any = Any(chance(seed));
    world.faults = FaultsLeft { crashes: 1, drops: 2, duplicates: 4, ..FaultsLeft::default() };
    world.start(&mut any);
    let (mut to_be_ignored, mut arrived) = (BTreeSet::new(), 0);
    for _ in 0..400 {
        let all = world.flight().iter().map(|(_, envelope)| envelope);
        let ignored = all.filter(|envelope| is_ignored(&world, envelope));
        to_be_ignored.extend(ignored.map(|envelope| envelope.number));
        let mut actions = Vec::new();
        world.enabled(&mut actions);
        if below(&mut any.0, 20) == 0 {
            world.enabled_faults(&mut actions);
        }
        if actions.is_empty() {
            break;
        }
        let action = actions.swap_remove(below(&mut any.0, actions.len() as u64) as usize);
        let ignored = match &action {
            Action::Deliver(slot) => world.flight().get(*slot),
            _ => None,
        };
        let ignored = ignored.filter(|envelope| to_be_ignored.contains(&envelope.number));
        let ignored = ignored.filter(|envelope| world.process(envelope.to).is_up()).cloned();
        let before = ignored.as_ref().map(|envelope| world.process(envelope.to).state().clone());
        let in_flight = world.flight().len();
        world.step(&action, &mut any);
        if let Some((envelope, before)) = ignored.zip(before) {
            assert!(*world.process(envelope.to).state() == before, "seed {seed}: {envelope:?}");
            assert_eq!(world.flight().len(), in_flight - 1, "seed {seed}: {envelope:?}");
            arrived += 1;
        }
    }
    arrived
}

fn arrived<A: Algorithm>(setup: impl Fn(u64) -> Setup) -> usize {
    (0..1_000).map(|seed| walk::<A>(seed, setup(seed))).sum()
}

#[test]
fn what_a_server_of_raft_is_to_ignore_changes_nothing_whenever_it_arrives() {
    let prevote = |seed: u64| if seed.is_multiple_of(2) { "no" } else { "yes" };
    let arrived = arrived::<Raft>(|seed| Setup::new(3).with("prevote", prevote(seed)));
    assert!(arrived > 10_000, "only {arrived}");
}

#[test]
fn what_a_replica_of_pbft_is_to_ignore_changes_nothing_whenever_it_arrives() {
    let adversary = |seed: u64| ["replaying", "random", "odd-liar"][seed as usize % 3];
    let arrived = arrived::<Pbft>(|seed| {
        let setup = Setup::new(5).with("replicas", "4").with("checkpoint", "1").with("resend", "0");
        setup.with("traitors", "p1").with("adversary", adversary(seed))
    });
    assert!(arrived > 10_000, "only {arrived}");
}

#[test]
fn an_answer_that_no_client_waits_for_changes_nothing_whenever_it_arrives() {
    let arrived = arrived::<MultiPaxos>(|_| Setup::new(3));
    assert!(arrived > 100, "only {arrived}");
}
