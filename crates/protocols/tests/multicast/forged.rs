//! Messages that no honest member sends: the receiver reports them, and does nothing else.

use synod_core::family::multicast::{GroupId, Payload};
use synod_core::{Algorithm, Effect, ProcessId, Setup, step};
use synod_protocols::multicast::basic;
use synod_protocols::multicast::groups::In;
use synod_protocols::multicast::ip_reliable::{self, Numbers};
use synod_protocols::multicast::received::AHEAD_AT_MOST;
use synod_protocols::multicast::reliable::Stamped;
use synod_protocols::multicast::{BasicMulticast, IpMulticast, ReliableMulticast};

/// The accusations of p0 against p1 that sent it this, in groups p0 p1 and p1 p2.
fn reaction<A: Algorithm>(message: A::Message) -> Vec<&'static str> {
    let setup = Setup::new(3).with("groups", "p0 p1; p1 p2");
    let mut process = A::processes(&setup).expect("the groups are right").swap_remove(0);
    let effects = step::<A>(ProcessId(0), 3, |cx| process.on_message(ProcessId(1), message, cx));
    let why = |effect: &_| match effect {
        Effect::Accuse { who: ProcessId(1), why } => *why,
        effect => panic!("{effect:?}"),
    };
    effects.iter().map(why).collect()
}

fn in_group<M>(group: u32, it: M) -> In<M> {
    In { group: GroupId(group), it }
}

#[test]
fn a_message_in_a_group_that_we_are_not_in_is_refused() {
    for group in [1, 2, u32::MAX] {
        let message = in_group(group, basic::Message::Data(Payload::numbered(1)));
        let why = reaction::<BasicMulticast>(message);
        assert_eq!(why, ["spoke in a group that we do not share"]);
    }
}

#[test]
fn an_acknowledgement_of_nothing_is_refused() {
    let why = reaction::<BasicMulticast>(in_group(0, basic::Message::Ack(1)));
    assert_eq!(why, ["acknowledged what was never sent"]);
}

#[test]
fn a_message_with_a_false_origin_is_refused() {
    let stamped = |sender, number| {
        let payload = Payload::numbered(1);
        let stamped = Stamped { sender: ProcessId(sender), number, payload };
        reaction::<ReliableMulticast>(in_group(0, basic::Message::Data(stamped)))
    };
    for outside in [2, 3, u32::MAX] {
        assert_eq!(stamped(outside, 1), ["passed on a message from outside the group"]);
    }
    assert_eq!(stamped(0, 1), ["passed on a message that we never sent"]);
    assert_eq!(stamped(1, 0), ["numbered a message 0"]);
    assert_eq!(stamped(1, AHEAD_AT_MOST + 1), ["sent a message that is too far ahead"]);
}

#[test]
fn acknowledgements_of_what_nobody_can_have_are_refused() {
    let received = |numbers: &[u32]| {
        let received = Numbers(numbers.to_vec());
        let payload = Payload::numbered(1);
        let messages = [
            ip_reliable::Message::Heartbeat(received.clone()),
            ip_reliable::Message::Ack(received.clone()),
            ip_reliable::Message::Data { number: 1, received, payload },
        ];
        messages.map(|message| reaction::<IpMulticast>(in_group(0, message)))
    };
    for numbers in [&[][..], &[0, 0], &[0, 0, 0, 0]] {
        assert_eq!(received(numbers), [["acknowledged the messages of another world"]; 3]);
    }
    for numbers in [[1, 0, 0], [0, 257, 0], [0, u32::MAX, 0]] {
        assert_eq!(received(&numbers), [["acknowledged what nobody can have sent"]; 3]);
    }
}

#[test]
fn what_cannot_be_missing_is_neither_taken_nor_given() {
    let again = |sender, number| {
        let (sender, payload) = (ProcessId(sender), Payload::numbered(1));
        let message = ip_reliable::Message::Again { sender, number, payload };
        reaction::<IpMulticast>(in_group(0, message))
    };
    for sender in [0, 2, u32::MAX] {
        assert_eq!(again(sender, 1), ["sent a message again that cannot be missing"]);
    }
    assert_eq!(again(1, 257), ["sent a message that is ahead of every window"]);
    let nack = |sender, count| {
        let message =
            ip_reliable::Message::Nack { sender: ProcessId(sender), numbers: vec![1; count] };
        reaction::<IpMulticast>(in_group(0, message))
    };
    assert_eq!(nack(2, 1), ["asked for messages that cannot be missing"]);
    assert_eq!(nack(0, 65), ["asked for messages that cannot be missing"]);
    assert_eq!(nack(0, 64), [""; 0], "there is nothing to be sent again");
}
