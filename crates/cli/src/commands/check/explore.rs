//! Explores an algorithm, whichever it is, and puts its counterexamples into words and events.

use crate::progress::Progress;
use crate::words::grouped;
use anyhow::Result;
use synod_check::{Exploration, Question, Refutation, Unfinished, explore, replay};
use synod_core::Algorithm;
use synod_core::card::Order;
use synod_protocols::Visit;
use synod_sim::scenario::Scenario;
use synod_sim::trace::{Event, Tracer, Window};

/// What is explored.
pub(crate) struct Explore<'q> {
    /// The question.
    pub(crate) question: &'q Question,
}

/// What came of it, whatever the algorithm.
pub(crate) struct Explored {
    /// In which order messages arrived: an endless search may have to keep links in order.
    pub(crate) order: Order,
    /// States reached, counting again those reached again.
    pub(crate) states: u64,
    /// Different states.
    pub(crate) unique: usize,
    /// Steps from the start.
    pub(crate) depth: usize,
    /// Why not every state was seen, if so.
    pub(crate) unfinished: Option<Unfinished>,
    /// How long it took, in seconds.
    pub(crate) seconds: f64,
    /// For each judged property, how it fails, if it does.
    pub(crate) verdicts: Vec<(&'static str, Option<Refuted>)>,
}

/// The shortest history that violates a property.
pub(crate) struct Refuted {
    /// What is wrong in the end.
    pub(crate) because: String,
    /// The steps, in words.
    pub(crate) steps: Vec<String>,
    /// If the history never ends: the number of the step to which it returns.
    pub(crate) returns_to: Option<usize>,
    /// What happens.
    pub(crate) events: Vec<Event>,
    /// The steps as a scenario.
    pub(crate) scenario: String,
}

impl Visit for Explore<'_> {
    type Answer = Result<Explored>;

    fn visit<A: Algorithm>(self) -> Result<Explored> {
        let mut bar = Progress::unknown("states");
        let found = explore::<A>(self.question, |progress| {
            bar.at(progress.states, || {
                format!(
                    "{} unique, depth {}, {} waiting, {} MiB",
                    grouped(progress.unique as u64),
                    progress.depth,
                    grouped(progress.waiting as u64),
                    progress.table_bytes >> 20,
                )
            });
        })?;
        let seconds = bar.finish();
        let Exploration { progress, unfinished, verdicts } = found;
        let tell = |verdict: &synod_check::Verdict<A::Input>| {
            let refuted = verdict.refuted.as_ref();
            let refuted = refuted.map(|refuted| tell::<A>(self.question, refuted)).transpose()?;
            Ok((verdict.property, refuted))
        };
        Ok(Explored {
            order: self.question.plan::<A>().order,
            states: progress.states,
            unique: progress.unique,
            depth: progress.depth,
            unfinished,
            seconds,
            verdicts: verdicts.iter().map(tell).collect::<Result<_>>()?,
        })
    }
}

fn tell<A: Algorithm>(question: &Question, refuted: &Refutation<A::Input>) -> Result<Refuted> {
    let Refutation { violation, history } = refuted;
    let mut kept = Window::new(0, usize::MAX);
    replay::<A>(question, history, Some(Tracer::new(question.scope.n, vec![&mut kept])))?;
    let title = format!("How {} fails {}: {}", A::CARD.name, violation.property, violation.because);
    let plan = question.plan::<A>();
    let scenario = Scenario::from_steps::<A>(&title, &plan, &history.start, &history.steps)?;
    let script = scenario.split_once("\n---\n").map_or("", |(_, script)| script);
    Ok(Refuted {
        because: violation.because.clone(),
        steps: script.lines().map(str::to_owned).collect(),
        returns_to: history.returns_to,
        events: kept.events,
        scenario,
    })
}
