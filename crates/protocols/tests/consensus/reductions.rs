//! One problem from another.

use crate::runs::{cost, violated, violated_by_crashes};
use synod_core::{Algorithm, Setup};
use synod_protocols::consensus::{
    ConsensusFromGenerals, ConsensusFromTotalOrder, GeneralsFromConsensus, InteractiveConsistency,
};

/// A world of four, for each possible traitor, which may send any value.
fn four(settings: &[(&str, &str)]) -> impl Iterator<Item = Setup> {
    (0..4).map(move |traitor| {
        let setup = Setup::new(4).with("adversary", "random").with("lies", "3 8");
        let setup = setup.with("traitors", &format!("p{traitor}"));
        settings.iter().fold(setup, |setup, (name, value)| setup.with(name, value))
    })
}

#[test]
fn interactive_consistency_stands_whoever_is_the_traitor() {
    for generals in ["oral", "signed"] {
        for setup in four(&[("generals", generals)]) {
            let broken = violated::<InteractiveConsistency>(&setup, 0..250);
            assert!(broken.is_empty(), "{setup:?}: {broken:?}");
        }
    }
}

#[test]
fn consensus_from_generals_decides_on_what_all_loyal_processes_propose() {
    for generals in ["oral", "signed"] {
        for proposals in ["5 5 5 5", "5 6 7 8"] {
            for setup in four(&[("generals", generals), ("proposals", proposals)]) {
                let broken = violated::<ConsensusFromGenerals>(&setup, 0..150);
                assert!(broken.is_empty(), "{setup:?}: {broken:?}");
            }
        }
    }
}

#[test]
fn generals_from_consensus_from_generals_obey_a_loyal_commander() {
    for setup in four(&[("over", "generals")]) {
        let broken = violated::<GeneralsFromConsensus>(&setup, 0..150);
        assert!(broken.is_empty(), "{setup:?}: {broken:?}");
    }
}

#[test]
fn generals_from_flooding_obey_a_commander_that_stays_up_while_others_crash() {
    let setup = Setup::new(5).with("f", "2");
    let broken = violated_by_crashes::<GeneralsFromConsensus>(&setup, 2, 0..1_500);
    assert!(broken.is_empty(), "{broken:?}");
}

#[test]
fn a_reduction_costs_what_is_below_it_and_little_more() {
    // 4 × OM(1); the same; an order and two rounds of flooding.
    assert_eq!(cost::<InteractiveConsistency>(Setup::new(4)), (36, 2));
    assert_eq!(cost::<ConsensusFromGenerals>(Setup::new(4)), (36, 2));
    assert_eq!(cost::<GeneralsFromConsensus>(Setup::new(4)), (3 + 2 * 12, 3));
    let signed = Setup::new(4).with("generals", "signed");
    assert_eq!(cost::<InteractiveConsistency>(signed), (36, 2));
}

#[test]
fn a_group_that_cannot_agree_is_refused() {
    let signed = Setup::new(4).with("generals", "signed").with("f", "2");
    assert!(ConsensusFromGenerals::processes(&signed).is_err(), "the loyal are no majority");
    assert!(InteractiveConsistency::processes(&signed).is_ok());
    let unknown = Setup::new(4).with("generals", "sealed");
    assert!(InteractiveConsistency::processes(&unknown).is_err());
    let unknown = Setup::new(4).with("over", "paxos");
    assert!(GeneralsFromConsensus::processes(&unknown).is_err());
    assert!(ConsensusFromTotalOrder::processes(&Setup::new(3).with("over", "x")).is_err());
}
