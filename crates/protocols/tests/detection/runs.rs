//! Long runs: the costs of detectors, the end of their mistakes, and the use of adapting.

use std::collections::BTreeMap;
use std::io;
use synod_core::card::Rounds;
use synod_core::{Algorithm, ProcessId, Setup};
use synod_protocols::detector::{EventuallyPerfect, Perfect, PhiAccrual};
use synod_sim::faults::Fault;
use synod_sim::network::Delay;
use synod_sim::trace::{Event, Sink, Tracer, What};
use synod_sim::{Action, Options, Plan, Report, Simulator};

const P1: ProcessId = ProcessId(1);
const P2: ProcessId = ProcessId(2);

/// Every suspicion with its time, in the words of the trace.
#[derive(Default)]
struct Suspicions(Vec<(u64, ProcessId, String)>);

impl Sink for Suspicions {
    fn take(&mut self, event: &Event) -> io::Result<()> {
        if let (What::Output, Some(at)) = (event.what, event.process)
            && event.text.starts_with("suspects")
        {
            self.0.push((event.time_us, at, event.text.clone()));
        }
        Ok(())
    }
}

fn options(setup: &Setup, latency: Delay, run_for_us: u64, seed: u64) -> Options {
    let plan = Plan { setup: setup.clone(), ..Plan::new(setup.n, Rounds::Times(0)) };
    let mut options = Options::new(plan, seed);
    options.network.latency = latency;
    options.run_for_us = Some(run_for_us);
    options
}

fn run<A: Algorithm>(options: Options) -> Report {
    let simulator = Simulator::of::<A>(options, None).expect("the setup is valid");
    simulator.run(|_, _| {}).expect("nothing is written")
}

fn costs_are_as_the_card_says<A: Algorithm>() {
    for (style, messages) in [("heartbeat", 1), ("ping", 2)] {
        for n in 1..=7 {
            let setup = Setup::new(n).with("style", style);
            let report = run::<A>(options(&setup, Delay::Constant(1_000), 100_000, 1));
            let [per_period] = report.costs[..] else { panic!("one cost is measured") };
            let expected = (messages * n * (n - 1)) as f64;
            assert_eq!((per_period.min, per_period.max), (expected, expected), "{style}, N = {n}");
            assert!(per_period.agrees());
        }
    }
}

#[test]
fn everybody_gives_everybody_else_one_sign_of_life_in_a_period() {
    costs_are_as_the_card_says::<Perfect>();
    costs_are_as_the_card_says::<EventuallyPerfect>();
    costs_are_as_the_card_says::<PhiAccrual>();
}

/// Ten seconds over a network that is four times slower than the detector believes. From 16 ms a
/// time-out grows by 5 ms at a time, and no wait is longer than 30 ms: three mistakes are enough.
#[test]
fn the_mistakes_of_the_eventually_perfect_detector_come_to_an_end() {
    let setup = Setup::new(4).with("period", "10").with("delay", "5").with("step", "5");
    let mut mistakes = 0;
    for seed in 0..100 {
        let mut suspicions = Suspicions::default();
        let tracer = Tracer::new(4, vec![&mut suspicions]);
        let options = options(&setup, Delay::Uniform(0, 20_000), 10_000_000, seed);
        let simulator = Simulator::of::<EventuallyPerfect>(options, Some(tracer));
        simulator.expect("the setup is valid").run(|_, _| {}).expect("nothing is written");
        let mut by_link = BTreeMap::new();
        for (_, at, whom) in &suspicions.0 {
            *by_link.entry((*at, whom)).or_insert(0) += 1;
        }
        assert!(by_link.values().all(|mistakes| *mistakes <= 3), "seed {seed}: {by_link:?}");
        mistakes += suspicions.0.len();
    }
    assert!(mistakes > 100, "only {mistakes}: the network is not slow enough to show anything");
}

/// Over many runs: the number of p0's mistakes, and its time to notice a crash, in milliseconds.
#[derive(Clone, Copy, Debug)]
struct Quality {
    mistakes: usize,
    detection_ms: f64,
}

/// p1 is near p0, p2 is far away, over links that vary a lot. After two seconds one of them
/// crashes.
fn near_and_far<A: Algorithm>(setup: &Setup) -> Quality {
    const CRASH_US: u64 = 2_000_000;
    const RUNS: u64 = 100;
    let (mut mistakes, mut detection_us) = (0, 0);
    for seed in 0..RUNS {
        let mut options = options(setup, Delay::Constant(1_000), CRASH_US + 1_000_000, seed);
        options.network.links.insert((P2, ProcessId(0)), Delay::Uniform(0, 40_000));
        let mut suspicions = Suspicions::default();
        let tracer = Tracer::new(setup.n, vec![&mut suspicions]);
        let mut simulator = Simulator::of::<A>(options, Some(tracer)).expect("it fits");
        let (crashes, crash_us) = (if seed % 2 == 0 { P1 } else { P2 }, CRASH_US + seed * 1_000);
        simulator.at(Fault::at(crash_us, Action::Crash(crashes)));
        simulator.run(|_, _| {}).expect("nothing is written");
        let by_p0 = || suspicions.0.iter().filter(|(_, at, _)| at.0 == 0);
        let of_the_crashed = format!("suspects {crashes}");
        let seen = by_p0().rfind(|(_, _, text)| *text == of_the_crashed);
        detection_us += seen.expect("it is complete").0.saturating_sub(crash_us);
        mistakes += by_p0().count() - 1;
    }
    Quality { mistakes, detection_ms: detection_us as f64 / RUNS as f64 / 1_000.0 }
}

fn accrual(threshold: u64) -> Quality {
    let setup = Setup::new(3).with("period", "20").with("window", "50").with("deviation", "2");
    near_and_far::<PhiAccrual>(&setup.with("threshold", &threshold.to_string()))
}

/// An eventually perfect detector that does not learn has a fixed time-out.
fn fixed(timeout_ms: u64) -> Quality {
    let delay = (timeout_ms - 21).to_string();
    let setup = Setup::new(3).with("period", "20").with("delay", &delay).with("step", "0");
    near_and_far::<EventuallyPerfect>(&setup)
}

#[test]
fn where_links_differ_adapting_means_fewer_mistakes_for_the_same_time_to_detect() {
    for (threshold, timeout_ms) in [(1, 29), (2, 37), (3, 43)] {
        let (phi, fixed) = (accrual(threshold), fixed(timeout_ms));
        assert!(phi.detection_ms <= fixed.detection_ms, "{phi:?} and {fixed:?}");
        assert!(phi.mistakes * 3 / 2 < fixed.mistakes, "{phi:?} and {fixed:?}");
    }
}

/// The table in the documents, made anew.
#[test]
fn the_documents_tell_how_good_each_threshold_is() {
    let row = |name: String, found: Quality| {
        format!("| {name} | {:.0} ms | {} |", found.detection_ms, found.mistakes)
    };
    let accruals = [1, 2, 3, 5, 8].map(|phi| row(format!("φ = {phi}"), accrual(phi)));
    let fixed = [29, 37, 43, 51, 60].map(|ms| row(format!("fixed, {ms} ms"), fixed(ms)));
    let table = [accruals, fixed].concat().join("\n");
    let path =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/failure-detectors.md");
    let page = std::fs::read_to_string(path).expect("the page is there");
    assert!(page.contains(&table), "the table is now:\n{table}");
}
