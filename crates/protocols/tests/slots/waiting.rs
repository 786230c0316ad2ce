//! Claims that wait for a slot.

use super::hand::Group;
use std::collections::VecDeque;
use synod_check::{Question, explore};
use synod_core::Algorithm;
use synod_core::card::{Rounds, Scope};
use synod_core::family::slots::{Input, Output, Refusal, SlotId, TURN, Ticket, Token};
use synod_protocols::slots::message::Body;
use synod_protocols::slots::mutants::{Forgetful, LastComeFirst};
use synod_protocols::slots::{SlotsAlgorithm, Timer};
use synod_sim::world::Judged;

fn claims(ticket: u64) -> Input {
    Input::ClaimWithin { ticket: Ticket(ticket), wait_ms: 100 }
}

/// The answers of these outputs to claims that might wait: the ticket, and the slot or the reason.
fn answers(told: &[Output]) -> Vec<(u64, Result<u32, Refusal>)> {
    let answer = |output: &Output| match output {
        Output::Served { ticket, slot, .. } => Some((ticket.0, Ok(slot.0))),
        Output::Unserved(ticket, why) => Some((ticket.0, Err(*why))),
        _ => None,
    };
    told.iter().filter_map(answer).collect()
}

/// Two members; p1 has one slot, in use by the application, and p2 has as many as `more` says.
fn full(rules: &str, more: u32) -> (Group, (SlotId, Token)) {
    let (slots, owned) = ((1 + more).to_string(), format!("p1:1 p2:{more}"));
    let settings = [("rules", rules), ("slots", &slots), ("owned", &owned), ("low", "1")];
    let mut group = Group::settled(2, &settings);
    let held = group.claim(1);
    group.deliver_all();
    (group, held)
}

#[test]
fn a_claim_with_a_ticket_gets_a_free_slot_at_once() {
    let mut group = Group::settled(1, &[("slots", "2"), ("owned", "p1:2")]);
    assert_eq!(answers(&group.ask(1, claims(7))), [(7, Ok(0))]);
}

#[test]
fn a_claim_that_may_not_wait_is_refused_at_once_with_its_ticket() {
    let (mut group, _) = full("offers", 0);
    let claim = Input::ClaimWithin { ticket: Ticket(7), wait_ms: 0 };
    assert_eq!(answers(&group.ask(1, claim)), [(7, Err(Refusal::Exhausted))]);
}

#[test]
fn claims_wait_in_one_queue_and_a_release_serves_the_first() {
    let (mut group, (slot, token)) = full("offers", 0);
    for ticket in [5, 3, 9] {
        assert_eq!(answers(&group.ask(1, claims(ticket))), []);
    }
    assert_eq!(answers(&group.ask(1, Input::Release(slot, token))), [(5, Ok(0))]);
}

#[test]
fn a_refusing_claim_does_not_overtake_claims_that_wait() {
    let (mut group, _) = full("offers", 0);
    group.ask(1, claims(1));
    let told = group.ask(1, Input::Claim);
    assert!(matches!(told[0], Output::Refused(_)), "{told:?}");
}

#[test]
fn a_ticket_that_waits_already_waits_on() {
    let (mut group, (slot, token)) = full("offers", 0);
    group.ask(1, claims(1));
    assert_eq!(group.ask(1, claims(1)), []);
    assert_eq!(answers(&group.ask(1, Input::Release(slot, token))), [(1, Ok(0))]);
    assert_eq!(answers(group.told(1)).len(), 1);
}

#[test]
fn a_cancelled_claim_waits_no_longer_and_the_others_move_up() {
    let (mut group, (slot, token)) = full("offers", 0);
    group.ask(1, claims(1));
    group.ask(1, claims(2));
    let told = group.ask(1, Input::Cancel(Ticket(1)));
    assert_eq!(answers(&told), [(1, Err(Refusal::Cancelled))]);
    assert_eq!(group.ask(1, Input::Cancel(Ticket(1))), [], "it has its answer");
    assert_eq!(answers(&group.ask(1, Input::Release(slot, token))), [(2, Ok(0))]);
}

#[test]
fn at_the_end_of_its_time_a_claim_is_refused_like_one_that_does_not_wait() {
    let (mut group, _) = full("offers", 0);
    group.ask(1, claims(1));
    group.deliver_all();
    assert_eq!(group.timers(1), [Timer::TimeIsUp(Ticket(1)), Timer::Again]);
    let told = group.fire(1, Timer::TimeIsUp(Ticket(1)));
    assert_eq!(answers(&told), [(1, Err(Refusal::Exhausted))]);
    assert_eq!(group.timers(1), []);
}

#[test]
fn more_claims_than_may_wait_are_refused_and_those_that_wait_are_not() {
    let settings = [("slots", "1"), ("owned", "p1:1"), ("used", "p1:1"), ("queue", "2")];
    let mut group = Group::settled(1, &settings);
    for ticket in [1, 2] {
        assert_eq!(answers(&group.ask(1, claims(ticket))), []);
    }
    assert_eq!(answers(&group.ask(1, claims(3))), [(3, Err(Refusal::Full))]);
    assert_eq!(answers(&group.ask(1, Input::Cancel(Ticket(1)))).len(), 1);
    assert_eq!(answers(&group.ask(1, claims(3))), []);
}

#[test]
fn another_member_lets_go_of_its_slots_for_a_claim_that_waits() {
    for rules in ["offers", "repaired", "paper"] {
        let settings = [("rules", rules), ("slots", "4"), ("owned", "p1:1 p2:3"), ("low", "0")];
        let mut group = Group::settled(2, &settings);
        group.claim(1);
        assert_eq!(answers(&group.ask(1, claims(1))), [], "{rules}");
        group.deliver_all();
        let got = answers(group.told(1));
        assert!(matches!(got[..], [(1, Ok(_))]), "{rules}: {got:?}");
    }
}

#[test]
fn with_offers_each_of_many_claims_gets_a_slot_without_a_second_claim() {
    let (mut group, _) = full("offers", 8);
    for ticket in 1..=7 {
        group.ask(1, claims(ticket));
    }
    group.deliver_all();
    let got = answers(group.told(1));
    assert!(got.iter().map(|(ticket, _)| *ticket).eq(1..=7), "in turn: {got:?}");
    assert!(got.iter().all(|(_, got)| got.is_ok()), "{got:?}");
}

#[test]
fn an_idle_member_gives_up_its_last_slot_for_claims_that_have_waited_for_a_while() {
    let (mut group, _) = full("offers", 1);
    assert_eq!(answers(&group.ask(1, claims(1))), []);
    group.deliver_all();
    assert_eq!(answers(group.told(1)), [], "p2 needs one free slot");
    group.fire(1, Timer::Again);
    assert_eq!(group.pending(1), [&Body::Beg]);
    group.deliver_all();
    assert_eq!(answers(group.told(1)), [(1, Ok(1))]);
    assert!(group.agree(&[1, 2]) && group.timers(1).is_empty());
}

#[test]
fn a_member_begs_only_while_its_claims_wait_for_others() {
    let (mut group, (slot, token)) = full("offers", 1);
    group.ask(1, claims(1));
    group.fire(1, Timer::Again);
    assert!(!group.pending(1).contains(&&Body::Beg), "its first wish is still under way");
    group.ask(1, Input::Release(slot, token));
    group.deliver_all();
    group.fire(1, Timer::Again);
    assert!(group.pending(1).is_empty() && group.timers(1).is_empty());
}

#[test]
fn with_donations_a_claim_that_waits_makes_the_member_ask_again_after_a_while() {
    let (mut group, _) = full("repaired", 1);
    let (slot, token) = group.claim(2);
    group.deliver_all();
    group.ask(1, claims(1));
    group.deliver_all();
    group.ask(2, Input::Release(slot, token));
    assert_eq!(answers(group.told(1)), [], "p2 has a mark of its own to keep");
    let (slot, token) = group.claim(2);
    group.ask(2, Input::Release(slot, token));
    group.fire(1, Timer::Again);
    assert_eq!(group.pending(1).len(), 1, "p1 asks again");
    assert!(group.timers(1).contains(&Timer::Again), "and will do so once more");
}

#[test]
fn cooled_slots_go_to_claims_that_wait() {
    let settings = [("slots", "1"), ("owned", "p1:1"), ("cooldown", "9")];
    let mut group = Group::settled(1, &settings);
    let (slot, token) = group.claim(1);
    group.ask(1, claims(1));
    group.ask(1, Input::Release(slot, token));
    group.fire(1, Timer::Cool);
    assert_eq!(answers(group.told(1)), [], "it may have cooled for no time at all");
    assert_eq!(answers(&group.fire(1, Timer::Cool)), [(1, Ok(0))]);
}

#[test]
fn claims_wait_from_view_to_view_and_through_the_loss_of_the_membership() {
    let (mut group, _) = full("offers", 2);
    group.deliver_all();
    while let [Output::Claimed(..), ..] = group.ask(1, Input::Claim)[..] {}
    group.ask(1, claims(1));
    group.view(&[1]);
    group.deliver_all();
    assert_eq!(answers(group.told(1)), []);
    group.view(&[1, 2]);
    group.deliver_all();
    assert_eq!(answers(group.told(1)).len(), 1, "p2 has let go of its slot");
}

#[test]
fn a_member_that_leaves_answers_the_claims_that_wait() {
    let (mut group, _) = full("offers", 0);
    group.ask(1, claims(1));
    let told = group.ask(1, Input::Leave);
    assert_eq!(answers(&told), [(1, Err(Refusal::Outside))]);
    assert_eq!(answers(&group.ask(1, claims(2))), [(2, Err(Refusal::Outside))]);
}

#[test]
fn a_claim_may_wait_for_the_member_to_join() {
    let mut group = Group::new(1, &[("slots", "1")]);
    assert_eq!(answers(&group.ask(1, claims(1))), []);
    group.view(&[1]);
    group.deliver_all();
    assert_eq!(answers(group.told(1)), [(1, Ok(0))]);
}

/// Claims, cancels, releases and the ends of waits in random order, against a queue that a test
/// understands at once.
#[test]
fn the_queue_is_served_in_turn_whatever_happens() {
    for seed in 1..=200_u64 {
        let mut group = Group::settled(1, &[("slots", "2"), ("owned", "p1:2"), ("queue", "3")]);
        let (mut queue, mut held) = (VecDeque::new(), Vec::new());
        let mut random = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        for ticket in 1..=60 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let told = match random % 4 {
                0 | 1 => {
                    queue.push_back(ticket);
                    group.ask(1, claims(ticket))
                }
                2 if !held.is_empty() => {
                    let (slot, token) = held.remove(0);
                    group.ask(1, Input::Release(slot, token))
                }
                _ if queue.is_empty() => continue,
                last => {
                    let place = random as usize / 8 % queue.len();
                    let ticket = Ticket(queue[place]);
                    match last {
                        3 => group.ask(1, Input::Cancel(ticket)),
                        _ => group.fire(1, Timer::TimeIsUp(ticket)),
                    }
                }
            };
            for output in &told {
                match output {
                    Output::Served { ticket, slot, token } => {
                        assert_eq!(queue.pop_front(), Some(ticket.0), "seed {seed}");
                        held.push((*slot, *token));
                    }
                    Output::Unserved(ticket, _) => queue.retain(|other| *other != ticket.0),
                    _ => {}
                }
            }
            assert!(queue.len() <= 3 && (queue.is_empty() || held.len() == 2), "seed {seed}");
        }
    }
}

/// The worlds on the card in which claims wait.
fn waiting_worlds() -> Vec<Scope> {
    let waits = |scope: &Scope| scope.set.iter().any(|(name, _)| *name == "wait");
    SlotsAlgorithm::CARD.proved().into_iter().filter(waits).collect()
}

/// The number of states of a world in which nothing is wrong, the order of service included.
fn states(scope: Scope) -> usize {
    let mut question = Question::new(scope);
    let all = ["pi1", "pi2", "pi4", "pi15", "fence", TURN, "pi1-owned", "pi2-equal", "pool", "pi5"];
    question.judged = Judged::Only(all.map(str::to_owned).to_vec());
    let exploration = explore::<SlotsAlgorithm>(&question, |_| {}).expect("the scope fits");
    for verdict in &exploration.verdicts {
        let violation = verdict.refuted.as_ref().map(|refuted| &refuted.violation);
        assert_eq!(violation, None, "{scope:?}");
    }
    assert!(exploration.exhausted(), "{scope:?}");
    exploration.progress.unique
}

#[test]
fn claims_that_wait_are_answered_in_every_history_of_a_small_world() {
    let counts: Vec<usize> = waiting_worlds().into_iter().map(states).collect();
    assert_eq!(counts, [20_782, 40_981]);
}

#[test]
fn a_queue_that_a_view_empties_leaves_its_applications_waiting() {
    let refuted = Forgetful::CARD.counterexamples[0];
    let mut question = Question::new(refuted.scope);
    question.judged = Judged::Only(vec![refuted.property.to_owned()]);
    let exploration = explore::<Forgetful>(&question, |_| {}).expect("the scope fits");
    let found = exploration.refutation(refuted.property).expect("a claim is forgotten");
    assert_eq!(found.history.steps.len(), refuted.steps);
}

#[test]
fn a_claim_that_is_served_last_come_first_overtakes() {
    let refuted = LastComeFirst::CARD.counterexamples[0];
    let mut question = Question::new(refuted.scope);
    question.judged = Judged::Only(vec![TURN.to_owned()]);
    let exploration = explore::<LastComeFirst>(&question, |_| {}).expect("the scope fits");
    let found = exploration.refutation(TURN).expect("the second claim overtakes the first");
    assert_eq!(found.history.steps.len(), refuted.steps);
    assert_eq!(refuted.scope.rounds, Rounds::Times(3));
    assert_eq!(states(refuted.scope), 479);
}

#[test]
fn a_pool_may_be_set_up_to_ask_at_claims_only_and_before_them() {
    let settings = [("rules", "repaired"), ("slots", "6"), ("owned", "p1:1 p2:5"), ("low", "2")];
    let mut usual = Group::settled(2, &settings);
    usual.claim(1);
    assert!(usual.delivered() > 0, "p1 is short, and has asked by itself");
    for rules in ["repaired", "paper"] {
        let settings = [("rules", rules), ("slots", "6"), ("owned", "p1:2 p2:4"), ("low", "2")];
        let settings = [&settings[..], &[("asks", "claims")]].concat();
        let mut group = Group::settled(2, &settings);
        group.claim(1);
        assert!(group.speakers().is_empty(), "{rules}: p1 had two free slots before the claim");
        group.claim(1);
        assert_eq!(group.pending(1).len(), 1, "{rules}: it had one");
    }
}

#[test]
fn as_in_the_program_of_the_authors_a_join_clears_open_requests() {
    for (o2o3, ended) in [("text", false), ("code", true)] {
        let settings = [("rules", "paper"), ("slots", "8"), ("o2o3", o2o3), ("low", "3")];
        let mut group = Group::new(3, &settings);
        group.view(&[1]);
        group.view(&[1, 2]);
        group.deliver_all();
        for _ in 0..2 {
            group.claim(2);
        }
        let asked = group.told(2).iter().filter(|told| matches!(told, Output::Asks(_))).count();
        group.lose(2);
        group.view(&[1, 2, 3]);
        let got = group.told(2).iter().filter(|told| matches!(told, Output::Got(_))).count();
        assert_eq!(got == asked, ended, "{o2o3}: {:?}", group.told(2));
    }
}
