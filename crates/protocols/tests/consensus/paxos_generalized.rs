//! Generalized Paxos: commands that commute never collide, and those that interfere are put in
//! order.

use synod_core::Setup;
use synod_core::card::Rounds;
use synod_protocols::consensus::GeneralizedPaxos;
use synod_sim::network::Delay;
use synod_sim::{Judged, Options, Plan, Report, Simulator};

fn run(commands: &str, seed: u64) -> Report {
    let n = commands.split(' ').count();
    let setup = Setup::new(n).with("commands", commands);
    let plan = Plan { setup, judged: Judged::All, ..Plan::new(n, Rounds::Times(1)) };
    let mut options = Options::new(plan, seed);
    options.network.latency = match seed {
        0 => Delay::Constant(1_000),
        _ => Delay::Exponential(5_000),
    };
    let simulator = Simulator::of::<GeneralizedPaxos>(options, None).expect("the setup is valid");
    let report = simulator.run(|_, _| {}).expect("nothing is written");
    assert_eq!(report.violations, [], "{commands}, seed {seed}");
    report
}

fn collides(report: &Report) -> bool {
    report.meter.by_kind().contains_key("Prepare")
}

#[test]
fn commands_that_commute_never_collide() {
    for seed in 0..300 {
        let commands = ["w0 w1 w2", "r0 r0 r0 r0", "w0 r1 r1 w2 r3"][seed as usize % 3];
        assert!(!collides(&run(commands, seed)), "{commands}, seed {seed}");
    }
}

#[test]
fn commands_that_interfere_collide_and_are_put_in_order() {
    let collisions = (1..300).filter(|seed| {
        let commands = ["w0 w0 w0", "w0 r0 r0 w1", "w0 w1 r0 w1 w0"][*seed as usize % 3];
        collides(&run(commands, *seed))
    });
    assert!(collisions.count() > 100);
}

#[test]
fn a_command_alone_is_learned_after_two_hops_with_n_squared_minus_1_messages() {
    for commands in ["w0", "w0 -", "w0 - -", "- - w0 - -", "- - - w0 - - -"] {
        let report = run(commands, 0);
        let n = commands.split(' ').count() as u64;
        assert_eq!(report.meter.messages, n * n - 1);
        assert_eq!(report.meter.entry_us.max, if n == 1 { 0 } else { 2_000 });
    }
}
