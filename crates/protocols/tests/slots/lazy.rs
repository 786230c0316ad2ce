//! A lazy engine leaves no state out: it reaches all calm states that an engine reaches that is not
//! lazy.

use std::collections::{BTreeSet, VecDeque};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use synod_check::{Question, explore};
use synod_core::card::{Counterexample, Order, Rounds, Scope};
use synod_core::group::{
    Capabilities, Cause, Change, Delivery, Event, Member, Part, ServedTimer, Service, Session,
    View, ViewId,
};
use synod_core::reductions::Fleeting;
use synod_core::{Algorithm, ProcessId, ProcessSet, Protocol, step};
use synod_protocols::group::abstract_engine::{Move, ORACLE};
use synod_protocols::group::{GroupEngine, Timer};
use synod_protocols::slots::message::Message;
use synod_protocols::slots::state::ViewStage;
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

/// Every world that is one step away.
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

/// Whether every member has delivered all its events, and none is between two views.
fn is_calm(world: &Pool) -> bool {
    let stirs = |timer: &ServedTimer<_, Timer>| {
        let ServedTimer::Engine(Timer::Abstract(next)) = timer else { return false };
        matches!(next, Move::Pass | Move::Settle | Move::Gather)
    };
    !world.process(ORACLE).timers().iter().any(|set| stirs(&set.timer))
}

/// A member's visible state.
pub(super) fn look(member: &Slots) -> String {
    let state = member.state();
    let group = (&state.members, &state.ready, &state.waiting, state.primary, &state.dead);
    format!("{:?} {:?} {group:?} {:?}", state.stage, state.table, state.pool)
}

/// The members after all events that wait for them.
fn when_calm(world: &Pool) -> Vec<String> {
    let n = world.processes().len();
    let oracle = &world.process(ORACLE).state().engine;
    let calm = |me: ProcessId| {
        let mut member = world.process(me).state().clone();
        for event in oracle.waiting_for(me).into_iter().flatten() {
            step(me, n, |cx| {
                member.on_message(ORACLE, GroupEngine::passing_on(event.to_event()), cx)
            });
        }
        look(&member.service)
    };
    ProcessId::all(n).map(calm).collect()
}

/// Shows every reachable state, and returns their number.
fn each_state(question: &Question, show: &mut dyn FnMut(&Pool)) -> usize {
    let mut world = Pool::new(&question.plan::<SlotsAlgorithm>()).expect("the scope fits");
    world.start(&mut Choices::default());
    world.keep_fingerprint();
    let mut seen = BTreeSet::from([world.whole_fingerprint(false)]);
    let mut waiting = vec![world];
    while let Some(world) = waiting.pop() {
        show(&world);
        waiting.extend(
            after(&world).into_iter().filter(|next| seen.insert(next.whole_fingerprint(false))),
        );
    }
    seen.len()
}

/// Every calm state of all members together, and the number of all states.
pub(super) fn calm_states(question: &Question) -> (BTreeSet<Vec<String>>, usize) {
    let mut calm = BTreeSet::new();
    let all = each_state(question, &mut |world| {
        if is_calm(world) {
            calm.insert(when_calm(world));
        }
    });
    (calm, all)
}

fn question(n: usize, settings: &[(&'static str, &'static str)]) -> Question {
    let scope = Scope { rounds: Rounds::Times(0), order: Order::Fifo, ..Scope::of(n) };
    let mut question = Question::new(scope);
    for (name, value) in settings {
        question.setup = question.setup.with(name, value);
    }
    question
}

/// A pool in which some members own no slot, and faults in a fixed order.
fn pool(n: usize, rules: &'static str, faults: &'static str) -> Question {
    let settings = [("engine", "abstract"), ("rules", rules), ("slots", "2"), ("low", "1")];
    let more = [("stock", "1"), ("owned", "p1:2"), ("faults", faults)];
    question(n, &[&settings[..], &more].concat())
}

/// The same pool with faults at any time and in any order, within these budgets.
pub(super) fn at_any_time(
    n: usize,
    rules: &'static str,
    budgets: &[(&'static str, &'static str)],
) -> Question {
    let settings = [("engine", "abstract"), ("rules", rules), ("slots", "2"), ("low", "1")];
    let more = [("stock", "1"), ("owned", "p1:2")];
    question(n, &[&settings[..], &more, budgets].concat())
}

fn with(name: &str, value: &str, question: &Question) -> Question {
    Question { setup: question.setup.clone().with(name, value), ..question.clone() }
}

fn same_calm_states(busy: &Question) {
    let setup = &busy.setup;
    let lazy = with("passing", "lazy", busy);
    let (expected, all) = calm_states(busy);
    assert!(expected.len() > 3, "{setup:?}: there is something to compare");
    for lazy in [with("across", "no", &lazy), lazy] {
        let (calm, fewer) = calm_states(&lazy);
        assert!(calm == expected, "{setup:?}: {} and {}", calm.len(), expected.len());
        assert!(fewer * 5 < all, "{fewer} of {all}");
    }
}

#[test]
fn the_same_calm_states_are_reached_when_members_are_told_things_as_late_as_can_be() {
    for rules in ["repaired", "offers"] {
        same_calm_states(&pool(3, rules, "partition merge"));
        same_calm_states(&pool(3, rules, "partition die"));
    }
}

#[test]
fn the_same_calm_states_are_reached_when_those_left_behind_go_on_before_all_else() {
    let faults = [("partitions", "1"), ("merges", "1"), ("deaths", "1"), ("restarts", "1")];
    same_calm_states(&at_any_time(3, "repaired", &faults));
    same_calm_states(&at_any_time(3, "offers", &faults[..3]));
}

/// The same states without the numbers of lives.
pub(super) fn nameless(states: BTreeSet<Vec<String>>) -> BTreeSet<Vec<String>> {
    let plain = |member: String| {
        let mut parts = member.split('\'');
        let first = parts.next().unwrap_or_default().to_owned();
        let rest = parts.map(|part| part.trim_start_matches(|c: char| c.is_ascii_digit()));
        rest.fold(first, |text, part| text + part)
    };
    states.into_iter().map(|members| members.into_iter().map(plain).collect()).collect()
}

#[test]
fn the_same_calm_states_are_reached_when_the_numbers_of_lives_come_back() {
    let faults = [("deaths", "2"), ("restarts", "2"), ("merges", "1")];
    for rules in ["repaired", "offers"] {
        let lazy = with("passing", "lazy", &at_any_time(3, rules, &faults));
        let (expected, _) = calm_states(&lazy);
        let (calm, _) = calm_states(&with("across", "no", &lazy));
        let (raw, again) = (expected.len(), nameless(expected));
        assert!(again.len() > 10 && again.len() < raw, "{rules}: {} of {raw}", again.len());
        assert!(nameless(calm) == again, "{rules}");
    }
}

#[test]
fn the_same_calm_states_are_reached_without_what_comes_too_late_for_its_view() {
    for (rules, faults) in [("repaired", "partition merge"), ("offers", "partition merge")] {
        let lazy = with("passing", "lazy", &pool(4, rules, faults));
        let (expected, all) = calm_states(&lazy);
        let (calm, fewer) = calm_states(&with("across", "no", &lazy));
        assert!(calm == expected, "{rules}, {faults}: {} and {}", calm.len(), expected.len());
        assert!(expected.len() > 10 && fewer < all, "{fewer} of {all}");
    }
}

/// The members of a pool in all their states, and all messages that they multicast.
fn members_and_messages(question: &Question) -> (Vec<Slots>, Vec<Delivery<Message>>) {
    let (mut members, mut messages) = (Vec::new(), Vec::new());
    let mut seen = BTreeSet::new();
    each_state(question, &mut |world| {
        for me in ProcessId::all(world.processes().len()).skip(1) {
            let mut member = world.process(me).state().clone();
            let oracle = &world.process(ORACLE).state().engine;
            for event in oracle.waiting_for(me).into_iter().flatten() {
                let event = event.to_event();
                if let Event::Deliver(delivery) = &event
                    && !messages.contains(delivery)
                {
                    messages.push(delivery.clone());
                }
                if seen.insert(print(&member.service)) {
                    members.push(member.service.clone());
                }
                step(me, 4, |cx| member.on_message(ORACLE, GroupEngine::passing_on(event), cx));
            }
            if seen.insert(print(&member.service)) {
                members.push(member.service.clone());
            }
        }
    });
    (members, messages)
}

/// A fingerprint of a member, without the numbers of free slots that others reported.
fn print(member: &Slots) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(member)
}

const CAN: Capabilities =
    Capabilities { safe: true, partitionable: true, came_with: true, longest_message: usize::MAX };

/// Delivers every message to every member in every state, and asserts that no member changes.
/// Returns the number of deliveries.
fn makes_no_difference(
    rules: &'static str,
    delivered: impl Fn(&Slots, &Delivery<Message>) -> Option<Delivery<Message>>,
) -> usize {
    let lazy = with("passing", "lazy", &pool(4, rules, "partition merge"));
    let (members, messages) = members_and_messages(&with("across", "no", &lazy));
    let mut count = 0;
    for member in &members {
        for delivery in messages.iter().filter_map(|message| delivered(member, message)) {
            let (mut later, mut acts) = (member.clone(), VecDeque::new());
            let me = member.state().me;
            later.on_deliver(delivery.clone(), &mut Session::new(me, CAN, 4, &mut acts));
            assert_eq!(print(&later), print(member), "{delivery:?} changes {member:?}");
            assert!(acts.is_empty(), "{delivery:?} makes a member act: {member:?}");
            count += 1;
        }
    }
    count
}

#[test]
fn to_rules_that_hold_what_was_multicast_in_another_view_is_void() {
    let elsewhere = ViewId::new(99, ProcessId(1));
    for rules in ["repaired", "offers"] {
        let count = makes_no_difference(rules, |_, message| {
            Some(Delivery { sent_in: elsewhere, ..message.clone() })
        });
        assert!(count > 100, "{rules}: there is something to try");
    }
}

#[test]
fn what_is_void_between_two_views_makes_no_difference_there() {
    for rules in ["repaired", "offers"] {
        let count = makes_no_difference(rules, |member, message| {
            let state = member.state();
            let between =
                state.stage == ViewStage::Between && message.message.is_void_between_views();
            let sent_in = state.view.filter(|_| between)?;
            Some(Delivery { sent_in, ..message.clone() })
        });
        assert!(count > 20, "{rules}: {count} are something to try");
    }
}

/// A member after its view has ended and it has entered one alone.
fn alone(mut member: Slots) -> Slots {
    let state = member.state();
    let (me, last) = (state.me, state.view.expect("it is in a view"));
    let of_me = |other: &&Member| other.node == me;
    let myself = *state.members.iter().find(of_me).expect("it is in its view");
    let others = state.members.iter().filter(|other| other.node != me);
    let left = others.map(|other| Change { member: *other, cause: Cause::Partition });
    let view = View {
        id: ViewId { epoch: last.epoch + 100, by: myself },
        members: vec![myself],
        joined: Vec::new(),
        left: left.collect(),
        came_with: Some(vec![Part { from: Some(last), members: ProcessSet::from_iter([me]) }]),
    };
    let mut acts = VecDeque::new();
    let mut session = Session::new(me, CAN, 4, &mut acts);
    member.on_transitional(&ProcessSet::from_iter([me]), &mut session);
    member.on_view(&view, &mut session);
    member
}

#[test]
fn of_what_ends_with_its_view_nothing_is_left_in_the_next() {
    let mut count = 0;
    let lazy = with("passing", "lazy", &pool(4, "repaired", "partition merge"));
    let (members, messages) = members_and_messages(&with("across", "no", &lazy));
    for member in members.iter().filter(|member| member.state().view.is_some()) {
        let state = member.state();
        for message in messages.iter().filter(|message| message.message.ends_with_its_view()) {
            let delivery = Delivery { sent_in: state.view.unwrap(), ..message.clone() };
            let (mut later, mut acts) = (member.clone(), VecDeque::new());
            later.on_deliver(delivery, &mut Session::new(state.me, CAN, 4, &mut acts));
            let same = print(&alone(later)) == print(&alone(member.clone()));
            assert!(same, "{message:?} changes what becomes of {member:?}");
            count += 1;
        }
    }
    assert!(count > 100, "{count} are something to try");
}

/// The hazard's question for a lazy engine, without the settings that leave histories out.
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

#[test]
fn the_published_rules_lose_by_the_end_of_a_view_what_somebody_may_use() {
    let faults = [("partitions", "2"), ("merges", "2"), ("deaths", "1"), ("restarts", "1")];
    let lazy = with("passing", "lazy", &at_any_time(3, "paper", &faults));
    let question =
        Question { judged: Judged::Only(vec!["kept".to_owned()]), ..with("across", "no", &lazy) };
    let exploration = explore::<SlotsAlgorithm>(&question, |_| {}).expect("it fits");
    assert!(exploration.refutation("kept").is_some(), "{:?}", exploration.progress);
}
