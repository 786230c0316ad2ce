//! Where an exploration begins.

use crate::history::{History, ReplayError, Replayer, must_be_possible};
use crate::question::Question;
use crate::successors::Choices;
use synod_core::{Algorithm, SetupError, Violation};
use synod_sim::world::{FaultsLeft, Plan, World};

/// A state in which an exploration begins.
pub(crate) struct Root<A: Algorithm> {
    /// The history that leads to it: the choices at the start, and the steps of the prefix.
    pub(crate) history: History<A::Input>,
    /// The state, in the lean world that is searched.
    pub(crate) world: World<A>,
    /// The violations of the start and of the prefix, each with the number of steps taken by then.
    pub(crate) found: Vec<(usize, Violation)>,
}

/// The roots of an exploration: the end of the prefix. Without a prefix, the started world, once
/// for each sequence of choices that the processes can make while they start.
pub(crate) fn roots<A: Algorithm>(
    question: &Question,
    prefix: Option<&History<A::Input>>,
) -> Result<Vec<Root<A>>, ReplayError> {
    match prefix {
        Some(prefix) => Ok(vec![end_of(question, prefix)?]),
        None => Ok(started(question)?),
    }
}

fn started<A: Algorithm>(question: &Question) -> Result<Vec<Root<A>>, SetupError> {
    let plan = question.lean_plan::<A>();
    let mut roots = Vec::new();
    let mut choices = Choices::default();
    loop {
        let mut world = World::new(&plan)?;
        world.faults = FaultsLeft::from(&question.scope);
        world.start(&mut choices);
        world.keep_fingerprint();
        let found = world.found().iter().map(|violation| (0, violation.clone())).collect();
        let history =
            History { start: choices.script().to_vec(), steps: Vec::new(), returns_to: None };
        roots.push(Root { history, world, found });
        if !choices.advance() {
            return Ok(roots);
        }
    }
}

/// The prefix happens in the full world, because its steps name the places of messages there, and
/// because a process that crashes in the prefix may restart in it. The world becomes lean at its
/// end.
fn end_of<A: Algorithm>(
    question: &Question,
    prefix: &History<A::Input>,
) -> Result<Root<A>, ReplayError> {
    let mut world = World::<A>::new(&Plan { lean: false, ..question.lean_plan::<A>() })?;
    let mut replayer = Replayer::new(&prefix.start, None, world.processes().len());
    world.start(&mut replayer);
    let mut found: Vec<_> = world.found().iter().map(|violation| (0, violation.clone())).collect();
    for (taken, step) in prefix.steps.iter().enumerate() {
        must_be_possible(&world, taken, &step.action)?;
        replayer.next(&step.choices);
        world.step(&step.action, &mut replayer);
        found.extend(world.found().iter().map(|violation| (taken + 1, violation.clone())));
    }
    // The budget of the scope is for the steps that follow the prefix.
    world.faults = FaultsLeft::from(&question.scope);
    if question.is_lean() {
        world.become_lean();
    }
    world.keep_fingerprint();
    let history = History { returns_to: None, ..prefix.clone() };
    Ok(Root { history, world, found })
}
