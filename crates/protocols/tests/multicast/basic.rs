//! Basic multicast, and the cost of acknowledgements.

use std::collections::BTreeMap;
use synod_core::card::Rounds;
use synod_core::{Effect, ProcessId, Protocol};
use synod_core::{Setup, step};
use synod_protocols::multicast::basic::{Message, UNCONFIRMED_AT_MOST};
use synod_protocols::multicast::{Basic, BasicMulticast, Deliver, Multicast};
use synod_sim::network::Delay;
use synod_sim::trace::{Tracer, What, Window};
use synod_sim::{Options, Plan, Simulator};

type Effects = Vec<Effect<Message<char>, synod_core::Never, Deliver<char>>>;

fn acknowledged() -> Basic<char> {
    Basic::from_setup(&Setup::new(3).with("acks", "yes")).expect("it is right")
}

fn takes(process: &mut Basic<char>, from: u32, message: Message<char>) -> Effects {
    step(ProcessId(0), 3, |cx| process.on_message(ProcessId(from), message, cx))
}

#[test]
fn the_copy_to_oneself_is_delivered_when_all_others_have_left() {
    let mut process = Basic::new();
    let effects: Effects = step(ProcessId(0), 3, |cx| process.on_input(Multicast('a'), cx));
    assert!(matches!(effects[0], Effect::Multicast { message: Message::Data('a'), .. }));
    let delivered = Deliver { sender: ProcessId(0), payload: 'a' };
    assert_eq!(effects[1..], [Effect::Output(delivered)]);
}

#[test]
fn the_sender_knows_when_all_have_its_message() {
    let mut process = acknowledged();
    let _: Effects = step(ProcessId(0), 3, |cx| process.on_input(Multicast('a'), cx));
    assert_eq!(process.unconfirmed(), 1);
    for from in [1, 1] {
        assert_eq!(takes(&mut process, from, Message::Ack(1)), []);
        assert_eq!(process.unconfirmed(), 1, "p2 has not answered");
    }
    takes(&mut process, 2, Message::Ack(1));
    assert_eq!(process.unconfirmed(), 0);
}

#[test]
fn what_nobody_ever_acknowledges_is_given_up_in_the_end() {
    let mut process = acknowledged();
    for _ in 0..UNCONFIRMED_AT_MOST + 10 {
        let _: Effects = step(ProcessId(0), 3, |cx| process.on_input(Multicast('a'), cx));
    }
    assert_eq!(process.unconfirmed(), UNCONFIRMED_AT_MOST);
    assert_eq!(takes(&mut process, 1, Message::Ack(1)), [], "it is late, and no lie");
}

/// The largest number of acknowledgements that are on their way to p0 at the same moment.
fn peak_of_acks(n: usize) -> usize {
    let mut plan = Plan::new(n, Rounds::Times(1));
    plan.setup = Setup::new(n).with("acks", "yes").with("senders", "p0");
    let mut options = Options::new(plan, 1);
    options.network.latency = Delay::Constant(1_000);
    let mut events = Window::new(0, usize::MAX);
    let tracer = Tracer::new(n, vec![&mut events]);
    let simulator = Simulator::of::<BasicMulticast>(options, Some(tracer)).expect("it fits");
    let report = simulator.run(|_, _| ()).expect("nothing is written");
    assert_eq!(
        report.meter.by_kind(),
        BTreeMap::from([("Data", n as u64 - 1), ("Ack", n as u64 - 1)])
    );
    let (mut on_their_way, mut peak) = (0usize, 0);
    for event in events.events.iter().filter(|event| event.kind == "Ack") {
        match event.what {
            What::Send => on_their_way += 1,
            What::Receive => on_their_way -= 1,
            _ => {}
        }
        peak = peak.max(on_their_way);
    }
    peak
}

#[test]
fn the_acknowledgements_of_a_large_group_come_back_all_at_once() {
    for n in [2, 5, 10, 50, 200] {
        assert_eq!(peak_of_acks(n), n - 1);
    }
}
