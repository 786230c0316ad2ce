//! `synod check`: explore every schedule of a small group.

mod explore;
mod raise;
mod report;
mod scope;

use crate::about::About;
use crate::export::{self, Export};
use crate::options::{Judging, Parameters};
use crate::output::{self, DIM, Output};
use crate::parse;
use crate::words::grouped;
use anyhow::{Result, ensure};
use clap::Args;
use raise::{Ladder, Patience, Raised};
use report::Told;
use scope::{ScopeFlags, settings};
use std::path::PathBuf;
use std::time::Duration;
use synod_check::{Limits, Question};
use synod_core::card::{Counterexample, Scope};
use synod_core::{Setup, Verdict};
use synod_sim::Judged;

const EXAMPLES: &str = "\
Examples:
  synod check ricart-agrawala                      every schedule of three processes
  synod check ricart-agrawala -n 2 --rounds 3      of two that ask three times each
  synod check ricart-agrawala -n 2 --drops 1       with one lost message
  synod check ra-no-tie-break                      the shortest history in which it fails
  synod check token-unfair                         an endless history that starves a process
  synod check central-server --scenario me3.txt    keep it; then: synod play me3.txt
  synod check slots --counterexample 1             the first on its card; 'synod show slots' has all
  synod check paxos --raise --time 5m              with a growing fault budget, for five minutes
  synod check reliable -n 3 --crashes 1 --raise=2  from one crash on, each budget by two at most
  synod check raft -n 2 --full                     the same verdicts, without any reduction

Without flags of the scope: the world that the card names, with the faults that matter; 'synod show'
marks it. If it names none, and with flags: three processes (or the smallest group), one round each,
messages in any order, no faults; up to three processes of mutual exclusion may also tell each other
once that they asked, so that the order of requests can be judged. A mutant is explored where its card
says that it fails.
Every property of the family is judged, promised or not, unless --promised or --property is given.

With --raise, the promises are judged in every small world in which the card says that they were
proved (or in the one that flags give): first as it is, then with each fault budget raised by one,
with all of them raised by one, then by two, and so on. Budgets are crashes, restarts, drops,
duplicates and late messages, and parameters that count faults, such as the partitions of the group's
abstract engine. Nothing goes wrong that the card does not tolerate. A budget goes no higher when an
exploration reaches a limit, or when more of it leads nowhere new; the others go on.

An exploration leaves out what is known to change no verdict: messages that their receiver will
ignore, disks that are slow to no effect, states seen before with a larger budget of faults, and more.
With --full it leaves out nothing, and takes longer. Then numbers are not made small again, either, so
that an exploration with --rounds forever may never end unless a limit ends it.";

/// Memory is measured in mebibytes.
const MIB: u64 = 1 << 20;
/// The default bound on the memory of an exploration.
const USUAL_MEMORY_MIB: u64 = 8 * 1024;
/// The default time for raising budgets.
const USUAL_TIME: Duration = Duration::from_secs(600);

/// Explore every schedule of a small group, and find the shortest counterexamples
#[derive(Args)]
#[command(after_help = EXAMPLES, allow_negative_numbers = true)]
pub(crate) struct Check {
    /// The algorithm
    #[arg(value_name = "NAME", value_parser = parse::Name, hide_possible_values = true)]
    name: String,
    #[command(flatten)]
    parameters: Parameters,
    #[command(flatten)]
    judging: Judging,
    /// Explore where counterexample NUMBER is, of those that 'synod show' lists
    #[arg(long, value_name = "NUMBER", value_parser = parse::positive)]
    counterexample: Option<u64>,
    /// Raise the fault budgets step by step, by K at most, until memory or time is used up
    #[arg(long, value_name = "K", value_parser = parse::positive, conflicts_with = "counterexample")]
    #[arg(num_args = 0..=1, require_equals = true)]
    raise: Option<Option<u64>>,
    /// Leave nothing out: explore also what is known to change no verdict
    #[arg(long)]
    full: bool,
    /// Write the first counterexample as a scenario for 'synod play'
    #[arg(long, value_name = "FILE")]
    scenario: Option<PathBuf>,
    #[command(flatten)]
    scope: ScopeFlags,
    #[command(flatten)]
    limits: LimitFlags,
    #[command(flatten)]
    export: Export,
}

/// The limits of an exploration.
#[derive(Args)]
#[command(next_help_heading = "Limits")]
struct LimitFlags {
    /// Give up this many steps from the start
    #[arg(long, value_name = "STEPS", value_parser = parse::positive)]
    depth: Option<u64>,
    /// Give up after this many different states [default: 50 million]
    #[arg(long, value_name = "STATES", value_parser = parse::positive)]
    states: Option<u64>,
    /// Give up when states take this much memory [default: half of the free memory, at most 8192]
    #[arg(long, value_name = "MIB", value_parser = parse::positive)]
    memory: Option<u64>,
    /// Give up after this time, such as 90s, 10m or 2h [default: never; with --raise 10m, for all
    /// explorations together]
    #[arg(long, value_name = "TIME", value_parser = parse::duration)]
    time: Option<Duration>,
    /// The number of threads; the result does not depend on it [default: one for each core]
    #[arg(long, value_name = "T", value_parser = parse::positive)]
    threads: Option<u64>,
}

impl Check {
    /// Explores the algorithm.
    pub(crate) fn perform(self, output: &Output) -> Result<Verdict> {
        let about = About::find(&self.name)?;
        if let Some(at_most) = self.raise {
            return self.raise(&about, at_most, output);
        }
        let named = self.named(&about)?;
        let shown = named.or_else(|| self.usual_counterexample(&about.card));
        let scope = shown.map_or_else(|| self.chosen_scope(&about), |known| known.scope);
        let usually = |_: &Setup| match named {
            Some(known) => Judged::Only(vec![known.property.to_owned()]),
            None => Judged::All,
        };
        let question = self.question(&about, scope, usually)?;
        let explored = explore::explore(&self.name, &question)?;
        let told = Told::new(&about, &question, shown, explored);
        output.answer(&told, || told.in_words())?;
        self.keep(Some(&told), &about, output)?;
        if !output.is_json() {
            let (seconds, rate) = told.speed();
            let rate = grouped(rate);
            output::note(&format!("{DIM}in {seconds:.3} s: {rate} states a second{DIM:#}\n"));
        }
        Ok(told.verdict())
    }

    /// Explores it again and again, with a growing fault budget.
    fn raise(&self, about: &About, at_most: Option<u64>, output: &Output) -> Result<Verdict> {
        let scopes = match self.scope.is_empty() {
            true => about.card.proved(),
            false => vec![self.chosen_scope(about)],
        };
        // A card proves only its promises, and not the other properties of its family.
        let promised = |setup: &Setup| {
            let promised = about.claims.iter().filter(|claim| about.is_promised(claim.id, setup));
            Judged::Only(promised.map(|claim| claim.id.to_owned()).collect())
        };
        let question = |scope| self.question(about, scope, promised);
        let questions = scopes.into_iter().map(question).collect::<Result<Vec<_>>>()?;
        let say = |text: String| if output.is_json() { Ok(()) } else { output.print(&text) };
        say(Raised::heading(about, &questions))?;
        let patience = Patience {
            time: self.limits.time.unwrap_or(USUAL_TIME),
            at_most: at_most.map(|most| most.try_into().unwrap_or(u32::MAX)),
        };
        let ladders = raise::climb(about, questions, patience, &mut |number, step| {
            say(Raised::line(number, step))
        })?;
        let raised = Raised::new(about, &ladders);
        output.answer(&raised, || raised.in_words())?;
        self.keep(raised.first_refuted(), about, output)?;
        Ok(Verdict::on_all(ladders.iter().map(Ladder::verdict)))
    }

    /// The question about this scope. The command line overrides its parameters. Refuses a bad
    /// group before the exploration, and a file that cannot be written.
    fn question(
        &self,
        about: &About,
        scope: Scope,
        usually: impl Fn(&Setup) -> Judged,
    ) -> Result<Question> {
        let mut setup = Setup::new(scope.n).with_all(scope.set);
        setup.parameters.extend(self.parameters.setup(scope.n).parameters);
        about.takers(&setup)?;
        for file in self.export.files().chain(&self.scenario) {
            ensure!(
                file.parent().is_none_or(|parent| parent == "" || parent.is_dir()),
                "{}: there is no such directory",
                export::unwritable(file)
            );
        }
        let is_on_the_card = setup.parameters.len() == scope.set.len() && setup.has_all(scope.set);
        let set = if is_on_the_card { scope.set } else { settings(&setup) };
        Ok(Question {
            scope: Scope { set, ..scope },
            judged: self.judging.judged(about, usually(&setup))?,
            setup,
            limits: self.limits.limits(),
            full: self.full,
        })
    }

    fn keep(&self, told: Option<&Told>, about: &About, output: &Output) -> Result<()> {
        let wanted = self.scenario.is_some() || self.export.is_wanted();
        let found = told.and_then(|told| Some((told.n(), told.first_refutation()?)));
        let Some((n, (property, refuted))) = found else {
            if wanted {
                output::note("nothing is written: there is no counterexample\n");
            }
            return Ok(());
        };
        if let Some(path) = &self.scenario {
            export::write(path, &refuted.scenario)?;
        }
        if self.export.is_wanted() {
            let title = format!("{}: how {property} fails", about.card.name);
            let scene = report::scene_of(&title, n, property, refuted);
            self.export.events(scene, &refuted.events, output)?;
        }
        Ok(())
    }

    /// The counterexample of the card that the user names by its number.
    fn named(&self, about: &About) -> Result<Option<&'static Counterexample>> {
        let Some(number) = self.counterexample else { return Ok(None) };
        ensure!(
            self.scope.is_empty(),
            "a counterexample has its own scope: leave out the flags of the scope"
        );
        let (name, all) = (about.card.name, about.card.counterexamples);
        let known = all.get(number as usize - 1);
        ensure!(
            known.is_some(),
            "{name} has no counterexample {number}: its card has {}; see `synod show {name}`",
            all.len()
        );
        Ok(known)
    }
}

impl LimitFlags {
    fn limits(&self) -> Limits {
        let usual = Limits::default();
        let number = |given: Option<u64>, usual: usize| given.map_or(usual, |given| given as usize);
        Limits {
            depth: number(self.depth, usual.depth),
            states: number(self.states, usual.states),
            memory_mib: number(self.memory, usual_memory_mib() as usize),
            time: self.time,
            threads: number(self.threads, usual.threads).min(256),
            ..usual
        }
    }
}

/// Half of the free memory, if the system reports it.
fn usual_memory_mib() -> u64 {
    let said = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = said.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let free_kib: Option<u64> =
        line.and_then(|rest| rest.trim().strip_suffix("kB")?.trim().parse().ok());
    free_kib.map_or(USUAL_MEMORY_MIB, |kib| (kib / 2 * 1024 / MIB).clamp(64, USUAL_MEMORY_MIB))
}
