//! `synod run`: simulate one run, or one for each of many seeds; or run it on real sockets.

mod mutant;
mod real;
mod report;
mod swarm;

use crate::about::About;
use crate::export::{Also, Export};
use crate::options::RunFlags;
use crate::output::{self, DIM, Output};
use crate::parallel::threads;
use crate::parse;
use crate::progress::Progress;
use crate::real::{On, RealFlags};
use crate::simulate::simulate;
use crate::words;
use anyhow::{Result, ensure};
use clap::{ArgMatches, Args};
use synod_core::Verdict;
use synod_draw::Scene;
use synod_sim::Options;
use synod_sim::trace::Tracer;

const EXAMPLES: &str = "\
Examples:
  synod run ricart-agrawala -n 5 --requests 100 --seed 42
  synod run central-server -n 3 --requests 4 --draw          watch it
  synod run token-ring --load sequential --latency 1ms       measure it, in hops
  synod run ricart-agrawala --loss 0.01 --max-steps 100000   lose messages
  synod run ra-no-tie-break --seeds 1000                     a thousand runs, all different
  synod run maekawa -n 9 --trace run.jsonl --svg run.svg     keep it
  synod run ricart-agrawala -n 3 --on tcp                    on real sockets
  synod run ricart-agrawala --on tcp --kill p2@300ms         with a real crash in the middle

Without --on, the same flags and the same seed give the same run, on every machine. A mutant runs with
the flags that its card names, unless there are others, and with the first seed with which it fails;
the property that it breaks is judged.";

/// Simulate an algorithm, judge its properties and count its costs
#[derive(Args)]
#[command(after_help = EXAMPLES, allow_negative_numbers = true)]
pub(crate) struct Run {
    /// The algorithm
    #[arg(value_name = "NAME", value_parser = parse::Name, hide_possible_values = true)]
    name: String,
    /// The seed of all random choices [default: 1; for a mutant, the first with which it fails]
    #[arg(short, long, value_name = "SEED")]
    seed: Option<u64>,
    /// Run once for each of K seeds, beginning with --seed
    #[arg(long, value_name = "K", value_parser = parse::positive)]
    #[arg(conflicts_with_all = ["trace", "svg", "shiviz", "mermaid", "draw", "digest"])]
    seeds: Option<u64>,
    /// The number of threads; the result does not depend on it [default: one for each core]
    #[arg(long, value_name = "T", value_parser = parse::positive, requires = "seeds")]
    threads: Option<u64>,
    /// Draw the run in the terminal
    #[arg(long)]
    draw: bool,
    /// Compute the digest of the trace: equal digests, equal runs
    #[arg(long)]
    digest: bool,
    #[command(flatten)]
    flags: RunFlags,
    #[command(flatten)]
    real: RealFlags,
    #[command(flatten)]
    export: Export,
}

impl Run {
    /// Runs the algorithm.
    pub(crate) fn perform(self, matches: &ArgMatches, output: &Output) -> Result<Verdict> {
        let about = About::find(&self.name)?;
        if let Some(on) = self.real.on {
            let options = self.flags.real_options(&about, self.seed.unwrap_or(1))?;
            return self.once(&about, options, self.flags.requests, Some(on), output);
        }
        let shown = mutant::flags(&about.card, matches)?;
        let flags = shown.as_ref().unwrap_or(&self.flags);
        let options = flags.options(&about, self.seed.unwrap_or(1))?;
        match self.seeds {
            None => {
                let options = match self.seed {
                    Some(_) => options,
                    None => mutant::failing(&about, options)?,
                };
                self.once(&about, options, flags.requests, None, output)
            }
            Some(seeds) => {
                let first = self.seed.unwrap_or(1);
                ensure!(
                    first.checked_add(seeds).is_some(),
                    "--seed {first} leaves no room for {seeds} seeds; choose a smaller one"
                );
                let swarm = swarm::Swarm {
                    about: &about,
                    options: &options,
                    first,
                    seeds,
                    threads: threads(self.threads),
                };
                swarm.perform(&|seed| replay_command(matches, seed), output)
            }
        }
    }

    fn once(
        &self,
        about: &About,
        options: Options,
        requests: u64,
        on: Option<On>,
        output: &Output,
    ) -> Result<Verdict> {
        let n = options.plan.setup.n;
        ensure!(
            !(self.draw && output.is_json()),
            "--draw draws on standard output, where -o json writes; leave one of them out"
        );
        let scene = || Scene::new(format!("{}, seed {}", about.card.name, options.seed), n);
        let also = Also { digest: self.digest, draw: self.draw };
        let mut sinks = self.export.open(&scene(), output, also)?;
        let mut progress = Progress::of(requests, "requests");
        let traced = sinks.all();
        let tracer = (!traced.is_empty()).then(|| Tracer::new(n, traced));
        let (report, facts) = match on {
            None => {
                let report = simulate(about, options.clone(), tracer, &mut |steps, operations| {
                    progress.at(operations, || format!("{} steps", words::grouped(steps)));
                })?;
                (report, None)
            }
            Some(on) => {
                let progress = &mut |operations| progress.at(operations, String::new);
                let real = self.real.run(on, about, options.clone(), tracer, progress)?;
                (real.report, Some(real.facts))
            }
        };
        let seconds = progress.finish();
        let told = report::Told::new(about, &options, requests, &report);
        let told = told?.with_digest(sinks.digest()).with_facts(facts.as_ref());
        output.answer(&told, || told.in_words())?;
        self.export.draw(scene(), &sinks, output)?;
        // The report of a real run has its own speed.
        if !output.is_json() && facts.is_none() {
            speed(report.meter.events, seconds);
        }
        Ok(report.verdict())
    }
}

/// The speed: on standard error, because it is never the same twice.
fn speed(events: u64, seconds: f64) {
    let rate = words::grouped((events as f64 / seconds.max(1e-6)) as u64);
    output::note(&format!("{DIM}in {seconds:.3} s: {rate} events a second{DIM:#}\n"));
}

/// The command that repeats the run of one seed: all given flags, but for those about the swarm.
fn replay_command(matches: &ArgMatches, seed: u64) -> String {
    const OF_THE_SWARM: [&str; 4] = ["seed", "seeds", "threads", "output"];
    use clap::CommandFactory;
    let mut words = vec!["synod".to_owned(), "run".to_owned()];
    let command = crate::Cli::command();
    let (Some(run), Some(("run", matches))) =
        (command.find_subcommand("run"), matches.subcommand())
    else {
        return words.join(" ");
    };
    for argument in run.get_arguments() {
        let id = argument.get_id().as_str();
        let given = matches.value_source(id) == Some(clap::parser::ValueSource::CommandLine);
        if !given || OF_THE_SWARM.contains(&id) {
            continue;
        }
        let flag = match (id, argument.get_long()) {
            ("n", _) => Some("-n".to_owned()),
            (_, long) => long.map(|long| format!("--{long}")),
        };
        if !argument.get_action().takes_values() {
            words.extend(flag);
            continue;
        }
        for value in matches.get_raw(id).into_iter().flatten() {
            words.extend(flag.clone());
            words.push(words::shell_quoted(&value.to_string_lossy()));
        }
    }
    words.push(format!("--seed {seed}"));
    words.join(" ")
}
