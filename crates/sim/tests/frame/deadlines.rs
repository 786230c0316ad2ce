//! A promise about the end comes true by the deadline of the card, if the network is calm.

use super::toys::{P0, P1};
use serde::{Deserialize, Serialize};
use synod_core::card::{Calm, Deadline, Parameter, Rounds};
use synod_core::family::group::SETTLES;
use synod_core::family::multicast::Payload;
use synod_core::family::{GroupService, Known as _};
use synod_core::group::{Ask, Event, Member, View, ViewId};
use synod_core::{Algorithm, Card, Cx, ProcessId, Protocol, Setup, SetupError, Wire};
use synod_sim::faults::Fault;
use synod_sim::network::Delay;
use synod_sim::world::LinkChange;
use synod_sim::{Action, Ended, Judged, Options, Plan, Report, Simulator};

const BEAT_MS: u64 = 10;

type Wrong = Action<Ask<Payload>>;

/// Every process is alone, and after `beats` beats all are in one view, in any case. Once in a beat
/// each sends a message.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Sluggish {
    n: usize,
    beats_left: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Word;

impl Wire for Word {}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
struct Beat;

impl Sluggish {
    fn enters(epoch: u64, members: impl Iterator<Item = ProcessId>, cx: &mut Cx<'_, Self>) {
        let members: Vec<_> = members.map(|node| Member { node, incarnation: 1 }).collect();
        let id = ViewId::new(epoch, members[0].node);
        let (joined, left) = (Vec::new(), Vec::new());
        cx.output(Event::View(View { id, members, joined, left, came_with: None }));
    }
}

impl Protocol for Sluggish {
    type Input = Ask<Payload>;
    type Output = Event<Payload>;
    type Message = Word;
    type Timer = Beat;

    fn on_start(&mut self, cx: &mut Cx<'_, Self>) {
        Self::enters(1, [cx.me()].into_iter(), cx);
        cx.set_timer(Beat, BEAT_MS);
    }

    fn on_input(&mut self, _: Ask<Payload>, _: &mut Cx<'_, Self>) {}

    fn on_message(&mut self, _: ProcessId, _: Word, _: &mut Cx<'_, Self>) {}

    fn on_timer(&mut self, Beat: Beat, cx: &mut Cx<'_, Self>) {
        self.beats_left = self.beats_left.saturating_sub(1);
        if self.beats_left == 1 {
            cx.output(Event::Transitional([cx.me()].into_iter().collect()));
            Self::enters(2, ProcessId::all(self.n), cx);
        }
        cx.multicast(Word);
        cx.set_timer(Beat, BEAT_MS);
    }
}

impl Algorithm for Sluggish {
    type Family = GroupService;
    const CARD: Card = Card {
        name: "sluggish",
        promises: &[SETTLES],
        deadlines: &[Deadline {
            property: SETTLES,
            calm: |_| Some(Calm { delay_ms: 5, within_ms: 1_000 }),
        }],
        parameters: &[Parameter { name: "beats", meaning: "when all are in one view" }],
        restless: true,
        ..Card::BLANK
    };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        let beats_left = setup.number("beats", 0)?;
        Ok(vec![Sluggish { n: setup.n, beats_left }; setup.n])
    }
}

/// A run of five processes in which all are in one view after this many milliseconds.
fn run(settles_ms: u64, change: impl FnOnce(&mut Options), faults: &[(u64, Wrong)]) -> Report {
    let setup = Setup::new(5).with("beats", &(settles_ms / BEAT_MS + 1).to_string());
    let judged = Judged::Only(vec![SETTLES.to_owned()]);
    let plan = Plan { setup, judged, ..Plan::new(5, Rounds::Times(0)) };
    let mut options = Options::new(plan, 1);
    options.network.latency = Delay::Constant(1_000);
    options.steps_at_most = 200_000;
    change(&mut options);
    let mut run = Simulator::of::<Sluggish>(options, None).expect("the setup is valid");
    for (at_ms, action) in faults {
        let action = action.clone().map(GroupService::any_input);
        run.at(Fault::at(at_ms * 1_000, action));
    }
    run.run(|_, _| {}).expect("nothing is written")
}

fn nothing(_: &mut Options) {}

#[test]
fn a_group_that_settles_in_time_keeps_the_promise() {
    let report = run(900, nothing, &[]);
    assert_eq!((report.ended, &report.violations[..]), (Ended::Quiet, &[][..]));
}

#[test]
fn a_group_that_settles_too_late_has_broken_it_though_all_is_well_in_the_end() {
    let long = |options: &mut Options| options.run_for_us = Some(5_000_000);
    let report = run(1_200, long, &[]);
    let [(violation, _)] = &report.violations[..] else { panic!("{:?}", report.violations) };
    assert_eq!((report.ended, violation.property), (Ended::Quiet, SETTLES));
    let because = "p0 is in v1.0, not with all whom it can reach, and nothing has gone wrong for \
                   more than 1s";
    assert_eq!(violation.because, because);
}

#[test]
fn a_run_does_not_wait_for_what_has_missed_its_deadline() {
    let report = run(1_000_000, nothing, &[]);
    assert_eq!((report.ended, report.violations.len()), (Ended::Quiet, 1));
    assert!(report.time_us < 1_100_000, "{}", report.time_us);
}

#[test]
fn the_deadline_runs_from_the_last_fault() {
    let cut = Action::Links(LinkChange::Cut { from: P1, to: P0 });
    let faults = [(100, cut), (400, Action::Links(LinkChange::Heal))];
    assert_eq!(run(1_300, nothing, &faults).violations, []);
    assert_eq!(run(1_500, nothing, &faults).violations.len(), 1);
}

#[test]
fn it_does_not_run_while_messages_are_lost_or_late() {
    let lossy = |options: &mut Options| options.network.loss = 0.5;
    assert_eq!(run(3_000, lossy, &[]).violations, []);
    let late = |options: &mut Options| options.network.latency = Delay::Constant(5_000);
    assert_eq!(run(3_000, late, &[]).violations, []);
    let in_time = |options: &mut Options| options.network.latency = Delay::Constant(4_999);
    assert_eq!(run(3_000, in_time, &[]).violations.len(), 1);
}

/// Between these two times p1 does not beat: it is in the common view only at 2.8 s.
#[test]
fn it_does_not_run_while_a_process_stands_still() {
    let faults = [(100, Action::Pause(P1)), (2_000, Action::Resume(P1))];
    assert_eq!(run(900, nothing, &faults).violations, []);
    assert_eq!(run(1_200, nothing, &faults).violations.len(), 1);
}
