//! The results of an exploration, for people and for programs.

use crate::about::{About, Claim};
use crate::output::{self, BOLD, DIM};
use crate::words;
use serde::Serialize;
use synod_check::{Question, Unfinished};
use synod_core::Verdict;
use synod_core::card::{Counterexample, Scope};
use synod_draw::{Scene, terminal};
use synod_drivers::{Explored, Refuted};

/// The report on an exploration.
#[derive(Serialize)]
pub(crate) struct Told {
    algorithm: &'static str,
    n: usize,
    scope: Scope,
    states: u64,
    unique_states: usize,
    depth: usize,
    exhausted: bool,
    /// The limit that was reached, if one was.
    limit: Option<&'static str>,
    /// The number of states still to be expanded then.
    waiting: usize,
    /// What the card tells of the counterexample in this world.
    story: Option<&'static str>,
    verdicts: Vec<VerdictJson>,
    #[serde(skip)]
    title: &'static str,
    /// The counterexample of the card whose world this is.
    #[serde(skip)]
    shown: Option<&'static Counterexample>,
    #[serde(skip)]
    seconds: f64,
}

#[derive(Serialize)]
struct VerdictJson {
    property: &'static str,
    holds: Verdict,
    promised: bool,
    history: Option<Vec<String>>,
    /// If the history never ends: the number of the step, from 0, to which it returns.
    returns_to: Option<usize>,
    because: Option<String>,
    #[serde(skip)]
    claim: Option<Claim>,
    #[serde(skip)]
    refuted: Option<Refuted>,
}

impl Told {
    /// The report on this exploration.
    pub(crate) fn new(
        about: &About,
        question: &Question,
        shown: Option<&'static Counterexample>,
        (explored, seconds): (Explored, f64),
    ) -> Self {
        let (limit, waiting) = match explored.unfinished {
            Some(Unfinished::Limit(limit, waiting)) => (Some(limit), waiting),
            Some(Unfinished::Cancelled(waiting)) => (Some("patience"), waiting),
            Some(Unfinished::AllRefuted) | None => (None, 0),
        };
        let verdict = |(property, refuted): (&'static str, Option<Refuted>)| {
            let claim = about.claim(property).copied();
            VerdictJson {
                property,
                holds: Unfinished::verdict(explored.unfinished, refuted.is_some()),
                promised: about.is_promised(property, &question.setup),
                history: refuted.as_ref().map(|refuted| refuted.steps.clone()),
                returns_to: refuted.as_ref().and_then(|refuted| refuted.returns_to),
                because: refuted.as_ref().map(|refuted| refuted.because.clone()),
                claim,
                refuted,
            }
        };
        Told {
            algorithm: about.card.name,
            n: question.scope.n,
            scope: Scope { order: explored.order, ..question.scope },
            states: explored.progress.states,
            unique_states: explored.progress.unique,
            depth: explored.progress.depth,
            exhausted: explored.unfinished.is_none(),
            limit,
            waiting,
            story: shown.map(|known| known.story),
            verdicts: explored.verdicts.into_iter().map(verdict).collect(),
            title: about.card.title,
            shown,
            seconds,
        }
    }

    /// The number of processes.
    pub(crate) fn n(&self) -> usize {
        self.n
    }

    /// The verdict on all judged properties together.
    pub(crate) fn verdict(&self) -> Verdict {
        Verdict::on_all(self.verdicts.iter().map(|judged| judged.holds))
    }

    /// The first property that fails, and how.
    pub(crate) fn first_refutation(&self) -> Option<(&'static str, &Refuted)> {
        self.verdicts.iter().find_map(|v| Some((v.property, v.refuted.as_ref()?)))
    }

    /// For people.
    pub(crate) fn in_words(&self) -> String {
        let mut text = format!("\n{BOLD}{}{BOLD:#}  {DIM}{}{DIM:#}\n", self.algorithm, self.title);
        let by_card =
            if self.shown.is_some() { " (where its card says that it fails)" } else { "" };
        text += &output::paragraph("  ", &format!("{}{by_card}", words::scope(&self.scope)));
        text += &format!("  {}\n\n", self.extent());
        let rows = self.verdicts.iter().map(|verdict| self.row(verdict)).collect();
        text += &output::table(&["", "", "", ""], &[], rows);
        // The history of a violated property begins with its sentence.
        let others = self.verdicts.iter().filter(|verdict| verdict.refuted.is_none());
        text += &output::legend(others.filter_map(|v| Some(v.claim?.sentence())));
        for verdict in &self.verdicts {
            if let Some(refuted) = &verdict.refuted {
                text += &self.history_in_words(verdict, refuted);
            }
        }
        text
    }

    fn extent(&self) -> String {
        let unique = words::count(self.unique_states as u64, "state", "states");
        let depth = words::count(self.depth as u64, "step", "steps");
        let states = words::grouped(self.states);
        format!("{unique} ({states} with those seen again), {depth} deep")
    }

    fn row(&self, verdict: &VerdictJson) -> Vec<String> {
        let promise = if verdict.promised { "" } else { "not promised" };
        let outcome = match &verdict.refuted {
            Some(refuted) => {
                let steps = words::count(refuted.steps.len() as u64, "step", "steps");
                format!("violated in {steps}: {}", refuted.because)
            }
            None if self.exhausted => "holds in every reachable state".to_owned(),
            None => format!(
                "not decided: no violation up to depth {}, but the limit of {} was reached, still \
                 growing with {} states waiting",
                self.depth,
                self.limit.unwrap_or_default(),
                words::grouped(self.waiting as u64)
            ),
        };
        let name = verdict.claim.map_or_else(|| verdict.property.to_owned(), |claim| claim.title());
        vec![output::sign(verdict.holds).to_owned(), name, promise.to_owned(), outcome]
    }

    fn history_in_words(&self, verdict: &VerdictJson, refuted: &Refuted) -> String {
        let property = verdict.property;
        let mut text = output::heading(&format!("How {property} fails"));
        if let Some(claim) = verdict.claim {
            text += &output::paragraph("  ", &claim.sentence());
        }
        for (index, step) in refuted.steps.iter().enumerate() {
            if refuted.returns_to == Some(index) {
                text += &format!("  {DIM}from here on, again and again:{DIM:#}\n");
            }
            text += &format!("  {:>2}. {step}\n", index + 1);
        }
        if let Some(step) = refuted.returns_to {
            text += &format!("  {DIM}and back to step {}, for ever{DIM:#}\n", step + 1);
        }
        let scene = scene_of("", self.n, property, refuted);
        let picture = terminal::draw(&scene, &refuted.events, output::width());
        text += &format!("\n{picture}");
        text += &output::paragraph("  ", &format!("✗ {}", refuted.because));
        let told = self.shown.filter(|known| known.property == property);
        text + &told.map_or_else(String::new, |known| {
            output::heading("The story on its card") + &output::paragraph("  ", known.story)
        })
    }

    /// The duration in seconds, and the number of states in a second.
    pub(crate) fn speed(&self) -> (f64, u64) {
        (self.seconds, (self.states as f64 / self.seconds.max(1e-6)) as u64)
    }
}

/// The scene of a counterexample: a history that ends too early says so.
pub(super) fn scene_of(title: &str, n: usize, property: &str, refuted: &Refuted) -> Scene {
    let scene = Scene::new(title, n);
    if refuted.at_the_end {
        return scene.with_ending(format!("{property} violated: {}", refuted.because));
    }
    scene
}
