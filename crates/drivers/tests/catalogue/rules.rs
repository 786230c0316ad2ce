//! The rules on cards belong to events that happen, and every event that a process reacts to has a
//! rule.

use crate::scenarios;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::LazyLock;
use synod_core::card::{Load, Order, Rounds, Settings};
use synod_core::{Card, Rule, Setup, Trigger};
use synod_drivers::{Session, session};
use synod_protocols::{entries, which};
use synod_sim::faults::{RandomFaults, Restart};
use synod_sim::network::Delay;
use synod_sim::scenario::Scenario;
use synod_sim::trace::{Event, Sink, Tracer, What};
use synod_sim::{Options, Plan};

const SEEDS: u64 = 16;

/// Groups that no card explores, with events that no other group has.
const MORE: &[(&str, usize, Settings)] = &[
    ("bully", 3, &[("detector", "perfect"), ("style", "ping")]),
    ("luis", 3, &[("style", "ping")]),
    ("luis", 3, &[("detector", "phi-accrual")]),
    ("luis", 3, &[("detector", "eventually-perfect-tick")]),
    ("phi-accrual", 3, &[("style", "ping")]),
    ("generals-from-consensus", 4, &[("over", "generals"), ("f", "1")]),
    ("acknowledged-multicast", 3, &[("spread", "5")]),
    ("raft", 3, &[("lease", "yes"), ("reads", "index")]),
    ("raft", 3, &[("snapshot", "2")]),
    ("pbft", 5, &[("checkpoint", "1")]),
    ("slots", 3, &[("cooldown", "5"), ("slots", "4")]),
    ("slots", 3, &[("rules", "repaired"), ("slots", "2"), ("wait", "500")]),
    (
        "slots",
        4,
        &[("engine", "abstract"), ("slots", "2"), ("owned", "p1:1 p2:1"), ("wait", "500")],
    ),
];

/// What the processes of an algorithm react to in some runs.
#[derive(Clone, Debug, Default)]
struct Met(BTreeSet<String>);

impl Sink for Met {
    fn take(&mut self, event: &Event) -> io::Result<()> {
        self.0.extend(event.trigger().map(name));
        Ok(())
    }
}

fn name(trigger: Trigger<'_>) -> String {
    format!("{trigger:?}")
}

/// A run; with every other seed, all kinds of faults at once.
fn options(seed: u64, setup: Setup, card: &Card) -> Options {
    let mut options = Options::new(Plan::new(setup.n, Rounds::Times(4)), seed);
    options.plan.setup = setup;
    options.plan.order = [Order::Any, Order::Fifo, Order::Causal][seed as usize % 3];
    options.plan.multicast = card.multicast;
    options.network.latency = Delay::Exponential(5_000);
    options.load = [Load::Any, Load::Saturated, Load::Sequential][seed as usize / 2 % 3];
    options.patience = 500;
    options.steps_at_most = 2_000;
    if seed % 2 == 1 {
        options.network.loss = 0.2;
        options.network.duplication = 0.2;
        let restart = [Restart::WithDisk, Restart::WithoutDisk][seed as usize / 4 % 2];
        options.faults = RandomFaults {
            crashes: 3,
            restart,
            partitions: 2,
            one_way_cuts: 2,
            within_us: 200_000,
            ..RandomFaults::default()
        };
    }
    options
}

/// The groups in which an algorithm is explored on its card, or that [`MORE`] names.
fn groups(card: &Card) -> BTreeSet<(usize, Settings)> {
    let usual = card.smallest.max(3);
    let scopes = card.proved.iter().chain(card.counterexamples.iter().map(|found| &found.scope));
    let mut groups: BTreeSet<(usize, Settings)> =
        scopes.map(|scope| (scope.n, scope.set)).collect();
    groups.extend([(usual, &[] as Settings), (usual + 2, &[])]);
    groups.extend(card.variants.iter().map(|variant| (usual, variant.set)));
    groups.extend(MORE.iter().filter(|(of, ..)| *of == card.name).map(|(_, n, set)| (*n, *set)));
    groups
}

fn simulated(card: &Card) -> Met {
    let mut met = Met::default();
    for (n, set) in groups(card) {
        for seed in 0..SEEDS {
            let options = options(seed, Setup::new(n).with_all(set), card);
            let tracer = Tracer::new(n, vec![&mut met]);
            let ran =
                synod_drivers::simulate(which, card.name, options, Some(tracer), &mut |_, _| {});
            let ran = ran.expect("it is in the catalogue").expect("the card says that it fits");
            ran.expect("nothing is written");
        }
    }
    met
}

/// All that the simulated runs and the scenarios of each algorithm meet, by its name.
static MET: LazyLock<BTreeMap<&str, Met>> = LazyLock::new(|| {
    let mut met: BTreeMap<&str, Met> =
        entries().iter().map(|entry| (entry.card.name, simulated(&entry.card))).collect();
    for (_, text) in scenarios::all() {
        let scenario = Scenario::parse(&text).expect("another test plays it");
        let algorithm = which(scenario.algorithm()).expect("it is in the catalogue").card().name;
        let played = synod_drivers::play(which, &scenario).expect("it is in the catalogue");
        let met = met.entry(algorithm).or_default();
        for event in played.expect("another test plays it").events {
            met.take(&event).expect("nothing is written");
        }
    }
    met
});

/// The rule and the event of every trigger that no run of these algorithms meets. A rule of a layer
/// is on several cards; a run of one of them is enough.
fn unreal<'c>(cards: &[&'c Card], met: &BTreeMap<&str, Met>) -> Vec<(&'c Rule, String)> {
    let has_met = |rule: &Rule, name: &String| {
        let mut owners = cards.iter().filter(|card| card.rules.contains(rule));
        owners.any(|card| met.get(card.name).is_some_and(|met| met.0.contains(name)))
    };
    let rules = cards.iter().flat_map(|card| card.rules);
    let triggers = rules.flat_map(|rule| rule.triggers().iter().map(move |on| (rule, name(*on))));
    triggers.filter(|(rule, name)| !has_met(rule, name)).collect()
}

/// What runs meet, but no rule names. A process need not do anything at its start.
fn unnamed(card: &Card, met: &Met) -> Vec<String> {
    let named: BTreeSet<String> =
        card.rules.iter().flat_map(|rule| rule.triggers()).map(|on| name(*on)).collect();
    let start = name(Trigger::Start);
    met.0.iter().filter(|met| **met != start && !named.contains(*met)).cloned().collect()
}

#[test]
fn every_rule_belongs_to_events_that_happen() {
    let entries = entries();
    let cards: Vec<&Card> = entries.iter().map(|entry| &entry.card).collect();
    let unreal: Vec<String> = unreal(&cards, &MET)
        .into_iter()
        .map(|(rule, name)| format!("{name} never happens: {}", rule.text))
        .collect();
    assert!(unreal.is_empty(), "\n{}", unreal.join("\n"));
}

#[test]
fn every_input_message_and_timer_that_happens_has_a_rule() {
    let mut lacking = Vec::new();
    for entry in entries().iter().filter(|entry| entry.card.mutant.is_none()) {
        let unnamed = unnamed(&entry.card, &MET[entry.card.name]);
        if !unnamed.is_empty() {
            lacking.push(format!("{}: no rule for {}", entry.card.name, unnamed.join(", ")));
        }
    }
    assert!(lacking.is_empty(), "\n{}", lacking.join("\n"));
}

#[test]
fn a_rule_for_what_never_happens_and_an_event_without_a_rule_are_found() {
    let met = Met(["Input(\"Enter\")", "Message(\"Reply\")", "Start"].map(str::to_owned).into());
    const RULES: &[Rule] = &[
        Rule::on_input("Enter", "enter"),
        Rule::on_message("Answer", "an old name of the message"),
        Rule::always("about no event"),
    ];
    let card = Card { name: "toy", rules: RULES, ..Card::BLANK };
    let of_toy = BTreeMap::from([("toy", met.clone())]);
    let found = unreal(&[&card], &of_toy);
    assert_eq!(found, [(&RULES[1], "Message(\"Answer\")".to_owned())]);
    assert_eq!(unnamed(&card, &met), ["Message(\"Reply\")"]);
}

fn open(text: &str) -> Box<dyn Session> {
    let scenario = Scenario::parse(text).expect("it is a scenario");
    session(which, &scenario).expect("it is in the catalogue").expect("every line is possible")
}

/// Each event with its cause, and the numbers of the rules that belong to it.
fn causes(session: &dyn Session) -> Vec<(What, Option<Trigger<'_>>, Vec<usize>)> {
    let cause = |event: &Event| {
        let rules = session.rules(event.index);
        let numbers = rules.iter().map(|(number, _)| *number).collect();
        (event.what, session.cause(event.index), numbers)
    };
    session.events().iter().map(cause).collect()
}

#[test]
fn a_session_tells_the_rules_to_which_an_event_belongs() {
    let session = open(
        "algorithm: ricart-agrawala\nprocesses: 2\n---\np0 requests\ndeliver all\np0 leaves\n\
         p0 tells p1\ndeliver all\ncrash p1\n",
    );
    let (enter, exit) = (Some(Trigger::Input("Enter")), Some(Trigger::Input("Exit")));
    let (request, reply) = (Some(Trigger::Message("Request")), Some(Trigger::Message("Reply")));
    assert_eq!(
        causes(&*session),
        [
            (What::Start, Some(Trigger::Start), vec![]),
            (What::Start, Some(Trigger::Start), vec![]),
            (What::Input, enter, vec![1]),
            (What::Send, enter, vec![1]),
            (What::Receive, request, vec![2]),
            (What::Send, request, vec![2]),
            (What::Receive, reply, vec![3]),
            (What::Output, reply, vec![3]),
            (What::Input, exit, vec![4]),
            (What::Send, None, vec![]),
            (What::Receive, None, vec![]),
            (What::Crash, None, vec![]),
        ]
    );
    assert_eq!(session.rules(2)[0].1.text, which("ra").expect("it is there").card().rules[0].text);
    assert_eq!(session.cause(99), None);
}

/// The client reads its clock in the step in which it is asked: the request follows from that.
#[test]
fn an_answer_of_the_application_within_a_step_is_a_cause_of_its_own() {
    let session = open("algorithm: cristian\nprocesses: 2\n---\np1 synchronises\n");
    let (asked, read) = (Trigger::Input("Synchronise"), Trigger::Input("Reading"));
    let of_step: Vec<_> = causes(&*session).into_iter().skip(2).collect();
    assert_eq!(
        of_step,
        [
            (What::Input, Some(asked), vec![1]),
            (What::Output, Some(asked), vec![1]),
            (What::Input, Some(read), vec![1, 2, 3, 4]),
            (What::Send, Some(read), vec![1, 2, 3, 4]),
        ]
    );
}

/// A timer is named without its value. A violation has the cause of the event before it; what
/// waited for the disk follows from an earlier step.
#[test]
fn timers_have_the_name_of_their_variant_and_violations_the_cause_of_what_shows_them() {
    let session = open("algorithm: perfect\nprocesses: 2\n---\nfire p0 Silence(p1)\n");
    let causes_of = causes(&*session);
    let silence = Some(Trigger::Timer("Silence"));
    let fired: Vec<_> = causes_of.iter().filter(|(_, cause, _)| *cause == silence).collect();
    let whats: Vec<What> = fired.iter().map(|(what, ..)| *what).collect();
    assert_eq!(whats, [What::Timer, What::Output, What::Violation]);
    assert!(fired.iter().all(|(_, _, rules)| *rules == [4]), "{fired:?}");

    let session = open("algorithm: paxos\nprocesses: 3\n---\np0 proposes 0\nsync p0\n");
    let waited = causes(&*session).into_iter().skip_while(|(what, ..)| *what != What::Sync);
    let waited: Vec<_> = waited.collect();
    assert_eq!(waited.len(), 3, "two prepares wait for the record");
    assert!(waited.iter().all(|(_, cause, rules)| cause.is_none() && rules.is_empty()));
}
