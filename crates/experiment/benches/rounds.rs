//! The duration of the published experiment: 32 members, 768 slots, 100,000 rounds under the
//! authors' timing.
//!
//! `cargo bench -p synod-experiment` prints CPU time, the best of several runs. The authors' own
//! simulator takes 48 to 101 seconds for the same.

#[path = "../../check/benches/measure/mod.rs"]
mod measure;

use measure::best;
use synod_experiment::{Allocator, Settings, run};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The promised bound.
const SECONDS: f64 = 1.0;

fn main() {
    println!("\n32 members, 768 slots, 100,000 rounds under the authors' timing");
    for allocator in [Allocator::Repaired, Allocator::Offers] {
        let (seconds, _) = best(&|| run(&Settings::published(), allocator, 1, &|_| {}));
        let kept = if seconds <= SECONDS { "kept" } else { "NOT KEPT" };
        println!("  {:<24} {seconds:>6.2} s   promise {SECONDS} s: {kept}", allocator.title());
    }
}
