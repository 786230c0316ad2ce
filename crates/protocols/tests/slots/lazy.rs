//! A lazy engine leaves nothing out: what can happen with one that is not lazy happens with it, too.

use std::collections::BTreeSet;
use synod_check::{Question, explore};
use synod_core::card::{Counterexample, Order, Rounds, Scope};
use synod_core::group::ServedTimer;
use synod_core::{Algorithm, ProcessId, Protocol, step};
use synod_protocols::group::abstract_engine::{Move, ORACLE};
use synod_protocols::group::{GroupEngine, Timer};
use synod_protocols::slots::{Slots, SlotsAlgorithm};
use synod_sim::world::{Driver, Judged, World};

type Pool = World<SlotsAlgorithm>;

/// Goes through all sequences of choices.
#[derive(Default)]
struct Choices {
    script: Vec<u32>,
    among: Vec<u32>,
}

impl Driver<SlotsAlgorithm> for Choices {
    fn choose(&mut self, among: u32) -> u32 {
        if self.script.len() == self.among.len() {
            self.script.push(0);
        }
        self.among.push(among);
        self.script[self.among.len() - 1]
    }
}

impl Choices {
    fn advance(&mut self) -> bool {
        while let Some(last) = self.script.pop() {
            if last + 1 < self.among[self.script.len()] {
                self.script.push(last + 1);
                self.among.clear();
                return true;
            }
        }
        false
    }
}

/// Every world that one step leads to.
fn after(world: &Pool) -> Vec<Pool> {
    let mut actions = Vec::new();
    world.enabled(&mut actions);
    world.enabled_faults(&mut actions);
    let mut all = Vec::new();
    for action in actions {
        let mut choices = Choices::default();
        loop {
            let mut next = world.clone();
            next.step(&action, &mut choices);
            if !next.was_retracted() {
                all.push(next);
            }
            if !choices.advance() {
                break;
            }
        }
    }
    all
}

/// Whether everybody has been told everything.
fn is_calm(world: &Pool) -> bool {
    let pass = ServedTimer::Engine(Timer::Abstract(Move::Pass));
    !world.process(ORACLE).timers().iter().any(|set| set.timer == pass)
}

/// What can be seen of a member.
fn look(member: &Slots) -> String {
    let estate = member.estate();
    let group = (&estate.members, &estate.ready, &estate.waiting, estate.primary, &estate.dead);
    format!("{:?} {:?} {group:?} {:?}", estate.stage, estate.table, estate.pool)
}

/// The members, when everybody has been told what there is to be told.
fn when_calm(world: &Pool) -> Vec<String> {
    let n = world.processes().len();
    let oracle = &world.process(ORACLE).state.engine;
    let calm = |me: ProcessId| {
        let mut member = world.process(me).state.clone();
        for event in oracle.to_be_told(me) {
            step(me, n, |cx| member.on_message(ORACLE, GroupEngine::telling(event), cx));
        }
        look(&member.service)
    };
    ProcessId::all(n).map(calm).collect()
}

/// Every calm state of all members together, and how many states there are in all.
fn calm_states(question: &Question) -> (BTreeSet<Vec<String>>, usize) {
    let mut world = Pool::new(&question.plan::<SlotsAlgorithm>()).expect("the scope fits");
    world.start(&mut Choices::default());
    world.keep_fingerprint();
    let (mut seen, mut calm) = (BTreeSet::from([world.fingerprint()]), BTreeSet::new());
    let mut waiting = vec![world];
    while let Some(world) = waiting.pop() {
        if is_calm(&world) {
            calm.insert(when_calm(&world));
        }
        waiting.extend(after(&world).into_iter().filter(|next| seen.insert(next.fingerprint())));
    }
    (calm, seen.len())
}

fn question(n: usize, settings: &[(&'static str, &'static str)]) -> Question {
    let scope = Scope { rounds: Rounds::Times(0), order: Order::Fifo, ..Scope::of(n) };
    let mut question = Question::new(scope);
    for (name, value) in settings {
        question.setup = question.setup.with(name, value);
    }
    question
}

/// A pool with a member that has nothing, and what may go wrong.
fn pool(n: usize, rules: &'static str, faults: &'static str) -> Question {
    let settings = [("engine", "abstract"), ("rules", rules), ("slots", "2"), ("low", "1")];
    let more = [("stock", "1"), ("owned", "p1:2"), ("faults", faults)];
    question(n, &[&settings[..], &more].concat())
}

fn same_calm_states(n: usize, rules: &'static str, faults: &'static str) {
    let busy = pool(n, rules, faults);
    let with = |name: &str, value: &str, question: &Question| Question {
        setup: question.setup.clone().with(name, value),
        ..question.clone()
    };
    let lazy = with("passing", "lazy", &busy);
    let (expected, all) = calm_states(&busy);
    assert!(expected.len() > 3, "{rules}, {faults}: there is something to compare");
    for lazy in [with("across", "no", &lazy), lazy] {
        let (calm, fewer) = calm_states(&lazy);
        assert!(calm == expected, "{rules}, {faults}: {} and {}", calm.len(), expected.len());
        assert!(fewer * 5 < all, "{fewer} of {all}");
    }
}

#[test]
fn the_same_calm_states_are_reached_when_members_are_told_things_as_late_as_can_be() {
    for rules in ["repaired", "offers"] {
        same_calm_states(3, rules, "partition merge");
        same_calm_states(3, rules, "partition die");
    }
}

/// Without the settings that leave histories out, and lazy.
fn lazily(hazard: &Counterexample) -> Question {
    let mut question = Question::new(hazard.scope);
    for (name, value) in [("passing", "lazy"), ("calm", "no"), ("late", "yes")] {
        question.setup = question.setup.with(name, value);
    }
    question.judged = Judged::Only(vec![hazard.property.to_owned()]);
    question
}

#[test]
fn what_goes_wrong_with_the_published_rules_is_found_by_a_lazy_engine_too() {
    let hazards = SlotsAlgorithm::CARD.counterexamples.iter();
    let quiet: Vec<_> = hazards.filter(|hazard| hazard.scope.rounds == Rounds::Times(0)).collect();
    assert_eq!(quiet.len(), 7);
    for hazard in quiet {
        let exploration = explore::<SlotsAlgorithm>(&lazily(hazard), |_| {}).expect("it fits");
        let found = exploration.refutation(hazard.property).expect(hazard.story);
        assert!(found.history.steps.len() < hazard.steps, "{}", hazard.story);
    }
}
