//! Faults happen exactly as scripted.

use super::toys::{
    Hand, Line, P0, P1, P2, Post, Postman, act, begun, cut, idle, in_flight, list, play, send,
    steady,
};
use std::collections::{BTreeMap, BTreeSet};
use synod_core::card::{Load, Order, Rounds};
use synod_core::family::logical_time::Input;
use synod_core::family::{Known as _, LogicalTime, Mark};
use synod_core::{Clock, ProcessId};
use synod_protocols::mutex::{CentralServer, RicartAgrawala};
use synod_protocols::time::Cristian;
use synod_sim::faults::{Fault, RandomFaults, Restart};
use synod_sim::network::{Delay, chance};
use synod_sim::trace::{Event, Tracer, What, Window};
use synod_sim::world::LinkChange;
use synod_sim::{Action, Options, Plan, Simulator};

fn links(change: LinkChange) -> Action<Input> {
    Action::Links(change)
}

/// The arrivals of letters: time, receiver, and letter.
fn letters(n: usize, script: &[Line]) -> Vec<(u64, u32, String)> {
    let (events, _) = play::<Postman>(steady(n), script);
    let received = list(&events, What::Receive).into_iter();
    received.map(|(time_us, at, text)| (time_us / 1_000, at, text.to_owned())).collect()
}

fn letter(at_ms: u64, at: u32, number: u32) -> (u64, u32, String) {
    (at_ms, at, format!("Letter({number})"))
}

#[test]
fn a_partition_loses_what_is_sent_across_it_and_nothing_else() {
    let apart = links(LinkChange::Partition(vec![vec![P0, P1], vec![P2]]));
    let script = [
        (10, act(P0)),
        (10, apart),
        (20, act(P0)),
        (20, send(P2, P1)),
        (30, links(LinkChange::Heal)),
        (40, act(P0)),
    ];
    // The first letter was under way already; the second crosses only within its part.
    let wanted =
        [letter(11, 1, 0), letter(11, 2, 0), letter(21, 1, 1), letter(41, 1, 2), letter(41, 2, 2)];
    assert_eq!(letters(3, &script), wanted);
    let (events, report) = play::<Postman>(steady(3), &script);
    let lost =
        [(20_000, 2, "Letter(1): the link is cut"), (20_000, 1, "Letter(0): the link is cut")];
    assert_eq!(list(&events, What::Lose), lost);
    assert_eq!((report.meter.lost, report.meter.messages), (2, 7));
}

#[test]
fn a_process_that_crashes_in_the_middle_of_a_multicast_reaches_only_the_first() {
    let crash = |after| Action::Cut { step: Box::new(act(P1)), after };
    assert_eq!(letters(4, &[(10, crash(2))]), [letter(11, 0, 0), letter(11, 2, 0)]);
    assert_eq!(letters(4, &[(10, crash(0))]), []);
    let script = [(10, crash(5)), (20, send(P0, P1))];
    // All letters went out before the crash.
    assert_eq!(letters(4, &script).len(), 3);
    let mut network = steady(4);
    network.plan.multicast = true;
    let (events, report) = play::<Postman>(network, &[(10, crash(1))]);
    assert_eq!(list(&events, What::Receive).len(), 3, "a multicast network carries it once");
    assert_eq!(report.meter.messages, 1);
}

#[test]
fn who_is_in_no_part_of_a_partition_is_alone() {
    let apart = links(LinkChange::Partition(vec![vec![P0, P1]]));
    let script = [(0, apart), (10, act(P0)), (10, act(P2)), (10, act(ProcessId(3)))];
    assert_eq!(letters(4, &script), [letter(11, 1, 0)]);
}

#[test]
fn a_link_cut_one_way_still_works_the_other_way() {
    let script = [
        (0, cut(P0, P1)),
        (10, send(P0, P1)),
        (10, send(P1, P0)),
        (20, links(LinkChange::Mend { from: P0, to: P1 })),
        (30, send(P0, P1)),
    ];
    assert_eq!(letters(2, &script), [letter(11, 0, 0), letter(31, 1, 1)]);
}

#[test]
fn a_partial_partition_leaves_two_who_hear_a_third_but_not_each_other() {
    let script = [(0, cut(P0, P1)), (0, cut(P1, P0)), (10, act(P0)), (20, act(P1)), (30, act(P2))];
    let wanted = [letter(11, 2, 0), letter(21, 2, 0), letter(31, 0, 0), letter(31, 1, 0)];
    assert_eq!(letters(3, &script), wanted);
}

#[test]
fn what_arrives_during_a_pause_waits_for_its_end() {
    let script = [
        (0, Action::Pause(P1)),
        (10, send(P0, P1)),
        (12, send(P0, P1)),
        (14, send(P1, P0)),
        (50, Action::Resume(P1)),
        (60, send(P1, P0)),
    ];
    // A paused process skips its scripted actions.
    assert_eq!(letters(2, &script), [letter(50, 1, 0), letter(50, 1, 1), letter(61, 0, 0)]);
}

#[test]
fn what_arrives_at_a_crashed_process_is_lost_and_what_arrives_after_its_restart_is_not() {
    let script = [
        (0, Action::Crash(P1)),
        (10, send(P0, P1)),
        (20, send(P0, P1)),
        (20, Action::Restart { at: P1, disk: true }),
    ];
    assert_eq!(letters(2, &script), [letter(21, 1, 1)]);
    let (events, _) = play::<Postman>(steady(2), &script);
    assert_eq!(list(&events, What::Lose), [(11_000, 1, "Letter(0): nobody is there")]);
}

/// Otherwise it would stay under way for ever.
#[test]
fn what_waited_at_a_paused_process_that_crashes_is_lost() {
    let script = [
        (0, Action::Pause(P1)),
        (10, send(P0, P1)),
        (20, Action::Crash(P1)),
        (30, Action::Restart { at: P1, disk: true }),
    ];
    let (events, _) = play::<Postman>(steady(2), &script);
    assert_eq!(list(&events, What::Lose), [(20_000, 1, "Letter(0): nobody is there")]);
}

/// Letters between all processes at random times.
fn traffic(network: impl FnOnce(&mut Options)) -> (Vec<Event>, synod_sim::Report) {
    let mut options = Options::new(idle(4), 7);
    options.plan.rounds = vec![Rounds::Times(1_500)];
    options.think = Delay::Exponential(2_000);
    network(&mut options);
    play::<Postman>(options, &[])
}

/// Within four standard deviations of the expected count of `draws` independent draws.
fn is_about(counted: u64, draws: u64, probability: f64) -> bool {
    let expected = draws as f64 * probability;
    (counted as f64 - expected).abs() < 4.0 * (expected * (1.0 - probability)).sqrt()
}

#[test]
fn messages_are_lost_and_doubled_as_often_as_is_said() {
    let (events, report) = traffic(|options| {
        options.network.loss = 0.2;
        options.network.duplication = 0.3;
    });
    let count = |what| events.iter().filter(|event| event.what == what).count() as u64;
    let (sent, lost, doubled) = (count(What::Send), count(What::Lose), count(What::Duplicate));
    assert!(sent > 8_000 && is_about(lost, sent, 0.2), "{lost} of {sent} are lost");
    assert!(is_about(doubled, sent - lost, 0.3), "{doubled} of {} are doubled", sent - lost);
    assert_eq!(count(What::Receive), sent - lost + doubled);
    assert_eq!(report.meter.lost, lost);
}

#[test]
fn messages_are_held_up_for_eleven_times_their_latency_as_often_as_is_said() {
    let (events, _) = traffic(|options| {
        options.network.latency = Delay::Constant(1_000);
        options.network.reordering = 0.25;
    });
    let delays = delays(&events);
    let late = delays.iter().filter(|(.., delay)| *delay == 11_000).count() as u64;
    assert!(delays.iter().all(|(.., delay)| [1_000, 11_000].contains(delay)));
    assert!(is_about(late, delays.len() as u64, 0.25), "{late} of {}", delays.len());
}

/// Sender, receiver and delay of every message that arrives.
fn delays(events: &[Event]) -> Vec<(ProcessId, ProcessId, u64)> {
    let mut sent = BTreeMap::new();
    let mut delays = Vec::new();
    for event in events {
        let Some(message) = event.message else { continue };
        match (event.what, event.process, event.peer) {
            (What::Send, ..) => {
                sent.insert(message, event.time_us);
            }
            (What::Receive, Some(at), Some(from)) => {
                delays.push((from, at, event.time_us - sent[&message]));
            }
            _ => {}
        }
    }
    delays
}

#[test]
fn a_link_may_have_a_latency_of_its_own_in_one_direction() {
    let (events, _) = traffic(|options| {
        options.network.latency = Delay::Constant(1_000);
        options.network.links.insert((P0, P1), Delay::Constant(9_000));
    });
    let slow = |from, to| if (from, to) == (P0, P1) { 9_000 } else { 1_000 };
    let delays = delays(&events);
    assert!(delays.iter().all(|(from, to, delay)| *delay == slow(*from, *to)));
    assert!(delays.iter().any(|(.., delay)| *delay == 9_000));
}

/// The numbers of the messages of each link, in the order of their arrival.
fn arrivals(events: &[Event]) -> BTreeMap<(u32, u32), Vec<u64>> {
    let mut links: BTreeMap<_, Vec<u64>> = BTreeMap::new();
    for event in events.iter().filter(|event| event.what == What::Receive) {
        let (Some(at), Some(from)) = (event.process, event.peer) else { continue };
        links.entry((from.0, at.0)).or_default().extend(event.message);
    }
    links
}

/// Also while messages are doubled and processes stand still.
#[test]
fn a_fifo_network_keeps_the_order_of_each_link_and_another_does_not() {
    let overtaken = |order| {
        let (events, _) = traffic(|options| {
            options.plan.order = order;
            options.network.latency = Delay::Exponential(5_000);
            options.network.duplication = 0.2;
            options.faults = RandomFaults { pauses: 40, within_us: 2_000_000, ..idle_faults() };
        });
        let links = arrivals(&events);
        assert_eq!(links.len(), 12);
        links.values().filter(|numbers| !numbers.is_sorted()).count()
    };
    assert_eq!(overtaken(Order::Fifo), 0);
    assert_eq!(overtaken(Order::Any), 12);
}

fn idle_faults() -> RandomFaults {
    RandomFaults::default()
}

/// Two letters a latency apart: when the pause ends, both are due at the same time.
#[test]
fn a_fifo_network_keeps_the_order_of_what_waited_and_what_arrives_when_a_pause_ends() {
    let mut options = steady(2);
    options.plan.order = Order::Fifo;
    let script = [
        (10, send(P0, P1)),
        (11, Action::Pause(P1)),
        (20, send(P0, P1)),
        (12, Action::Resume(P1)),
        (11, send(P0, P1)),
    ];
    let (events, _) = play::<Postman>(options, &script);
    let order: Vec<&str> = list(&events, What::Receive).iter().map(|(.., text)| *text).collect();
    assert_eq!(order, ["Letter(0)", "Letter(1)", "Letter(2)"]);
}

/// Whether some message arrives before one to the same process that was sent causally earlier.
fn is_causal(events: &[Event]) -> bool {
    let mut sent = BTreeMap::new();
    for event in events.iter().filter(|event| event.what == What::Send) {
        sent.insert(event.message, event.vector.clone());
    }
    let mut arrived: BTreeMap<_, Vec<&Vec<u32>>> = BTreeMap::new();
    for event in events.iter().filter(|event| event.what == What::Receive) {
        let past = &sent[&event.message];
        let before =
            |other: &&Vec<u32>| past != *other && past.iter().zip(*other).all(|(a, b)| a <= b);
        let earlier = arrived.entry(event.process).or_default();
        if earlier.iter().any(before) {
            return false;
        }
        earlier.push(past);
    }
    true
}

#[test]
fn a_causal_network_never_delivers_an_effect_before_its_cause_and_another_does() {
    let run = |order| {
        let mut options = Options::new(idle(4), 3);
        options.plan = Plan { order, ..idle(4) };
        options.plan.rounds = vec![Rounds::Times(100)];
        options.network.latency = Delay::Exponential(10_000);
        options.faults = RandomFaults { pauses: 10, within_us: 1_000_000, ..idle_faults() };
        is_causal(&play::<Postman>(options, &[]).0)
    };
    assert!(run(Order::Causal));
    assert!(!run(Order::Fifo));
    assert!(!run(Order::Any));
}

#[test]
fn an_application_sees_its_own_clock_with_its_offset_and_drift() {
    let mut options = Options::new(Plan::new(2, Rounds::Times(1)), 1);
    options.network.latency = Delay::Constant(1_000_000);
    options.think = Delay::Constant(4_000_000);
    let clock = |offset_us, drift_ppm| Clock { offset_us, drift_ppm };
    options.plan.clocks = vec![clock(7_000, 0), clock(-3_000, 100)];
    let mut window = Window::new(0, usize::MAX);
    let tracer = Tracer::new(2, vec![&mut window]);
    let run = Simulator::of::<Cristian>(options, Some(tracer)).expect("the plan fits");
    run.run(|_, _| {}).expect("a window never fails");
    let seen = list(&window.events, What::Input).into_iter();
    let seen: Vec<_> = seen.filter(|(.., text)| text.starts_with("sees")).collect();
    // The client asks at 4 s by true time, the server answers at 5 s, the answer arrives at 6 s.
    let wanted = [
        (4_000_000, 1, "sees 3997400us"),
        (5_000_000, 0, "sees 5007ms"),
        (6_000_000, 1, "sees 5997600us"),
    ];
    assert_eq!(seen, wanted);
}

const EVERYTHING: RandomFaults = RandomFaults {
    crashes: 3,
    restart: Restart::WithDisk,
    deaths: 2,
    pauses: 4,
    partitions: 5,
    one_way_cuts: 6,
    within_us: 1_000_000,
};

#[test]
fn random_faults_are_as_many_as_asked_for_and_the_same_for_the_same_seed() {
    let draw = |seed| EVERYTHING.draw::<Input>(5, &mut chance(seed));
    assert_eq!(draw(1), draw(1));
    assert_ne!(draw(1), draw(2));
    for seed in 0..200 {
        let faults = draw(seed);
        let count =
            |is: fn(&Action<Input>) -> bool| faults.iter().filter(|f| is(&f.action)).count();
        assert_eq!(count(|action| matches!(action, Action::Crash(_))), 3 + 2);
        assert_eq!(count(|action| matches!(action, Action::Restart { disk: true, .. })), 3);
        assert_eq!(count(|action| matches!(action, Action::Pause(_))), 4);
        assert_eq!(count(|action| matches!(action, Action::Resume(_))), 4);
        assert_eq!(count(|action| matches!(action, Action::Links(LinkChange::Heal))), 5);
        assert_eq!(count(|action| matches!(action, Action::Links(LinkChange::Mend { .. }))), 6);
        for fault in &faults {
            match &fault.action {
                Action::Links(LinkChange::Partition(parts)) => {
                    assert!(parts.len() == 2 && parts.iter().all(|part| !part.is_empty()));
                    assert_eq!(parts.iter().flatten().collect::<BTreeSet<_>>().len(), 5);
                }
                Action::Links(LinkChange::Cut { from, to }) => assert_ne!(from, to),
                _ => {}
            }
        }
    }
}

#[test]
fn a_single_process_has_no_links_that_could_be_cut() {
    let faults = EVERYTHING.draw::<Input>(1, &mut chance(1));
    assert!(faults.iter().all(|fault| !matches!(fault.action, Action::Links(_))), "{faults:?}");
}

#[test]
fn what_crashes_comes_back_as_is_said() {
    let restarts = |restart| {
        let mut options = Options::new(Plan::new(3, Rounds::Times(20)), 5);
        options.faults = RandomFaults { crashes: 3, restart, within_us: 300_000, ..idle_faults() };
        let mut window = Window::new(0, usize::MAX);
        let tracer = Tracer::new(3, vec![&mut window]);
        let run = Simulator::of::<RicartAgrawala>(options, Some(tracer)).expect("it fits");
        run.run(|_, _| {}).expect("a window never fails");
        assert!(!list(&window.events, What::Crash).is_empty());
        let back = list(&window.events, What::Restart).into_iter();
        back.map(|(.., text)| text.to_owned()).collect::<BTreeSet<_>>()
    };
    assert_eq!(restarts(Restart::Never), BTreeSet::new());
    assert_eq!(restarts(Restart::WithDisk), BTreeSet::from(["with its disk".to_owned()]));
    assert_eq!(restarts(Restart::WithoutDisk), BTreeSet::from(["without its disk".to_owned()]));
}

#[test]
fn a_causal_network_waits_for_a_copy_whose_original_is_lost() {
    let mut world = begun::<Postman>(&Plan { order: Order::Causal, ..idle(2) });
    for action in [send(P0, P1), Action::Duplicate(0), send(P0, P1), Action::Drop(0)] {
        world.step(&action, &mut Hand);
    }
    assert_eq!(in_flight(&world), [&Post::Letter(0), &Post::Letter(1)]);
    let (copy, later) = (1, 2);
    assert!(world.is_deliverable(copy) && !world.is_deliverable(later));
    world.step(&Action::Deliver(copy), &mut Hand);
    assert!(world.is_deliverable(later));
}

#[test]
fn what_is_sent_at_the_end_of_time_arrives_all_the_same() {
    let mut window = Window::new(0, usize::MAX);
    let tracer = Tracer::new(2, vec![&mut window]);
    let mut run = Simulator::of::<Postman>(steady(2), Some(tracer)).expect("the plan fits");
    run.at(Fault::at(u64::MAX, send(P0, P1).map(LogicalTime::any_input)));
    run.run(|_, _| {}).expect("a window never fails");
    assert_eq!(list(&window.events, What::Receive), [(u64::MAX, 1, "Letter(0)")]);
}

#[test]
fn a_message_to_a_process_that_does_not_exist_is_impossible() {
    let world = begun::<Postman>(&idle(2));
    assert!(world.can(&Action::Tell { from: P0, to: P2 }).is_err());
}

#[test]
fn a_crash_elsewhere_does_not_begin_a_second_operation_under_a_sequential_load() {
    for at_ms in (10..400).step_by(10) {
        let mut options = Options::new(Plan::new(4, Rounds::Times(3)), at_ms);
        options.load = Load::Sequential;
        options.hold = Delay::Constant(50_000);
        let mut window = Window::new(0, usize::MAX);
        let tracer = Tracer::new(4, vec![&mut window]);
        let mut run = Simulator::of::<CentralServer>(options, Some(tracer)).expect("it fits");
        run.at(Fault::at(at_ms * 1_000, Action::Crash(P2)));
        run.run(|_, _| {}).expect("a window never fails");
        let mut busy = None;
        for event in &window.events {
            match (event.what, event.mark) {
                (_, Mark::Ask) => assert_eq!(busy.replace(event.process), None, "{at_ms}ms"),
                (What::Crash, _) if busy == Some(event.process) => busy = None,
                (_, Mark::End) => busy = None,
                _ => {}
            }
        }
    }
}
