//! Hirschberg and Sinclair: the number of messages of an election, and its phases.

use crate::rings::{HOP_US, all_rings, ascending, descending, elect, ring, sent, shuffled};
use std::collections::BTreeMap;
use synod_core::{Algorithm, Effect, ProcessId, Protocol, Setup, SetupError, step};
use synod_protocols::election::HirschbergSinclair;
use synod_protocols::election::hirschberg_sinclair::{Message, Way, What};

fn counts(setup: Setup) -> [u64; 3] {
    let report = elect::<HirschbergSinclair>(setup);
    ["Probe", "Reply", "Leader"].map(|kind| sent(&report, kind))
}

#[test]
fn if_all_start_the_counts_are_those_of_the_sheet() {
    assert_eq!(counts(ring(&ascending(8))), [44, 20, 8]);
    assert_eq!(counts(ring(&[17, 24, 1, 28, 15, 9, 4, 3])), [48, 22, 8]);
    assert_eq!(counts(ring(&[1, 5, 2, 6, 3, 7, 4, 8])), [56, 24, 8]);
    assert_eq!(counts(ring(&ascending(16))), [92, 44, 16]);
    assert_eq!(counts(ring(&ascending(3))), [16, 7, 3]);
    assert_eq!(counts(ring(&ascending(2))), [8, 2, 2]);
}

/// Probes and replies; the news takes n messages more.
fn bound(n: usize) -> u64 {
    let doublings = (0..).find(|&k| 1 << k >= n).expect("some power of two is large enough");
    8 * n as u64 * (1 + doublings)
}

#[test]
fn probes_and_replies_stay_below_the_bound_in_every_ring() {
    let small = (2..=7).flat_map(all_rings);
    let large =
        [16, 33, 64, 100].into_iter().flat_map(|n| (0..50).map(move |seed| shuffled(n, seed)));
    for ids in small.chain(large) {
        let [probes, replies, leader] = counts(ring(&ids));
        assert!(probes + replies <= bound(ids.len()), "{ids:?}");
        assert_eq!(leader, ids.len() as u64);
    }
}

#[test]
fn who_starts_alone_needs_no_more_messages_than_if_all_start() {
    for ids in all_rings(6) {
        let all: u64 = counts(ring(&ids)).iter().sum();
        for starter in 0..6 {
            let alone = ring(&ids).with("starters", &format!("p{starter}"));
            assert!(counts(alone).iter().sum::<u64>() <= all, "{ids:?}, p{starter}");
        }
    }
}

#[test]
fn an_election_takes_time_proportional_to_the_size_of_the_ring() {
    for n in [8, 16, 32, 64, 128] {
        for ids in [ascending(n), descending(n), shuffled(n, 1)] {
            let hops = elect::<HirschbergSinclair>(ring(&ids)).time_us / HOP_US;
            assert!(hops <= 6 * n as u64, "n = {n}: {hops}");
        }
    }
}

/// Delivers all messages, the oldest first, and counts the candidates that began each phase.
fn candidates_by_phase(setup: &Setup) -> BTreeMap<u8, usize> {
    use synod_core::family::election::Input;
    let mut group = HirschbergSinclair::processes(setup).expect("a ring");
    let (mut in_flight, mut began) = (std::collections::VecDeque::new(), BTreeMap::new());
    let mut carry_out = |from: ProcessId,
                         effects: Vec<_>,
                         in_flight: &mut std::collections::VecDeque<_>| {
        for effect in effects {
            if let Effect::Send { to, message } = effect {
                if let Message { what: What::Probe { phase, hop: 1 }, way: Way::Onward, .. } =
                    message
                {
                    *began.entry(phase).or_default() += 1;
                }
                in_flight.push_back((from, to, message));
            }
        }
    };
    for at in ProcessId::all(setup.n) {
        let effects = step(at, setup.n, |cx| group[at.index()].on_input(Input::Start, cx));
        carry_out(at, effects, &mut in_flight);
    }
    while let Some((from, to, message)) = in_flight.pop_front() {
        let effects = step(to, setup.n, |cx| group[to.index()].on_message(from, message, cx));
        carry_out(to, effects, &mut in_flight);
    }
    began
}

#[test]
fn each_phase_leaves_no_more_candidates_than_fit_so_far_apart() {
    let rings = (2..=7).flat_map(all_rings).chain((0..20).map(|seed| shuffled(64, seed)));
    for ids in rings {
        let n = ids.len();
        let began = candidates_by_phase(&ring(&ids));
        assert_eq!(began[&0], n);
        for (phase, candidates) in &began {
            let fit = if *phase == 0 { n } else { n / ((1 << (phase - 1)) + 1) };
            assert!(*candidates <= fit, "{ids:?}, phase {phase}: {candidates}");
        }
        let phases = began.len() as u64;
        assert!(phases <= bound(n) / (8 * n as u64), "{ids:?}: {phases} phases");
    }
}

#[test]
fn alone_one_is_elected_without_a_message() {
    assert_eq!(elect::<HirschbergSinclair>(Setup::new(1)).meter.messages, 0);
}

fn accused(from: u32, message: Message) -> &'static str {
    let mut group = HirschbergSinclair::processes(&Setup::new(3)).expect("a ring");
    let said = step(ProcessId(0), 3, |cx| group[0].on_message(ProcessId(from), message, cx));
    match said[..] {
        [Effect::Accuse { who: ProcessId(who), why }] if who == from => why,
        _ => "",
    }
}

#[test]
fn accuses_who_breaks_the_rules_of_the_ring() {
    let onward = |what| Message { what, id: 9, election: 1, way: Way::Onward };
    assert_eq!(accused(1, onward(What::Leader)), "sent against the direction of its message");
    let too_far = "sent a probe further than its phase goes";
    assert_eq!(accused(2, onward(What::Probe { phase: 1, hop: 3 })), too_far);
    assert_eq!(accused(2, onward(What::Probe { phase: 255, hop: 1 })), too_far);
    assert_eq!(accused(2, onward(What::Probe { phase: 1, hop: 2 })), "");
}

#[test]
fn refuses_equal_identifiers() {
    let refused = HirschbergSinclair::processes(&ring(&[5, 7, 5]));
    assert!(matches!(refused, Err(SetupError::BadParameter { .. })));
}
