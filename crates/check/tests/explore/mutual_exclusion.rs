//! What the explorer proves about mutual exclusion beyond the cards: endless runs, the
//! algorithms' own invariants over two rounds, and exact numbers of states.

use synod_check::{Question, Unfinished, explore, replay};
use synod_core::Algorithm;
use synod_core::card::{Rounds, Scope};
use synod_core::family::mutex::{ME1, ME2};
use synod_protocols::mutex::mutants::{Priority, TokenUnfair};
use synod_protocols::mutex::{
    CentralServer, Linda, RicartAgrawalaTickets, RicartAgrawalaToken, SuzukiKasami, TokenRing,
};
use synod_sim::world::Judged;

fn question(rounds: Rounds, judged: Judged) -> Question {
    let mut question = Question::new(Scope { rounds, ..Scope::of(3) });
    question.judged = judged;
    question
}

/// Explores three processes that do all that is promised; returns the number of states.
fn all_promises_hold<A: Algorithm>(rounds: Rounds, unfinished: Option<Unfinished>) -> usize {
    let exploration = explore::<A>(&question(rounds, Judged::Promised), |_| {}).expect("it fits");
    for verdict in &exploration.verdicts {
        let refuted = verdict.refuted.as_ref().map(|refuted| &refuted.violation);
        assert_eq!(refuted, None, "{} over {rounds:?}", A::CARD.name);
    }
    assert_eq!(exploration.unfinished, unfinished, "{}", A::CARD.name);
    exploration.progress.unique
}

#[test]
fn whoever_asks_a_central_server_for_ever_gets_in_again_and_again() {
    assert_eq!(all_promises_hold::<CentralServer>(Rounds::Forever, None), 36);
}

#[test]
fn a_key_in_a_tuple_space_comes_to_every_process_that_waits_for_it() {
    assert_eq!(all_promises_hold::<Linda>(Rounds::Forever, None), 36);
}

#[test]
fn whoever_waits_in_a_token_ring_for_ever_gets_in_again_and_again() {
    assert_eq!(all_promises_hold::<TokenRing>(Rounds::Forever, None), 36);
}

/// Requests to a process whose answer no process needs can pile up without end, so states in which
/// a link carries more than two messages are left out.
#[test]
fn a_fair_choice_of_the_next_holder_starves_nobody() {
    let left_out = |states| Some(Unfinished::Limit("messages on a link", states));
    assert_eq!(all_promises_hold::<SuzukiKasami>(Rounds::Forever, left_out(3630)), 9321);
    assert_eq!(all_promises_hold::<RicartAgrawalaToken>(Rounds::Forever, left_out(2376)), 6264);
}

#[test]
fn there_is_one_token_in_every_state_of_two_rounds() {
    assert_eq!(all_promises_hold::<RicartAgrawalaToken>(Rounds::Times(2), None), 39421);
}

/// Outstanding tickets differ by at most N − 1, the latest defers no request, and all together
/// defer at most N(N − 1)/2.
#[test]
fn the_answers_about_tickets_are_true_in_every_state_of_two_rounds() {
    assert_eq!(all_promises_hold::<RicartAgrawalaTickets>(Rounds::Times(2), None), 44833);
}

#[test]
fn priorities_let_two_in_but_starve_nobody() {
    let only = Judged::Only(vec![ME1.to_owned(), ME2.to_owned()]);
    let exploration =
        explore::<Priority>(&question(Rounds::Forever, only), |_| {}).expect("it fits");
    assert!(exploration.exhausted());
    assert!(exploration.refutation(ME1).is_some());
    assert!(exploration.refutation(ME2).is_none());
}

#[test]
fn the_circle_in_which_an_unfair_token_starves_somebody_comes_back_to_where_it_began() {
    let question = question(Rounds::Forever, Judged::Only(vec![ME2.to_owned()]));
    let exploration = explore::<TokenUnfair>(&question, |_| {}).expect("it fits");
    let refuted = exploration.refutation(ME2).expect("p2 starves");
    assert_eq!(refuted.violation.at.0, 2);
    let begins = refuted.history.returns_to.expect("it never ends");

    let mut until_then = refuted.history.clone();
    until_then.steps.truncate(begins);
    let [there, back_again] = [&until_then, &refuted.history].map(|history| {
        let world = replay::<TokenUnfair>(&question, history, None).expect("it happened").world;
        world.normal_fingerprint()
    });
    assert_eq!(there, back_again);
    assert!(begins < refuted.history.steps.len());
}

#[test]
fn where_too_many_states_would_be_searched_for_circles_nothing_is_claimed() {
    let mut question = question(Rounds::Forever, Judged::Only(vec![ME2.to_owned()]));
    question.limits.circle_states = 100;
    let exploration = explore::<TokenUnfair>(&question, |_| {}).expect("it fits");
    assert!(exploration.refutation(ME2).is_none());
    let limit = exploration.unfinished.expect("the circle was not looked for");
    assert!(matches!(limit, Unfinished::Limit("states searched for fair circles", 101..)));
}
