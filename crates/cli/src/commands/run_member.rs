//! `synod run-member`: one process of a run on a real network. Only `synod run --on` starts it.

use crate::about::unknown;
use crate::catalogue::which;
use anyhow::{Context, Result};
use clap::Args;
use synod_core::Verdict;
use synod_net::{Control, serve_named};

/// Be one process of a run on a real network; 'synod run --on' starts it
#[derive(Args)]
#[command(hide = true)]
pub(crate) struct RunMember {}

impl RunMember {
    /// Drives the process, until the run is over.
    pub(crate) fn perform(self) -> Result<Verdict> {
        let by_hand = "a member is started by 'synod run NAME --on tcp', which talks to it";
        let mut control = Control::of_member().context(by_hand)?;
        let config = control.configuration().context(by_hand)?;
        let name = config.algorithm.clone();
        let which = which(&name).ok_or_else(|| unknown(&name))?;
        serve_named(&config, which, control)?;
        Ok(Verdict::Holds)
    }
}
