//! A service on an engine: together they are a protocol like any other.

use super::{Act, Ask, Engine, Event, Service, Session};
use crate::cx::Cx;
use crate::process::ProcessId;
use crate::protocol::Protocol;
use crate::reductions::{FaultBudgets, Reductions};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::fmt;

/// One process: a service, and the engine below it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Served<S, E> {
    /// The service.
    pub service: S,
    /// The engine below it.
    pub engine: E,
}

/// A timer of the engine, or of the service.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ServedTimer<S, E> {
    /// The engine waits.
    Engine(E),
    /// The service waits.
    Service(S),
}

/// Prints the timer alone: its name already shows which of the two set it.
impl<S: fmt::Debug, E: fmt::Debug> fmt::Debug for ServedTimer<S, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ServedTimer::Engine(timer) => timer.fmt(f),
            ServedTimer::Service(timer) => timer.fmt(f),
        }
    }
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

    /// The hints of the engine. A service above it adds none, and cannot forget one.
    const REDUCTIONS: Reductions<Self> = Reductions {
        is_urgent: E::REDUCTIONS.is_urgent,
        is_fault: if E::REDUCTIONS.is_fault.is_some() { Some(Self::is_fault) } else { None },
        faults_left: match E::REDUCTIONS.faults_left {
            Some(_) => Some(Self::faults_left),
            None => None,
        },
        thorough: E::REDUCTIONS.thorough,
        ..Reductions::NONE
    };

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
    fn is_fault(timer: &ServedTimer<S::Timer, E::Timer>) -> bool {
        matches!(timer, ServedTimer::Engine(timer) if E::REDUCTIONS.is_fault(timer))
    }

    fn faults_left(&self) -> FaultBudgets {
        E::REDUCTIONS.faults_left(&self.engine)
    }

    /// Takes a step of the engine, and the steps of the service that follow from it.
    fn below(&mut self, cx: &mut Cx<'_, Self>, step: impl FnOnce(&mut E, &mut Cx<'_, E>)) {
        let events = cx.below(|cx| step(&mut self.engine, cx));
        self.settle(events.into_iter().collect(), VecDeque::new(), cx);
    }

    /// Takes a step of the service, and the steps of the engine that follow from it.
    fn above(&mut self, cx: &mut Cx<'_, Self>, step: impl FnOnce(&mut S, &mut Session<'_, S>)) {
        let mut acts = VecDeque::new();
        let (can, room) = (self.engine.capabilities(), self.engine.room());
        step(&mut self.service, &mut Session::new(cx.me(), can, room, &mut acts));
        self.settle(VecDeque::new(), acts, cx);
    }

    /// Carries out the acts of the service before it tells the service the next event, because an
    /// engine may deliver a multicast at once. While the engine is already in a view that the
    /// service has yet to be told, the service has no room: its multicast would count as sent in
    /// that view.
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
            Act::Notify(notice) => return cx.output(notice),
            Act::SetTimer(timer, after_ms) => {
                return cx.set_timer(ServedTimer::Service(timer), after_ms);
            }
            Act::CancelTimer(timer) => return cx.cancel_timer(ServedTimer::Service(timer)),
        };
        events.extend(cx.below(|cx| self.engine.on_input(ask, cx)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cx::{Effect, step};
    use crate::group::{Capabilities, Delivery, Level, Member, View, ViewId};
    use crate::protocol::{Never, Wire};
    use crate::setup::{Setup, SetupError};
    use serde::{Deserialize, Serialize};

    const P0: ProcessId = ProcessId(0);
    const ME: Member = Member { node: P0, incarnation: 1 };
    const FIRST: ViewId = ViewId::new(1, P0);

    #[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    struct Note(u32);

    impl Wire for Note {}

    /// A group of one that takes in `room` multicasts in a step, and delivers them at once.
    #[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    struct Alone {
        room: usize,
    }

    impl Protocol for Alone {
        type Input = Ask<Note>;
        type Output = Event<Note>;
        type Message = Never;
        type Timer = Never;

        fn on_start(&mut self, cx: &mut Cx<'_, Self>) {
            let (joined, left, came_with) = (Vec::new(), Vec::new(), None);
            let view = View { id: FIRST, members: vec![ME], joined, left, came_with };
            cx.output(Event::View(view));
        }

        fn on_input(&mut self, ask: Ask<Note>, cx: &mut Cx<'_, Self>) {
            match ask {
                Ask::Multicast { .. } if self.room == 0 => panic!("there was no room"),
                Ask::Multicast { level, message } => {
                    self.room -= 1;
                    let (sender, sent_in) = (ME, FIRST);
                    cx.output(Event::Deliver(Delivery { sender, sent_in, level, message }));
                }
                Ask::Leave => cx.output(Event::Lost),
            }
        }

        fn on_message(&mut self, _: ProcessId, message: Never, _: &mut Cx<'_, Self>) {
            match message {}
        }
    }

    impl Engine<Note> for Alone {
        fn capabilities(&self) -> Capabilities {
            Capabilities { safe: false, partitionable: false, came_with: false, longest_message: 4 }
        }

        fn room(&self) -> usize {
            self.room
        }

        fn engines(setup: &Setup) -> Result<Vec<Self>, SetupError> {
            Ok(vec![Alone { room: 1 }; setup.n])
        }

        fn is_restless(&self) -> bool {
            false
        }
    }

    /// Counts down: the member that delivers a number multicasts the next smaller one.
    #[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    struct Countdown;

    #[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    enum Notice {
        View(ViewId),
        Said(u32),
        Full(u32),
        Lost,
    }

    impl Countdown {
        fn say(number: u32, session: &mut Session<'_, Self>) {
            if session.multicast(Level::Agreed, Note(number)).is_err() {
                session.notify(Notice::Full(number));
            }
        }
    }

    impl Service for Countdown {
        type Message = Note;
        type Command = Option<u32>;
        type Notice = Notice;
        type Timer = ();

        fn on_command(&mut self, from: Option<u32>, session: &mut Session<'_, Self>) {
            match from {
                Some(number) => Countdown::say(number, session),
                None => session.leave(),
            }
        }

        fn on_view(&mut self, view: &View, session: &mut Session<'_, Self>) {
            session.notify(Notice::View(view.id));
            session.set_timer((), 7);
        }

        fn on_deliver(&mut self, delivery: Delivery<Note>, session: &mut Session<'_, Self>) {
            let Note(number) = delivery.message;
            session.notify(Notice::Said(number));
            if let Some(next) = number.checked_sub(1) {
                Countdown::say(next, session);
            }
        }

        fn on_lost(&mut self, session: &mut Session<'_, Self>) {
            session.notify(Notice::Lost);
        }

        fn on_timer(&mut self, (): (), session: &mut Session<'_, Self>) {
            Countdown::say(0, session);
        }
    }

    type Process = Served<Countdown, Alone>;

    fn notices(
        process: &mut Process,
        run: impl FnOnce(&mut Process, &mut Cx<'_, Process>),
    ) -> Vec<Notice> {
        let effects = step(P0, 1, |cx| run(process, cx));
        let notice = |effect| match effect {
            Effect::Output(notice) => Some(notice),
            _ => None,
        };
        effects.into_iter().filter_map(notice).collect()
    }

    #[test]
    fn a_service_sees_its_own_multicast_before_the_step_is_over_if_the_engine_is_that_fast() {
        let mut process = Served { service: Countdown, engine: Alone { room: 9 } };
        let said = notices(&mut process, |process, cx| process.on_input(Some(2), cx));
        assert_eq!(said, [Notice::Said(2), Notice::Said(1), Notice::Said(0)]);
        assert_eq!(process.engine.room, 6);
    }

    #[test]
    fn a_multicast_without_room_is_refused_at_once_and_never_reaches_the_engine() {
        let mut process = Served { service: Countdown, engine: Alone { room: 2 } };
        let said = notices(&mut process, |process, cx| process.on_input(Some(5), cx));
        assert_eq!(said, [Notice::Said(5), Notice::Said(4), Notice::Full(3)]);
    }

    #[test]
    fn views_timers_and_the_loss_of_the_group_reach_the_service() {
        let mut process = Served { service: Countdown, engine: Alone { room: 1 } };
        let effects = step(P0, 1, |cx| process.on_start(cx));
        let timer = ServedTimer::Service(());
        let set = Effect::SetTimer { timer, after_ms: 7 };
        assert_eq!(effects, [Effect::Output(Notice::View(FIRST)), set]);
        let said = notices(&mut process, |process, cx| process.on_timer(timer, cx));
        assert_eq!(said, [Notice::Said(0)]);
        let said = notices(&mut process, |process, cx| process.on_input(None, cx));
        assert_eq!(said, [Notice::Lost]);
    }
}
