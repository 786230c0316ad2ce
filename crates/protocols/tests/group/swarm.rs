//! A thousand storms, ten thousand in a soak: crashes, restarts into other parts, nested
//! partitions, merges piece by piece, view changes during view changes, one-way links, ghosts, loss
//! and duplication. The contract holds.

use crate::storms;
use synod_core::family::multicast::Payload;
use synod_core::group::Ask;
use synod_core::{ProcessId, Setup};
use synod_protocols::group::GroupEngine;
use synod_sim::Action;
use synod_sim::faults::Fault;
use synod_sim::network::{Chance, below};
use synod_sim::storm::schedules;

const SEEDS: u64 = 1_000;
/// The number of multicasts of each process.
const ROUNDS: u32 = 10;

/// In every fourth run one member leaves for good.
fn leaver(seed: u64, n: usize, chance: &mut Chance) -> Vec<Fault<Ask<Payload>>> {
    let at = ProcessId(below(chance, n as u64) as u32);
    let at_us = below(chance, 1_000_000);
    let leaves = Fault::at(at_us, Action::Input { at, input: Ask::Leave });
    if seed.is_multiple_of(4) { vec![leaves] } else { Vec::new() }
}

/// The reason why the run with this seed is broken, if it is.
fn broken(seed: u64) -> Option<String> {
    let level = ["agreed", "safe", "mixed"][(seed % 3) as usize];
    let n = storms::size(seed);
    let setup = Setup::new(n).with("level", level);
    let more = |_, chance: &mut Chance| leaver(seed, n, chance);
    let report = storms::run::<GroupEngine<Payload>>(seed, setup, ROUNDS, None, more);
    storms::wrong(&report).map(|what| format!("seed {seed} (n = {n}, {level}): {what}"))
}

#[test]
fn the_contract_holds_in_storms() {
    storms::all_hold(schedules(SEEDS), broken);
}
