//! An exploration that leaves out what makes no difference, and one that leaves out nothing, come
//! to the same verdicts; and a hint that is wrong shows.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use synod_check::{Exploration, Limits, Question, Unfinished, explore};
use synod_core::card::{Order, Rounds, Scope, Settings};
use synod_core::family::Mutex;
use synod_core::family::mutex::{Input, ME1, Output};
use synod_core::reductions::{FaultBudgets, retract};
use synod_core::{
    Algorithm, Card, Cx, ProcessId, Protocol, Reductions, Setup, SetupError, Unhashed, Wire,
};
use synod_drivers::Explored;
use synod_protocols::{Visit, entries, visit, which};
use synod_sim::Judged;

/// Limits for the states of the worlds that are compared: first lean, then full.
const LEAN: usize = 4_000;
const FULL: usize = 60_000;

fn explored(name: &str, question: &Question) -> Explored {
    let explored = synod_drivers::explore(which, name, question, &mut |_| {});
    explored.expect("it is in the catalogue").expect("the scope fits the card")
}

/// For each property that is judged, whether it is violated.
fn verdicts(explored: &Explored) -> BTreeMap<&'static str, bool> {
    let verdicts = explored.verdicts.iter();
    verdicts.map(|(property, refuted)| (*property, refuted.is_some())).collect()
}

/// The properties that both explorations judge, with different verdicts. (An invariant that
/// replaces the omissions of a lazy engine is judged only with such an engine.)
fn differ(lean: &Explored, full: &Explored) -> Vec<&'static str> {
    let (lean, full) = (verdicts(lean), verdicts(full));
    let other = |(property, refuted): &(&&'static str, &bool)| {
        full.get(**property).is_some_and(|in_full| in_full != *refuted)
    };
    lean.iter().filter(other).map(|(property, _)| *property).collect()
}

fn is_finished(explored: &Explored) -> bool {
    !matches!(explored.unfinished, Some(Unfinished::Limit(..)))
}

fn at_most(states: usize, full: bool, question: &Question) -> Question {
    Question { full, limits: Limits { states, ..question.limits }, ..question.clone() }
}

/// Explores a world twice. None if it is too large; else how many states there are, lean and full.
fn compare(name: &str, question: &Question) -> Option<(usize, usize)> {
    let lean = explored(name, &at_most(LEAN, false, question));
    if !is_finished(&lean) {
        return None;
    }
    let full = explored(name, &at_most(FULL, true, question));
    is_finished(&full).then(|| {
        assert_eq!(differ(&lean, &full), [""; 0], "{name} in {:?}", question.scope);
        (lean.progress.unique, full.progress.unique)
    })
}

/// What an algorithm lets explorers leave out.
struct Hints;

impl Visit for Hints {
    type Answer = Vec<&'static str>;

    fn visit<A: Algorithm>(self) -> Self::Answer {
        A::REDUCTIONS.names().collect()
    }
}

fn hints(name: &str) -> Vec<&'static str> {
    visit(name, Hints).expect("it is in the catalogue")
}

/// A pool without claims, which falls apart and comes together, on a lazy engine.
const fn lazy_pool(set: Settings) -> Scope {
    Scope { rounds: Rounds::Times(0), order: Order::Fifo, set, ..Scope::of(3) }
}

macro_rules! lazy_pool {
    ($rules:literal) => {
        lazy_pool(&[
            ("engine", "abstract"),
            ("rules", $rules),
            ("slots", "2"),
            ("low", "1"),
            ("stock", "1"),
            ("owned", "p1:2"),
            ("partitions", "1"),
            ("merges", "1"),
            ("passing", "lazy"),
            ("across", "no"),
        ])
    };
}

/// A server that stands for election once, in a group of two.
const ELECTED: Scope = Scope {
    set: &[
        ("terms", "1"),
        ("beats", "0"),
        ("prevote", "no"),
        ("spread", "1"),
        ("batch", "no"),
        ("tries", "0"),
        ("standing", "p0"),
        ("askers", "p0"),
    ],
    ..Scope::of(2)
};

/// A process that begins one ballot, in a group of two.
const PREPARED: Scope = Scope {
    set: &[
        ("ballots", "1"),
        ("beats", "0"),
        ("ask", "no"),
        ("spread", "1"),
        ("batch", "no"),
        ("tries", "0"),
        ("standing", "p0"),
        ("askers", "p0"),
    ],
    ..Scope::of(2)
};

/// Two members that write once each, one of which may die.
const WRITTEN: Scope = Scope {
    order: Order::Fifo,
    set: &[("engine", "abstract"), ("keys", "1"), ("deaths", "1")],
    ..Scope::of(3)
};

/// A pool with a founder, whose node crashes and starts again.
const FOUNDED: Scope = lazy_pool(&[
    ("engine", "abstract"),
    ("pools", "1"),
    ("slots", "2"),
    ("stock", "1"),
    ("opened", "yes"),
    ("founder", "p1"),
    ("faults", "crash restart"),
    ("passing", "lazy"),
    ("across", "no"),
]);

/// Small worlds beside those on the cards.
const MORE: &[(&str, Scope)] = &[
    ("slots", lazy_pool!("offers")),
    ("slots", lazy_pool!("repaired")),
    ("slots-death-of-a-life", lazy_pool!("offers")),
    ("slots-forgetful", lazy_pool!("offers")),
    ("switchboard-late", FOUNDED),
    ("switchboard-partings-forgotten", FOUNDED),
    ("switchboard-untold", FOUNDED),
    ("table", WRITTEN),
    ("table-replaced", WRITTEN),
    ("raft-old-term", ELECTED),
    ("raft-blind-vote", ELECTED),
    ("raft-forgetful", ELECTED),
    ("multi-paxos-faithless", PREPARED),
];

/// To the published rules of a pool, messages of another view are not void: an engine that leaves
/// those out is not meant for them, as its parameter `across` says.
fn is_meant(scope: &Scope) -> bool {
    !(scope.set.contains(&("rules", "paper")) && scope.set.contains(&("across", "no")))
}

/// Everything that the family defines is judged, in all small worlds of the cards.
fn questions(name: &str, card: &Card) -> Vec<Question> {
    let refuted = card.counterexamples.iter().map(|known| known.scope);
    let more = MORE.iter().filter(|(of, _)| *of == name).map(|(_, scope)| *scope);
    let scopes = card.proved().into_iter().chain(refuted).chain(more);
    let finite = scopes.filter(|scope| scope.rounds != Rounds::Forever && is_meant(scope));
    finite.map(Question::new).collect()
}

/// Where there are fewer states with the hints.
const SMALLER: &[&str] = &["raft", "multi-paxos", "pbft", "paxos", "slots"];

#[test]
fn what_is_left_out_changes_no_verdict() {
    let mut sizes = BTreeMap::new();
    for entry in entries() {
        let name = entry.card.name;
        let compared =
            questions(name, &entry.card).iter().filter_map(|q| compare(name, q)).collect();
        sizes.insert(name, compared);
    }
    let of = |name: &str| -> &Vec<(usize, usize)> { &sizes[name] };
    let hinted = sizes.keys().filter(|name| !hints(name).is_empty());
    let unseen: Vec<_> = hinted.filter(|name| of(name).is_empty()).collect();
    assert!(unseen.is_empty(), "no world of theirs is small enough: {unseen:?}");
    for name in SMALLER {
        assert!(of(name).iter().any(|(lean, full)| lean < full), "{name}: {:?}", of(name));
    }
}

/// The comparison finds where a reduction is used that does not fit: here the engine leaves out
/// what the published rules act upon.
#[test]
fn an_engine_that_leaves_too_much_out_hides_what_the_published_rules_do() {
    let question = Question::new(lazy_pool!("paper"));
    let lean = explored("slots", &at_most(LEAN, false, &question));
    let full = explored("slots", &at_most(FULL, true, &question));
    assert!(is_finished(&lean) && is_finished(&full));
    assert_eq!(differ(&lean, &full), ["pi1-owned"]);
}

/// Where numbers are made small again there is no end: so as deep as both can go. Crowded states
/// are left out where numbers are small, so a violation may take some steps more there.
#[test]
fn numbers_made_small_change_no_verdict() {
    let duel = &[("proposers", "p0 p1"), ("retry", "at-once"), ("durable", "no")];
    let scope = |n, set| Scope { rounds: Rounds::Forever, order: Order::Fifo, set, ..Scope::of(n) };
    let mut sizes = BTreeMap::new();
    for entry in entries().iter().filter(|entry| hints(entry.card.name).contains(&"normalise")) {
        let name = entry.card.name;
        let is_paxos = entry.card.parameters.iter().any(|parameter| parameter.name == "ballots");
        let mut question = Question::new(if is_paxos { scope(3, duel) } else { scope(3, &[]) });
        question.judged = Judged::Only(vec![ME1.to_owned(), "agreement".to_owned()]);
        question.limits.depth = if is_paxos { 10 } else { 12 };
        let lean = explored(name, &question);
        let full = explored(name, &Question { full: true, ..question });
        assert_eq!(differ(&lean, &full), [""; 0], "{name}");
        sizes.insert(name, (lean.progress.unique, full.progress.unique));
    }
    assert!(sizes.len() >= 4, "{sizes:?}");
    assert!(sizes.values().any(|(lean, full)| lean < full), "{sizes:?}");
}

/// A process that states a wrong hint of this kind about itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Liar<const HINT: u8> {
    /// At the keeper: whether its key is lent.
    lent: bool,
    /// How often this process was let in.
    times: u32,
    /// How often the key may still break. It is not hashed.
    breaks: Unhashed<u8>,
}

const IGNORES: u8 = 0;
const NORMALISE: u8 = 1;
const FAULTS_LEFT: u8 = 2;
const RETRACT: u8 = 3;

const KEEPER: ProcessId = ProcessId(0);

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Message {
    Ask,
    Key,
    Back,
}

impl Wire for Message {}

/// The key breaks.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Break;

impl<const HINT: u8> Liar<HINT> {
    /// The keeper lends a key that it does not have, and ought not to be asked for it.
    fn ignores(&self, _from: ProcessId, message: &Message) -> bool {
        *message == Message::Ask && self.lent
    }

    /// The third time counts, so this is no number that matters only relative to others.
    fn normalise(processes: &mut [&mut Self], _in_flight: &mut [&mut Message]) -> bool {
        processes.iter_mut().for_each(|process| process.times = 0);
        true
    }

    /// A broken key opens for every process: with less left there are more histories, not fewer.
    fn faults_left(&self) -> FaultBudgets {
        [self.breaks.0, 0, 0, 0, 0, 0, 0, 0]
    }

    /// Whether the keeper lends the key although it is lent.
    fn errs(&self) -> bool {
        match HINT {
            IGNORES => true,
            NORMALISE => self.times == 2,
            FAULTS_LEFT => self.breaks.0 == 0,
            _ => false,
        }
    }
}

impl<const HINT: u8> Protocol for Liar<HINT> {
    type Input = Input;
    type Output = Output;
    type Message = Message;
    type Timer = Break;

    const REDUCTIONS: Reductions<Self> = match HINT {
        IGNORES => Reductions { ignores: Some(Self::ignores), ..Reductions::NONE },
        NORMALISE => Reductions { normalise: Some(Self::normalise), ..Reductions::NONE },
        FAULTS_LEFT => Reductions {
            is_fault: Some(|_| true),
            faults_left: Some(Self::faults_left),
            ..Reductions::NONE
        },
        _ => Reductions::NONE,
    };

    fn on_start(&mut self, cx: &mut Cx<'_, Self>) {
        if HINT == FAULTS_LEFT && cx.me() == KEEPER {
            cx.set_timer(Break, 1);
        }
    }

    fn on_input(&mut self, input: Input, cx: &mut Cx<'_, Self>) {
        match input {
            // It comes in without a key, and says that nothing came of it.
            Input::Enter if HINT == RETRACT && cx.choose(2) == 1 => {
                cx.output(Output::Entered);
                retract(cx);
            }
            Input::Enter => cx.send(KEEPER, Message::Ask),
            Input::Exit => cx.send(KEEPER, Message::Back),
        }
    }

    fn on_message(&mut self, from: ProcessId, message: Message, cx: &mut Cx<'_, Self>) {
        match message {
            Message::Ask if !self.lent || self.errs() => {
                self.lent = true;
                self.times += 1;
                cx.send(from, Message::Key);
            }
            Message::Ask => {}
            Message::Key => cx.output(Output::Entered),
            Message::Back => self.lent = false,
        }
    }

    fn on_timer(&mut self, Break: Break, _cx: &mut Cx<'_, Self>) {
        self.breaks.0 = 0;
    }
}

impl<const HINT: u8> Algorithm for Liar<HINT> {
    type Family = Mutex;
    const CARD: Card = Card { name: "liar", ..Card::BLANK };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        Ok(vec![Liar { lent: false, times: 0, breaks: Unhashed(1) }; setup.n])
    }

    fn takes_part(&self, me: ProcessId) -> bool {
        me != KEEPER
    }
}

/// Whether mutual exclusion is refuted: lean, and full.
fn both<const HINT: u8>(scope: Scope) -> [bool; 2] {
    let mut question = Question::new(scope);
    question.judged = Judged::Only(vec![ME1.to_owned()]);
    question.limits.depth = 20;
    [false, true].map(|full| {
        let asked = Question { full, ..question.clone() };
        let explored: Exploration<_> = explore::<Liar<HINT>>(&asked, |_| {}).expect("it fits");
        explored.refutation(ME1).is_some()
    })
}

#[test]
fn a_wrong_hint_of_each_kind_hides_a_violation_that_a_full_exploration_finds() {
    let endless = Scope { rounds: Rounds::Forever, order: Order::Fifo, ..Scope::of(3) };
    assert_eq!(both::<IGNORES>(Scope::of(3)), [false, true]);
    assert_eq!(both::<NORMALISE>(endless), [false, true]);
    assert_eq!(both::<FAULTS_LEFT>(Scope::of(3)), [false, true]);
    assert_eq!(both::<RETRACT>(Scope::of(3)), [false, true]);
}
