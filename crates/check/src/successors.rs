//! Every state that one step leads to.

use synod_core::{Algorithm, Notes, Protocol};
use synod_sim::world::{Action, Driver, World};

/// Goes through all sequences of choices, one after the other, by doing a step again and again.
#[derive(Debug, Default)]
pub(crate) struct Choices {
    script: Vec<u32>,
    among: Vec<u32>,
    used: usize,
    /// Fingerprints of states that were judged lately, each where it belongs.
    judged: Vec<u64>,
    /// What was found out when they were.
    notes: Notes,
}

impl Choices {
    /// Begins with the first sequence.
    pub(crate) fn reset(&mut self) {
        self.script.clear();
        self.rewind();
    }

    fn rewind(&mut self) {
        self.among.clear();
        self.used = 0;
    }

    /// Moves on to the next sequence; false if there is none.
    pub(crate) fn advance(&mut self) -> bool {
        while let Some(last) = self.script.pop() {
            if last + 1 < self.among[self.script.len()] {
                self.script.push(last + 1);
                self.rewind();
                return true;
            }
        }
        self.rewind();
        false
    }

    /// The sequence of the step that was just taken.
    pub(crate) fn script(&self) -> &[u32] {
        &self.script
    }
}

/// So many states are remembered that were judged lately.
const JUDGED: usize = 1 << 14;

impl<A: Algorithm> Driver<A> for Choices {
    fn is_news(&mut self, print: u64) -> bool {
        if self.judged.is_empty() {
            self.judged = vec![0; JUDGED];
        }
        let place = &mut self.judged[print as usize % JUDGED];
        std::mem::replace(place, print) != print
    }

    fn notes(&mut self) -> Option<&mut Notes> {
        Some(&mut self.notes)
    }

    fn choose(&mut self, among: u32) -> u32 {
        if self.used == self.script.len() {
            self.script.push(0);
        }
        self.among.push(among);
        self.used += 1;
        self.script[self.used - 1]
    }
}

/// Sees an outcome: the action, the choices made in it, and the world then. False: no more.
type Visitor<'v, A> =
    dyn FnMut(&Action<<A as Protocol>::Input>, &[u32], &mut World<A>) -> bool + 'v;

/// What is reused from one state to the next.
pub(crate) struct Successors<A: Algorithm> {
    actions: Vec<Action<A::Input>>,
    choices: Choices,
    scratch: World<A>,
}

impl<A: Algorithm> Successors<A> {
    pub(crate) fn new(like: &World<A>) -> Self {
        Successors { actions: Vec::new(), choices: Choices::default(), scratch: like.clone() }
    }

    /// Calls `visit` for each successor of `world`, in an order that depends on the state alone,
    /// with its number, the action and the choices; stops when it returns false. Returns whether
    /// anything can happen here without a fault.
    pub(crate) fn each(
        &mut self,
        world: &World<A>,
        mut visit: impl FnMut(u32, &Action<A::Input>, &[u32], &mut World<A>) -> bool,
    ) -> bool {
        self.actions.clear();
        let steps = self.find_actions(world);
        let actions = std::mem::take(&mut self.actions);
        let mut ordinal = 0;
        let mut visit = |action: &Action<A::Input>, script: &[u32], next: &mut World<A>| {
            ordinal += 1;
            visit(ordinal - 1, action, script, next)
        };
        let whole = |_: &World<A>| true;
        let goes_on = actions
            .iter()
            .all(|action| self.try_all(world, action, &whole, &mut visit) != Tried::Stopped);
        if goes_on && world.faults.crashes > 0 {
            let of_a_process = |step: &&Action<A::Input>| world.actor(step).is_some();
            let mut steps = actions[..steps].iter().filter(of_a_process);
            steps.all(|step| self.cut_off(world, step, &mut visit));
        }
        self.actions = actions;
        steps > 0
    }

    /// What may happen next, first what is no fault; returns how much that is. Where somebody's disk
    /// writes, only that need be tried.
    fn find_actions(&mut self, world: &World<A>) -> usize {
        if let Some(at) = world.first_to_write() {
            self.actions.push(Action::Sync(at));
            if world.faults.crashes > 0 {
                self.actions.push(Action::Crash(at));
            }
            return 1;
        }
        world.enabled(&mut self.actions);
        let steps = self.actions.len();
        world.enabled_faults(&mut self.actions);
        steps
    }

    /// The process that takes the step crashes in the middle of it: after the first of its messages
    /// and outputs, after the second, … False if `visit` wants no more.
    fn cut_off(
        &mut self,
        world: &World<A>,
        step: &Action<A::Input>,
        visit: &mut Visitor<'_, A>,
    ) -> bool {
        for after in 1.. {
            let cut = Action::Cut { step: Box::new(step.clone()), after };
            // If everything went out, it is as if the process crashed after the step.
            match self.try_all(world, &cut, &World::was_cut_off, visit) {
                Tried::Some => {}
                Tried::None => return true,
                Tried::Stopped => return false,
            }
        }
        unreachable!("a step does not send messages without end")
    }

    /// Visits the outcomes of an action that count, one for each sequence of choices.
    fn try_all(
        &mut self,
        world: &World<A>,
        action: &Action<A::Input>,
        counts: &dyn Fn(&World<A>) -> bool,
        visit: &mut Visitor<'_, A>,
    ) -> Tried {
        let mut tried = Tried::None;
        self.choices.reset();
        loop {
            self.scratch.clone_from(world);
            self.scratch.step(action, &mut self.choices);
            if counts(&self.scratch) && !self.scratch.was_retracted() {
                tried = Tried::Some;
                if !visit(action, self.choices.script(), &mut self.scratch) {
                    return Tried::Stopped;
                }
            }
            if !self.choices.advance() {
                return tried;
            }
        }
    }
}

/// What came of trying an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tried {
    /// No outcome counts.
    None,
    /// At least one does.
    Some,
    /// Whoever visits wants no more.
    Stopped,
}
