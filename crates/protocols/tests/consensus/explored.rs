//! Every schedule of small worlds, and the number of states. (The catalogue's tests explore all
//! worlds on the cards.)

use synod_check::{Question, explore};
use synod_core::card::Scope;
use synod_core::family::Consensus;
use synod_core::{Algorithm, Setup};
use synod_protocols::consensus::rounds::{AT_ONCE, SYNCHRONOUS};
use synod_protocols::consensus::{OralGenerals, SignedGenerals, SyncConsensus};
use synod_sim::Judged;

/// The number of states; every promise must hold in each.
fn states<A: Algorithm<Family = Consensus>>(scope: Scope, setup: Setup) -> usize {
    let question = Question { setup, judged: Judged::Promised, ..Question::new(scope) };
    let exploration = explore::<A>(&question, |_| {}).expect("the setup is valid");
    assert!(exploration.exhausted());
    for verdict in &exploration.verdicts {
        assert!(verdict.refuted.is_none(), "{:?}", verdict.refuted);
    }
    exploration.progress.unique
}

/// A process that crashes in the middle of a multicast has told the first few of the others. That
/// is no restriction, because names mean nothing to the algorithm: telling any other processes is
/// like telling the first ones with the proposals permuted.
#[test]
fn three_agree_whichever_of_them_has_which_value_and_crashes_after_telling_whomever() {
    let scope = Scope { timing: SYNCHRONOUS, crashes: 1, ..Scope::of(3) };
    let orders = ["0 1 2", "0 2 1", "1 0 2", "1 2 0", "2 0 1", "2 1 0"];
    let explored = orders.map(|proposals| {
        let setup = Setup::new(3).with("f", "1").with("proposals", proposals);
        states::<SyncConsensus>(scope, setup)
    });
    assert_eq!(explored, [1_070; 6]);
}

/// A world of `n` generals, some of them traitors that may send any value to any general.
fn betrayed<A: Algorithm<Family = Consensus>>(
    n: usize,
    traitors: &str,
    set: &[(&str, &str)],
) -> usize {
    let setup = Setup::new(n).with("traitors", traitors).with("adversary", "random");
    let setup = set.iter().fold(setup, |setup, (name, value)| setup.with(name, value));
    states::<A>(Scope { timing: AT_ONCE, ..Scope::of(n) }, setup)
}

#[test]
fn four_generals_agree_and_obey_whichever_of_them_is_a_traitor_and_whatever_it_says() {
    let oral = |traitor| betrayed::<OralGenerals>(4, traitor, &[]);
    assert_eq!(["p0", "p1", "p2", "p3"].map(oral), [7_362, 1_463, 1_463, 1_463]);
}

#[test]
fn three_generals_that_sign_agree_and_obey_whichever_of_them_is_a_traitor() {
    let signed = |traitor| betrayed::<SignedGenerals>(3, traitor, &[("f", "1")]);
    assert_eq!(["p0", "p1", "p2"].map(signed), [234, 61, 61]);
}

#[test]
fn the_last_two_loyal_generals_of_four_agree_if_they_sign() {
    let signed = |traitors| betrayed::<SignedGenerals>(4, traitors, &[("f", "2")]);
    assert_eq!(["p0 p3", "p1 p2"].map(signed), [23_175, 7_188]);
}
