//! One process at a time.

use synod_core::family::commitment::{Input, Outcome, Output, Vote};
use synod_core::{Algorithm, Cx, Effect, EffectOf, ProcessId, Protocol, Setup, SetupError, step};
use synod_protocols::commitment::TwoPhaseCommit;
use synod_protocols::commitment::two_phase::{Message, OPEN_AT_MOST};

const P0: ProcessId = ProcessId(0);
const P1: ProcessId = ProcessId(1);
const P2: ProcessId = ProcessId(2);

/// One process of a group of three.
struct Hand {
    me: ProcessId,
    state: TwoPhaseCommit,
}

impl Hand {
    fn new(me: ProcessId) -> Hand {
        let mut group = TwoPhaseCommit::processes(&Setup::new(3)).expect("a group");
        Hand { me, state: group.swap_remove(me.index()) }
    }

    fn does(
        &mut self,
        run: impl FnOnce(&mut TwoPhaseCommit, &mut Cx<'_, TwoPhaseCommit>),
    ) -> Vec<EffectOf<TwoPhaseCommit>> {
        let state = &mut self.state;
        step(self.me, 3, |cx| run(state, cx))
    }

    fn asks(&mut self, input: Input) -> Vec<EffectOf<TwoPhaseCommit>> {
        self.does(|state, cx| state.on_input(input, cx))
    }

    fn hears(&mut self, from: ProcessId, message: Message) -> Vec<EffectOf<TwoPhaseCommit>> {
        self.does(|state, cx| state.on_message(from, message, cx))
    }

    fn accuses(&mut self, from: ProcessId, message: Message) -> Option<&'static str> {
        self.hears(from, message).iter().find_map(|effect| match effect {
            Effect::Accuse { who, why } if *who == from => Some(*why),
            _ => None,
        })
    }

    /// A participant that has promised to commit transaction 1.
    fn prepared() -> Hand {
        let mut hand = Hand::new(P1);
        hand.hears(P0, Message::Prepare { transaction: 1, settled: 1 });
        hand.asks(Input::Vote(1, Vote::Yes));
        hand
    }
}

/// The effects of a step, one word each: a record, a message, an output; timers left out.
fn told(effects: &[EffectOf<TwoPhaseCommit>]) -> Vec<String> {
    let word = |effect: &EffectOf<TwoPhaseCommit>| match effect {
        Effect::Send { to, message } => Some(format!("{to}: {message:?}")),
        Effect::Multicast { message, .. } => Some(format!("all: {message:?}")),
        Effect::Output(output) => Some(format!("{output:?}")),
        Effect::Persist(_) => Some("write".to_owned()),
        Effect::Checkpoint { .. } => Some("clean".to_owned()),
        _ => None,
    };
    effects.iter().filter_map(word).collect()
}

#[test]
fn a_participant_writes_its_promise_down_before_it_votes() {
    let mut hand = Hand::new(P1);
    let asked = hand.hears(P0, Message::Prepare { transaction: 1, settled: 1 });
    assert_eq!(told(&asked), ["Asked(1)"]);
    let voted = hand.asks(Input::Vote(1, Vote::Yes));
    assert_eq!(told(&voted), ["write", "InDoubt(1)", "p0: Yes(1)"]);
}

#[test]
fn a_coordinator_writes_a_commit_down_before_it_tells_and_an_abort_not_at_all() {
    let mut hand = Hand::new(P0);
    hand.asks(Input::Commit(1));
    hand.hears(P1, Message::Yes(1));
    let decided = hand.hears(P2, Message::Yes(1));
    assert_eq!(told(&decided), ["write", "Answered(1, Commit)", "all: Commit(1)"]);
    hand.asks(Input::Commit(2));
    let decided = hand.hears(P2, Message::No(2));
    assert_eq!(told(&decided), ["Answered(2, Abort)", "all: Abort(2)"]);
}

#[test]
fn a_coordinator_presumes_that_what_it_does_not_know_is_aborted() {
    let mut hand = Hand::new(P0);
    assert_eq!(told(&hand.hears(P1, Message::Ask(7))), ["p1: Abort(7)"]);
    assert_eq!(told(&hand.hears(P1, Message::Yes(7))), ["p1: Abort(7)"]);
}

#[test]
fn whoever_is_in_doubt_does_not_answer_another_one_that_is() {
    assert!(Hand::prepared().hears(P2, Message::Ask(1)).is_empty());
}

#[test]
fn whoever_hears_that_a_transaction_is_settled_and_did_not_commit_it_aborts() {
    let mut hand = Hand::prepared();
    let next = hand.hears(P0, Message::Prepare { transaction: 3, settled: 3 });
    assert_eq!(told(&next), ["write", "Learned(1, Abort)", "Asked(3)"]);
    // The participant has forgotten the settled transactions, and still answers rightly about them.
    assert_eq!(told(&hand.hears(P2, Message::Ask(1))), ["p2: Abort(1)"]);
    assert!(hand.hears(P0, Message::Prepare { transaction: 1, settled: 1 }).is_empty());
}

#[test]
fn a_commit_is_acknowledged_as_often_as_it_is_told() {
    let mut hand = Hand::prepared();
    let learned = ["write", "Learned(1, Commit)", "p0: Ack(1)"];
    assert_eq!(told(&hand.hears(P0, Message::Commit(1))), learned);
    assert_eq!(told(&hand.hears(P0, Message::Commit(1))), ["p0: Ack(1)"]);
    // A late answer about a settled transaction changes nothing.
    assert!(hand.hears(P0, Message::Abort(1)).is_empty());
}

#[test]
fn logs_are_cleaned_when_enough_is_settled() {
    let (mut coordinator, mut participant) = (Hand::new(P0), Hand::new(P1));
    let (mut cleaned, mut written) = ([0, 0], [0, 0]);
    for transaction in 1..=100 {
        let mut effects = [Vec::new(), Vec::new()];
        effects[0].extend(coordinator.asks(Input::Commit(transaction)));
        let prepare = Message::Prepare { transaction, settled: transaction };
        effects[1].extend(participant.hears(P0, prepare));
        effects[1].extend(participant.asks(Input::Vote(transaction, Vote::Yes)));
        effects[1].extend(participant.hears(P0, Message::Commit(transaction)));
        for from in [P1, P2] {
            effects[0].extend(coordinator.hears(from, Message::Yes(transaction)));
        }
        for from in [P1, P2] {
            effects[0].extend(coordinator.hears(from, Message::Ack(transaction)));
        }
        for (role, effects) in effects.iter().enumerate() {
            cleaned[role] += told(effects).iter().filter(|word| *word == "clean").count();
            written[role] += told(effects).iter().filter(|word| *word == "write").count();
        }
    }
    assert_eq!((cleaned, written), ([6, 6], [100, 200]));
}

#[test]
fn a_coordinator_aborts_what_is_too_much() {
    let mut hand = Hand::new(P0);
    for transaction in 1..=OPEN_AT_MOST as u32 {
        hand.asks(Input::Commit(transaction));
    }
    let refused = hand.asks(Input::Commit(1_000));
    assert_eq!(refused, [Effect::Output(Output::Answered(1_000, Outcome::Abort))]);
}

#[test]
fn accuses_who_plays_another_role() {
    let prepare = || Message::Prepare { transaction: 1, settled: 1 };
    assert_eq!(Hand::new(P1).accuses(P2, prepare()), Some("is not the coordinator"));
    for message in [Message::Yes(1), Message::No(1), Message::Ack(1)] {
        let wrong = Some("took a participant for the coordinator");
        assert_eq!(Hand::new(P1).accuses(P2, message), wrong);
    }
    for message in [prepare(), Message::Commit(1), Message::Abort(1)] {
        let wrong = Some("took the coordinator for a participant");
        assert_eq!(Hand::new(P0).accuses(P2, message), wrong);
    }
    let stranger = ProcessId(77);
    assert_eq!(Hand::new(P0).accuses(stranger, Message::Yes(1)), Some("is none of the others"));
}

#[test]
fn accuses_who_commits_what_was_not_promised_or_acknowledges_what_is_not_decided() {
    let wrong = Some("committed what we have not promised");
    assert_eq!(Hand::new(P1).accuses(P0, Message::Commit(1)), wrong);
    let mut hand = Hand::new(P0);
    hand.asks(Input::Commit(1));
    assert_eq!(hand.accuses(P1, Message::Ack(1)), Some("acknowledged what is not decided"));
}

#[test]
fn refuses_parameters_that_make_no_sense() {
    for (name, value) in [
        ("coordinator", "p3"),
        ("votes", "maybe"),
        ("votes", "yes no"),
        ("votes", ""),
        ("patience", "0"),
        ("timeout", "commit"),
    ] {
        let refused = TwoPhaseCommit::processes(&Setup::new(3).with(name, value));
        assert!(matches!(refused, Err(SetupError::BadParameter { .. })), "{name}: {value}");
    }
}
