//! The same algorithms under another checker, with a network and a search of its own: it must
//! come to the same verdict and to the same number of reachable states.

use super::actors::model;
use stateright::{Checker, Model};
use synod_check::{Question, explore};
use synod_core::card::Scope;
use synod_core::family::mutex::{ME1, ME2, Mutex};
use synod_core::{Algorithm, Never};
use synod_protocols::mutex::{CentralServer, Maekawa, RicartAgrawala, SuzukiKasami};
use synod_sim::world::Judged;

/// Unique states, whether a process can enter while another is inside, and whether a process can
/// wait for ever: by the other checker.
fn theirs<A>(n: usize) -> (usize, bool, bool)
where
    A: Algorithm<Family = Mutex, Timer = Never>,
    A::Message: Ord,
{
    let checker = model::<A>(n).checker().spawn_bfs().join();
    let refuted = |property| checker.discovery(property).is_some();
    (checker.unique_state_count(), refuted(ME1), refuted(ME2))
}

/// The same, by ours.
fn ours<A: Algorithm<Family = Mutex>>(n: usize) -> (usize, bool, bool) {
    let mut question = Question::new(Scope::of(n));
    question.judged = Judged::Only(vec![ME1.to_owned(), ME2.to_owned()]);
    let exploration = explore::<A>(&question, |_| {}).expect("the size fits");
    assert!(exploration.exhausted());
    let refuted = |property| exploration.refutation(property).is_some();
    (exploration.progress.unique, refuted(ME1), refuted(ME2))
}

fn agree<A>(n: usize, refuted: (bool, bool))
where
    A: Algorithm<Family = Mutex, Timer = Never>,
    A::Message: Ord,
{
    let ours = ours::<A>(n);
    assert_eq!(ours, theirs::<A>(n), "{} at n = {n}", A::CARD.name);
    assert_eq!((ours.1, ours.2), refuted, "{} at n = {n}", A::CARD.name);
}

#[test]
fn both_checkers_agree_on_ricart_and_agrawala() {
    agree::<RicartAgrawala>(2, (false, false));
    agree::<RicartAgrawala>(3, (false, false));
}

#[test]
fn both_checkers_agree_on_the_central_server() {
    agree::<CentralServer>(3, (false, false));
    agree::<CentralServer>(4, (false, false));
}

#[test]
fn both_checkers_agree_on_suzuki_and_kasami() {
    agree::<SuzukiKasami>(3, (false, false));
}

#[test]
fn both_checkers_agree_that_maekawa_gets_stuck() {
    agree::<Maekawa>(3, (false, true));
}
