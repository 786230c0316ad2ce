//! FIFO order: the messages of one sender in the order of sending.

use crate::by_hand::{Group, Letter, Post};
use synod_core::{Data, ProcessId};
use synod_protocols::multicast::fifo::{Fifo, Numbered};
use synod_protocols::multicast::in_order::WINDOW;
use synod_protocols::multicast::isis::{Isis, Round};
use synod_protocols::multicast::sequencer::{Sequencer, Turn};
use synod_protocols::multicast::{Layer, Uplink};

type OverPost = Fifo<char, Post<Numbered<char>>>;

fn group(n: usize) -> Group<OverPost> {
    Group::of(n, |_| Fifo::new(n, Post::new()))
}

#[test]
fn the_first_message_has_number_1_and_is_delivered() {
    let mut group = group(2);
    group.multicast(0, 'a');
    assert_eq!(group.in_flight[0].2, Letter(Numbered { number: 1, payload: 'a' }));
    group.deliver_all();
    assert_eq!(group.delivered, ["a", "a"]);
}

#[test]
fn a_message_ahead_of_its_turn_waits_for_those_before_it() {
    let mut group = group(2);
    "abc".chars().for_each(|name| group.multicast(0, name));
    group.deliver_nth(0, 1, 2);
    group.deliver_nth(0, 1, 1);
    assert_eq!(group.delivered[1], "");
    group.deliver(0, 1);
    assert_eq!(group.delivered, ["abc", "abc"]);
}

#[test]
fn the_messages_of_another_sender_wait_for_nobody() {
    let mut group = group(3);
    group.multicast(0, 'a');
    group.multicast(0, 'b');
    group.multicast(2, 'x');
    group.deliver_nth(0, 1, 1);
    group.deliver(2, 1);
    group.deliver(0, 1);
    assert_eq!(group.delivered[1], "xab");
}

#[test]
fn a_duplicate_is_discarded_without_blame() {
    let mut group = group(2);
    let letter = |number, payload| Letter(Numbered { number, payload });
    assert!(group.forge(0, 1, letter(1, 'a')).is_empty());
    assert!(group.forge(0, 1, letter(1, 'a')).is_empty());
    assert!(group.forge(0, 1, letter(2, 'b')).is_empty());
    assert_eq!(group.delivered[1], "ab");
}

#[test]
fn a_number_that_cannot_be_is_reported() {
    let mut group = group(2);
    let letter = |number| Letter(Numbered { number, payload: 'x' });
    assert_eq!(group.forge(0, 1, letter(0)), ["numbered a message 0"]);
    for number in [WINDOW + 1, u64::MAX] {
        assert_eq!(group.forge(0, 1, letter(number)), ["sent a number far beyond its turn"]);
    }
    let stranger = group.forge(7, 1, letter(1));
    assert_eq!(stranger, ["multicast to a group that it is not in"]);
    assert_eq!(group.delivered[1], "");
}

/// p0 multicasts a and then b, which arrives first at p1.
fn b_overtakes_a<L: Layer<char>>(process: impl Fn() -> L) -> Vec<String> {
    let mut group = Group::of(2, |_| process());
    group.multicast(0, 'a');
    group.multicast(0, 'b');
    group.deliver_nth(0, 1, 1);
    group.deliver_all();
    group.delivered
}

#[test]
fn over_a_layer_with_total_order_the_result_is_in_fifo_and_total_order() {
    fn sequencer<D: Data>() -> Sequencer<D, Post<Turn<D>>> {
        Sequencer::new(ProcessId(1), Uplink::Direct, Post::new())
    }
    fn isis<D: Data>() -> Isis<D, Post<Round<D>>> {
        Isis::new(2, Uplink::Direct, Post::new())
    }
    assert_eq!(b_overtakes_a(sequencer), ["ba", "ba"]);
    assert_eq!(b_overtakes_a(|| Fifo::new(2, sequencer())), ["ab", "ab"]);
    assert_eq!(b_overtakes_a(isis), ["ba", "ba"]);
    assert_eq!(b_overtakes_a(|| Fifo::new(2, isis())), ["ab", "ab"]);
}
