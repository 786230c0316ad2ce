//! `synod slots`: the allocator SLOTS, beyond what every algorithm can do.

mod experiment;
mod prove;
mod report;

use crate::Outcome;
use crate::output::Output;
use anyhow::Result;
use clap::{Args, Subcommand};

/// The allocator SLOTS: what the paper measured, again; and proved without a budget of faults
#[derive(Args)]
pub(crate) struct Slots {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    Experiment(Box<experiment::Experiment>),
    Prove(prove::Prove),
}

impl Slots {
    /// Does what was asked.
    pub(crate) fn perform(self, output: &Output) -> Result<Outcome> {
        match self.what {
            What::Experiment(experiment) => experiment.perform(output),
            What::Prove(prove) => prove.perform(output),
        }
    }
}
