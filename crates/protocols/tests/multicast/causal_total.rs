//! Causal and total order: the sequencer orders the deliveries of the causal layer.

use crate::by_hand::{Group, Letter, Post};
use synod_core::ProcessId;
use synod_protocols::multicast::causal::Stamped;
use synod_protocols::multicast::causal_total::{CausalTotal, Turn};
use synod_protocols::multicast::in_order::WINDOW;

type OverPost = CausalTotal<char, Post<Stamped<Turn<char>>>>;

/// p1 is the sequencer.
fn group(n: usize) -> Group<OverPost> {
    Group::of(n, |_| CausalTotal::new(n, ProcessId(1), Post::new()))
}

fn letter<const N: usize>(vector: [u64; N], payload: Turn<char>) -> Letter<Stamped<Turn<char>>> {
    Letter(Stamped { vector: vector.to_vec(), payload })
}

#[test]
fn a_message_costs_itself_and_its_order_to_each_other_member() {
    for n in 2..=5 {
        let mut group = group(n);
        group.multicast(0, 'a');
        group.deliver_all();
        assert_eq!((group.sent, &group.delivered), (2 * (n - 1), &vec!["a".to_owned(); n]));
        group.multicast(1, 'b');
        assert_eq!(group.sent, 3 * (n - 1), "the sequencer's own needs no order");
        group.deliver_all();
        assert_eq!(group.delivered, vec!["ab".to_owned(); n]);
    }
}

#[test]
fn whatever_overtakes_what_the_messages_of_a_sender_stay_in_order_and_all_agree() {
    let mut group = group(3);
    for (sender, name) in [(0, 'a'), (2, 'x'), (0, 'b'), (1, 's'), (2, 'y'), (0, 'c')] {
        group.multicast(sender, name);
    }
    group.deliver_all_backwards();
    let order = group.delivered[0].clone();
    assert_eq!(group.delivered, [order.clone(), order.clone(), order.clone()]);
    assert_eq!(order.len(), 6);
    for earlier_and_later in ["ab", "bc", "xy"] {
        let places: Vec<_> = earlier_and_later.chars().map(|name| order.find(name)).collect();
        assert!(places[0] < places[1], "{order}");
    }
}

#[test]
fn only_the_sequencer_orders_and_only_what_there_is() {
    let mut group = group(3);
    let from_p0 = letter([1, 0, 0], Turn::Next(ProcessId(0)));
    assert_eq!(group.forge(0, 2, from_p0), ["ordered a message, and is not the sequencer"]);
    for (number, nobody) in [(1, 0), (2, 2), (3, 9), (4, u32::MAX)] {
        let order = letter([0, number, 0], Turn::Next(ProcessId(nobody)));
        assert_eq!(group.forge(1, 2, order), ["ordered a message that there is not"]);
    }
    assert_eq!(group.delivered, [""; 3]);
}

#[test]
fn who_sends_while_nothing_is_ordered_fills_the_queue_only_so_far() {
    let mut group = group(3);
    for number in 1..=WINDOW {
        group.forge(0, 2, letter([number, 0, 0], Turn::Data('x')));
    }
    let beyond = letter([WINDOW + 1, 0, 0], Turn::Data('x'));
    assert_eq!(group.forge(0, 2, beyond), ["sends far more than is ordered"]);
}
