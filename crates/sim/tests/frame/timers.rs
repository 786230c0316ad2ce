//! Timers: when they expire, and when they do not.

use super::toys::{P0, P1, act, list, number, play, send, steady, toy};
use serde::{Deserialize, Serialize};
use synod_core::family::logical_time::{Input, Output};
use synod_core::{Cx, Never, ProcessId, Protocol};
use synod_sim::Action;
use synod_sim::trace::What;

/// `Act` sets the bell to ring in ten milliseconds, `Send` cancels it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Alarm;

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Bell {
    Ring,
    Never,
}

impl Protocol for Alarm {
    type Input = Input;
    type Output = Output;
    type Message = Never;
    type Timer = Bell;

    fn on_start(&mut self, cx: &mut Cx<'_, Self>) {
        cx.set_timer(Bell::Never, u64::MAX);
        cx.cancel_timer(Bell::Ring);
    }

    fn on_input(&mut self, input: Input, cx: &mut Cx<'_, Self>) {
        match input {
            Input::Act => cx.set_timer(Bell::Ring, 10),
            Input::Send(_) => cx.cancel_timer(Bell::Ring),
        }
    }

    fn on_message(&mut self, _: ProcessId, message: Never, _: &mut Cx<'_, Self>) {
        match message {}
    }

    fn on_timer(&mut self, bell: Bell, cx: &mut Cx<'_, Self>) {
        if bell == Bell::Ring {
            cx.output(number(7, cx.me()));
        }
    }
}

toy!(Alarm, "alarm");

/// The times when the bell rings, in microseconds.
fn rings(script: &[(u64, Action<Input>)]) -> Vec<u64> {
    let (events, _) = play::<Alarm>(steady(1), script);
    let bells = list(&events, What::Timer).into_iter().filter(|(.., name)| *name == "Ring");
    bells.map(|(time_us, ..)| time_us).collect()
}

#[test]
fn a_timer_runs_out_once_just_when_it_should() {
    assert_eq!(rings(&[(3, act(P0))]), [13_000]);
    assert_eq!(rings(&[(3, act(P0)), (20, act(P0))]), [13_000, 30_000]);
}

#[test]
fn setting_a_timer_again_moves_it() {
    assert_eq!(rings(&[(3, act(P0)), (12, act(P0))]), [22_000]);
}

#[test]
fn a_cancelled_timer_is_forgotten_and_may_be_set_again() {
    assert_eq!(rings(&[(3, act(P0)), (12, send(P0, P0))]), [] as [u64; 0]);
    assert_eq!(rings(&[(3, act(P0)), (12, send(P0, P0)), (14, act(P0))]), [24_000]);
}

#[test]
fn a_crash_clears_all_timers_and_a_restart_sets_none_but_its_own() {
    let back = Action::Restart { at: P0, disk: true };
    assert_eq!(rings(&[(3, act(P0)), (5, Action::Crash(P0)), (6, back)]), [] as [u64; 0]);
}

#[test]
fn a_timer_that_runs_out_during_a_pause_is_noticed_afterwards() {
    let script = [(3, act(P0)), (5, Action::Pause(P0)), (40, Action::Resume(P0))];
    assert_eq!(rings(&script), [40_000]);
}

#[test]
fn timers_of_one_name_at_two_processes_have_nothing_to_do_with_each_other() {
    let script = [(3, act(P0)), (4, act(P1)), (5, send(P0, P0))];
    let (events, _) = play::<Alarm>(steady(2), &script);
    let bells: Vec<_> =
        list(&events, What::Timer).into_iter().filter(|(.., name)| *name == "Ring").collect();
    assert_eq!(bells, [(14_000, 1, "Ring")]);
}

#[test]
fn a_timer_set_beyond_the_end_of_time_runs_out_last() {
    let (events, report) = play::<Alarm>(steady(1), &[(3, act(P0))]);
    let names: Vec<&str> = list(&events, What::Timer).iter().map(|(.., name)| *name).collect();
    assert_eq!((names, report.time_us), (vec!["Ring", "Never"], u64::MAX));
}
