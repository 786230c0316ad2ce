//! The Byzantine generals with oral messages.

use crate::by_hand::{Hand, accused, decided};
use crate::runs::{cost, violated};
use synod_core::family::consensus::Value;
use synod_core::{Algorithm, ProcessId, Setup};
use synod_protocols::consensus::OralGenerals;
use synod_protocols::consensus::oral_messages::{Claim, OralMessages};

fn setup(n: usize, f: usize) -> Setup {
    Setup::new(n).with("f", &f.to_string())
}

#[test]
fn messages_and_rounds_are_those_of_the_paper() {
    let counted =
        [(3, 1), (4, 1), (7, 1), (7, 2), (10, 3)].map(|(n, f)| cost::<OralGenerals>(setup(n, f)));
    assert_eq!(counted, [(4, 2), (9, 2), (36, 2), (156, 3), (3609, 4)]);
}

/// All sets of `size` of `n` processes, as the parameter writes them.
fn sets(n: usize, size: u32) -> impl Iterator<Item = String> {
    let members = move |set: u32| {
        let names = (0..n).filter(move |p| set & 1 << p != 0).map(|p| format!("p{p}"));
        names.collect::<Vec<_>>().join(" ")
    };
    (0..1_u32 << n).filter(move |set| set.count_ones() == size).map(members)
}

#[test]
fn seven_agree_and_obey_whichever_two_are_traitors_and_whatever_they_say() {
    for traitors in sets(7, 2) {
        let setup = setup(7, 2).with("traitors", &traitors).with("proposals", "7 0 0 0 0 0 0");
        for adversary in ["random", "equivocating", "odd-liar", "replaying", "silent"] {
            let seeds = if adversary == "random" { 0..100 } else { 0..5 };
            let broken =
                violated::<OralGenerals>(&setup.clone().with("adversary", adversary), seeds);
            assert!(broken.is_empty(), "{adversary} {traitors}: {broken:?}");
        }
    }
}

#[test]
fn the_same_traitors_break_what_six_of_them_try() {
    let broken = sets(6, 2).filter(|traitors| {
        let setup = setup(6, 2).with("traitors", traitors).with("adversary", "random");
        !violated::<OralGenerals>(&setup.with("proposals", "7 0 0 0 0 0"), 0..300).is_empty()
    });
    assert!(broken.count() > 0);
}

/// p1 of four, where p0 commands.
fn p1_of_four() -> Hand<OralMessages> {
    Hand::new(1, &setup(4, 1))
}

fn claim(path: &[u32], value: u64) -> Claim {
    Claim { path: path.iter().copied().map(ProcessId).collect(), value: Some(Value(value)) }
}

/// The accusation of `from` if it sends this in the first round.
fn first(from: u32, claim: Claim) -> Option<&'static str> {
    let mut hand = p1_of_four();
    assert_eq!(hand.hears(from, 1, claim), None);
    accused(hand.round_over(1))
}

#[test]
fn who_says_what_cannot_be_is_accused() {
    assert_eq!(first(0, claim(&[0], 7)), None);
    let other_round = Some("says something that does not belong to this round");
    assert_eq!(first(0, claim(&[], 7)), other_round);
    assert_eq!(first(2, claim(&[0, 2], 7)), other_round);
    assert_eq!(first(2, claim(&[2], 7)), other_round);
    assert_eq!(first(2, claim(&[0], 7)), Some("speaks for somebody else"));
    let mut hand = p1_of_four();
    hand.round_over(1);
    let no_way = Some("says something that cannot have come this way");
    assert_eq!(hand.hears(0, 2, claim(&[0, 0], 7)), None);
    assert_eq!(accused(hand.round_over(2)), no_way);
    let mut hand = p1_of_four();
    hand.round_over(1);
    assert_eq!(hand.hears(2, 2, claim(&[0, 2], 7)), None);
    let more = Some("said more than there is to say in a round");
    assert_eq!(hand.hears(2, 2, claim(&[0, 2], 8)), more);
}

#[test]
fn a_claim_about_nobody_known_is_not_believed() {
    let mut hand: Hand<OralMessages> = Hand::new(1, &setup(7, 2));
    hand.round_over(1);
    hand.round_over(2);
    assert_eq!(hand.hears(2, 3, claim(&[0, 99, 2], 7)), None);
    assert_eq!(accused(hand.round_over(3)), Some("says something that cannot have come this way"));
}

#[test]
fn what_does_not_come_is_no_order() {
    let mut hand = p1_of_four();
    assert_eq!(hand.round_over(1).len(), 1, "it tells the others that nothing came");
    assert_eq!(decided(hand.round_over(2)), Some("⊥".to_owned()));
}

#[test]
fn a_war_with_too_many_messages_is_refused() {
    let refused = OralGenerals::processes(&setup(20, 6)).expect_err("there are too many");
    assert!(refused.to_string().contains("messages"), "{refused}");
    assert!(OralGenerals::processes(&setup(4, 3)).is_err());
    assert!(OralGenerals::processes(&setup(4, 1).with("tie", "toss")).is_err());
    assert!(OralGenerals::processes(&setup(4, 1).with("commander", "p4")).is_err());
}
