//! `synod check --raise`: the same question again, with a growing fault budget.
//!
//! Each scope is a ladder. First it is explored as it is; then each fault budget is raised by one,
//! then all of them together; then by two, and so on. A budget goes no higher once an exploration
//! reached a limit, the card does not tolerate more, or more of it led to no new state. All budgets
//! that still go on share the remaining time, so that no large scope uses up the time of a small
//! one.

mod report;

pub(super) use report::Raised;

use super::explore::explore;
use super::report::Told;
use super::scope::settings;
use crate::about::About;
use crate::words;
use anyhow::Result;
use serde::Serialize;
use std::time::{Duration, Instant};
use synod_check::{Question, Unfinished};
use synod_core::{Budget, Verdict};
use synod_drivers::{Explored, Refuted};
use synod_sim::Judged;

/// The name for raising all budgets at once.
const TOGETHER: &str = "all together";

/// The bounds on time and height.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// All explorations together take about this long.
    pub(super) time: Duration,
    /// The largest raise of a budget, if the user names one.
    pub(super) at_most: Option<u32>,
}

/// One scope, and its raised budgets.
pub(super) struct Ladder {
    base: Question,
    rails: Vec<Rail>,
    steps: Vec<Step>,
    /// The refutations, in order.
    refuted: Vec<Told>,
    /// Whether all properties are refuted, so that none is left to judge.
    is_refuted: bool,
}

/// One budget, or all together.
struct Rail {
    /// None: all together.
    budget: Option<Budget>,
    /// The last question that was answered to the end.
    question: Question,
    size: Size,
    /// The number of raises so far.
    by: u32,
    end: Option<End>,
}

/// The reason why a budget was raised no further.
#[derive(Clone, Debug, Serialize)]
struct End {
    /// In one word.
    why: Why,
    /// In a sentence.
    because: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Why {
    /// The card tolerates no more.
    Tolerance,
    /// There was no memory or no time left, or another limit was reached.
    Limit,
    /// One more fault leads to no new state.
    NothingNew,
    /// Every property was refuted.
    Refuted,
    /// The user wants no more.
    Asked,
}

/// The size of an exploration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
struct Size {
    states: u64,
    unique_states: usize,
    depth: usize,
}

/// A raised budget.
#[derive(Clone, Copy, Debug, Serialize)]
struct More {
    budget: &'static str,
    from: u32,
    to: u32,
}

/// One exploration.
#[derive(Serialize)]
pub(super) struct Step {
    raised: Vec<More>,
    #[serde(flatten)]
    size: Size,
    exhausted: bool,
    limit: Option<&'static str>,
    waiting: usize,
    /// The judged properties: all that were not refuted before.
    judged: Vec<&'static str>,
    /// The refuted properties among them.
    refuted: Vec<&'static str>,
    /// The verdict on all of them together.
    holds: Verdict,
    /// The command that asks the same question alone.
    command: String,
    /// Whether an earlier step refuted a property, so that this one does not judge it.
    #[serde(skip)]
    is_rest: bool,
    /// The number of raises, if all budgets were raised together.
    #[serde(skip)]
    all_by: Option<u32>,
    #[serde(skip)]
    seconds: f64,
}

/// Raises budgets in each of these questions. Reports each exploration when it is over, with the
/// number of its scope.
pub(super) fn climb(
    about: &About,
    questions: Vec<Question>,
    patience: Patience,
    told: &mut dyn FnMut(usize, &Step) -> Result<()>,
) -> Result<Vec<Ladder>> {
    let until = Instant::now() + patience.time;
    let mut ladders: Vec<Ladder> = questions.into_iter().map(Ladder::new).collect();
    let scopes = ladders.len();
    for (number, ladder) in ladders.iter_mut().enumerate() {
        ladder.set_up(about, share(until, scopes - number))?;
        told(number, ladder.last_step())?;
    }
    for by in 1.. {
        let places = |(number, ladder): (usize, &Ladder)| -> Vec<(usize, usize)> {
            ladder.open().map(|rail| (number, rail)).collect()
        };
        let open: Vec<_> = ladders.iter().enumerate().flat_map(places).collect();
        if open.is_empty() {
            break;
        }
        // Half of the time is kept for later rounds, if there are any.
        let keep = if patience.at_most == Some(by) { 0 } else { open.len() };
        for (index, (number, rail)) in open.iter().enumerate() {
            let ladder = &mut ladders[*number];
            if patience.at_most.is_some_and(|most| by > most) {
                let because = format!("no more than {} was asked for", by - 1);
                ladder.rails[*rail].end = Some(End { why: Why::Asked, because });
            } else if ladder.is_refuted {
                ladder.rails[*rail].end = Some(End::refuted());
            } else {
                let explored =
                    ladder.raise(about, *rail, share(until, keep + open.len() - index))?;
                if explored {
                    told(*number, ladder.last_step())?;
                }
            }
        }
    }
    Ok(ladders)
}

/// The remaining time, divided among this many explorations.
fn share(until: Instant, among: usize) -> Duration {
    until.saturating_duration_since(Instant::now()) / among.max(1) as u32
}

impl End {
    fn refuted() -> Self {
        End { why: Why::Refuted, because: "everything that was judged is refuted".to_owned() }
    }
}

impl Ladder {
    fn new(base: Question) -> Self {
        Ladder {
            base,
            rails: Vec::new(),
            steps: Vec::new(),
            refuted: Vec::new(),
            is_refuted: false,
        }
    }

    /// The verdict on the scope as it is, unless a raised budget refuted a property. A limit that
    /// only ends the raising leaves no question open: it asks how far budgets can be raised.
    pub(super) fn verdict(&self) -> Verdict {
        match (self.refuted.is_empty(), self.steps.first()) {
            (false, _) => Verdict::Violated,
            (true, Some(step)) => step.holds,
            (true, None) => Verdict::Undecided,
        }
    }

    fn last_step(&self) -> &Step {
        self.steps.last().expect("something was explored")
    }

    fn open(&self) -> impl Iterator<Item = usize> {
        (0..self.rails.len()).filter(|rail| self.rails[*rail].end.is_none())
    }

    /// Explores the scope as it is. Budgets are raised only if that came to an end.
    fn set_up(&mut self, about: &About, time: Duration) -> Result<()> {
        let question = self.base.clone();
        let end = self.explore(about, &question, None, time)?;
        let size = self.last_step().size;
        let rail =
            |budget| Rail { budget, question: self.base.clone(), size, by: 0, end: end.clone() };
        let budgets = Budget::all(&about.card, &self.base.scope, &self.base.setup);
        let mut rails: Vec<Rail> = budgets.into_iter().map(|budget| rail(Some(budget))).collect();
        let may = |rail: &&Rail| {
            let mut question = rail.question.clone();
            rail.raise(about, &mut question).is_ok()
        };
        // With a single budget to raise, all together would ask the same question twice.
        if rails.iter().filter(may).count() > 1 {
            rails.push(rail(None));
        }
        self.rails = rails;
        Ok(())
    }

    /// Raises one budget by one more, or all. Returns whether there was a question to explore.
    fn raise(&mut self, about: &About, rail: usize, time: Duration) -> Result<bool> {
        let mut question = self.rails[rail].question.clone();
        question.judged = self.base.judged.clone();
        let raised = match self.rails[rail].raise(about, &mut question) {
            Ok(()) if time.is_zero() => {
                Err(End { why: Why::Limit, because: "there was no time left".to_owned() })
            }
            raised => raised,
        };
        if let Err(end) = raised {
            self.rails[rail].end = Some(end);
            return Ok(false);
        }
        let all_by = self.rails[rail].budget.is_none().then_some(self.rails[rail].by + 1);
        let end = self.explore(about, &question, all_by, time)?;
        let size = self.last_step().size;
        let rail = &mut self.rails[rail];
        rail.end = end;
        if rail.end.is_none() {
            rail.by += 1;
            if rail.size == size {
                let because = "once more leads to no state that was not seen".to_owned();
                rail.end = Some(End { why: Why::NothingNew, because });
            }
            (rail.question, rail.size) = (question, size);
        }
        Ok(true)
    }

    /// Explores; returns the reason to stop, if there is one. Refuted properties are not judged
    /// again.
    fn explore(
        &mut self,
        about: &About,
        question: &Question,
        all_by: Option<u32>,
        time: Duration,
    ) -> Result<Option<End>> {
        let mut question = question.clone();
        question.limits.time = Some(time);
        question.scope.set = settings(&question.setup);
        let (explored, seconds) = explore(about.card.name, &question)?;
        let step = self.step(about, &question, &explored, all_by, seconds);
        let fails = |property: &&str| step.refuted.contains(property);
        let judged = explored.verdicts.iter().map(|(property, _)| *property);
        let open: Vec<String> = judged.filter(|id| !fails(id)).map(str::to_owned).collect();
        self.is_refuted = open.is_empty();
        let end = match step.limit {
            _ if self.is_refuted => Some(End::refuted()),
            None => None,
            Some(limit) => {
                let states = words::grouped(step.size.unique_states as u64);
                let because = format!("the limit of {limit} was reached, with {states} states");
                Some(End { why: Why::Limit, because })
            }
        };
        self.base.judged = Judged::Only(open);
        if !step.refuted.is_empty() {
            self.refuted.push(Told::new(about, &question, None, (explored, seconds)));
        }
        self.steps.push(step);
        Ok(end)
    }

    fn step(
        &self,
        about: &About,
        question: &Question,
        explored: &Explored,
        all_by: Option<u32>,
        seconds: f64,
    ) -> Step {
        let (limit, waiting) = match explored.unfinished {
            Some(Unfinished::Limit(limit, waiting)) => (Some(limit), waiting),
            Some(Unfinished::Cancelled(waiting)) => (Some("patience"), waiting),
            Some(Unfinished::AllRefuted) | None => (None, 0),
        };
        let refuted = explored.verdicts.iter().filter(|(_, refuted)| refuted.is_some());
        let progress = explored.progress;
        Step {
            raised: self.raised_in(about, question),
            size: Size {
                states: progress.states,
                unique_states: progress.unique,
                depth: progress.depth,
            },
            exhausted: explored.unfinished.is_none(),
            limit,
            waiting,
            judged: explored.verdicts.iter().map(|(property, _)| *property).collect(),
            refuted: refuted.map(|(property, _)| *property).collect(),
            holds: Verdict::on_all(explored.verdicts()),
            command: command(about, question, &explored.verdicts),
            is_rest: !self.refuted.is_empty(),
            all_by,
            seconds,
        }
    }

    /// The budgets that are larger than at first.
    fn raised_in(&self, about: &About, question: &Question) -> Vec<More> {
        let base = &self.base;
        let more = |budget: Budget| More {
            budget: budget.name(),
            from: budget.allowed(&base.scope, &base.setup),
            to: budget.allowed(&question.scope, &question.setup),
        };
        let budgets = Budget::all(&about.card, &base.scope, &base.setup);
        budgets.into_iter().map(more).filter(|more| more.from != more.to).collect()
    }
}

impl Rail {
    /// The name in flags.
    fn name(&self) -> &'static str {
        self.budget.map_or(TOGETHER, Budget::name)
    }

    /// Raises the budget by one; for all together, each as far as the card tolerates it.
    fn raise(&self, about: &About, question: &mut Question) -> Result<(), End> {
        let card = &about.card;
        let Question { scope, setup, .. } = question;
        let refused = |because| End { why: Why::Tolerance, because };
        if let Some(budget) = self.budget {
            return budget.raise(card, scope, setup).map_err(refused);
        }
        let mut some = false;
        for budget in Budget::all(card, scope, setup) {
            some |= budget.raise(card, scope, setup).is_ok();
        }
        let none = || refused("its card lets nothing more go wrong".to_owned());
        if some { Ok(()) } else { Err(none()) }
    }
}

/// The command that asks this question alone.
fn command(about: &About, question: &Question, judged: &[(&str, Option<Refuted>)]) -> String {
    let properties: Vec<&str> = judged.iter().map(|(property, _)| *property).collect();
    words::check_command(&about.card, &question.scope, &properties)
}
