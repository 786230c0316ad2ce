//! The results of raising budgets, for people and for programs.

use super::super::report::Told;
use super::{Ladder, More, Rail, Step, Why};
use crate::about::About;
use crate::output::{self, BOLD, DIM, NO, OPEN, YES};
use crate::words;
use serde::Serialize;
use synod_check::Question;
use synod_core::card::Scope;

/// The report.
#[derive(Serialize)]
pub(crate) struct Raised<'l> {
    algorithm: &'static str,
    scopes: Vec<ScopeJson<'l>>,
    /// The refutations, in the words of a single exploration.
    refuted: Vec<&'l Told>,
}

#[derive(Serialize)]
struct ScopeJson<'l> {
    scope: Scope,
    steps: &'l [Step],
    reached: Vec<Reached<'l>>,
}

/// The height that a budget reached.
#[derive(Serialize)]
struct Reached<'l> {
    budget: &'static str,
    /// The number of raises that were explored to the end.
    by: u32,
    why: Option<Why>,
    because: Option<&'l str>,
}

impl<'l> Raised<'l> {
    /// The report on these ladders.
    pub(crate) fn new(about: &About, ladders: &'l [Ladder]) -> Self {
        let scope = |ladder: &'l Ladder| ScopeJson {
            scope: ladder.base.scope,
            steps: &ladder.steps,
            reached: ladder.rails.iter().map(Reached::of).collect(),
        };
        Raised {
            algorithm: about.card.name,
            scopes: ladders.iter().map(scope).collect(),
            refuted: ladders.iter().flat_map(|ladder| &ladder.refuted).collect(),
        }
    }

    /// The first exploration that refuted a property.
    pub(crate) fn first_refuted(&self) -> Option<&'l Told> {
        self.refuted.first().copied()
    }

    /// The heading above the explorations: the scopes.
    pub(crate) fn heading(about: &About, questions: &[Question]) -> String {
        let card = &about.card;
        let mut text = format!("\n{BOLD}{}{BOLD:#}  {DIM}{}{DIM:#}\n", card.name, card.title);
        for (index, question) in questions.iter().enumerate() {
            let scope = output::paragraph("      ", &words::scope(&question.scope));
            text += &format!("  {:>2}{}", index + 1, scope.get(4..).unwrap_or_default());
        }
        let columns = row(["scope", "raised", "states", "depth", "s", ""]);
        text + &format!("\n{BOLD}{}{BOLD:#}\n", columns.trim_end())
    }

    /// One exploration, as soon as it is over.
    pub(crate) fn line(number: usize, step: &Step) -> String {
        let text = row([
            &(number + 1).to_string(),
            &step.what(),
            &words::grouped(step.size.unique_states as u64),
            &step.size.depth.to_string(),
            &format!("{:.1}", step.seconds),
            &step.verdict(),
        ]);
        output::coloured(&text)
    }

    /// The heights, and every counterexample.
    pub(crate) fn in_words(&self) -> String {
        let mut text = output::heading("How far it came");
        let rows = self.scopes.iter().enumerate().flat_map(|(index, scope)| {
            let number =
                move |row: usize| if row == 0 { (index + 1).to_string() } else { String::new() };
            let rows = scope.reached.iter().enumerate();
            rows.map(move |(row, reached)| [vec![number(row)], reached.cells()].concat())
        });
        text += &output::table(&["scope", "budget", "raised by", ""], &["scope"], rows.collect());
        for told in &self.refuted {
            text += &told.in_words();
        }
        text
    }
}

/// A row of fixed widths: rows are printed one by one, before the table is complete.
fn row([scope, raised, states, depth, seconds, verdict]: [&str; 6]) -> String {
    format!("  {scope:>5}  {raised:<28} {states:>13}  {depth:>5}  {seconds:>7}  {verdict}\n")
}

impl Step {
    fn what(&self) -> String {
        let more = |more: &More| format!("{} {}→{}", more.budget, more.from, more.to);
        match (self.all_by, self.raised.is_empty()) {
            (Some(by), _) => format!("{} by {by}", super::TOGETHER),
            (None, true) => "nothing".to_owned(),
            (None, false) => self.raised.iter().map(more).collect::<Vec<_>>().join(", "),
        }
    }

    fn verdict(&self) -> String {
        match (self.limit, self.refuted.is_empty()) {
            (_, false) => format!("{NO} violates {}", self.refuted.join(", ")),
            (None, true) if self.is_rest => format!("{YES} the rest holds"),
            (None, true) => format!("{YES} holds"),
            (Some(limit), true) => {
                let waiting = words::grouped(self.waiting as u64);
                format!("{OPEN} not exhausted: {limit}, {waiting} waiting")
            }
        }
    }
}

impl<'l> Reached<'l> {
    fn of(rail: &'l Rail) -> Self {
        let end = rail.end.as_ref();
        Reached {
            budget: rail.name(),
            by: rail.by,
            why: end.map(|end| end.why),
            because: end.map(|end| end.because.as_str()),
        }
    }

    fn cells(&self) -> Vec<String> {
        let because = self.because.unwrap_or_default();
        vec![self.budget.to_owned(), self.by.to_string(), because.to_owned()]
    }
}
