//! Ballots of [Paxos](super) counted from a later round, so that the explorer recognises states
//! that repeat with greater rounds.

use super::{Message, PaxosProcess, Proposer, Retry};
use crate::consensus::ballot::{Ballot, LAST_ROUND};
use crate::consensus::learner::Learner;

/// Counts all rounds from the first one that is still in use. Returns whether the group is one for
/// which that changes nothing.
///
/// Ballots are only compared, and the next one is the smallest of its owner above another. Both
/// commute with counting rounds from a later one, unless a process has not promised anything yet
/// (its next ballot is of round 1), there is a last round, or time depends on the round.
pub(super) fn normalise<const NUMBERED: bool, const REMEMBER: bool, const MEET: bool>(
    processes: &mut [&mut PaxosProcess<NUMBERED, REMEMBER, MEET>],
    in_flight: &mut [&mut Message],
) -> bool {
    let fits = |p: &&mut PaxosProcess<NUMBERED, REMEMBER, MEET>| {
        p.setting.retry == Retry::AtOnce && p.setting.ballots == LAST_ROUND
    };
    if !processes.iter().all(fits) {
        return false;
    }
    if processes.iter().all(|process| process.acceptor.promised.is_some()) {
        let mut first = LAST_ROUND;
        each(processes, in_flight, &mut |ballot| first = first.min(ballot.round));
        each(processes, in_flight, &mut |ballot| *ballot = ballot.back_by(first - 1));
    }
    true
}

/// Shows every ballot, in the processes and in the messages under way.
fn each<const NUMBERED: bool, const REMEMBER: bool, const MEET: bool>(
    processes: &mut [&mut PaxosProcess<NUMBERED, REMEMBER, MEET>],
    in_flight: &mut [&mut Message],
    show: &mut dyn FnMut(&mut Ballot),
) {
    for process in processes {
        each_of_process(process, show);
    }
    for message in in_flight {
        match &mut **message {
            Message::Prepare(ballot) | Message::Promise(ballot, None) => show(ballot),
            Message::Promise(ballot, Some(vote)) => {
                show(ballot);
                show(&mut vote.ballot);
            }
            Message::Accept(vote) | Message::Accepted(vote) => show(&mut vote.ballot),
            Message::Refusal(ballot, promised) => {
                show(ballot);
                show(promised);
            }
        }
    }
}

fn each_of_process<const NUMBERED: bool, const REMEMBER: bool, const MEET: bool>(
    process: &mut PaxosProcess<NUMBERED, REMEMBER, MEET>,
    show: &mut dyn FnMut(&mut Ballot),
) {
    process.acceptor.promised.iter_mut().for_each(&mut *show);
    process.acceptor.accepted.iter_mut().for_each(|vote| show(&mut vote.ballot));
    if let Learner::Listening(votes) = &mut process.learner {
        votes.values_mut().for_each(|vote| show(&mut vote.ballot));
    }
    match &mut process.proposer {
        Proposer::Idle => {}
        Proposer::Preparing { ballot, last, .. } => {
            show(ballot);
            last.iter_mut().for_each(|vote| show(&mut vote.ballot));
        }
        Proposer::Accepting { ballot } | Proposer::Refused { by: ballot } => show(ballot),
    }
}
