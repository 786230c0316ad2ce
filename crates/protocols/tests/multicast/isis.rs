//! Total order by agreement on a place.

use crate::by_hand::{Group, Letter, Post};
use synod_core::{ProcessId, Timestamp};
use synod_protocols::multicast::Uplink;
use synod_protocols::multicast::in_order::WINDOW;
use synod_protocols::multicast::isis::{Isis, Message, Round};

type OverPost<const TIE_BREAK: bool> = Isis<char, Post<Round<char>>, TIE_BREAK>;

fn group<const TIE_BREAK: bool>(n: usize) -> Group<OverPost<TIE_BREAK>> {
    Group::of(n, |_| Isis::new(n, Uplink::Direct, Post::new()))
}

fn place(number: u64, proposer: u32) -> Timestamp {
    Timestamp::new(number, ProcessId(proposer))
}

fn ask(message: u64, payload: char) -> Message<Letter<Round<char>>> {
    Message::Carried(Letter(Round::Ask { message, payload }))
}

fn agreed(message: u64, place: Timestamp) -> Message<Letter<Round<char>>> {
    Message::Carried(Letter(Round::Agreed { message, place }))
}

/// X4.7: p0 multicasts m and p1 multicasts n; each receives its own first.
fn two_messages_cross<const TIE_BREAK: bool>() -> Group<OverPost<TIE_BREAK>> {
    let mut group = group(2);
    group.multicast(0, 'm');
    group.multicast(1, 'n');
    group.deliver(0, 1); // p1 proposes 2 for m,
    group.deliver(1, 0); // and p0 proposes 2 for n.
    group
}

/// V4.7 of the course, with p0, p1 for q1, q2.
#[test]
fn equal_numbers_are_ordered_by_their_proposers() {
    let mut group = two_messages_cross::<true>();
    group.deliver_nth(1, 0, 0);
    let m = group.in_flight.last().expect("m is agreed").2.clone();
    assert_eq!(m, agreed(1, place(2, 1)));
    group.deliver_nth(0, 1, 0);
    let n = group.in_flight.last().expect("n is agreed").2.clone();
    assert_eq!(n, agreed(1, place(2, 0)));
    group.deliver_all();
    assert_eq!(group.delivered, ["nm", "nm"]);
}

#[test]
fn without_the_tie_break_two_processes_deliver_in_different_orders() {
    let mut group = two_messages_cross::<false>();
    group.deliver_all();
    assert_eq!(group.delivered, ["mn", "nm"]);
}

#[test]
fn a_message_costs_three_messages_for_each_other_member_and_takes_three_hops() {
    for n in 1..=5 {
        let mut group = group::<true>(n);
        group.multicast(0, 'm');
        for hop in 1..=3 {
            let delivered = group.delivered.iter().filter(|delivered| !delivered.is_empty());
            assert_eq!(delivered.count(), if n == 1 || hop == 3 { 1 } else { 0 }, "hop {hop}");
            for _ in 0..group.in_flight.len() {
                let (from, to, _) = group.in_flight[0];
                group.deliver(from, to);
            }
        }
        assert_eq!((group.sent, group.delivered), (3 * (n - 1), vec!["m".to_owned(); n]));
    }
}

#[test]
fn a_sender_that_crashes_before_it_agreed_blocks_what_follows() {
    let mut group = group::<true>(3);
    group.multicast(0, 'm');
    group.deliver(0, 1);
    group.in_flight.retain(|(from, to, _)| *from != 0 && *to != 0); // p0 is gone,
    group.multicast(1, 'n');
    group.in_flight.retain(|(_, to, _)| *to != 0);
    group.deliver_all();
    assert_eq!(group.delivered, ["", "", ""], "nobody gets the proposal of p0");
}

#[test]
fn a_message_that_overtakes_another_of_its_sender_may_get_the_smaller_number() {
    let mut group = group::<true>(2);
    group.multicast(0, 'a');
    group.multicast(0, 'b');
    group.deliver_nth(0, 1, 1); // p1 proposes 1 for b and 2 for a; p0 itself did the opposite.
    group.deliver_all();
    assert_eq!(group.delivered, ["ba", "ba"]);
}

#[test]
fn what_cannot_be_proposed_or_agreed_is_reported() {
    let mut group = group::<true>(3);
    let unknown = "agreed on a message that does not wait for it";
    assert_eq!(group.forge(0, 2, agreed(1, place(1, 0))), [unknown]);
    assert_eq!(group.forge(9, 2, agreed(1, place(1, 0))), [unknown]);
    assert_eq!(group.forge(9, 2, ask(1, 'x')), ["multicast to a group that it is not in"]);
    group.forge(1, 2, ask(1, 'n'));
    group.forge(0, 2, ask(1, 'm'));
    assert_eq!(group.forge(0, 2, ask(1, 'm')), ["asked twice about one message"]);
    let spite = "agreed on a place in spite of our proposal";
    assert_eq!(group.forge(0, 2, agreed(1, place(1, 2))), [spite], "it was 2");
    assert_eq!(group.forge(0, 2, agreed(1, place(2, 1))), [spite], "it is smaller");
    assert_eq!(group.forge(0, 2, agreed(1, place(3, 2))), [spite], "we did not say 3");
    let nobody = "agreed on a place that nobody can have proposed";
    assert_eq!(group.forge(0, 2, agreed(1, place(3, 9))), [nobody]);
    assert_eq!(group.forge(0, 2, agreed(1, place(u64::MAX, 1))), [nobody]);
    assert!(group.forge(0, 2, agreed(1, place(3, 1))).is_empty());
    assert_eq!(group.forge(0, 2, agreed(1, place(3, 1))), ["agreed twice on one message"]);
    assert_eq!(group.forge(1, 2, agreed(1, place(3, 1))), ["agreed on a place that is taken"]);
    assert_eq!(group.delivered[2], "");
    assert!(group.forge(1, 2, agreed(1, place(4, 0))).is_empty());
    assert_eq!(group.delivered[2], "mn");
}

#[test]
fn a_proposal_that_nobody_waits_for_is_reported() {
    let mut group = group::<true>(3);
    let propose = |message, number| Message::Propose { message, number };
    let unknown = "proposed for a message that does not wait for it";
    assert_eq!(group.forge(1, 0, propose(1, 1)), [unknown]);
    group.multicast(0, 'm');
    assert_eq!(group.forge(1, 0, propose(1, 0)), ["proposed a number that cannot be"]);
    assert_eq!(group.forge(1, 0, propose(1, u64::MAX)), ["proposed a number that cannot be"]);
    assert!(group.forge(1, 0, propose(1, 1)).is_empty());
    assert_eq!(group.forge(1, 0, propose(1, 1)), ["proposed twice for one message"]);
    assert_eq!(group.forge(9, 0, propose(1, 1)), ["proposed twice for one message"]);
    assert!(group.forge(2, 0, propose(1, 1)).is_empty());
    assert_eq!(group.delivered[0], "m");
}

#[test]
fn who_asks_and_never_agrees_fills_the_queue_only_so_far() {
    let mut group = group::<true>(2);
    for message in 1..=WINDOW {
        group.forge(0, 1, ask(message, 'x'));
        group.in_flight.clear();
    }
    assert_eq!(group.forge(0, 1, ask(WINDOW + 1, 'x')), ["sends far more than it agrees on"]);
}

#[test]
fn where_links_lose_messages_proposals_are_multicast_too() {
    let mut group: Group<OverPost<true>> =
        Group::of(3, |_| Isis::new(3, Uplink::Multicast, Post::new()));
    group.multicast(0, 'm');
    group.multicast(1, 'n');
    group.deliver_all();
    assert_eq!(group.delivered, ["mn"; 3]);
    assert_eq!(group.sent, 2 * (1 + 2 + 1) * 2);
}
