//! Drives the world of a scenario: makes its choices, and keeps what happens.

use super::agenda::{Agenda, Due};
use super::header::Header;
use super::parse::Word;
use crate::count::Meter;
use crate::network::{Chance, Delay, below, chance};
use crate::trace::{Event, Sink, Tracer};
use crate::world::{Driver, Happening, Slot};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::rc::Rc;
use synod_core::{Algorithm, ProcessId};

/// The events so far, shared by the tracer that adds to them and the player that looks at them.
#[derive(Clone, Debug, Default)]
pub(super) struct Events(pub(super) Rc<RefCell<Vec<Event>>>);

impl Sink for Events {
    fn take(&mut self, event: &Event) -> io::Result<()> {
        self.0.borrow_mut().push(event.clone());
        Ok(())
    }
}

/// Everything beside the world.
pub(super) struct Stage<'s> {
    pub(super) header: &'s Header,
    pub(super) tracer: Tracer<'s>,
    pub(super) meter: Meter,
    pub(super) agenda: Agenda,
    chance: Chance,
    /// The choices fixed for this line that are not made yet.
    pub(super) choices: VecDeque<(u32, Word)>,
    /// A choice that cannot be made, and among how many it had to choose.
    pub(super) bad_choice: Option<(Word, u32)>,
    /// The properties violated so far, in order.
    pub(super) violated: Vec<&'static str>,
}

impl<'s> Stage<'s> {
    pub(super) fn new(header: &'s Header, events: &'s mut Events) -> Self {
        Stage {
            header,
            tracer: Tracer::new(header.n, vec![events]),
            meter: Meter::new(header.n),
            agenda: Agenda::default(),
            chance: chance(header.seed),
            choices: VecDeque::new(),
            bad_choice: None,
            violated: Vec::new(),
        }
    }

    fn on_its_way(&mut self, now_us: u64, slot: Slot, from: ProcessId, to: ProcessId) {
        let latency: Option<&Delay> =
            self.header.links.get(&(from, to)).or(self.header.latency.as_ref());
        if let Some(latency) = latency {
            let at_us = now_us.saturating_add(latency.draw(&mut self.chance));
            self.agenda.add(at_us, Due::Deliver(slot));
        }
    }
}

impl<A: Algorithm> Driver<A> for Stage<'_> {
    fn choose(&mut self, among: u32) -> u32 {
        match self.choices.pop_front() {
            Some((choice, _)) if choice < among => choice,
            Some((_, word)) => {
                self.bad_choice.get_or_insert((word, among));
                0
            }
            None => below(&mut self.chance, among.into()) as u32,
        }
    }

    fn see(&mut self, now_us: u64, happening: Happening<'_, A>) {
        self.tracer.see(now_us, &happening);
        self.meter.see(now_us, &happening);
        match happening {
            Happening::Sent { slot: Some(slot), envelope, .. }
            | Happening::Duplicated { slot, envelope, .. } => {
                self.on_its_way(now_us, slot, envelope.from, envelope.to);
            }
            Happening::TimerSet { at, timer, after_ms } => {
                let at_us = now_us.saturating_add(after_ms.saturating_mul(1_000));
                self.agenda.add(at_us, Due::Fire(at, timer));
            }
            Happening::Writing(at) => {
                let at_us = now_us.saturating_add(self.header.disk.draw(&mut self.chance));
                self.agenda.add(at_us, Due::Sync(at));
            }
            Happening::Violated(violation) if !self.violated.contains(&violation.property) => {
                self.violated.push(violation.property);
            }
            _ => {}
        }
    }
}
