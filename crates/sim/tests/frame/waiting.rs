//! A world that waited is the world that it was.

use super::toys::{Hand, P0, P1, act, cut, idle, send, toy};
use serde::{Deserialize, Serialize};
use synod_core::algorithm::Replay;
use synod_core::card::{Order, Timing};
use synod_core::family::logical_time::{Input, Output};
use synod_core::{Cx, Durable, ProcessId, Protocol, Wire, durable};
use synod_sim::world::{LinkChange, Plan, Translation, Waiting, World};
use synod_sim::{Action, Judged};

/// Sends, writes and sets a timer whenever it is asked, and answers every second message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Clerk {
    done: u8,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Paper {
    Form(u8),
}

impl Wire for Paper {}

impl Protocol for Clerk {
    type Input = Input;
    type Output = Output;
    type Message = Paper;
    type Timer = u8;

    fn on_input(&mut self, input: Input, cx: &mut Cx<'_, Self>) {
        self.done += 1;
        match input {
            Input::Act => cx.multicast(Paper::Form(self.done)),
            Input::Send(to) => {
                cx.persist(&self.done);
                cx.send(to, Paper::Form(self.done));
            }
        }
        cx.set_timer(self.done, 2);
    }

    fn on_message(&mut self, from: ProcessId, Paper::Form(number): Paper, cx: &mut Cx<'_, Self>) {
        self.done += 1;
        if number % 2 == 0 {
            cx.send(from, Paper::Form(self.done));
        }
    }

    fn on_timer(&mut self, number: u8, cx: &mut Cx<'_, Self>) {
        self.done += 1;
        cx.cancel_timer(number + 1);
    }
}

impl Durable for Clerk {
    type Record = u8;

    fn replay(&mut self, done: u8) {
        self.done = done;
    }
}

toy!(Clerk, "clerk", const REPLAY: Option<Replay<Self>> = Some(durable::replay););

/// The first worlds, breadth first, that can be reached from the start by all that may happen.
fn worlds(plan: &Plan) -> Vec<World<Clerk>> {
    let mut start = World::new(plan).expect("the plan fits");
    start.start(&mut Hand);
    start.keep_fingerprint();
    let mut worlds = vec![start];
    for expanded in 0.. {
        if worlds.len() > 1_000 {
            break;
        }
        let world = worlds[expanded].clone();
        let mut actions = vec![act(P0), send(P1, P0), cut(P0, P1), Action::Links(LinkChange::Heal)];
        actions.extend([
            Action::Crash(P1),
            Action::Restart { at: P1, disk: true },
            Action::Pause(P0),
        ]);
        world.enabled(&mut actions);
        let slots = world.flight().iter().map(|(slot, _)| slot);
        actions.extend(slots.flat_map(|slot| [Action::Drop(slot), Action::Duplicate(slot)]));
        for action in actions.iter().filter(|action| world.can(action).is_ok()) {
            let mut next = world.clone();
            next.step(action, &mut Hand);
            worlds.push(next);
        }
    }
    worlds
}

/// The whole world as text, between two steps.
fn shown(world: &World<Clerk>) -> String {
    format!("{:?}", world.clone())
}

fn all_come_back(plan: &Plan) {
    let worlds = worlds(plan);
    let mut waiting = Waiting::default();
    worlds.iter().for_each(|world| waiting.push(world));
    assert_eq!(waiting.len(), worlds.len());
    // In an order in which neighbours have little in common; all are written over the same world.
    let mut back = worlds[0].clone();
    for step in 0..worlds.len() {
        let number = step * 389 % worlds.len();
        waiting.restore(number, &mut back);
        assert_eq!(shown(&back), shown(&worlds[number]));
    }
}

#[test]
fn every_world_comes_back_as_it_was_whatever_the_network_and_the_clock_are_like() {
    let plan = Plan { judged: Judged::All, ..idle(3) };
    for order in [Order::Any, Order::Fifo, Order::Causal] {
        all_come_back(&Plan { order, ..plan.clone() });
        all_come_back(&Plan { order, lean: true, ..plan.clone() });
    }
    all_come_back(&Plan { timing: Timing::Synchronous { delay_ms: 2 }, ..plan });
}

#[test]
fn a_world_that_waited_elsewhere_comes_back_as_it_was() {
    for order in [Order::Any, Order::Causal] {
        let worlds = worlds(&Plan { order, lean: true, ..idle(3) });
        let mut elsewhere = Waiting::default();
        worlds.iter().for_each(|world| elsewhere.push(world));
        let (mut here, mut translation) = (Waiting::default(), Translation::default());
        here.push(&worlds[7]);
        let odd = || (1..worlds.len()).step_by(2);
        odd().for_each(|number| here.push_from(&elsewhere, number, &mut translation));
        let mut back = worlds[0].clone();
        for (place, number) in odd().enumerate() {
            here.restore(place + 1, &mut back);
            assert_eq!(shown(&back), shown(&worlds[number]));
        }
    }
}

#[test]
fn worlds_that_have_their_parts_in_common_take_up_little() {
    let worlds = worlds(&idle(3));
    let mut waiting = Waiting::default();
    worlds.iter().for_each(|world| waiting.push(world));
    let bytes = waiting.bytes() / waiting.len();
    let otherwise = worlds.iter().map(World::estimated_bytes).sum::<usize>() / worlds.len();
    assert!(2 * bytes < otherwise, "{bytes} bytes each, instead of {otherwise}");
}
