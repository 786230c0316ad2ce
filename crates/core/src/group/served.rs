//! A service on an engine: together they are a protocol like any other.

use super::{Act, Ask, Engine, Event, Service, Session};
use crate::cx::Cx;
use crate::process::ProcessId;
use crate::protocol::Protocol;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// One process: a service, and the engine below it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Served<S, E> {
    /// The service.
    pub service: S,
    /// The engine below it.
    pub engine: E,
}

/// A timer of the engine, or of the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ServedTimer<S, E> {
    /// The engine waits.
    Engine(E),
    /// The service waits.
    Service(S),
}

impl<S, E> From<E> for ServedTimer<S, E> {
    fn from(timer: E) -> Self {
        ServedTimer::Engine(timer)
    }
}

impl<S: Service, E: Engine<S::Message>> Protocol for Served<S, E> {
    type Input = S::Command;
    type Output = S::Notice;
    type Message = E::Message;
    type Timer = ServedTimer<S::Timer, E::Timer>;

    fn on_start(&mut self, cx: &mut Cx<'_, Self>) {
        self.below(cx, |engine, cx| engine.on_start(cx));
    }

    fn on_input(&mut self, command: S::Command, cx: &mut Cx<'_, Self>) {
        self.above(cx, |service, session| service.on_command(command, session));
    }

    fn on_message(&mut self, from: ProcessId, message: E::Message, cx: &mut Cx<'_, Self>) {
        self.below(cx, |engine, cx| engine.on_message(from, message, cx));
    }

    fn on_timer(&mut self, timer: Self::Timer, cx: &mut Cx<'_, Self>) {
        match timer {
            ServedTimer::Engine(timer) => self.below(cx, |engine, cx| engine.on_timer(timer, cx)),
            ServedTimer::Service(timer) => {
                self.above(cx, |service, session| service.on_timer(timer, session));
            }
        }
    }
}

impl<S: Service, E: Engine<S::Message>> Served<S, E> {
    /// A step of the engine, and all that follows from it above.
    fn below(&mut self, cx: &mut Cx<'_, Self>, step: impl FnOnce(&mut E, &mut Cx<'_, E>)) {
        let events = cx.below(|cx| step(&mut self.engine, cx));
        self.settle(events.into_iter().collect(), VecDeque::new(), cx);
    }

    /// A step of the service, and all that follows from it below.
    fn above(&mut self, cx: &mut Cx<'_, Self>, step: impl FnOnce(&mut S, &mut Session<'_, S>)) {
        let mut acts = VecDeque::new();
        let (can, room) = (self.engine.capabilities(), self.engine.room());
        step(&mut self.service, &mut Session::new(cx.me(), can, room, &mut acts));
        self.settle(VecDeque::new(), acts, cx);
    }

    /// Whatever the service asked for is carried out before it learns of the next event: an engine
    /// may deliver a multicast at once. While the engine is in a view already of which the service has
    /// yet to learn, there is no room: a multicast would count as sent in that view.
    fn settle(
        &mut self,
        mut events: VecDeque<Event<S::Message>>,
        mut acts: VecDeque<Act<S>>,
        cx: &mut Cx<'_, Self>,
    ) {
        loop {
            while let Some(act) = acts.pop_front() {
                self.carry_out(act, &mut events, cx);
            }
            let Some(event) = events.pop_front() else { return };
            let ahead = events.iter().any(|event| matches!(event, Event::View(_)));
            let room = if ahead { 0 } else { self.engine.room() };
            let can = self.engine.capabilities();
            let session = &mut Session::new(cx.me(), can, room, &mut acts);
            match event {
                Event::View(view) => self.service.on_view(&view, session),
                Event::Transitional(with) => self.service.on_transitional(&with, session),
                Event::Deliver(delivery) => self.service.on_deliver(delivery, session),
                Event::Room => self.service.on_room(session),
                Event::Lost => self.service.on_lost(session),
                Event::Refused(_) => unreachable!("a session multicasts only if there is room"),
            }
        }
    }

    fn carry_out(
        &mut self,
        act: Act<S>,
        events: &mut VecDeque<Event<S::Message>>,
        cx: &mut Cx<'_, Self>,
    ) {
        let ask = match act {
            Act::Multicast(level, message) => Ask::Multicast { level, message },
            Act::Leave => Ask::Leave,
            Act::Tell(notice) => return cx.output(notice),
            Act::SetTimer(timer, after_ms) => {
                return cx.set_timer(ServedTimer::Service(timer), after_ms);
            }
            Act::CancelTimer(timer) => return cx.cancel_timer(ServedTimer::Service(timer)),
        };
        events.extend(cx.below(|cx| self.engine.on_input(ask, cx)));
    }
}
