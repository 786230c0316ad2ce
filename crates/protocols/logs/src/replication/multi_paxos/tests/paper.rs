//! Paxos Made Simple, sentence by sentence: each test says in which section.

use super::*;

const NOTHING_CHOSEN: Chosen<u8> = Chosen { after: 0, entries: Vec::new(), commit: 0 };

fn vote(ballot: Ballot, command: u8) -> Vote<Entry<u8>> {
    Vote { ballot, value: Entry::Command(command) }
}

fn promise(ballot: Ballot, votes: Vec<(u64, Vote<Entry<u8>>)>) -> Said {
    Message::Promise { ballot, votes, chosen: NOTHING_CHOSEN }
}

/// p0 asks for promises in its first ballot.
fn proposer() -> Watched {
    let mut p0 = Watched::new(0);
    p0.step(|process, cx| process.on_timer(Timer::Election, cx));
    p0
}

/// Section 2.2, P1: an acceptor must accept the first proposal that it receives.
#[test]
fn an_acceptor_accepts_the_first_proposal_that_it_receives() {
    let mut p2 = Watched::new(2);
    let answers = sent(p2.hears(0, accept(FIRST, 0, &[7], 0)));
    assert_eq!(answers, [(0, Message::Accepted { ballot: FIRST, after: 0, last: 1 })]);
}

/// Section 2.2, phase 1 (b): it promises to accept no more proposals numbered less than n, and
/// responds with the highest-numbered proposal that it has accepted.
#[test]
fn an_acceptor_promises_and_tells_the_last_proposal_that_it_accepted() {
    let mut p2 = Watched::new(2);
    p2.hears(0, accept(FIRST, 0, &[7], 0));
    let answers = sent(p2.hears(1, Message::Prepare { ballot: SECOND, after: 0 }));
    assert_eq!(answers, [(1, promise(SECOND, vec![(1, vote(FIRST, 7))]))]);
}

/// Section 2.2, P1a: an acceptor can accept a proposal numbered n iff it has not responded to a
/// prepare request having a number greater than n. Section 2.2 also says why it then informs the
/// proposer.
#[test]
fn an_acceptor_that_promised_a_greater_number_refuses_smaller_ones_and_says_which() {
    let mut p2 = Watched::new(2);
    p2.hears(1, Message::Prepare { ballot: SECOND, after: 0 });
    let refused = [(0, Message::Refused { promised: SECOND })];
    assert_eq!(sent(p2.hears(0, accept(FIRST, 0, &[7], 0))), refused);
    assert_eq!(sent(p2.hears(0, Message::Prepare { ballot: FIRST, after: 0 })), refused);
    assert!(p2.process.log.votes().is_empty());
}

/// Section 2.2: an acceptor must remember this information even if it fails and then restarts.
#[test]
fn an_acceptor_remembers_its_promise_and_its_proposal_after_a_crash() {
    let mut p2 = Watched::new(2);
    p2.hears(0, accept(FIRST, 0, &[7], 0));
    p2.hears(1, Message::Prepare { ballot: SECOND, after: 0 });
    p2.process = p2.replayed();
    let refused = [(0, Message::Refused { promised: SECOND })];
    assert_eq!(sent(p2.hears(0, accept(FIRST, 1, &[8], 0))), refused);
    assert_eq!(p2.process.log.votes()[&1], vote(FIRST, 7));
}

/// Section 2.2, phase 2 (a): with the responses of a majority, it sends an accept request with the
/// value of the highest-numbered proposal among them.
#[test]
fn a_proposer_proposes_the_value_of_the_greatest_ballot_that_a_majority_told() {
    let mut p0 = proposer();
    p0.hears(1, Message::Refused { promised: SECOND });
    p0.step(|process, cx| process.on_timer(Timer::Election, cx));
    let ballot = p0.process.promised.expect("it has begun a ballot");
    // Its own vote, of an earlier ballot, loses.
    p0.process.log.accept(FIRST, 0, &entries(&[7]));
    let proposed = sent(p0.hears(1, promise(ballot, vec![(1, vote(SECOND, 8))])));
    let is_proposal = |message: &Said| *message == accept(ballot, 0, &[8], 0);
    assert!(proposed.iter().any(|(_, message)| is_proposal(message)), "{proposed:?}");
}

/// Section 2.2, phase 2 (a): or any value, if the responses reported no proposals.
#[test]
fn a_proposer_that_was_told_of_no_proposal_proposes_what_it_is_asked_to() {
    let mut p0 = proposer();
    p0.hears(1, promise(FIRST, Vec::new()));
    let proposed = sent(p0.step(|process, cx| process.on_input(Ask::Append(9), cx)));
    assert_eq!(proposed, [1, 2].map(|to| (to, accept(FIRST, 0, &[9], 0))));
}

/// Section 2.2: a value is chosen when a majority of acceptors have accepted it.
#[test]
fn a_value_is_chosen_when_a_majority_has_accepted_it_and_not_before() {
    let mut p0 = proposer();
    p0.hears(1, promise(FIRST, Vec::new()));
    p0.step(|process, cx| process.on_input(Ask::Append(9), cx));
    assert_eq!(p0.commit(), 0);
    p0.hears(2, Message::Accepted { ballot: FIRST, after: 0, last: 1 });
    assert_eq!(p0.commit(), 1);
}

/// Section 2.5: different proposers choose their numbers from disjoint sets of numbers, and each
/// remembers (in stable storage) the highest-numbered proposal it has tried to issue.
#[test]
fn no_ballot_is_begun_twice_neither_by_two_processes_nor_after_a_crash() {
    let begun = |watched: &Watched| watched.process.promised.expect("it has begun a ballot");
    let mut p0 = proposer();
    let mut p1 = Watched::new(1);
    p1.step(|process, cx| process.on_timer(Timer::Election, cx));
    assert_ne!(begun(&p0), begun(&p1));
    let first = begun(&p0);
    p0.process = p0.replayed();
    p0.step(|process, cx| process.on_timer(Timer::Election, cx));
    assert!(begun(&p0) > first);
}

/// Section 3: phase 1 is executed for infinitely many instances, with a single reasonably short
/// message.
#[test]
fn one_prepare_request_is_for_all_places_that_are_not_known_to_be_chosen() {
    let mut p0 = Watched::new(0);
    let asked = sent(p0.step(|process, cx| process.on_timer(Timer::Election, cx)));
    assert_eq!(asked, [1, 2].map(|to| (to, Message::Prepare { ballot: FIRST, after: 0 })));
}

/// Section 3: the gap is filled by proposing, as commands 136 and 137, a special no-op command.
#[test]
fn a_new_leader_fills_gaps_with_nothing() {
    let mut p0 = Watched::new(0);
    p0.hears(1, Message::Refused { promised: SECOND });
    p0.step(|process, cx| process.on_timer(Timer::Election, cx));
    let ballot = p0.process.promised.expect("it has begun a ballot");
    p0.hears(2, promise(ballot, vec![(1, vote(SECOND, 1)), (3, vote(SECOND, 3))]));
    let proposed: Vec<_> = p0.process.log.votes().values().map(|vote| vote.value.clone()).collect();
    assert_eq!(proposed, [Entry::Command(1), Entry::Nothing, Entry::Command(3)]);
}
