//! A violation is reported where it shows, however many effects the same step has afterwards.

use super::toys::{P0, act, number, play, steady, toy};
use serde::{Deserialize, Serialize};
use synod_core::family::logical_time::{Input, Output, T1, T3};
use synod_core::{Cx, Never, ProcessId, Protocol, Wire};
use synod_sim::Judged;
use synod_sim::trace::What;

/// A clock that stands still: every event has the same stamp, sent to all others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Stopped;

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum News {
    Act,
}

impl Wire for News {}

impl Protocol for Stopped {
    type Input = Input;
    type Output = Output;
    type Message = News;
    type Timer = Never;

    fn on_input(&mut self, _: Input, cx: &mut Cx<'_, Self>) {
        cx.output(number(1, cx.me()));
        cx.multicast(News::Act);
    }

    fn on_message(&mut self, _: ProcessId, _: News, _: &mut Cx<'_, Self>) {}
}

toy!(Stopped, "stopped");

#[test]
fn every_violation_names_the_event_that_shows_it_and_follows_it_in_the_trace() {
    let mut options = steady(3);
    options.plan.judged = Judged::Only(vec![T1.to_owned(), T3.to_owned()]);
    let (events, report) = play::<Stopped>(options, &[(1, act(P0)), (9, act(P0))]);
    let outputs = events.iter().filter(|event| event.what == What::Output);
    let second = outputs.map(|event| event.index).nth(1).expect("it is told twice");
    let found: Vec<_> = report.violations.iter().map(|(v, event)| (v.property, *event)).collect();
    assert_eq!(found, [(T1, second), (T3, second)]);
    let after: Vec<_> = events[second as usize + 1..].iter().map(|event| event.what).collect();
    assert!(after.starts_with(&[What::Violation, What::Violation, What::Send, What::Send]));
}
