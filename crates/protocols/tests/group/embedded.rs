//! The embedded engine: the outputs of its members in short runs.

use std::io;
use synod_core::card::{Load, Rounds};
use synod_core::family::multicast::Payload;
use synod_core::family::{GroupService, Known as _};
use synod_core::group::{Ask, Level};
use synod_core::{ProcessId, Setup};
use synod_protocols::group::Embedded;
use synod_sim::faults::Fault;
use synod_sim::network::Delay;
use synod_sim::trace::{Event, Sink, Tracer, What};
use synod_sim::world::LinkChange;
use synod_sim::{Action, Judged, Options, Plan, Simulator};

const P0: ProcessId = ProcessId(0);
const P1: ProcessId = ProcessId(1);
const P2: ProcessId = ProcessId(2);

/// The outputs of each process, in order, in the words of the trace; and the violations.
#[derive(Default)]
struct Told {
    events: Vec<(ProcessId, String)>,
    wrong: Vec<String>,
}

impl Sink for Told {
    fn take(&mut self, event: &Event) -> io::Result<()> {
        match (event.what, event.process) {
            (What::Output, Some(at)) => {
                self.events.push((at, event.text.clone()));
            }
            (What::Accuse | What::Violation, _) => self.wrong.push(event.text.clone()),
            _ => {}
        }
        Ok(())
    }
}

impl Told {
    fn by(&self, at: ProcessId) -> Vec<&str> {
        let own = self.events.iter().filter(|(by, _)| *by == at);
        own.map(|(_, text)| text.as_str()).collect()
    }

    fn views(&self, at: ProcessId) -> Vec<&str> {
        self.by(at).into_iter().filter(|text| text.starts_with("is in")).collect()
    }
}

type Mishap = Fault<Ask<Payload>>;

/// A run of a second over links that take two milliseconds; each process multicasts `rounds` times.
/// The contract is judged, and no process accuses another.
fn run(setup: &Setup, rounds: u32, load: Load, faults: Vec<Mishap>) -> Told {
    let setup = setup.clone();
    let plan = Plan { judged: Judged::All, ..Plan::new(setup.n, Rounds::Times(rounds)) };
    let mut options = Options::new(Plan { setup, ..plan }, 1);
    options.network.latency = Delay::Constant(2_000);
    options.run_for_us = Some(1_000_000);
    options.load = load;
    let mut told = Told::default();
    let tracer = Tracer::new(options.plan.setup.n, vec![&mut told]);
    let simulator = Simulator::of::<Embedded<Payload>>(options, Some(tracer));
    let mut simulator = simulator.expect("the setup is valid");
    faults.into_iter().for_each(|fault| simulator.at(fault.map(GroupService::any_input)));
    simulator.run(|_, _| {}).expect("nothing is written");
    assert_eq!(told.wrong, [""; 0]);
    told
}

fn links(at_ms: u64, change: LinkChange) -> Mishap {
    Fault::at(at_ms * 1_000, Action::Links(change))
}

fn cut(at_ms: u64, from: ProcessId, to: ProcessId) -> Mishap {
    links(at_ms, LinkChange::Cut { from, to })
}

#[test]
fn all_who_start_together_merge_in_one_change() {
    let told = run(&Setup::new(3), 2, Load::Any, Vec::new());
    for at in [P0, P1, P2] {
        let alone = format!("is in v1.{}: {at}", at.0);
        assert_eq!(told.views(at), [alone.as_str(), "is in v2.0: p0 p1 p2"]);
    }
}

#[test]
fn each_side_of_a_partition_has_a_view_and_they_merge_again() {
    let parts = LinkChange::Partition(vec![vec![P0], vec![P1, P2]]);
    let faults = vec![links(300, parts), links(600, LinkChange::Heal)];
    let told = run(&Setup::new(3), 20, Load::Any, faults);
    assert_eq!(
        told.views(P0)[1..],
        ["is in v2.0: p0 p1 p2", "is in v3.0: p0", "is in v4.0: p0 p1 p2"]
    );
    assert_eq!(
        told.views(P1)[1..],
        ["is in v2.0: p0 p1 p2", "is in v3.1: p1 p2", "is in v4.0: p0 p1 p2"]
    );
}

/// p1 reaches both, but they do not reach each other: the smaller two stay together, and no process
/// changes between views for ever.
#[test]
fn where_not_all_reach_all_views_come_to_rest() {
    let told = run(&Setup::new(3), 5, Load::Any, vec![cut(300, P0, P2), cut(300, P2, P0)]);
    assert_eq!(told.views(P0)[1..], ["is in v2.0: p0 p1 p2", "is in v3.0: p0 p1"]);
    assert_eq!(told.views(P1)[1..], ["is in v2.0: p0 p1 p2", "is in v3.0: p0 p1"]);
    assert_eq!(told.views(P2).len(), 3);
    assert!(told.views(P2)[2].ends_with(": p2"));
}

/// p0 hears p2, and p2 does not hear p0.
#[test]
fn a_link_in_one_direction_is_none() {
    let told = run(&Setup::new(3), 5, Load::Any, vec![cut(300, P0, P2)]);
    assert_eq!(told.views(P0)[1..], ["is in v2.0: p0 p1 p2", "is in v3.0: p0 p1"]);
    assert_eq!(told.views(P2).len(), 3);
}

#[test]
fn whoever_leaves_is_told_so_and_the_others_go_on() {
    let leaves = Fault::at(300_000, Action::Input { at: P0, input: Ask::Leave });
    let told = run(&Setup::new(3), 2, Load::Any, vec![leaves]);
    assert_eq!(told.by(P0).last(), Some(&"is out of the group"));
    assert_eq!(told.views(P2)[1..], ["is in v2.0: p0 p1 p2", "is in v3.1: p1 p2"]);
}

/// p2 stands still: it may have the message or not. So the others deliver it only when their view
/// is over.
#[test]
fn a_safe_message_that_somebody_may_lack_is_delivered_after_the_view() {
    let message = Payload::numbered(1);
    let input = Ask::Multicast { level: Level::Safe, message };
    let faults = vec![
        Fault::at(300_000, Action::Pause(P2)),
        Fault::at(301_000, Action::Input { at: P1, input }),
        Fault::at(700_000, Action::Resume(P2)),
    ];
    let told = run(&Setup::new(3), 0, Load::Any, faults);
    for at in [P0, P1] {
        let end = &told.by(at)[3..6];
        assert_eq!(end, ["goes on with p0 p1", "delivers 1 of p1 (v2.0)", "is in v3.0: p0 p1"]);
    }
}

#[test]
fn whoever_multicasts_too_much_is_refused_until_there_is_room() {
    let setup = Setup::new(2).with("window", "1");
    let parts = LinkChange::Partition(vec![vec![P0], vec![P1]]);
    let faults = vec![links(200, parts), links(250, LinkChange::Heal)];
    let told = run(&setup, 20, Load::Any, faults);
    let by_p1 = told.by(P1);
    let refused = by_p1.iter().position(|text| text.starts_with("has no room"));
    let room = by_p1.iter().rposition(|text| *text == "has room again");
    assert!(refused.expect("it multicasts faster than the link works") < room.expect("it does"));
    let last = |at| told.by(at).into_iter().rfind(|text| text.starts_with("delivers"));
    assert_eq!(last(P0), last(P1));
}
