//! The command `synod`, with the algorithms of the catalogue.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    synod_cli::run(&[])
}
