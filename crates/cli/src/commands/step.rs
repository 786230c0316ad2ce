//! `synod step`: drive an algorithm by hand, one step after the other.

mod stepper;
mod view;

use crate::about::{About, unknown};
use crate::catalogue::which;
use crate::options::{Order, Parameters};
use crate::output::Output;
use crate::parse;
use anyhow::{Context, Result, anyhow, bail, ensure};
use clap::Args;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use stepper::Stepper;
use synod_core::Verdict;
use synod_drivers::Session;
use synod_sim::network::Delay;
use synod_sim::scenario::{ParseError, Scenario};

const EXAMPLES: &str = "\
Examples:
  synod step ricart-agrawala                  three processes, and you say what happens next
  synod step raft -n 3 --seed 7               'next' goes on by this seed
  synod step --from me1.txt                   play a scenario, and go on from its end
  printf '1\\nnext 5\\nsave a.txt\\n' | synod step maekawa

At the prompt, 'help' lists the commands. Every step is a line of a scenario: 'save FILE' writes
the steps so far, and 'synod play FILE' repeats them.";

/// Drive an algorithm by hand: pick the next step, go back, look into the processes
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Step {
    /// The algorithm
    #[arg(value_name = "NAME", required_unless_present = "from")]
    #[arg(value_parser = parse::Name, hide_possible_values = true)]
    name: Option<String>,
    /// Play this scenario first, and go on from its end
    #[arg(long, value_name = "FILE", conflicts_with_all = ["name", "n", "parameters", "order"])]
    #[arg(conflicts_with_all = ["seed", "latency", "rounds"])]
    from: Option<PathBuf>,
    /// The number of processes [default: 3, or the smallest group that makes sense]
    #[arg(short, long = "processes", value_name = "N", value_parser = parse::group)]
    n: Option<usize>,
    #[command(flatten)]
    parameters: Parameters,
    /// The order in which messages arrive
    #[arg(long, value_enum, default_value_t = Order::Any)]
    order: Order,
    /// The seed of all random choices of 'next', by which the run goes on
    #[arg(short, long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    /// The latency of a message after 'next' [default: 1ms..10ms]
    #[arg(long, value_name = "DELAY", value_parser = parse::delay)]
    latency: Option<Delay>,
    /// The number of requests of each application after 'next' [default: no limit]
    #[arg(long, value_name = "R", value_parser = parse::faults)]
    rounds: Option<u32>,
}

impl Step {
    /// Takes steps until standard input ends.
    pub(crate) fn perform(self, output: &Output) -> Result<Verdict> {
        ensure!(
            !output.is_json(),
            "'synod step' is for people; programs get the outcome of a scenario by 'synod play FILE \
             -o json'"
        );
        let session = match &self.from {
            Some(path) => opened(path)?,
            None => self.begun()?,
        };
        Stepper::new(session, *output).talk()
    }

    fn begun(&self) -> Result<Box<dyn Session>> {
        let Some(name) = &self.name else { bail!("which algorithm? 'synod list' shows them") };
        let about = About::find(name)?;
        let text = self.header(&about)?;
        let scenario = Scenario::parse(&text).map_err(|error| anyhow!("{}", error.message))?;
        let session = synod_drivers::session(which, &scenario).ok_or_else(|| unknown(name))?;
        session.map_err(|error| anyhow!("{}", error.message))
    }

    /// The header of the scenario that is about to be written.
    fn header(&self, about: &About) -> Result<String> {
        let n = self.n.unwrap_or(about.card.smallest.max(3));
        let mut text = format!("algorithm: {}\nprocesses: {n}\n", about.card.name);
        for (name, value) in &self.parameters.setup(n).parameters {
            writeln!(text, "{name}: {value}")?;
        }
        match self.order {
            Order::Any => {}
            Order::Fifo => text.push_str("order: fifo\n"),
            Order::Causal => text.push_str("order: causal\n"),
        }
        if about.card.multicast {
            text.push_str("multicast: yes\n");
        }
        if let Some(latency) = self.latency {
            writeln!(text, "latency: {latency}")?;
        }
        if let Some(rounds) = self.rounds {
            writeln!(text, "rounds: {rounds}")?;
        }
        writeln!(text, "seed: {}\n---", self.seed)?;
        Ok(text)
    }
}

fn opened(path: &Path) -> Result<Box<dyn Session>> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read {name}; name a scenario, a text file"))?;
    let wrong = |error: ParseError| anyhow!("{}", error.in_file(&name));
    let scenario = Scenario::parse(&text).map_err(wrong)?;
    let session = synod_drivers::session(which, &scenario);
    session.ok_or_else(|| unknown(scenario.algorithm()))?.map_err(wrong)
}
