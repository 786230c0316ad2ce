//! Every state that one step leads to.

use synod_core::Algorithm;
use synod_sim::world::{Action, Driver, World};

/// Goes through all sequences of choices, one after the other, by doing a step again and again.
#[derive(Debug, Default)]
pub(crate) struct Choices {
    script: Vec<u32>,
    among: Vec<u32>,
    used: usize,
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

impl<A: Algorithm> Driver<A> for Choices {
    fn choose(&mut self, among: u32) -> u32 {
        if self.used == self.script.len() {
            self.script.push(0);
        }
        self.among.push(among);
        self.used += 1;
        self.script[self.used - 1]
    }
}

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
        world.enabled(&mut self.actions);
        let at_rest = self.actions.is_empty();
        world.enabled_faults(&mut self.actions);
        let mut ordinal = 0;
        for action in &self.actions {
            self.choices.reset();
            loop {
                self.scratch.clone_from(world);
                self.scratch.step(action, &mut self.choices);
                if !visit(ordinal, action, self.choices.script(), &mut self.scratch) {
                    return !at_rest;
                }
                ordinal += 1;
                if !self.choices.advance() {
                    break;
                }
            }
        }
        !at_rest
    }
}
