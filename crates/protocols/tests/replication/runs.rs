//! Runs on a quiet network with chosen faults, and small worlds.

use crate::storms;
use synod_check::{Question, explore};
use synod_core::card::{Load, Order, Rounds, Scope};
use synod_core::family::replication::ANSWERED;
use synod_core::family::{Known as _, Replication};
use synod_core::replication::{Invoke, Operation};
use synod_core::{Algorithm, ProcessId, Setup};
use synod_sim::faults::Fault;
use synod_sim::network::Delay;
use synod_sim::trace::{Event, Tracer, What, Window};
use synod_sim::world::LinkChange;
use synod_sim::{Action, Judged, Options, Plan, Report, Simulator};

/// What clients and operators of every replicated store ask.
pub(crate) type Input = Invoke<Operation>;

fn options(setup: Setup, rounds: u32, load: Load, seed: u64) -> Options {
    let plan = Plan { judged: Judged::All, setup, ..Plan::new(0, Rounds::Times(rounds)) };
    let mut options = Options::new(plan, seed);
    options.network.latency = Delay::Constant(1_000);
    options.disk = Delay::Constant(0);
    options.think = Delay::Exponential(200_000);
    options.load = load;
    options.patience = 20_000;
    options
}

/// A run in which every message takes a millisecond and each client asks `rounds` times, with these
/// faults.
pub(crate) fn run<A: Algorithm<Family = Replication>>(
    setup: Setup,
    rounds: u32,
    load: Load,
    faults: Vec<Fault<Input>>,
    seed: u64,
) -> Report {
    go::<A>(options(setup, rounds, load, seed), faults, None)
}

fn go<A: Algorithm<Family = Replication>>(
    options: Options,
    faults: Vec<Fault<Input>>,
    tracer: Option<Tracer<'_>>,
) -> Report {
    let mut run = Simulator::of::<A>(options, tracer).expect("the setup is valid");
    faults.into_iter().for_each(|fault| run.at(fault.map(Replication::any_input)));
    run.run(|_, _| {}).expect("nothing is written")
}

/// More events than any of these runs has.
const MANY: usize = 1_000_000;

/// The same, with all its events.
pub(crate) fn watched<A: Algorithm<Family = Replication>>(
    setup: Setup,
    rounds: u32,
    load: Load,
    faults: Vec<Fault<Input>>,
    seed: u64,
) -> (Report, Vec<Event>) {
    let mut window = Window::new(0, MANY);
    let tracer = Tracer::new(setup.n, vec![&mut window]);
    let report = go::<A>(options(setup, rounds, load, seed), faults, Some(tracer));
    assert_eq!(window.beyond, 0, "the run is longer than the window");
    (report, window.events)
}

/// The outputs that begin with these words: at which process, when, and the text.
pub(crate) fn told<'a>(
    events: &'a [Event],
    words: &'a str,
) -> impl Iterator<Item = (ProcessId, u64, &'a str)> {
    let told = events.iter().filter(|event| event.what == What::Output);
    told.filter(move |event| event.text.starts_with(words))
        .filter_map(|event| Some((event.process?, event.time_us, event.text.as_str())))
}

pub(crate) fn sent(report: &Report, kind: &str) -> u64 {
    report.meter.by_kind().get(kind).copied().unwrap_or(0)
}

/// After a second, when the group has a leader, these links lose every message.
pub(crate) fn cut(links: impl Iterator<Item = (ProcessId, ProcessId)>) -> Vec<Fault<Input>> {
    let cut = |(from, to)| Action::Links(LinkChange::Cut { from, to });
    links.map(|link| Fault::at(1_000_000, cut(link))).collect()
}

/// All links between different processes of `n`.
pub(crate) fn links(n: usize) -> impl Iterator<Item = (ProcessId, ProcessId)> {
    let all = ProcessId::all(n).flat_map(move |from| ProcessId::all(n).map(move |to| (from, to)));
    all.filter(|(from, to)| from != to)
}

pub(crate) const HUB: ProcessId = ProcessId(2);

/// The links that do not end at the hub.
pub(crate) fn around_the_hub(n: usize) -> impl Iterator<Item = (ProcessId, ProcessId)> {
    links(n).filter(|(from, to)| *from != HUB && *to != HUB)
}

/// The links between p0 and p2: only p1 hears both.
pub(crate) fn between_the_ends() -> impl Iterator<Item = (ProcessId, ProcessId)> {
    let ends = [ProcessId(0), ProcessId(2)];
    links(3).filter(move |(from, to)| ends.contains(from) && ends.contains(to))
}

/// One of five, the hub, is cut off until the end of the first second. Then only the links to and
/// from the hub work, and p0 crashes.
pub(crate) fn hub_with_an_old_log(alone_from_us: u64) -> Vec<Fault<Input>> {
    let others = ProcessId::all(5).filter(|at| *at != HUB).collect();
    let alone = LinkChange::Partition(vec![others, vec![HUB]]);
    let mut faults = vec![
        Fault::at(alone_from_us, Action::Links(alone)),
        Fault::at(1_000_000, Action::Links(LinkChange::Heal)),
    ];
    faults.extend(cut(around_the_hub(5)));
    faults.push(Fault::at(1_000_001, Action::Crash(ProcessId(0))));
    faults
}

/// Every client is answered, though the links that were cut stay cut. Returns how many messages of
/// this kind were sent.
pub(crate) fn all_are_answered<A: Algorithm<Family = Replication>>(
    setup: &Setup,
    kind: &str,
    faults: impl Fn() -> Vec<Fault<Input>>,
) -> u64 {
    let counts = (0..20).map(|seed| {
        let report = run::<A>(setup.clone(), 20, Load::Any, faults(), seed);
        assert_eq!(storms::wrong(&report), None, "seed {seed}");
        assert!(report.time_us > 2_000_000, "seed {seed}: it is over before anything goes wrong");
        sent(&report, kind)
    });
    counts.sum()
}

/// How many states a small world has, if all of them are safe.
pub(crate) fn safe_states<A: Algorithm>(scope: Scope, setup: Setup) -> usize {
    let scope = Scope { order: Order::Fifo, ..scope };
    let mut safety = Judged::All.ids::<A>(&setup);
    safety.retain(|id| *id != ANSWERED);
    let judged = Judged::Only(safety.into_iter().map(str::to_owned).collect());
    let question = Question { setup, judged, ..Question::new(scope) };
    let exploration = explore::<A>(&question, |_| {}).expect("the scope fits");
    for verdict in &exploration.verdicts {
        let violation = verdict.refuted.as_ref().map(|refuted| &refuted.violation);
        assert_eq!(violation, None, "{scope:?}");
    }
    assert!(exploration.exhausted(), "{scope:?}");
    exploration.progress.unique
}
