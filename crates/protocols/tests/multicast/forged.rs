//! Messages that no honest member sends: they are reported, and nothing else happens.

use synod_core::family::multicast::{GroupId, Payload};
use synod_core::{Algorithm, Effect, ProcessId, Setup, step};
use synod_protocols::multicast::basic;
use synod_protocols::multicast::groups::In;
use synod_protocols::multicast::received::AHEAD_AT_MOST;
use synod_protocols::multicast::reliable::Stamped;
use synod_protocols::multicast::{BasicMulticast, ReliableMulticast};

/// What p0 says about p1 that sent it this, in groups p0 p1 and p1 p2.
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
