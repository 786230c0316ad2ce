//! A history: all that is needed to make the same things happen again, in any driver.

use crate::explorer::{print, roots};
use crate::lasso::{Duty, duty};
use crate::question::Question;
use crate::successors::Successors;
use std::io;
use synod_core::{Algorithm, SetupError};
use synod_sim::count::Meter;
use synod_sim::trace::Tracer;
use synod_sim::world::{Driver, FaultsLeft, Happening, Step, World};

/// What happened, step by step, from the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History<I> {
    /// The choices made while the processes started.
    pub start: Vec<u32>,
    /// The steps.
    pub steps: Vec<Step<I>>,
    /// If the history never ends: the number of the step to which it returns, for ever.
    pub returns_to: Option<usize>,
}

/// Where a history goes next.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Way {
    /// To the successor with that number.
    Successor(u32),
    /// To the state with this fingerprint, doing this duty. On a circle numbers are of no use:
    /// equal states differ in the places of their messages, and successors are numbered by place.
    State(u64, Option<Duty>),
}

/// Follows a way from a root, and notes what happens on it.
pub(crate) fn follow<A: Algorithm>(
    question: &Question,
    root: usize,
    ways: impl IntoIterator<Item = Way>,
) -> Result<History<A::Input>, SetupError> {
    let normal = question.is_normal::<A>();
    let mut roots = roots::<A>(&question.plan::<A>(), &question.scope)?;
    let (start, mut world) = roots.swap_remove(root);
    let mut successors = Successors::new(&world);
    let mut steps = Vec::new();
    for way in ways {
        let mut next = None;
        successors.each(&world, |ordinal, action, choices, after| {
            let wanted = match way {
                Way::Successor(number) => ordinal == number,
                Way::State(wanted, done) => {
                    print(after, normal) == wanted && duty(&world, action) == done
                }
            };
            if wanted {
                let step = Step { action: action.clone(), choices: choices.to_vec() };
                next = Some((step, after.clone()));
            }
            !wanted
        });
        let (step, after) = next.expect("the search took this way");
        steps.push(step);
        world = after;
    }
    Ok(History { start, steps, returns_to: None })
}

/// Does a history again, step by step; the tracer sees everything. Returns what was counted, and
/// the world at the end.
pub fn replay<A: Algorithm>(
    question: &Question,
    history: &History<A::Input>,
    tracer: Option<Tracer<'_>>,
) -> Result<Replayed<A>, ReplayError> {
    let mut world = World::<A>::new(&question.plan::<A>())?;
    world.faults = FaultsLeft::from(&question.scope);
    let meter = Meter::new(world.processes().len());
    let mut again = Again { choices: history.start.clone(), tracer, meter };
    again.choices.reverse();
    world.start(&mut again);
    for step in &history.steps {
        world.can(&step.action).map_err(|impossible| ReplayError::Impossible(impossible.0))?;
        again.choices.clone_from(&step.choices);
        again.choices.reverse();
        world.step(&step.action, &mut again);
    }
    if let Some(tracer) = again.tracer {
        tracer.finish()?;
    }
    Ok(Replayed { world, meter: again.meter })
}

/// What came of a history done again.
pub struct Replayed<A: Algorithm> {
    /// The world at its end.
    pub world: World<A>,
    /// What was counted.
    pub meter: Meter,
}

/// Why a history cannot be done again.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The group cannot be set up.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// A step is not possible: the history is of another algorithm or version.
    #[error("the history does not fit this algorithm: {0}")]
    Impossible(String),
    /// The trace cannot be written.
    #[error(transparent)]
    Trace(#[from] io::Error),
}

struct Again<'s> {
    /// The choices to come, the next one last.
    choices: Vec<u32>,
    tracer: Option<Tracer<'s>>,
    meter: Meter,
}

impl<A: Algorithm> Driver<A> for Again<'_> {
    fn choose(&mut self, among: u32) -> u32 {
        self.choices.pop().unwrap_or(0).min(among - 1)
    }

    fn see(&mut self, now_us: u64, happening: Happening<'_, A>) {
        if let Some(tracer) = &mut self.tracer {
            tracer.see(now_us, &happening);
        }
        self.meter.see(now_us, &happening);
    }
}
