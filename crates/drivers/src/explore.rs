//! Explores any algorithm of a catalogue, and turns its counterexamples into words, events and
//! scenarios.

use crate::Catalogue;
use synod_check::{
    Exploration, Judgement, Progress, Question, Refutation, Unfinished, replay_boxed,
};
use synod_core::card::Order;
use synod_core::family::AnyInput;
use synod_core::{Algorithm, Boxed, Monitor, SetupError, Verdict};
use synod_sim::Judged;
use synod_sim::scenario::Scenario;
use synod_sim::trace::{Event, Tracer, Window};

/// The result of an exploration.
pub struct Explored {
    /// The order of delivery: an endless search may have to keep links in order.
    pub order: Order,
    /// The number of states and steps.
    pub progress: Progress,
    /// The reason why the exploration did not visit every state, if it did not.
    pub unfinished: Option<Unfinished>,
    /// Each judged property, with its counterexample if it has one.
    pub verdicts: Vec<(&'static str, Option<Refuted>)>,
}

impl Explored {
    /// The verdict on each judged property.
    pub fn verdicts(&self) -> impl Iterator<Item = Verdict> + '_ {
        let unfinished = self.unfinished;
        self.verdicts
            .iter()
            .map(move |(_, refuted)| Unfinished::verdict(unfinished, refuted.is_some()))
    }
}

/// The shortest history that violates a property.
pub struct Refuted {
    /// The violation in words.
    pub because: String,
    /// The steps, in words.
    pub steps: Vec<String>,
    /// The number of steps.
    pub length: usize,
    /// If the history never ends: the number of the step to which it returns.
    pub returns_to: Option<usize>,
    /// Whether the violation is that the history ends, or goes round, and a process still waits.
    pub at_the_end: bool,
    /// The events.
    pub events: Vec<Event>,
    /// The steps as a scenario, which expects the violation at its end.
    pub scenario: String,
    /// Whether a repetition of the history shows the violation: in its last step, or because the
    /// waiting process still waits.
    pub shown: bool,
}

/// Explores the algorithm of that name, if the catalogue has it. Fails with a [`SetupError`] if the
/// algorithm refuses the group.
pub fn explore(
    catalogue: Catalogue,
    name: &str,
    question: &Question,
    progress: &mut dyn FnMut(&Progress),
) -> Option<Result<Explored, SetupError>> {
    let which = catalogue(name)?;
    Some(explore_boxed(&question.running(which), progress))
}

fn explore_boxed(
    question: &Question,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Explored, SetupError> {
    let found = synod_check::explore_boxed(question, progress)?;
    let Exploration { progress, unfinished, verdicts } = found;
    let tell = |verdict: &Judgement<AnyInput>| {
        let refuted = verdict.refuted.as_ref();
        (verdict.property, refuted.map(|refuted| in_words(question, refuted)))
    };
    let verdicts = verdicts.iter().map(tell).collect();
    let order = question.plan::<Boxed>().order;
    Ok(Explored { order, progress, unfinished, verdicts })
}

fn in_words(question: &Question, refuted: &Refutation<AnyInput>) -> Refuted {
    const AGAIN: &str = "what was found happens again";
    let Refutation { violation, history } = refuted;
    let mut kept = Window::new(0, usize::MAX);
    let tracer = Tracer::new(question.scope.n, vec![&mut kept]);
    let end = replay_boxed(question, history, Some(tracer)).expect(AGAIN).world;
    // Some properties about the end can fail in a step, too.
    let fails_in_a_step = end.found().contains(violation);
    let is_about_the_end = !fails_in_a_step && end.family().liveness.contains(&violation.property);
    let waits = || end.monitor().waiting(violation.property).contains(violation.at);
    let shown = fails_in_a_step || is_about_the_end && waits();
    let plan = question.plan::<Boxed>();
    let card = Boxed::kit(&plan.setup).card;
    let title = format!("How {} fails {}: {}", card.name, violation.property, violation.because);
    let scenario = Scenario::from_steps::<Boxed>(&title, &plan, &history.start, &history.steps);
    let mut scenario = scenario.expect(AGAIN);
    let script = scenario.split_once("\n---\n").map_or("", |(_, script)| script);
    let steps = script.lines().map(str::to_owned).collect();
    // A scenario judges what its algorithm is usually judged by.
    if Judged::All.ids::<Boxed>(&plan.setup).contains(&violation.property) {
        scenario += &match is_about_the_end {
            true => format!("expect {} waits\n", violation.at),
            false => format!("expect violated {}\n", violation.property),
        };
    }
    Refuted {
        because: violation.because.clone(),
        steps,
        length: history.steps.len(),
        returns_to: history.returns_to,
        at_the_end: is_about_the_end,
        events: kept.events,
        scenario,
        shown,
    }
}
