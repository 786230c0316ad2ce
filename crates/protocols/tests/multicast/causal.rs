//! Causal order: no process delivers a message before those that led to it.

use crate::by_hand::{Group, Letter, Post};
use synod_protocols::multicast::causal::{Causal, Stamped};
use synod_protocols::multicast::in_order::WINDOW;

type OverPost<const OWN_AT_ONCE: bool> = Causal<char, Post<Stamped<char>>, OWN_AT_ONCE>;

fn group(n: usize) -> Group<OverPost<true>> {
    Group::of(n, |_| Causal::new(n, Post::new()))
}

fn stamped<const N: usize>(vector: [u64; N], payload: char) -> Letter<Stamped<char>> {
    Letter(Stamped { vector: vector.to_vec(), payload })
}

/// V4.6 of the course, with p0, p1, p2 for p1, p2, p3.
#[test]
fn an_answer_waits_for_its_question_and_what_is_concurrent_waits_for_nothing() {
    let mut group = group(3);
    group.multicast(2, 'c');
    group.multicast(0, 'a');
    group.deliver(0, 1);
    group.multicast(1, 'b');
    let vectors: Vec<_> = group.in_flight.iter().map(|(_, _, letter)| letter.clone()).collect();
    assert_eq!(vectors[0], stamped([0, 0, 1], 'c'));
    assert_eq!(vectors[2], stamped([1, 0, 0], 'a'));
    assert_eq!(vectors[3], stamped([1, 1, 0], 'b'));
    group.deliver(1, 2);
    assert_eq!(group.delivered[2], "c", "b is held back");
    group.deliver(0, 2);
    assert_eq!(group.delivered[2], "cab");
    group.deliver_all();
    assert_eq!(group.delivered, ["acb", "abc", "cab"]);
}

#[test]
fn a_process_delivers_its_own_message_at_once() {
    let mut group = group(2);
    group.multicast(0, 'a');
    assert_eq!(group.delivered, ["a", ""]);
}

#[test]
fn a_process_that_waits_for_its_own_message_waits_for_ever() {
    let mut group: Group<OverPost<false>> = Group::of(2, |_| Causal::new(2, Post::new()));
    group.multicast(0, 'a');
    group.deliver_all();
    group.multicast(1, 'b');
    group.deliver_all();
    assert_eq!(group.delivered, ["b", "a"]);
}

#[test]
fn a_long_chain_that_arrives_backwards_is_delivered_from_its_beginning() {
    let mut group = group(3);
    for (sender, name) in [(0, 'a'), (1, 'b'), (0, 'c'), (1, 'd'), (1, 'e'), (0, 'f')] {
        group.multicast(sender, name);
        while group.in_flight.iter().any(|(from, to, _)| (*from, *to) == (sender, 1 - sender)) {
            group.deliver(sender, 1 - sender);
        }
    }
    group.deliver_all_backwards();
    assert_eq!(group.delivered, ["abcdef"; 3]);
}

#[test]
fn a_duplicate_is_discarded_without_blame() {
    let mut group = group(3);
    for _ in 0..2 {
        assert!(group.forge(1, 2, stamped([1, 1, 0], 'b')).is_empty());
    }
    for _ in 0..2 {
        assert!(group.forge(0, 2, stamped([1, 0, 0], 'a')).is_empty());
    }
    assert!(group.forge(1, 2, stamped([1, 1, 0], 'b')).is_empty());
    assert_eq!(group.delivered[2], "ab");
}

#[test]
fn a_vector_that_cannot_be_is_reported() {
    let mut group = group(3);
    let mut forge = |from, letter| group.forge(from, 2, letter);
    assert_eq!(forge(0, stamped([1, 0], 'x')), ["sent a vector of the wrong length"]);
    assert_eq!(forge(0, stamped([1, 0, 0, 0], 'x')), ["sent a vector of the wrong length"]);
    assert_eq!(forge(0, stamped([0, 0, 0], 'x')), ["numbered a message 0"]);
    assert_eq!(forge(0, stamped([1, 0, 1], 'x')), ["delivered messages that we never sent"]);
    let far = "sent a number far beyond its turn";
    assert_eq!(forge(0, stamped([WINDOW + 1, 0, 0], 'x')), [far]);
    assert_eq!(forge(0, stamped([1, u64::MAX, 0], 'x')), [far]);
    let stranger = forge(9, stamped([1, 0, 0], 'x'));
    assert_eq!(stranger, ["multicast to a group that it is not in"]);
    assert_eq!(group.delivered[2], "");
}

#[test]
fn two_messages_with_one_number_do_not_block_those_that_follow() {
    let mut group = group(3);
    group.forge(0, 2, stamped([1, 1, 0], 'x'));
    group.forge(0, 2, stamped([2, 0, 0], 'b'));
    group.forge(0, 2, stamped([1, 0, 0], 'a'));
    assert_eq!(group.delivered[2], "ab");
}
