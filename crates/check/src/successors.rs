//! The successors of a state: one for each action, fault and sequence of choices.

use synod_core::{Algorithm, Notes, Protocol};
use synod_sim::world::{Action, Driver, World};

/// Enumerates the sequences of choices of a step. The step is repeated once for each sequence.
#[derive(Debug, Default)]
pub(crate) struct Choices {
    script: Vec<u32>,
    among: Vec<u32>,
    used: usize,
    /// A cache of the states whose invariants were judged lately: fingerprints, each at its place.
    judged: Vec<u64>,
    /// The notes that invariants made about them.
    notes: Notes,
}

impl Choices {
    /// Returns to the first sequence.
    pub(crate) fn reset(&mut self) {
        self.script.clear();
        self.rewind();
    }

    fn rewind(&mut self) {
        self.among.clear();
        self.used = 0;
    }

    /// Moves on to the next sequence; false if this was the last.
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

    /// The sequence of the last step.
    pub(crate) fn script(&self) -> &[u32] {
        &self.script
    }
}

/// The number of states in the cache of judged states.
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

/// Sees a successor: the action, its choices, and the world after it. Returns false to stop.
type Visitor<'v, A> = dyn FnMut(&Action<<A as Protocol>::Input>, &[u32], &World<A>) -> bool + 'v;

/// Enumerates successors. Its buffers are reused from one state to the next.
pub(crate) struct Successors<A: Algorithm> {
    actions: Vec<Action<A::Input>>,
    choices: Choices,
    scratch: World<A>,
    /// Whether the scratch world descends from the world under expansion.
    descends: bool,
}

impl<A: Algorithm> Successors<A> {
    pub(crate) fn new(like: &World<A>) -> Self {
        let (actions, choices) = (Vec::new(), Choices::default());
        Successors { actions, choices, scratch: like.clone(), descends: false }
    }

    /// Calls `visit` for each successor of `world`, with its number, the action and the choices, in
    /// an order that depends on `world` alone. Stops as soon as `visit` returns false. Returns
    /// whether an action other than a fault is possible.
    pub(crate) fn each(
        &mut self,
        world: &World<A>,
        mut visit: impl FnMut(u32, &Action<A::Input>, &[u32], &World<A>) -> bool,
    ) -> bool {
        self.descends = false;
        self.actions.clear();
        let steps = self.find_actions(world);
        let actions = std::mem::take(&mut self.actions);
        let mut ordinal = 0;
        let mut visit = |action: &Action<A::Input>, script: &[u32], next: &World<A>| {
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

    /// The possible actions, faults last. Returns how many are no faults. While a disk writes, only
    /// its end and a crash of its process are tried: see [`World::first_to_write`].
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

    /// The successors in which the acting process crashes in the middle of the step: after its
    /// first message or output, after the second, and so on. Returns false if `visit` stopped.
    fn cut_off(
        &mut self,
        world: &World<A>,
        step: &Action<A::Input>,
        visit: &mut Visitor<'_, A>,
    ) -> bool {
        for after in 1.. {
            let cut = Action::Cut { step: Box::new(step.clone()), after };
            // A step whose messages all went out before the crash is a step and then a crash.
            match self.try_all(world, &cut, &World::was_cut_off, visit) {
                Tried::Some => {}
                Tried::None => return true,
                Tried::Stopped => return false,
            }
        }
        unreachable!("a step does not send messages without end")
    }

    /// Makes the scratch world equal to the world under expansion.
    fn prepare(&mut self, world: &World<A>) {
        match self.descends {
            true => self.scratch.return_to(world),
            false => self.scratch.clone_from(world),
        }
        self.descends = true;
    }

    /// Visits the successors of an action that count, one for each sequence of choices.
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
            self.prepare(world);
            self.scratch.step(action, &mut self.choices);
            if counts(&self.scratch) && !self.scratch.was_retracted() {
                tried = Tried::Some;
                if !visit(action, self.choices.script(), &self.scratch) {
                    return Tried::Stopped;
                }
            }
            if !self.choices.advance() {
                return tried;
            }
        }
    }
}

/// The result of trying an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tried {
    /// No successor counts.
    None,
    /// At least one successor counts.
    Some,
    /// The visitor stopped.
    Stopped,
}
