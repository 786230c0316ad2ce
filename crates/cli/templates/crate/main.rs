//! The whole command line of Synod, with one algorithm more: `cargo run -- check my-algorithm`.

use my_algorithm::MyAlgorithm;
use std::process::ExitCode;
use synod_core::boxed::Which;

fn main() -> ExitCode {
    synod_cli::run(&[Which::of::<MyAlgorithm>()])
}
