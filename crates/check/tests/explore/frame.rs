//! What the explorer makes of choices, disks, time and half-taken steps, shown by small protocols
//! of their own.

use serde::{Deserialize, Serialize};
use synod_check::{Exploration, Question, explore};
use synod_core::algorithm::Replay;
use synod_core::card::{Scope, Timing};
use synod_core::family::Mutex;
use synod_core::family::mutex::{Input, ME1, Output};
use synod_core::{
    Algorithm, Card, Cx, Durable, Never, ProcessId, Protocol, Setup, SetupError, Wire, durable,
};
use synod_sim::{Action, Judged};

/// Explored for mutual exclusion alone.
fn explored<A: Algorithm>(scope: Scope) -> Exploration<A::Input> {
    let mut question = Question::new(scope);
    question.judged = Judged::Only(vec![ME1.to_owned()]);
    explore::<A>(&question, |_| {}).expect("the scope fits the card")
}

const ACCEPTOR: ProcessId = ProcessId(0);

/// The first process gives one of the others, once and for all, what they ask for. It writes down
/// to whom; if it is hasty, only after it has promised.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Acceptor<const HASTY: bool> {
    promised: Option<ProcessId>,
    wants: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Message {
    Ask,
    Promise,
}

impl Wire for Message {}

impl<const HASTY: bool> Protocol for Acceptor<HASTY> {
    type Input = Input;
    type Output = Output;
    type Message = Message;
    type Timer = Never;

    fn on_input(&mut self, input: Input, cx: &mut Cx<'_, Self>) {
        if input == Input::Enter {
            self.wants = true;
            cx.send(ACCEPTOR, Message::Ask);
        }
    }

    fn on_message(&mut self, from: ProcessId, message: Message, cx: &mut Cx<'_, Self>) {
        match message {
            Message::Ask if self.promised.is_none() => {
                self.promised = Some(from);
                if HASTY {
                    cx.send(from, Message::Promise);
                    cx.persist(&from);
                } else {
                    cx.persist(&from);
                    cx.send(from, Message::Promise);
                }
            }
            Message::Promise if self.wants => {
                self.wants = false;
                cx.output(Output::Entered);
            }
            Message::Ask | Message::Promise => {}
        }
    }
}

impl<const HASTY: bool> Durable for Acceptor<HASTY> {
    type Record = ProcessId;

    fn replay(&mut self, promised: ProcessId) {
        self.promised = Some(promised);
    }
}

impl<const HASTY: bool> Algorithm for Acceptor<HASTY> {
    type Family = Mutex;
    const CARD: Card = Card { name: "acceptor", ..Card::BLANK };
    const REPLAY: Option<Replay<Self>> = Some(durable::replay);

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        Ok(vec![Acceptor { promised: None, wants: false }; setup.n])
    }

    fn takes_part(&self, me: ProcessId) -> bool {
        me != ACCEPTOR
    }
}

#[test]
fn an_acceptor_that_writes_before_it_promises_may_crash_and_come_back() {
    let exploration =
        explored::<Acceptor<false>>(Scope { crashes: 1, restarts: 1, ..Scope::of(3) });
    assert!(exploration.exhausted() && exploration.refutation(ME1).is_none());
    assert!(exploration.progress.unique > 100, "{:?}", exploration.progress);
}

#[test]
fn an_acceptor_that_promises_before_it_writes_promises_twice_after_a_crash() {
    let exploration = explored::<Acceptor<true>>(Scope { crashes: 1, restarts: 1, ..Scope::of(3) });
    let refuted = exploration.refutation(ME1).expect("both are in");
    let steps = &refuted.history.steps;
    let place = |wanted: Action<Input>| steps.iter().position(|step| step.action == wanted);
    let crash = place(Action::Crash(ACCEPTOR)).expect("it crashes");
    let restart = place(Action::Restart { at: ACCEPTOR, disk: true }).expect("it comes back");
    assert!(crash < restart);
    assert!(!steps[..crash].iter().any(|step| step.action == Action::Sync(ACCEPTOR)));
    // Two ask, two are asked, two are promised and enter, and in between it crashes and restarts;
    // and the second time its disk finishes first.
    assert_eq!(steps.len(), 9, "{steps:?}");
}

#[test]
fn promising_before_writing_is_no_fault_as_long_as_nobody_crashes() {
    let exploration = explored::<Acceptor<true>>(Scope::of(3));
    assert!(exploration.exhausted() && exploration.refutation(ME1).is_none());
}

/// A lock with a secret: a process that happens to choose 2 and then 3 is let in twice.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Lock;

impl Protocol for Lock {
    type Input = Input;
    type Output = Output;
    type Message = Never;
    type Timer = Never;

    fn on_input(&mut self, input: Input, cx: &mut Cx<'_, Self>) {
        if input == Input::Enter {
            cx.output(Output::Entered);
            // How many choices there are depends on the first.
            let first = cx.choose(3);
            let second = if first == 2 { cx.choose(5) } else { 0 };
            if (first, second) == (2, 3) {
                cx.output(Output::Entered);
            }
        }
    }

    fn on_message(&mut self, _: ProcessId, message: Never, _: &mut Cx<'_, Self>) {
        match message {}
    }
}

impl Algorithm for Lock {
    type Family = Mutex;
    const CARD: Card = Card { name: "lock", ..Card::BLANK };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        Ok(vec![Lock; setup.n])
    }
}

#[test]
fn every_sequence_of_choices_is_tried_and_the_one_that_breaks_is_named() {
    let exploration = explored::<Lock>(Scope::of(1));
    let refuted = exploration.refutation(ME1).expect("one sequence of choices lets it in twice");
    assert_eq!(refuted.history.steps.len(), 1);
    assert_eq!(refuted.history.steps[0].choices, [2, 3]);
}

/// Says that it wants in, and goes in after `PATIENCE` milliseconds, unless it hears by then that a
/// process with a smaller name wants in, too. A process that has heard of another does not even
/// try.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Patient<const PATIENCE: u64> {
    has_heard: bool,
    wants: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Mine;

impl Wire for Mine {}

impl<const PATIENCE: u64> Protocol for Patient<PATIENCE> {
    type Input = Input;
    type Output = Output;
    type Message = Mine;
    type Timer = ();

    fn on_input(&mut self, input: Input, cx: &mut Cx<'_, Self>) {
        if input == Input::Enter && !self.has_heard {
            self.wants = true;
            cx.multicast(Mine);
            cx.set_timer((), PATIENCE);
        }
    }

    fn on_message(&mut self, from: ProcessId, _: Mine, cx: &mut Cx<'_, Self>) {
        self.has_heard = true;
        if from < cx.me() {
            self.wants = false;
        }
    }

    fn on_timer(&mut self, (): (), cx: &mut Cx<'_, Self>) {
        if self.wants {
            cx.output(Output::Entered);
        }
    }
}

impl<const PATIENCE: u64> Algorithm for Patient<PATIENCE> {
    type Family = Mutex;
    const CARD: Card = Card { name: "patient", ..Card::BLANK };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        Ok(vec![Patient { has_heard: false, wants: false }; setup.n])
    }
}

/// Two processes, and messages that take a millisecond at most.
const BOUNDED: Scope = Scope { timing: Timing::Synchronous { delay_ms: 1 }, ..Scope::of(2) };

#[test]
fn waiting_for_longer_than_messages_take_there_and_back_is_safe_in_a_synchronous_world() {
    let exploration = explored::<Patient<3>>(BOUNDED);
    assert!(exploration.exhausted() && exploration.refutation(ME1).is_none());
    let hasty = explored::<Patient<2>>(BOUNDED);
    assert!(hasty.refutation(ME1).is_some(), "a message may arrive at the last moment");
}

#[test]
fn no_patience_is_enough_if_a_message_is_late_or_time_means_nothing() {
    let late = explored::<Patient<3>>(Scope { late: 1, ..BOUNDED });
    let refuted = late.refutation(ME1).expect("the message comes too late");
    let is_late = |step: &synod_sim::world::Step<Input>| matches!(step.action, Action::Late(_));
    assert!(refuted.history.steps.iter().any(is_late));
    assert!(explored::<Patient<3>>(Scope::of(2)).refutation(ME1).is_some());
}

#[test]
fn only_the_time_that_is_left_tells_synchronous_states_apart() {
    // Asking sooner or later makes no difference to what follows.
    let exploration = explored::<Patient<3>>(BOUNDED);
    assert!(exploration.progress.unique < 400, "{:?}", exploration.progress);
}
