//! The Lamport and vector times of events, against the happened-before order of the trace itself.

use std::collections::BTreeMap;
use synod_core::card::Rounds;
use synod_core::{Algorithm, VectorStamp};
use synod_protocols::mutex::{Maekawa, RicartAgrawala, TokenRing};
use synod_protocols::time::LamportClock;
use synod_sim::faults::{RandomFaults, Restart};
use synod_sim::trace::{Event, Tracer, What, Window};
use synod_sim::{Options, Plan, Simulator};

fn events<A: Algorithm>(seed: u64) -> Vec<Event> {
    let n = 2 + seed as usize % 4;
    let mut options = Options::new(Plan::new(n, Rounds::Times(2)), seed);
    options.network.loss = 0.02;
    options.network.duplication = 0.2;
    options.tells = 0.5;
    options.faults = RandomFaults {
        crashes: 1,
        restart: Restart::WithDisk,
        deaths: 0,
        pauses: 1,
        partitions: 1,
        one_way_cuts: 1,
        within_us: 50_000,
    };
    options.patience = 500;
    let mut window = Window::new(0, 400);
    let tracer = Tracer::new(n, vec![&mut window]);
    let run = Simulator::of::<A>(options, Some(tracer)).expect("the size fits");
    run.run(|_, _| {}).expect("a window never fails");
    window.events
}

/// Whether it is an event of a process, rather than a happening outside of it.
fn is_of_a_process(event: &Event) -> bool {
    !matches!(
        event.what,
        What::Lose | What::Duplicate | What::Pause | What::Resume | What::Network | What::Violation
    )
}

/// For each event the events before it: of the same process, from the sending to each arrival, and
/// all that follow by transitivity.
fn pasts(events: &[&Event]) -> Vec<Vec<bool>> {
    let mut last = BTreeMap::new();
    let mut sent = BTreeMap::new();
    let mut pasts: Vec<Vec<bool>> = Vec::new();
    for (index, event) in events.iter().enumerate() {
        let mut past = vec![false; events.len()];
        let sending = (event.what == What::Receive).then(|| sent[&event.message]);
        for before in last.insert(event.process, index).into_iter().chain(sending) {
            past[before] = true;
            past.iter_mut().zip(&pasts[before]).for_each(|(mine, theirs)| *mine |= theirs);
        }
        if event.what == What::Send {
            sent.insert(event.message, index);
        }
        pasts.push(past);
    }
    pasts
}

/// The number of pairs of events compared, and of concurrent ones among them.
fn compare(events: &[Event], name: &str) -> (usize, usize) {
    let events: Vec<&Event> = events.iter().filter(|event| is_of_a_process(event)).collect();
    let pasts = pasts(&events);
    let (mut pairs, mut concurrent) = (0, 0);
    for (later, b) in events.iter().enumerate() {
        for (earlier, a) in events[..later].iter().enumerate() {
            let (va, vb) = (VectorStamp(a.vector.clone()), VectorStamp(b.vector.clone()));
            let before = pasts[later][earlier];
            assert_eq!(va.happened_before(&vb), before, "{name}: {a:?} and {b:?}");
            assert!(!vb.happened_before(&va), "{name}: {a:?} and {b:?}");
            assert!(!before || a.lamport < b.lamport, "{name}: {a:?} and {b:?}");
            pairs += 1;
            concurrent += usize::from(!before);
        }
    }
    (pairs, concurrent)
}

fn times_are_right<A: Algorithm>() {
    let (mut pairs, mut concurrent) = (0, 0);
    for seed in 0..25 {
        let compared = compare(&events::<A>(seed), A::CARD.name);
        pairs += compared.0;
        concurrent += compared.1;
    }
    assert!(concurrent > 1_000 && pairs - concurrent > 1_000, "{pairs} pairs, {concurrent}");
}

#[test]
fn vector_times_are_ordered_just_as_the_events_are_and_lamport_times_never_against_it() {
    times_are_right::<RicartAgrawala>();
    times_are_right::<TokenRing>();
    times_are_right::<Maekawa>();
    times_are_right::<LamportClock>();
}
