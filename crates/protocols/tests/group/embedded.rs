//! The embedded engine: what its members are told in short runs.

use std::io;
use synod_core::card::Rounds;
use synod_core::family::multicast::Payload;
use synod_core::{ProcessId, Setup};
use synod_protocols::group::Embedded;
use synod_sim::faults::Fault;
use synod_sim::network::Delay;
use synod_sim::trace::{Event, Sink, Tracer, What};
use synod_sim::world::LinkChange;
use synod_sim::{Action, Options, Plan, Simulator};

const P0: ProcessId = ProcessId(0);
const P1: ProcessId = ProcessId(1);
const P2: ProcessId = ProcessId(2);

/// What each process was told, in order, in the words of the trace; and who was accused.
#[derive(Default)]
struct Told {
    events: Vec<(u64, ProcessId, String)>,
    accused: Vec<String>,
}

impl Sink for Told {
    fn take(&mut self, event: &Event) -> io::Result<()> {
        match (event.what, event.process) {
            (What::Output, Some(at)) => {
                self.events.push((event.time_us, at, event.text.clone()));
            }
            (What::Accuse, _) => self.accused.push(event.text.clone()),
            _ => {}
        }
        Ok(())
    }
}

impl Told {
    fn by(&self, at: ProcessId) -> Vec<&str> {
        let own = self.events.iter().filter(|(_, by, _)| *by == at);
        own.map(|(_, _, text)| text.as_str()).collect()
    }

    fn views(&self, at: ProcessId) -> Vec<&str> {
        self.by(at).into_iter().filter(|text| text.starts_with("is in")).collect()
    }
}

/// A second over links that take two milliseconds; each process multicasts so often.
fn run(setup: &Setup, rounds: u32, faults: Vec<Fault<synod_core::group::Ask<Payload>>>) -> Told {
    let plan = Plan { setup: setup.clone(), ..Plan::new(setup.n, Rounds::Times(rounds)) };
    let mut options = Options::new(plan, 1);
    options.network.latency = Delay::Constant(2_000);
    options.run_for_us = Some(1_000_000);
    let mut told = Told::default();
    let tracer = Tracer::new(setup.n, vec![&mut told]);
    let mut simulator =
        Simulator::<Embedded<Payload>>::new(options, Some(tracer)).expect("the setup is valid");
    faults.into_iter().for_each(|fault| simulator.at(fault));
    simulator.run(|_, _| {}).expect("nothing is written");
    told
}

#[test]
fn all_who_start_together_merge_in_one_change() {
    let told = run(&Setup::new(3), 2, Vec::new());
    for at in [P0, P1, P2] {
        let alone = format!("is in v1.{}: {at}", at.0);
        assert_eq!(told.views(at), [alone.as_str(), "is in v2.0: p0 p1 p2"]);
    }
    assert_eq!(told.accused, [""; 0]);
}

#[test]
fn each_side_of_a_partition_has_a_view_and_they_merge_again() {
    let parts = LinkChange::Partition(vec![vec![P0], vec![P1, P2]]);
    let faults = vec![
        Fault::at(300_000, Action::Links(parts)),
        Fault::at(600_000, Action::Links(LinkChange::Heal)),
    ];
    let told = run(&Setup::new(3), 20, faults);
    assert_eq!(
        told.views(P0)[1..],
        ["is in v2.0: p0 p1 p2", "is in v3.0: p0", "is in v4.0: p0 p1 p2"]
    );
    assert_eq!(
        told.views(P1)[1..],
        ["is in v2.0: p0 p1 p2", "is in v3.1: p1 p2", "is in v4.0: p0 p1 p2"]
    );
    assert_eq!(told.accused, [""; 0]);
}
