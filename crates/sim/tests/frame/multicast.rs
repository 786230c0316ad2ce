//! A multicast is one effect: a network carries it once, or once for each receiver.

use super::toys::Hand;
use super::toys::{P0, Postman, act, begun, idle};
use synod_core::card::{Load, Rounds};
use synod_protocols::mutex::RicartAgrawala;
use synod_sim::{Action, Options, Plan, Report, Simulator};

fn run(n: usize, multicast: bool) -> Report {
    let mut options = Options::new(Plan::new(n, Rounds::Times(3)), 1);
    options.plan.multicast = multicast;
    options.load = Load::Sequential;
    let run = Simulator::of::<RicartAgrawala>(options, None).expect("the size fits");
    run.run(|_, _| {}).expect("nothing is written")
}

/// A request to all others, and N - 1 replies.
#[test]
fn ricart_and_agrawala_take_2_n_minus_1_messages_or_n_where_the_network_can_multicast() {
    for n in [2, 3, 5, 8, 17, 40] {
        let size = n as u64;
        for (multicast, per_entry) in [(false, 2 * (size - 1)), (true, size)] {
            let meter = run(n, multicast).meter;
            assert_eq!(meter.operations, 3 * size);
            let each = (meter.operation_messages.min, meter.operation_messages.max);
            assert_eq!(each, (per_entry, per_entry), "n = {n}, multicast: {multicast}");
            assert_eq!(meter.by_kind()["Reply"], meter.operations * (size - 1));
        }
    }
}

#[test]
fn a_multicast_may_be_lost_on_the_way_to_a_single_receiver() {
    for multicast in [false, true] {
        let mut world = begun::<Postman>(&Plan { multicast, ..idle(4) });
        world.step(&act(P0), &mut Hand);
        let slots: Vec<_> =
            world.flight().iter().map(|(slot, envelope)| (slot, envelope.to)).collect();
        assert_eq!(slots.len(), 3);
        world.step(&Action::Drop(slots[1].0), &mut Hand);
        let left: Vec<_> = world.flight().iter().map(|(_, envelope)| envelope.to).collect();
        assert_eq!(left, [slots[0].1, slots[2].1]);
    }
}
