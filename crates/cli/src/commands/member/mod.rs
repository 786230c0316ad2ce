//! `synod member`: the nodes of a cluster.

mod forget;
mod leave;
mod ls;

use crate::output::Output;
use anyhow::Result;
use clap::{Args, Subcommand};
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  synod member ls                  all nodes, and who reaches them
  synod member forget n4           n4 is dead for good: others may have its items
  synod member leave --node n5     n5 hands its items over, and stops";

/// List the nodes of a cluster; let one leave, or declare one dead
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Member {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    Ls(ls::Ls),
    Forget(forget::Forget),
    Leave(leave::Leave),
}

impl Member {
    /// Performs the sub-command.
    pub(crate) fn perform(self, output: &Output) -> Result<ExitCode> {
        match self.what {
            What::Ls(ls) => ls.perform(output),
            What::Forget(forget) => forget.perform(output),
            What::Leave(leave) => leave.perform(output),
        }
    }
}
