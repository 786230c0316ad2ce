//! `synod slots`: commands for the allocator SLOTS only.

mod experiment;
mod prove;
mod report;

use crate::output::Output;
use anyhow::Result;
use clap::{Args, Subcommand};
use synod_core::Verdict;

/// The allocator SLOTS: the paper's experiment, again; and a proof without a fault budget
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
    /// Performs the sub-command.
    pub(crate) fn perform(self, output: &Output) -> Result<Verdict> {
        match self.what {
            What::Experiment(experiment) => experiment.perform(output),
            What::Prove(prove) => prove.perform(output),
        }
    }
}
