//! A run in which a person or a script takes some of the steps; the seed decides the others.

use super::{Due, Engine, Run};
use crate::network::Network;
use crate::world::{Action, Slot};
use std::collections::VecDeque;
use synod_core::{Algorithm, ProcessId, ProcessSet};

/// The state of control by hand. The default is a plain simulation.
#[derive(Clone, Debug, Default)]
pub(super) struct Hand {
    /// Whether a step was taken by hand: then a message may be due before others that it must not
    /// overtake.
    pub(super) has_acted: bool,
    /// Whether messages wait for delivery by hand. Links with a latency of their own are exempt.
    pub(super) messages_wait: bool,
    /// Whether applications make only the requests of the script.
    pub(super) applications_sleep: bool,
    /// The next step of a process ends in its crash, after this number of messages and outputs.
    pub(super) crashing: Option<u32>,
    /// The answers that `cx.choose` gives before the seed is asked.
    choices: VecDeque<u32>,
    choices_made: usize,
    bad_choice: Option<BadChoice>,
}

/// A choice that could not be made as it was fixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BadChoice {
    /// The index of the fixed choice, from 0.
    pub(crate) place: usize,
    /// The number of alternatives. None: the step asked for no further choice.
    pub(crate) among: Option<u32>,
}

impl Hand {
    pub(super) fn choice(&mut self, among: u32) -> Option<u32> {
        let choice = self.choices.pop_front()?;
        let place = self.choices_made;
        self.choices_made += 1;
        if choice < among {
            return Some(choice);
        }
        self.bad_choice.get_or_insert(BadChoice { place, among: Some(among) });
        Some(0)
    }
}

impl<A: Algorithm> Run<'_, A> {
    /// Messages and applications wait for a hand. To be called before the run begins; `latency`
    /// says whether messages arrive by themselves.
    pub(crate) fn leave_to_hands(&mut self, latency: bool) {
        self.engine.hand.applications_sleep = true;
        self.engine.hand.messages_wait = !latency;
    }

    /// Takes an enabled step before any that is due, then its immediate consequences.
    pub(crate) fn by_hand(&mut self, action: Action<A::Input>) {
        // A user may delay any message for any time, so deadlines no longer apply.
        self.engine.watches.clear();
        self.engine.hand.has_acted = true;
        self.forget(&action);
        let action = self.cut_short(action);
        self.step(&action);
        self.settle();
    }

    /// Removes the action from the agenda, because it is taken now.
    fn forget(&mut self, action: &Action<A::Input>) {
        let is_over = |due: &Due| match (action, due) {
            (Action::Deliver(slot) | Action::Drop(slot), Due::Deliver(due)) => slot == due,
            (Action::Fire { at, timer }, Due::Fire(due_at, due)) => (at, timer) == (due_at, due),
            (Action::Sync(at), Due::Sync(due_at, _)) => at == due_at,
            _ => false,
        };
        let engine = &mut self.engine;
        engine.agenda.forget(is_over);
        engine.held_back.retain(|slot| !is_over(&Due::Deliver(*slot)));
        for parked in engine.parked.values_mut() {
            parked.retain(|(_, due)| !is_over(due));
        }
    }

    /// Fixes what `cx.choose` answers next, and whether the next step ends in a crash.
    pub(crate) fn fix(&mut self, choices: impl IntoIterator<Item = u32>, crashing: Option<u32>) {
        let hand = &mut self.engine.hand;
        hand.choices = choices.into_iter().collect();
        (hand.choices_made, hand.bad_choice, hand.crashing) = (0, None, crashing);
    }

    /// The first fixed choice that could not be made, or was not asked for.
    pub(crate) fn bad_choice(&self) -> Option<BadChoice> {
        let hand = &self.engine.hand;
        let left = BadChoice { place: hand.choices_made, among: None };
        hand.bad_choice.or((!hand.choices.is_empty()).then_some(left))
    }

    /// Whether no process has taken the step in which it was to crash.
    pub(crate) fn is_crash_left(&self) -> bool {
        self.engine.hand.crashing.is_some()
    }

    /// From now on applications ask by themselves, and every message arrives by itself.
    pub(crate) fn wake(&mut self) {
        if self.engine.hand.messages_wait {
            self.engine.hand.messages_wait = false;
            self.send_on_their_way();
        }
        if self.engine.hand.applications_sleep {
            self.engine.hand.applications_sleep = false;
            self.settle();
        }
    }

    /// The messages that waited for a hand get a time of arrival, the oldest first.
    fn send_on_their_way(&mut self) {
        self.engine.options.network.latency = Network::default().latency;
        let mut waiting: Vec<(u64, Slot, ProcessId, ProcessId)> = self
            .world
            .flight()
            .iter()
            .filter(|(_, envelope)| self.engine.is_delivered_by_hand(envelope.from, envelope.to))
            .map(|(slot, envelope)| (envelope.number, slot, envelope.from, envelope.to))
            .collect();
        waiting.sort_unstable();
        for (_, slot, from, to) in waiting {
            let at_us = self.engine.arrival(self.world.now_us, from, to);
            self.engine.schedule(at_us, Due::Deliver(slot));
        }
    }

    /// Goes on by the seed until one step or more was taken. False if nothing is left to happen.
    pub(crate) fn next(&mut self) -> bool {
        let before = self.engine.steps;
        while self.engine.steps == before {
            self.judge_deadlines_now_and_then();
            if !self.turn() {
                return false;
            }
        }
        true
    }

    /// Takes the next event that is due by `end_us`. False if there is none; then time moves to
    /// `end_us`.
    pub(crate) fn next_until(&mut self, end_us: u64) -> bool {
        match self.engine.agenda.next_us() {
            Some(at_us) if at_us <= end_us => self.turn(),
            _ => {
                self.world.now_us = self.world.now_us.max(end_us);
                false
            }
        }
    }

    /// Whether a run by the seed would end here: nothing is due, or all is done that was asked.
    pub(crate) fn has_ended(&self) -> bool {
        self.is_over() || self.engine.agenda.next_us().is_none()
    }
}

impl<A: Algorithm> Engine<'_, A> {
    /// Applications that sleep make their plans when they wake, in the order in which they would
    /// have made them: each counts once, where it was stirred last.
    pub(super) fn keep_stirred(&mut self) {
        let mut seen = ProcessSet::EMPTY;
        self.stirred.reverse();
        self.stirred.retain(|at| seen.insert(*at));
        self.stirred.reverse();
    }

    /// Whether a message of this link waits until a hand delivers it.
    pub(super) fn is_delivered_by_hand(&self, from: ProcessId, to: ProcessId) -> bool {
        !self.options.network.links.contains_key(&(from, to))
    }
}
