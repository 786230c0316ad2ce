//! `synod completions`: for the shell.

use crate::Cli;
use crate::output::Output;
use anyhow::Result;
use clap::{Args, CommandFactory};
use clap_complete::Shell;
use synod_core::Verdict;

const EXAMPLES: &str = "\
Examples:
  synod completions bash > ~/.local/share/bash-completion/completions/synod
  synod completions zsh > ~/.zfunc/_synod
  synod completions fish > ~/.config/fish/completions/synod.fish";

/// Print the completions for a shell
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    /// Prints the completions.
    pub(crate) fn perform(self, output: &Output) -> Result<Verdict> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "synod", &mut script);
        output.print(&String::from_utf8_lossy(&script))?;
        Ok(Verdict::Holds)
    }
}
