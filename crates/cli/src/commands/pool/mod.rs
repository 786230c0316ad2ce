//! `synod pool`: items that every side of a cut can use, and that are never handed out twice.

mod check;
mod claim;
mod create;
mod ls;
mod release;
mod rm;
mod run;
mod show;
mod watch;

use crate::output::Output;
use anyhow::Result;
use clap::{Args, Subcommand};
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  synod pool create ports --range 20000-29999    ten thousand ports, shared by all nodes
  synod pool claim ports                         one of them, and its fencing token
  synod pool release ports 20000 --token 1.1     give it back
  synod pool run ports -- server --port {slot}   one for the life of a command
  synod pool check ports                         is an item in use twice?

A claim asks no other node: it works on every side of a cut. Exit codes: 0 done, 1 an item is in
use twice, 2 refused, 3 not decided, 69 no node answers, or no majority, 73 no item, 74 lost, 75 try
again, 77 not allowed.";

/// Share items among all nodes (ports, addresses, licences), also while the network is cut
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Pool {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    Create(create::Create),
    Ls(ls::Ls),
    Show(show::Show),
    Claim(claim::Claim),
    Release(release::Release),
    Run(run::Run),
    Check(check::Check),
    Watch(watch::Watch),
    Rm(rm::Rm),
}

impl Pool {
    /// Performs the sub-command.
    pub(crate) fn perform(self, output: &Output) -> Result<ExitCode> {
        match self.what {
            What::Create(create) => create.perform(output),
            What::Ls(ls) => ls.perform(output),
            What::Show(show) => show.perform(output),
            What::Claim(claim) => claim.perform(output),
            What::Release(release) => release.perform(output),
            What::Run(run) => run.perform(),
            What::Check(check) => check.perform(output),
            What::Watch(watch) => watch.perform(output),
            What::Rm(rm) => rm.perform(output),
        }
    }
}
