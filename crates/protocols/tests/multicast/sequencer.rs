//! Total order by a fixed sequencer.

use crate::by_hand::{Group, Letter, Post};
use synod_core::ProcessId;
use synod_protocols::multicast::Uplink;
use synod_protocols::multicast::in_order::WINDOW;
use synod_protocols::multicast::sequencer::{Message, Sequencer, Turn};

type OverPost = Sequencer<char, Post<Turn<char>>>;

/// p1 is the sequencer.
fn group(n: usize, uplink: Uplink) -> Group<OverPost> {
    Group::of(n, |_| Sequencer::new(ProcessId(1), uplink, Post::new()))
}

fn ordered(number: u64, sender: u32) -> Message<char, Letter<Turn<char>>> {
    Message::Carried(Letter(Turn::Ordered { number, sender: ProcessId(sender), payload: 'x' }))
}

#[test]
fn a_message_costs_one_to_the_sequencer_and_one_to_each_but_the_sequencer() {
    for n in 2..=5 {
        let mut group = group(n, Uplink::Direct);
        group.multicast(0, 'a');
        group.deliver_all();
        assert_eq!((group.sent, &group.delivered), (n, &vec!["a".to_owned(); n]));
        group.multicast(1, 'b');
        assert_eq!(group.sent, n + n - 1, "the sequencer's own saves the first");
        group.deliver_all();
        assert_eq!(group.delivered, vec!["ab".to_owned(); n]);
    }
}

#[test]
fn the_order_is_that_of_the_sequencer_and_not_that_of_sending() {
    let mut group = group(4, Uplink::Direct);
    group.multicast(0, 'a');
    group.multicast(2, 'b');
    group.multicast(3, 'c');
    group.deliver(3, 1);
    group.deliver(0, 1);
    group.deliver_all_backwards();
    assert_eq!(group.delivered, ["cab"; 4]);
}

#[test]
fn messages_that_overtake_each_other_on_the_way_to_the_sequencer_are_delivered_so() {
    let mut group = group(3, Uplink::Direct);
    group.multicast(0, 'a');
    group.multicast(0, 'b');
    group.deliver_nth(0, 1, 1);
    group.deliver_all();
    assert_eq!(group.delivered, ["ba"; 3]);
}

#[test]
fn where_links_lose_messages_what_goes_to_the_sequencer_is_multicast_too() {
    let mut group = group(3, Uplink::Multicast);
    group.multicast(0, 'a');
    group.deliver_all();
    assert_eq!(group.delivered, ["a"; 3]);
    assert_eq!(group.sent, 2 * 2);
}

#[test]
fn only_the_sequencer_gives_out_numbers_and_only_such_that_can_be() {
    let mut group = group(3, Uplink::Direct);
    let usurper = ["gave out a number, and is not the sequencer"];
    assert_eq!(group.forge(0, 2, ordered(1, 0)), usurper);
    let cannot_be = ["ordered a message that cannot be"];
    assert_eq!(group.forge(1, 2, ordered(0, 0)), cannot_be);
    assert_eq!(group.forge(1, 2, ordered(1, 9)), cannot_be);
    let far = ["sent a number far beyond its turn"];
    assert_eq!(group.forge(1, 2, ordered(WINDOW + 1, 0)), far);
    let misled = ["submitted to somebody who is not the sequencer"];
    assert_eq!(group.forge(0, 2, Message::Submit('x')), misled);
    let stranger = ["multicast to a group that it is not in"];
    assert_eq!(group.forge(9, 1, Message::Submit('x')), stranger);
    assert_eq!(group.delivered, [""; 3]);
}
