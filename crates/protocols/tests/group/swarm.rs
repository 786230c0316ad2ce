//! Ten thousand storms: crashes, restarts into other parts, nested partitions, merges piece by piece,
//! view changes during view changes, one-way links, ghosts, loss and duplication. The contract holds.

use crate::storms;
use synod_core::family::multicast::Payload;
use synod_core::group::Ask;
use synod_core::{ProcessId, Setup};
use synod_protocols::group::Embedded;
use synod_sim::faults::Fault;
use synod_sim::network::{Chance, below};
use synod_sim::{Action, Ended};

const SEEDS: u64 = 10_000;
/// How much each process multicasts.
const ROUNDS: u32 = 10;

/// In every fourth run somebody leaves for good.
fn leaver(seed: u64, n: usize, chance: &mut Chance) -> Vec<Fault<Ask<Payload>>> {
    let at = ProcessId(below(chance, n as u64) as u32);
    let at_us = below(chance, 1_000_000);
    let leaves = Fault::at(at_us, Action::Input { at, input: Ask::Leave });
    if seed.is_multiple_of(4) { vec![leaves] } else { Vec::new() }
}

/// What is wrong with the run with this seed.
fn broken(seed: u64) -> Option<String> {
    let level = ["agreed", "safe", "mixed"][(seed % 3) as usize];
    let n = storms::size(seed);
    let setup = Setup::new(n).with("level", level);
    let report =
        storms::run::<Embedded<Payload>>(seed, setup, ROUNDS, |chance| leaver(seed, n, chance));
    let violation = report.violations.first().map(|(violation, _)| format!("{violation:?}"));
    let endless = (report.ended == Ended::Cut).then(|| "it does not end".to_owned());
    violation.or(endless).map(|what| format!("seed {seed} (n = {n}, {level}): {what}"))
}

/// The seeds among these whose runs are broken, on as many threads as there are.
fn all_broken(seeds: u64) -> Vec<String> {
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get() as u64);
    std::thread::scope(|scope| {
        let share = |first: u64| (first..seeds).step_by(threads as usize).filter_map(broken);
        let shares: Vec<_> = (0..threads)
            .map(|first| scope.spawn(move || share(first).collect::<Vec<_>>()))
            .collect();
        shares.into_iter().flat_map(|share| share.join().expect("no run panics")).collect()
    })
}

#[test]
fn the_contract_holds_in_ten_thousand_storms() {
    let broken = all_broken(SEEDS);
    let some = broken[..broken.len().min(10)].join("\n");
    assert!(broken.is_empty(), "{} broken:\n{some}", broken.len());
}
