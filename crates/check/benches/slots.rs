//! How fast a pool of slots is, in CPU time.
//!
//! `cargo bench -p synod-check --bench slots` prints a table: claims and releases, what it takes to
//! tell a new member who owns what, and to hold a large pool. CPU time, not wall time, because
//! machines are shared; the best of several runs, because they are noisy.

mod measure;

use measure::{best_from, memory_mib};
use std::collections::VecDeque;
use std::hint::black_box;
use synod_core::family::slots::{Input, Output, SlotId, Token};
use synod_core::group::{Act, Capabilities, Member, Part, Service, Session, View, ViewId};
use synod_core::{ProcessId, ProcessSet, Setup};
use synod_protocols::slots::Slots;
use synod_protocols::slots::pool::Pool;
use synod_protocols::slots::ranges::Ranges;
use synod_protocols::slots::table::{Owner, Table};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const PAIRS: u32 = 1_000_000;
/// What takes less than the clock can tell is done so often.
const TIMES: u32 = 100;
const CAN: Capabilities =
    Capabilities { safe: true, partitionable: true, came_with: true, longest_message: usize::MAX };

fn main() {
    println!("\nA pool of 10,000,000 slots among 1,000 members, held by one of them");
    let before = memory_mib("VmRSS:");
    let kept = founded(10_000_000, 1_000);
    let after = memory_mib("VmRSS:");
    println!("  {:<40} {:>8} MiB", "table and pool", after.saturating_sub(before));
    let each = |seconds: f64| seconds * 1e3 / f64::from(TIMES);
    let (seconds, ()) = best_from(&|| (), &|()| repeat(&|| founded(10_000_000, 1_000)));
    println!("  {:<40} {:>8.2} ms", "founded", each(seconds));
    let (seconds, ()) = best_from(&|| (), &|()| repeat(&|| kept.clone()));
    println!("  {:<40} {:>8.2} ms", "copied", each(seconds));
    let (seconds, ()) = best_from(&|| (), &|()| repeat(&|| transfer(kept.0.clone())));
    println!("  {:<40} {:>8.2} ms", "written, read, installed", each(seconds));
    drop(kept);

    println!("\nClaim and release, one member, half of its slots in use");
    for size in [1_000, 100_000, 1_000_000, 10_000_000] {
        let (seconds, ()) = best_from(&|| half_used(size), &|pool| churn(pool, size));
        promise(
            &format!("pool of {size} slots"),
            f64::from(PAIRS) / seconds / 1e6,
            10.0,
            "M pairs/s",
        );
    }
    let (seconds, ()) = best_from(&service, &churn_service);
    promise(
        "through the service, rules offers",
        f64::from(PAIRS) / seconds / 1e6,
        10.0,
        "M pairs/s",
    );

    println!("\nState transfer, 1,000,000 slots, no two neighbours of the same owner");
    let (seconds, bytes) = best_from(&|| fragmented(1_000_000), &transfer);
    at_most("written, read, installed", seconds * 1e3, 50.0, "ms");
    println!("  {:<40} {:>8.2} MB", "on the wire", bytes as f64 / 1e6);
}

fn repeat<T>(run: &dyn Fn() -> T) {
    for _ in 0..TIMES {
        drop(black_box(run()));
    }
}

fn promise(name: &str, value: f64, least: f64, unit: &str) {
    let kept = if value >= least { "kept" } else { "NOT KEPT" };
    println!("  {name:<40} {value:>8.2} {unit}   promise {least} {unit}: {kept}");
}

fn at_most(name: &str, value: f64, most: f64, unit: &str) {
    let kept = if value <= most { "kept" } else { "NOT KEPT" };
    println!("  {name:<40} {value:>8.2} {unit}   promise {most} {unit}: {kept}");
}

/// A pool of which every second slot is in use, and the slots in use with their tokens.
fn half_used(size: u32) -> (Pool, VecDeque<(SlotId, Token)>) {
    let mut pool = Pool::new(size);
    pool.gain(&Ranges::span(0, size));
    let mut held = VecDeque::new();
    for count in 0..size / 2 {
        let token = Token { epoch: 1, count: u64::from(count) + 1 };
        let slot = SlotId(count.wrapping_mul(2_654_435_761) % size);
        if pool.claim_slot(slot, token) {
            held.push_back((slot, token));
        }
    }
    (pool, held)
}

/// Each time the oldest use ends, and the lowest free slot is claimed.
fn churn((mut pool, mut held): (Pool, VecDeque<(SlotId, Token)>), size: u32) {
    for count in 0..PAIRS {
        let (slot, token) = held.pop_front().expect("many are in use");
        pool.release(slot, token, false).expect("it is in use");
        let token = Token { epoch: 2, count: u64::from(count) + 1 };
        let slot = pool.claim(token).expect("one was just released");
        held.push_back((slot, token));
    }
    black_box((pool, held, size));
}

/// A member of a group that owns 1,000,000 slots.
fn service() -> (Slots, VecDeque<Act<Slots>>) {
    let setup = Setup::new(2).with("rules", "offers").with("slots", "1000000");
    let me = ProcessId(0);
    let configured = ProcessSet::from_iter([me]);
    let mut slots = Slots::from_setup(me, &configured, &setup).expect("the settings are right");
    let mut acts = VecDeque::new();
    let view = View {
        id: ViewId::new(1, me),
        members: vec![Member { node: me, incarnation: 1 }],
        joined: Vec::new(),
        left: Vec::new(),
        came_with: Some(vec![Part { from: None, members: configured }]),
    };
    slots.on_view(&view, &mut Session::new(me, CAN, 1, &mut acts));
    assert_eq!(slots.state().owned(), 1_000_000);
    acts.clear();
    (slots, acts)
}

fn churn_service((mut slots, mut acts): (Slots, VecDeque<Act<Slots>>)) {
    let me = ProcessId(0);
    for _ in 0..PAIRS {
        slots.on_command(Input::Claim, &mut Session::new(me, CAN, 1, &mut acts));
        let Some(Act::Notify(Output::Claimed(slot, token))) = acts.pop_front() else {
            panic!("there are enough")
        };
        slots.on_command(Input::Release(slot, token), &mut Session::new(me, CAN, 1, &mut acts));
        acts.clear();
    }
    black_box(slots);
}

/// Every slot has another owner than the one before.
fn fragmented(size: u32) -> Table {
    let mut table = Table::absent(size);
    for slot in 0..size {
        table.give(&Ranges::one(SlotId(slot)), Owner::Of(ProcessId(slot % 32)));
    }
    table
}

/// Writes a table, reads it, and makes a pool of what one member has. How many bytes were written.
fn transfer(table: Table) -> usize {
    let bytes = postcard::to_allocvec(&table).expect("it can be written");
    let read: Table = postcard::from_bytes(&bytes).expect("it can be read");
    let mut pool = Pool::new(read.size());
    pool.gain(&read.of(Owner::Of(ProcessId(1))));
    black_box((read, pool));
    bytes.len()
}

fn founded(size: u32, members: u32) -> (Table, Pool) {
    let (mut table, mut pool) = (Table::absent(size), Pool::new(size));
    let share = size / members;
    for member in 0..members {
        let slots = Ranges::span(member * share, (member + 1) * share);
        table.give(&slots, Owner::Of(ProcessId(member)));
    }
    pool.gain(&table.of(Owner::Of(ProcessId(7))));
    (table, pool)
}
