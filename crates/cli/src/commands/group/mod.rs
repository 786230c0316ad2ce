//! `synod group`: messages to all members, in one order.

mod cast;
mod change;
mod ls;
mod watch;

use crate::output::Output;
use anyhow::Result;
use clap::{Args, Subcommand};
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  synod group create chat
  synod group watch chat              in one terminal
  synod group cast chat 'hello all'   in another one

All nodes are members of all groups. Nodes that reach each other deliver the same messages in the
same order; each side of a cut goes on for itself.";

/// Send messages to all nodes in one order, and watch them
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Group {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Create a group. It needs a majority of the nodes
    Create(change::Change),
    /// Delete a group. It needs a majority of the nodes
    Rm(change::Change),
    Ls(ls::Ls),
    Cast(cast::Cast),
    Watch(watch::Watch),
}

impl Group {
    /// Performs the sub-command.
    pub(crate) fn perform(self, output: &Output) -> Result<ExitCode> {
        match self.what {
            What::Create(change) => change.create(output),
            What::Rm(change) => change.delete(output),
            What::Ls(ls) => ls.perform(output),
            What::Cast(cast) => cast.perform(output),
            What::Watch(watch) => watch.perform(output),
        }
    }
}
