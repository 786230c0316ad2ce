//! `synod check`: explore every schedule of a small group.

mod explore;
mod report;

use crate::Outcome;
use crate::about::About;
use crate::export::{self, Export};
use crate::options::{Judging, Order, Parameters};
use crate::output::{self, DIM, Output};
use crate::parse;
use crate::words::grouped;
use anyhow::{Result, ensure};
use clap::Args;
use std::path::PathBuf;
use synod_check::{Limits, Question};
use synod_core::card::{Counterexample, Rounds, Scope, Timing};
use synod_core::family::Mutex;
use synod_core::{Family, Setup};
use synod_draw::Scene;
use synod_sim::Judged;

const EXAMPLES: &str = "\
Examples:
  synod check ricart-agrawala                      every schedule of three processes
  synod check ricart-agrawala -n 2 --rounds 3      of two that ask three times each
  synod check ricart-agrawala -n 2 --drops 1       with one lost message
  synod check ra-no-tie-break                      the shortest way in which it goes wrong
  synod check token-unfair                         an endless history that starves somebody
  synod check central-server --scenario me3.txt    keep it; then: synod play me3.txt
  synod check slots --counterexample 1             the first on its card; 'synod show slots' has all

If no flag says otherwise: three processes (or the smallest group), one round each, messages in any
order, nothing goes wrong; up to three processes of mutual exclusion may also tell each other once
that they asked, so that the order of requests can be judged. A mutant is explored where its card
says that it fails. Every property of the family is judged, promised or not, unless --promised or
--property says otherwise.";

/// Memory is measured in mebibytes.
const MIB: u64 = 1 << 20;
/// The most memory that an exploration takes if nobody says otherwise.
const USUAL_MEMORY_MIB: u64 = 8 * 1024;

/// Explore every schedule of a small group, and find the shortest counterexamples
#[derive(Args)]
#[command(after_help = EXAMPLES, allow_negative_numbers = true)]
pub(crate) struct Check {
    /// The algorithm
    #[arg(value_name = "NAME")]
    name: String,
    #[command(flatten)]
    parameters: Parameters,
    #[command(flatten)]
    judging: Judging,
    /// Explore where the counterexample of this number is, of those that 'synod show' lists
    #[arg(long, value_name = "NUMBER", value_parser = parse::positive)]
    counterexample: Option<u64>,
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

/// What is explored.
#[derive(Args)]
#[command(next_help_heading = "Scope")]
struct ScopeFlags {
    /// How many processes there are
    #[arg(short, long = "processes", value_name = "N", value_parser = parse::scope)]
    n: Option<usize>,
    /// How often each process asks: a number, or forever
    #[arg(long, value_name = "K|forever", value_parser = parse::rounds)]
    rounds: Option<Rounds>,
    /// In which order messages may arrive
    #[arg(long, value_enum)]
    order: Option<Order>,
    /// How many messages the applications may send each other
    #[arg(long, value_name = "K", value_parser = parse::budget)]
    tells: Option<u32>,
    /// How many processes may crash
    #[arg(long, value_name = "K", value_parser = parse::budget)]
    crashes: Option<u32>,
    /// How many crashed processes may start again, with their disk
    #[arg(long, value_name = "K", value_parser = parse::budget)]
    restarts: Option<u32>,
    /// How many messages may be lost
    #[arg(long, value_name = "K", value_parser = parse::budget)]
    drops: Option<u32>,
    /// How many messages may arrive twice
    #[arg(long, value_name = "K", value_parser = parse::budget)]
    duplicates: Option<u32>,
    /// How many milliseconds may pass
    #[arg(long, value_name = "K", value_parser = parse::budget)]
    ticks: Option<u32>,
    /// Clocks run alike and every message arrives within this time; or: never [default: as the
    /// algorithm assumes]
    #[arg(long, value_name = "TIME|never", value_parser = parse::bound)]
    bound: Option<Timing>,
    /// How many messages may take longer than that
    #[arg(long, value_name = "K", value_parser = parse::budget)]
    late: Option<u32>,
}

/// When to give up.
#[derive(Args)]
#[command(next_help_heading = "Limits")]
struct LimitFlags {
    /// Give up after so many steps from the start
    #[arg(long, value_name = "STEPS", value_parser = parse::positive)]
    depth: Option<u64>,
    /// Give up after so many different states [default: 50 million]
    #[arg(long, value_name = "STATES", value_parser = parse::positive)]
    states: Option<u64>,
    /// Give up when states take so much memory [default: half of what is free, at most 8192]
    #[arg(long, value_name = "MIB", value_parser = parse::positive)]
    memory: Option<u64>,
    /// On so many threads; the result does not depend on it [default: one for each core]
    #[arg(long, value_name = "T", value_parser = parse::positive)]
    threads: Option<u64>,
}

impl Check {
    /// Explores it.
    pub(crate) fn perform(self, output: &Output) -> Result<Outcome> {
        let about = About::find(&self.name)?;
        let known = self.known(&about)?;
        let (scope, from_card) = match known {
            Some(known) => (known.scope, true),
            None => self.chosen_scope(&about),
        };
        let usually = match known {
            Some(known) => Judged::Only(vec![known.property.to_owned()]),
            None => Judged::All,
        };
        let question = Question {
            scope,
            setup: self.setup(&scope),
            judged: self.judging.judged(&about, usually)?,
            limits: self.limits.limits(),
        };
        // A bad group is refused before the files are opened.
        about.takers(&question.setup)?;
        for file in self.export.files().chain(&self.scenario) {
            ensure!(
                file.parent().is_none_or(|parent| parent == "" || parent.is_dir()),
                "{}: there is no such directory",
                export::unwritable(file)
            );
        }
        let explored = explore::explore(&self.name, &question)?;
        let told = report::Told::new(&about, &question, from_card, explored);
        output.answer(&told, || told.in_words())?;
        self.keep(&told, &about, output)?;
        if !output.is_json() {
            let (seconds, rate) = told.speed();
            let rate = grouped(rate);
            output::note(&format!("{DIM}in {seconds:.3} s: {rate} states a second{DIM:#}\n"));
        }
        Ok(Outcome::of(told.all_hold()))
    }

    /// The parameters of the scope, unless the command line says otherwise.
    fn setup(&self, scope: &Scope) -> Setup {
        let mut setup = Setup::new(scope.n).with_all(scope.set);
        setup.parameters.extend(self.parameters.setup(scope.n).parameters);
        setup
    }

    fn keep(&self, told: &report::Told, about: &About, output: &Output) -> Result<()> {
        let wanted = self.scenario.is_some() || self.export.is_wanted();
        let Some((property, refuted)) = told.first_refutation() else {
            if wanted {
                output::note("nothing is written: there is no counterexample\n");
            }
            return Ok(());
        };
        if let Some(path) = &self.scenario {
            export::write(path, &refuted.scenario)?;
        }
        if self.export.is_wanted() {
            let scene = Scene::new(format!("{}: how {property} fails", about.card.name), told.n());
            self.export.events(scene, &refuted.events, output)?;
        }
        Ok(())
    }

    /// The counterexample of the card that was asked for.
    fn known(&self, about: &About) -> Result<Option<&'static Counterexample>> {
        let Some(number) = self.counterexample else { return Ok(None) };
        ensure!(self.scope.is_empty(), "a counterexample has its own scope: no flag changes that");
        let (name, all) = (about.card.name, about.card.counterexamples);
        let known = all.get(number as usize - 1);
        ensure!(
            known.is_some(),
            "{name} has no counterexample {number}: its card has {}; see `synod show {name}`",
            all.len()
        );
        Ok(known)
    }

    /// The scope, and whether the card chose it.
    fn chosen_scope(&self, about: &About) -> (Scope, bool) {
        let card = &about.card;
        if card.mutant.is_some() && self.scope.is_empty() {
            let asked = |property: &str| {
                self.judging.properties.iter().any(|id| id.eq_ignore_ascii_case(property))
            };
            let known = card.counterexamples.iter().find(|known| asked(known.property));
            if let Some(known) = known.or(card.counterexamples.first()) {
                return (known.scope, true);
            }
        }
        let flags = &self.scope;
        let n = flags.n.unwrap_or(card.smallest.max(3));
        let assumed = match card.tolerates_with(&self.parameters.setup(n)).delay_ms {
            None => Timing::Asynchronous,
            Some(delay_ms) => Timing::Synchronous { delay_ms },
        };
        let tells = u32::from(n <= 3 && about.family == Mutex::NAME);
        let scope = Scope {
            n,
            rounds: flags.rounds.unwrap_or(Rounds::Times(1)),
            order: flags.order.unwrap_or(Order::Any).into(),
            tells: flags.tells.unwrap_or(tells),
            crashes: flags.crashes.unwrap_or(0),
            restarts: flags.restarts.unwrap_or(0),
            drops: flags.drops.unwrap_or(0),
            duplicates: flags.duplicates.unwrap_or(0),
            ticks: flags.ticks.unwrap_or(0),
            timing: flags.bound.unwrap_or(assumed),
            late: flags.late.unwrap_or(0),
            set: &[],
        };
        (scope, false)
    }
}

impl ScopeFlags {
    fn is_empty(&self) -> bool {
        let budgets = [
            self.tells,
            self.crashes,
            self.restarts,
            self.drops,
            self.duplicates,
            self.ticks,
            self.late,
        ];
        self.bound.is_none()
            && self.n.is_none()
            && self.rounds.is_none()
            && self.order.is_none()
            && budgets.iter().all(Option::is_none)
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
            threads: number(self.threads, usual.threads).min(256),
            ..usual
        }
    }
}

/// Half of the memory that is free now, if the system says how much that is.
fn usual_memory_mib() -> u64 {
    let said = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = said.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let free_kib: Option<u64> =
        line.and_then(|rest| rest.trim().strip_suffix("kB")?.trim().parse().ok());
    free_kib.map_or(USUAL_MEMORY_MIB, |kib| (kib / 2 * 1024 / MIB).clamp(64, USUAL_MEMORY_MIB))
}
