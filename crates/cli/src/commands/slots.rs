//! `synod slots`: the allocator SLOTS, beyond what every algorithm can do.

mod experiment;
mod report;

use crate::Outcome;
use crate::output::Output;
use anyhow::Result;
use clap::{Args, Subcommand};

/// The allocator SLOTS: what the paper measured, again
#[derive(Args)]
pub(crate) struct Slots {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    Experiment(Box<experiment::Experiment>),
}

impl Slots {
    /// Does what was asked.
    pub(crate) fn perform(self, output: &Output) -> Result<Outcome> {
        match self.what {
            What::Experiment(experiment) => experiment.perform(output),
        }
    }
}
