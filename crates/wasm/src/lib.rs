//! A run and an exploration that come out the same in WebAssembly and natively.
//!
//! `cargo xtask test` builds this library for `wasm32-unknown-unknown`, asks it under Node for its
//! numbers, and compares them with those that the program of this crate prints natively.
#![deny(unsafe_code)]

use synod_basics::mutex::RicartAgrawala;
use synod_check::{Question, explore};
use synod_core::card::{Rounds, Scope};
use synod_sim::trace::{Digest, Tracer};
use synod_sim::{Options, Plan, Simulator};

/// The digest of a simulated run: equal digests mean equal traces, byte for byte.
#[expect(unsafe_code, reason = "a name for the world outside must be the only one of its kind")]
#[unsafe(no_mangle)]
pub extern "C" fn digest() -> u64 {
    let mut digest = Digest::default();
    let tracer = Tracer::new(5, vec![&mut digest]);
    let options = Options::new(Plan::new(5, Rounds::Times(20)), 42);
    let simulator = Simulator::of::<RicartAgrawala>(options, Some(tracer));
    let simulator = simulator.expect("five processes are a group");
    simulator.run(|_, _| ()).expect("a digest can always be written");
    digest.value()
}

/// The number of states of three processes that ask once each.
#[expect(unsafe_code, reason = "a name for the world outside must be the only one of its kind")]
#[unsafe(no_mangle)]
pub extern "C" fn states() -> u64 {
    let mut question = Question::new(Scope::of(3));
    // A thread is more than WebAssembly has.
    question.limits.threads = 1;
    let found = explore::<RicartAgrawala>(&question, |_| ());
    found.expect("three processes are a group").progress.unique as u64
}
