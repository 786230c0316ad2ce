//! What one fault does: each cell is the result of an exploration.

use super::report::{Cell, Explored, Found};
use crate::about::{About, unknown};
use crate::catalogue::which;
use crate::words;
use anyhow::Result;
use synod_check::Question;
use synod_core::card::Scope;
use synod_core::{Algorithm, Boxed, Setup, Verdict};
use synod_sim::Judged;

pub(super) const NOTES: &[(&str, &str)] = &[
    ("a crash", "any process crashes, at any time, and does not come back"),
    (
        "then all end",
        "after it, every property about the end holds, promised or not: no one is blocked",
    ),
    ("a loss", "any message is lost"),
    ("a copy", "any message arrives twice"),
    ("✓", "every promise of the card holds in every state, of so many"),
    ("✗", "this promise does not, and so many steps show it"),
    ("?", "no violation was found in so many states, and there are more: --states goes on"),
];

/// The cells of the row of an algorithm.
pub(super) fn row(about: &About, states: usize) -> Result<Vec<Cell>> {
    let usual = usual(about);
    let setup = Setup::new(usual.n).with_all(usual.set);
    let promises = about.card.promises_with(&setup);
    let crash = Scope { crashes: 1, ..usual };
    let explored = |column, scope, properties| explored(about, column, scope, properties, states);
    Ok(vec![
        explored("a crash", crash, promises)?,
        explored("then all end", crash, liveness(about, setup))?,
        explored("a loss", Scope { drops: 1, ..usual }, promises)?,
        explored("a copy", Scope { duplicates: 1, ..usual }, promises)?,
    ])
}

/// The properties about the end, promised or not.
fn liveness(about: &About, setup: Setup) -> &'static [&'static str] {
    let which = which(about.card.name).expect("it is in the catalogue");
    Boxed::kit(&setup.running(which)).family.liveness
}

/// Whether this line of a scenario is a fault.
fn is_fault(line: &&String) -> bool {
    ["crash", "drop", "duplicate"].iter().any(|fault| line.contains(fault))
}

/// A world of three processes, or of as many as there must be, without faults: as the card has it.
/// Of an algorithm that survives crashes with a failure detector, the world with one.
fn usual(about: &About) -> Scope {
    let proved = about.card.proved();
    let largest = proved.iter().map(|scope| scope.n).filter(|n| *n <= 3).max();
    let of_size = |scope: &&Scope| largest.is_none_or(|n| scope.n == n);
    let detects = |scope: &&Scope| scope.set.iter().any(|(name, _)| *name == "detector");
    let with_detector = proved.iter().filter(of_size).find(detects);
    let first = with_detector.or_else(|| proved.iter().find(of_size));
    let scope = first.copied().unwrap_or(Scope::of(3));
    let (crashes, restarts, drops, duplicates, late, ticks) = (0, 0, 0, 0, 0, 0);
    Scope { crashes, restarts, drops, duplicates, late, ticks, ..scope }
}

fn explored(
    about: &About,
    column: &'static str,
    scope: Scope,
    properties: &[&'static str],
    states: usize,
) -> Result<Cell> {
    let mut question = Question::new(scope);
    question.judged = Judged::Only(properties.iter().map(|&id| id.to_owned()).collect());
    question.limits.states = states;
    question.limits.threads = 1;
    let name = about.card.name;
    let found = synod_drivers::explore(which, name, &question, &mut |_| ());
    let found = found.ok_or_else(|| unknown(name))??;
    let refuted = found.verdicts.iter().filter_map(|(id, refuted)| Some((*id, refuted.as_ref()?)));
    let shortest = refuted.min_by_key(|(_, refuted)| refuted.length);
    let verdict = Verdict::on_all(found.verdicts());
    Ok(Cell {
        column,
        found: Found::Explored(Explored {
            holds: verdict,
            violated: shortest.map(|(id, _)| id),
            steps: shortest.map(|(_, refuted)| refuted.length),
            fault: shortest.and_then(|(_, refuted)| refuted.steps.iter().find(is_fault).cloned()),
            states: found.progress.unique,
            command: words::check_command(&about.card, &scope, properties),
        }),
    })
}
