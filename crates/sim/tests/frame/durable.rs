//! Stable storage: effects after a record wait for the disk, and a restart finds the records on it.

use super::toys::{Hand, P0, P1, Scroll, act, begun, idle, in_flight, number, send, steady, toy};
use super::toys::{list, play};
use serde::{Deserialize, Serialize};
use synod_core::algorithm::Replay;
use synod_core::family::logical_time::{Input, Output};
use synod_core::{Cx, Durable, Never, ProcessId, Protocol, Wire, durable};
use synod_sim::network::Delay;
use synod_sim::trace::What;
use synod_sim::{Action, World};

/// On `Send`: says 1, writes 1, says 2, tells 2, writes 2 and 3, says 3. On `Act`: writes 9; the
/// next time, a checkpoint of 0 instead of the whole log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Scribe {
    log: Vec<u8>,
    /// Its log at the start.
    woke_with: Option<Vec<u8>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Words {
    Say(u8),
}

impl Wire for Words {}

impl Scribe {
    fn write(&mut self, record: u8, cx: &mut Cx<'_, Self>) {
        self.log.push(record);
        cx.persist(&record);
    }

    fn sum_up(&mut self, cx: &mut Cx<'_, Self>) {
        if self.log.last() != Some(&9) {
            return self.write(9, cx);
        }
        self.log = vec![0];
        cx.checkpoint(&0);
    }
}

impl Protocol for Scribe {
    type Input = Input;
    type Output = Output;
    type Message = Words;
    type Timer = Never;

    fn on_start(&mut self, _: &mut Cx<'_, Self>) {
        self.woke_with = Some(self.log.clone());
    }

    fn on_input(&mut self, input: Input, cx: &mut Cx<'_, Self>) {
        let Input::Send(to) = input else { return self.sum_up(cx) };
        cx.send(to, Words::Say(1));
        self.write(1, cx);
        cx.send(to, Words::Say(2));
        cx.output(number(2, cx.me()));
        self.write(2, cx);
        self.write(3, cx);
        cx.send(to, Words::Say(3));
    }

    fn on_message(&mut self, _: ProcessId, _: Words, _: &mut Cx<'_, Self>) {}
}

impl Durable for Scribe {
    type Record = u8;

    fn replay(&mut self, record: u8) {
        if record == 0 {
            self.log.clear();
        }
        self.log.push(record);
    }
}

toy!(Scribe, "scribe", const REPLAY: Option<Replay<Self>> = Some(durable::replay););

fn said(world: &World<Scribe>) -> Vec<u8> {
    in_flight(world).into_iter().map(|Words::Say(word)| *word).collect()
}

fn take(world: &mut World<Scribe>, actions: &[Action<Input>]) {
    for action in actions {
        world.can(action).unwrap_or_else(|why| panic!("{action:?}: {why}"));
        world.step(action, &mut Hand);
    }
}

fn restart(disk: bool) -> Action<Input> {
    Action::Restart { at: P0, disk }
}

#[test]
fn what_precedes_a_record_leaves_at_once_and_what_follows_it_waits_for_the_disk() {
    let mut world = begun::<Scribe>(&idle(2));
    take(&mut world, &[send(P0, P1)]);
    assert_eq!(said(&world), [1]);
    assert!(world.process(P0).is_writing() && world.process(P0).records().is_empty());
    take(&mut world, &[Action::Sync(P0)]);
    assert_eq!(said(&world), [1, 2]);
    assert_eq!(world.process(P0).records().len(), 1);
    take(&mut world, &[Action::Sync(P0)]);
    assert_eq!(said(&world), [1, 2, 3]);
    assert_eq!(world.process(P0).records().len(), 3);
    assert!(world.can(&Action::Sync(P0)).is_err(), "there is nothing left to write");
}

#[test]
fn a_checkpoint_takes_the_place_of_all_records_once_it_is_on_the_disk() {
    let local = || Action::Input { at: P0, input: Input::Act };
    for (reaches_the_disk, found) in [(false, vec![1, 2, 3, 9]), (true, vec![0])] {
        let mut world = begun::<Scribe>(&idle(2));
        take(&mut world, &[send(P0, P1), local()]);
        take(&mut world, &[Action::Sync(P0), Action::Sync(P0), Action::Sync(P0), local()]);
        if reaches_the_disk {
            take(&mut world, &[Action::Sync(P0)]);
        }
        take(&mut world, &[Action::Crash(P0), restart(true)]);
        assert_eq!(world.process(P0).state().woke_with, Some(found));
    }
}

#[test]
fn records_messages_and_outputs_keep_their_order() {
    let mut world = begun::<Scribe>(&idle(2));
    let mut scroll = Scroll::default();
    for action in [send(P0, P1), Action::Sync(P0), Action::Sync(P0)] {
        world.step(&action, &mut scroll);
    }
    let wanted = [
        "0 sends Message(Say(1))",
        "writes 1",
        "0 sends Message(Say(2))",
        "tells Stamped(2@p0)",
        "writes 2",
        "0 sends Message(Say(3))",
    ];
    assert_eq!(scroll.0, wanted);
}

/// A later step, too, waits for the records of an earlier one.
#[test]
fn what_a_later_step_says_waits_for_the_records_of_an_earlier_one() {
    let mut world = begun::<Scribe>(&idle(2));
    take(&mut world, &[act(P0), send(P0, P1)]);
    assert_eq!(said(&world), [] as [u8; 0]);
    take(&mut world, &[Action::Sync(P0)]);
    assert_eq!(said(&world), [1]);
}

#[test]
fn a_crash_before_the_disk_has_written_loses_the_record_and_the_message() {
    let mut world = begun::<Scribe>(&idle(2));
    take(&mut world, &[send(P0, P1), Action::Crash(P0)]);
    assert!(world.can(&Action::Sync(P0)).is_err(), "what was held is gone");
    take(&mut world, &[restart(true)]);
    assert_eq!(*world.process(P0).state(), Scribe { log: vec![], woke_with: Some(vec![]) });
    assert_eq!(said(&world), [1], "what had left before the record is not called back");
    assert!(!world.process(P0).is_writing());
}

#[test]
fn a_restart_replays_just_the_records_that_reached_the_disk_in_order_before_the_start() {
    let mut world = begun::<Scribe>(&idle(2));
    take(&mut world, &[send(P0, P1), Action::Sync(P0), Action::Crash(P0), restart(true)]);
    assert_eq!(*world.process(P0).state(), Scribe { log: vec![1], woke_with: Some(vec![1]) });
    take(&mut world, &[act(P0), Action::Sync(P0), send(P0, P1)]);
    take(&mut world, &[Action::Sync(P0), Action::Sync(P0), Action::Crash(P0), restart(true)]);
    let log = vec![1, 9, 1, 2, 3];
    assert_eq!(*world.process(P0).state(), Scribe { log: log.clone(), woke_with: Some(log) });
}

#[test]
fn a_restart_without_its_disk_begins_anew_and_finds_nothing_later_either() {
    let mut world = begun::<Scribe>(&idle(2));
    let new = Scribe { log: vec![], woke_with: Some(vec![]) };
    take(&mut world, &[act(P0), Action::Sync(P0), Action::Crash(P0), restart(false)]);
    assert_eq!(*world.process(P0).state(), new);
    take(&mut world, &[Action::Crash(P0), restart(true)]);
    assert_eq!(*world.process(P0).state(), new);
}

#[test]
fn a_protocol_without_a_disk_restarts_as_new() {
    let mut world = begun::<super::toys::Postman>(&idle(2));
    let new = world.process(P0).state().clone();
    world.step(&act(P0), &mut Hand);
    assert_ne!(*world.process(P0).state(), new);
    world.step(&Action::Crash(P0), &mut Hand);
    world.step(&restart(true), &mut Hand);
    assert_eq!(*world.process(P0).state(), new);
}

#[test]
fn in_simulated_time_a_disk_takes_as_long_as_it_is_said_to() {
    let mut options = steady(2);
    options.disk = Delay::Constant(700);
    let (events, _) = play::<Scribe>(options, &[(5, send(P0, P1))]);
    let sent: Vec<u64> = list(&events, What::Send).iter().map(|(time, ..)| *time).collect();
    assert_eq!(sent, [5_000, 5_700, 6_400]);
}

/// Otherwise a disk would seem faster after a crash than it is.
#[test]
fn what_a_disk_was_writing_when_its_process_crashed_is_never_finished() {
    let mut options = steady(2);
    options.disk = Delay::Constant(10_000);
    let script = [(0, act(P0)), (1, Action::Crash(P0)), (2, restart(true)), (3, act(P0))];
    let (events, _) = play::<Scribe>(options, &script);
    assert_eq!(list(&events, What::Sync), [(13_000, 0, "1 record")]);
}

#[test]
fn of_what_a_process_was_writing_when_it_was_killed_any_part_may_be_safe() {
    for reached in 0..=3 {
        let mut world = begun::<Scribe>(&idle(2));
        take(&mut world, &[send(P0, P1)]);
        assert_eq!(world.process(P0).waiting_records(), 3);
        world.reach_disk(P0, reached);
        take(&mut world, &[Action::Crash(P0), restart(true)]);
        let woke_with = world.process(P0).state().woke_with.clone();
        assert_eq!(woke_with.as_deref(), [1, 2, 3].get(..reached));
        assert_eq!(said(&world), [1], "what waited never left");
    }
}
