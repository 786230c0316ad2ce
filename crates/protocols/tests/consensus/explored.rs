//! Every schedule of small worlds, beyond those on the cards, which are explored for all algorithms
//! of the catalogue alike.

use synod_check::{Question, explore};
use synod_core::card::Scope;
use synod_core::family::Consensus;
use synod_core::{Algorithm, Setup};
use synod_protocols::consensus::SyncConsensus;
use synod_protocols::consensus::rounds::SYNCHRONOUS;
use synod_sim::Judged;

/// How many states there are; every promise must hold in each.
fn states<A: Algorithm<Family = Consensus>>(scope: Scope, setup: Setup) -> usize {
    let question = Question { setup, judged: Judged::Promised, ..Question::new(scope) };
    let exploration = explore::<A>(&question, |_| {}).expect("the setup is valid");
    assert!(exploration.exhausted());
    for verdict in &exploration.verdicts {
        assert!(verdict.refuted.is_none(), "{:?}", verdict.refuted);
    }
    exploration.progress.unique
}

/// A process that crashes in the middle of a multicast has told the first so many of the others. But
/// names mean nothing to the algorithm: who tells any others is like one that tells the first, if the
/// values are handed out differently.
#[test]
fn three_agree_whichever_of_them_has_which_value_and_crashes_after_telling_whomever() {
    let scope = Scope { timing: SYNCHRONOUS, crashes: 1, ..Scope::of(3) };
    let orders = ["0 1 2", "0 2 1", "1 0 2", "1 2 0", "2 0 1", "2 1 0"];
    let explored = orders.map(|proposals| {
        let setup = Setup::new(3).with("f", "1").with("proposals", proposals);
        states::<SyncConsensus>(scope, setup)
    });
    assert_eq!(explored, [2_414; 6]);
}
