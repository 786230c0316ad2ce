//! Sessions: driven by hand and by the seed, forwards and backwards, every algorithm is the same
//! run as its script.

use synod_core::card::Rounds;
use synod_core::{ProcessId, Verdict};
use synod_drivers::{Change, Session, Snapshot, Tree, session};
use synod_protocols::{entries, find, which};
use synod_sim::scenario::{OfferKind, Scenario};
use synod_sim::trace::{Event, Tracer, What, Window};
use synod_sim::{Judged, Options, Plan};

fn open(text: &str) -> Box<dyn Session> {
    let scenario = Scenario::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let session = session(which, &scenario).expect("the algorithm is in the catalogue");
    session.unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// A group of a size that the algorithm can have.
fn size(name: &str) -> usize {
    find(name).expect("it is in the catalogue").card.smallest.max(3)
}

fn header(name: &str, more: &str) -> String {
    format!("algorithm: {name}\nprocesses: {}\n{more}---\n", size(name))
}

/// A small generator of choices, so that walks are the same everywhere.
struct Walk(u64);

impl Walk {
    fn below(&mut self, among: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % among
    }
}

/// Everything that a session shows.
fn shown(session: &dyn Session) -> (usize, u64, Vec<String>, Vec<Snapshot>, String) {
    let lines = session.offers().into_iter().map(|offer| offer.line).collect();
    let states = ProcessId::all(session.processes()).map(|at| session.state(at)).collect();
    let rest = format!("{:?} {:?} {:?}", session.messages(), session.timers(), session.verdicts());
    (session.events().len(), session.now_us(), lines, states, rest)
}

/// Takes some steps, most by hand, some by the seed, some of them faults.
fn wander(session: &mut dyn Session, walk: &mut Walk, steps: usize) {
    for _ in 0..steps {
        let offers = session.offers();
        match walk.below(8) {
            0 | 1 => {
                session.advance().expect("going on by the seed is always possible");
            }
            2 => {
                let faults: Vec<_> =
                    offers.iter().filter(|offer| offer.kind == OfferKind::Fault).collect();
                if !faults.is_empty() {
                    let line = &faults[walk.below(faults.len())].line;
                    session.take(line).unwrap_or_else(|error| panic!("{error}"));
                }
            }
            _ => {
                let sound: Vec<_> =
                    offers.iter().filter(|offer| offer.kind != OfferKind::Fault).collect();
                if !sound.is_empty() {
                    let line = &sound[walk.below(sound.len())].line;
                    session.take(line).unwrap_or_else(|error| panic!("{error}"));
                }
            }
        }
    }
}

/// Whether playing the script gives the same events. Only the end of a script is judged for what
/// never comes true.
fn is_repeated_by_its_script(session: &dyn Session, name: &str) {
    let text = session.scenario();
    let scenario = Scenario::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
    let played = synod_drivers::play(which, &scenario).expect("it is in the catalogue");
    let played = played.unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
    let (same, rest) = played.events.split_at(session.events().len());
    assert_eq!(same, session.events(), "{name}\n{text}");
    assert!(rest.iter().all(|event| event.what == What::Violation), "{name}: {rest:?}");
}

#[test]
fn whatever_was_done_by_hand_is_a_scenario_that_is_played_again() {
    for (number, entry) in entries().into_iter().enumerate() {
        let name = entry.card.name;
        let mut session = open(&header(name, "seed: 5\n"));
        wander(&mut *session, &mut Walk(number as u64), 40);
        assert!(session.events().len() > size(name), "{name}");
        is_repeated_by_its_script(&*session, name);
    }
}

#[test]
fn going_back_leaves_everything_as_it_was() {
    for (number, entry) in entries().into_iter().enumerate() {
        let name = entry.card.name;
        let mut session = open(&header(name, "latency: 1ms..10ms\n"));
        let mut walk = Walk(1_000 + number as u64);
        let mut seen = vec![shown(&*session)];
        for _ in 0..12 {
            let before = session.moves();
            wander(&mut *session, &mut walk, 1);
            if session.moves() > before {
                seen.push(shown(&*session));
            }
        }
        while let Some(was) = seen.pop() {
            assert_eq!(shown(&*session), was, "{name}");
            assert_eq!(session.back(), !seen.is_empty(), "{name}");
        }
    }
}

#[test]
fn by_the_seed_alone_a_session_is_the_run_that_a_simulator_makes() {
    for entry in entries() {
        let name = entry.card.name;
        let mut plan = Plan::new(size(name), Rounds::Times(2));
        plan.judged = Judged::All;
        let mut options = Options::new(plan, 7);
        options.disk = "100us..1ms".parse().expect("it is a delay");
        options.steps_at_most = 150;
        let mut window = Window::new(0, usize::MAX);
        let tracer = Tracer::new(options.plan.setup.n, vec![&mut window]);
        let report = synod_drivers::simulate(which, name, options, Some(tracer), &mut |_, _| {});
        report.expect("it is in the catalogue").expect("it fits").expect("nothing is written");

        let mut session =
            open(&header(name, "rounds: 2\nseed: 7\nlatency: 1ms..10ms\ndisk: 100us..1ms\n"));
        for _ in 0..150 {
            if !session.advance().expect("going on by the seed is always possible") {
                break;
            }
        }
        // A simulator tells the first violation of each property, and ends where all is done.
        let plain = |events: &[Event]| -> Vec<(What, String, u64, Option<ProcessId>)> {
            let happened = events.iter().filter(|event| event.what != What::Violation);
            happened
                .map(|event| (event.what, event.text.clone(), event.time_us, event.process))
                .collect()
        };
        let (simulated, stepped) = (plain(&window.events), plain(session.events()));
        assert!(simulated.len() > size(name), "{name}");
        assert!(stepped.len() >= simulated.len(), "{name}");
        assert_eq!(stepped[..simulated.len()], simulated, "{name}");
        is_repeated_by_its_script(&*session, name);
    }
}

#[test]
fn a_branch_goes_its_own_way() {
    let mut session = open(&header("ricart-agrawala", ""));
    session.take("p0 requests").expect("it can ask");
    let mut branch = session.branch();
    branch.take("p1 requests").expect("it can ask, too");
    branch.take("crash p2").expect("it can crash");
    assert_eq!(session.script(), ["p0 requests"]);
    assert_eq!(branch.script(), ["p0 requests", "p1 requests", "crash p2"]);
    assert!(branch.back() && branch.back() && branch.back() && !branch.back());
    assert_eq!(session.events().len(), 3 + 3, "three start, one asks, two requests leave");
}

#[test]
fn steps_by_the_seed_are_one_line_and_can_be_taken_back_one_by_one() {
    let mut session = open(&header("ricart-agrawala", "seed: 3\n"));
    session.take("run 20").expect("there is enough to do");
    session.take("crash p1").expect("it can crash");
    session.advance().expect("it goes on");
    assert_eq!(session.script(), ["run 20", "crash p1", "run 1"]);
    for _ in 0..5 {
        assert!(session.back());
    }
    assert_eq!(session.script(), ["run 17"]);
    is_repeated_by_its_script(&*session, "ricart-agrawala");
}

#[test]
fn a_run_to_its_end_ends_and_is_repeated() {
    let mut session = open(&header("maekawa-sanders", "rounds: 2\n"));
    session.take("run").expect("it ends");
    assert!(session.messages().is_empty());
    assert_eq!(session.advance(), Ok(false));
    is_repeated_by_its_script(&*session, "maekawa-sanders");
}

#[test]
fn what_cannot_be_done_leaves_everything_as_it_was() {
    let mut session = open(&header("ricart-agrawala", ""));
    session.take("p0 requests").expect("it can ask");
    let before = shown(&*session);
    for line in
        ["p0 requests", "deliver 5", "p9 requests", "frobnicate", "", "run 5 choosing 1", "run x"]
    {
        let error = session.take(line).expect_err(line);
        assert!(!error.message.is_empty());
        assert_eq!(shown(&*session), before, "{line}");
    }
    assert_eq!(session.script(), ["p0 requests"]);
    assert!(session.take("expect p0 enters").is_err(), "it waits");
    session.take("expect p0 waits").expect("it does");
}

/// Also where invariants are judged within a step: the abstract engine passes events on at once.
#[test]
fn more_moves_than_there_are_marks_can_be_taken_back() {
    let abstracted = "engine: abstract\npartitions: 2\nmerges: 2\nrules: paper\n";
    for (name, more) in [("token-ring", ""), ("raft", ""), ("slots", abstracted)] {
        let mut session = open(&header(name, more));
        for _ in 0..300 {
            assert_eq!(session.advance(), Ok(true), "{name}");
        }
        let end = shown(&*session);
        for _ in 0..150 {
            session.back();
        }
        let middle = shown(&*session);
        for _ in 0..150 {
            session.advance().expect("it goes on");
        }
        assert_eq!(shown(&*session), end, "{name}");
        for _ in 0..150 {
            session.back();
        }
        assert_eq!(shown(&*session), middle, "{name}");
    }
}

#[test]
fn a_look_at_an_event_shows_what_its_step_changed() {
    let mut session = open(&header("ricart-agrawala", ""));
    session.take("p1 requests").expect("it can ask");
    session.take("deliver all").expect("nothing hinders it");
    let request = session.events().iter().position(|event| event.what == What::Receive);
    let request = request.expect("a request arrived") as u64;
    let states = session.look(request).expect("there is such an event");
    let changed: Vec<ProcessId> =
        states.iter().filter(|process| process.state.has_changed()).map(|p| p.at).collect();
    assert_eq!(changed, [ProcessId(0)], "only the receiver changes");
    let clock = states[0].state.parts.iter().find(|part| part.name == "clock");
    let clock = clock.expect("it has a clock");
    assert!(matches!(&clock.change, Change::Was(before) if *before != clock.value), "{clock:?}");
    assert_eq!(session.look(session.events().len() as u64), None);
}

/// Also inside of lines that take many steps, and of the start.
#[test]
fn every_event_of_every_algorithm_can_be_looked_at() {
    for (number, entry) in entries().into_iter().enumerate() {
        let name = entry.card.name;
        let mut session = open(&header(name, "latency: 1ms..10ms\nrounds: 2\n"));
        wander(&mut *session, &mut Walk(7 + number as u64), 10);
        session.take("wait 5ms").unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut last = Vec::new();
        for event in session.events() {
            last = session.look(event.index).unwrap_or_else(|| panic!("{name}: {event:?}"));
            assert_eq!(last.len(), size(name), "{name}");
            // What a process takes in is taken in by a step of its own.
            let others = last.iter().filter(|process| Some(process.at) != event.process);
            if event.what == What::Timer {
                assert!(others.into_iter().all(|p| !p.state.has_changed()), "{name}: {event:?}");
            }
        }
        let ends = session.events().last().map(|event| event.what);
        if !matches!(ends, Some(What::Violation | What::Pause | What::Resume)) {
            for process in last {
                let now = session.state(process.at);
                assert_eq!(process.status, now.status, "{name}");
            }
        }
    }
}

#[test]
fn verdicts_are_open_while_somebody_may_be_served_and_violated_with_their_event() {
    let mut session = open(&header("ra-no-tie-break", ""));
    let standing = |session: &dyn Session, id: &str| {
        let verdicts = session.verdicts();
        let verdict = verdicts.into_iter().find(|verdict| verdict.property == id);
        verdict.unwrap_or_else(|| panic!("{id} is judged"))
    };
    assert_eq!(standing(&*session, "ME1").verdict, Verdict::Holds);
    session.take("p0 requests").expect("it can ask");
    let open = standing(&*session, "ME2");
    assert_eq!((open.verdict, open.event), (Verdict::Undecided, None));
    assert!(open.because.contains("p0"), "{open:?}");
    session.take("p1 requests").expect("it can ask");
    session.take("deliver all").expect("nothing hinders it");
    let violated = standing(&*session, "ME1");
    assert_eq!(violated.verdict, Verdict::Violated);
    let event = violated.event.expect("an event shows it") as usize;
    assert_eq!(session.events()[event].what, What::Output, "the second is told that it is in");
    session.back();
    assert_eq!(standing(&*session, "ME1").verdict, Verdict::Holds);
}

#[test]
fn a_deadlock_by_hand_violates_what_was_open() {
    let mut session = open(&header("ricart-agrawala", ""));
    session.take("p0 requests").expect("it can ask");
    session.take("drop p0 -> p1 Request").expect("it is on its way");
    session.take("deliver all").expect("the rest arrives");
    let verdicts = session.verdicts();
    let me2 = verdicts.iter().find(|verdict| verdict.property == "ME2").expect("it is judged");
    assert_eq!(me2.verdict, Verdict::Violated);
    assert!(me2.because.contains("nothing can happen any more"), "{me2:?}");
}

#[test]
fn trees_have_names_values_and_parts() {
    #[derive(Debug)]
    #[expect(dead_code, reason = "only printed")]
    struct Shape {
        clock: u64,
        words: Vec<&'static str>,
        keyed: std::collections::BTreeMap<(u8, u8), Option<u8>>,
        nothing: std::marker::PhantomData<u8>,
        empty: Vec<u8>,
    }
    let keyed = [((1, 2), Some(3)), ((4, 5), None)].into_iter().collect();
    let words = vec!["a: b", "c {"];
    let shape = Shape { clock: 3, words, keyed, nothing: std::marker::PhantomData, empty: vec![] };
    let tree = Tree::of(&shape);
    assert_eq!(tree.value, "Shape {");
    let names: Vec<&str> = tree.parts.iter().map(|part| part.name.as_str()).collect();
    assert_eq!(names, ["clock", "words", "keyed", "empty"]);
    assert_eq!(
        tree.in_a_line(),
        "Shape { clock: 3, words: [\"a: b\", \"c {\"], \
         keyed: {(1, 2): Some(3), (4, 5): None}, empty: [] }"
    );
}

#[test]
fn a_comparison_marks_what_is_other_new_and_gone() {
    let compare = |before: &[u8], after: &[u8]| {
        let mut tree = Tree::of(&after);
        tree.compare(&Tree::of(&before));
        let change = |part: Tree| (part.value, part.change);
        tree.parts.into_iter().map(change).collect::<Vec<_>>()
    };
    let was = |value: &str| Change::Was(value.to_owned());
    let part = |value: &str, change: Change| (value.to_owned(), change);
    assert_eq!(compare(&[1, 2], &[1, 3]), [part("1", Change::None), part("3", was("2"))]);
    assert_eq!(
        compare(&[1, 2, 3], &[1, 3]),
        [part("1", Change::None), part("2", Change::Gone), part("3", Change::None)]
    );
    assert_eq!(compare(&[1], &[0, 1]), [part("0", Change::New), part("1", Change::None)]);
    let mut some = Tree::of(&Some(1));
    some.compare(&Tree::of(&None::<u8>));
    assert_eq!(some.change, was("None"));
}

/// The states of every algorithm, after some steps, survive being read: nothing is lost but spaces,
/// commas at the end of lines, and what exists only for the compiler.
#[test]
fn the_tree_of_every_state_has_everything_that_is_printed() {
    for (number, entry) in entries().into_iter().enumerate() {
        let name = entry.card.name;
        let mut session = open(&header(name, ""));
        wander(&mut *session, &mut Walk(99 + number as u64), 30);
        for at in ProcessId::all(session.processes()) {
            let line = session.state(at).state.in_a_line();
            let opened = line.matches(['{', '(', '[']).count();
            let closed = line.matches(['}', ')', ']']).count();
            assert_eq!(opened, closed, "{name}: {line}");
            assert!(!line.contains("PhantomData"), "{name}: {line}");
        }
    }
}

#[test]
fn the_state_of_every_algorithm_is_stored_and_read_back() {
    for (number, entry) in entries().into_iter().enumerate() {
        let name = entry.card.name;
        let mut session = open(&header(name, ""));
        wander(&mut *session, &mut Walk(500 + number as u64), 30);
        for at in ProcessId::all(session.processes()) {
            let bytes = session.stored(at);
            let read = session.read(&bytes);
            assert_eq!(read, Some(session.state(at).state), "{name}");
        }
    }
}
