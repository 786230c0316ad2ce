//! Protocols so small that the frame causes every effect, and ways to drive them.

use serde::{Deserialize, Serialize};
use synod_core::card::Rounds;
use synod_core::family::logical_time::{Input, Output, Stamp};
use synod_core::family::{Known as _, LogicalTime};
use synod_core::{Algorithm, Cx, Never, ProcessId, Protocol, Timestamp, Wire};
use synod_sim::faults::Fault;
use synod_sim::network::Delay;
use synod_sim::trace::{Event, Tracer, What, Window};
use synod_sim::world::{Body, Driver, Happening, LinkChange};
use synod_sim::{Action, Judged, Options, Plan, Report, Simulator, World};

pub(crate) const P0: ProcessId = ProcessId(0);
pub(crate) const P1: ProcessId = ProcessId(1);
pub(crate) const P2: ProcessId = ProcessId(2);

/// A toy's output to its application: just a number.
pub(crate) fn number(number: u64, me: ProcessId) -> Output {
    Output::Stamped(Stamp::Lamport(Timestamp::new(number, me)))
}

/// Makes a toy an algorithm of the family of logical time, whose inputs are `Act` and `Send`.
macro_rules! toy {
    ($toy:ty, $name:literal $(, $item:item)?) => {
        impl synod_core::Algorithm for $toy {
            type Family = synod_core::family::LogicalTime;
            const CARD: synod_core::Card =
                synod_core::Card { name: $name, ..synod_core::Card::BLANK };
            $($item)?
            fn assemble(setup: &synod_core::Setup) -> Result<Vec<Self>, synod_core::SetupError> {
                Ok(vec![Self::default(); setup.n])
            }
        }
    };
}
pub(crate) use toy;

/// Sends numbered letters: `Send` one letter, `Act` one letter to each other process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Postman {
    written: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Post {
    Letter(u32),
}

impl Wire for Post {}

impl Protocol for Postman {
    type Input = Input;
    type Output = Output;
    type Message = Post;
    type Timer = Never;

    fn on_input(&mut self, input: Input, cx: &mut Cx<'_, Self>) {
        let letter = Post::Letter(self.written);
        self.written += 1;
        match input {
            Input::Act => cx.multicast(letter),
            Input::Send(to) => cx.send(to, letter),
        }
    }

    fn on_message(&mut self, _: ProcessId, _: Post, _: &mut Cx<'_, Self>) {}
}

toy!(Postman, "postman");

/// Applications that make no requests, and no judge.
pub(crate) fn idle(n: usize) -> Plan {
    Plan { judged: Judged::Only(Vec::new()), ..Plan::new(n, Rounds::Times(0)) }
}

/// Idle applications, and a network where every message takes a millisecond.
pub(crate) fn steady(n: usize) -> Options {
    let mut options = Options::new(idle(n), 1);
    options.network.latency = Delay::Constant(1_000);
    options
}

/// An action, and its time in milliseconds.
pub(crate) type Line = (u64, Action<Input>);

pub(crate) fn act(at: ProcessId) -> Action<Input> {
    Action::Input { at, input: Input::Act }
}

pub(crate) fn send(from: ProcessId, to: ProcessId) -> Action<Input> {
    Action::Input { at: from, input: Input::Send(to) }
}

pub(crate) fn cut(from: ProcessId, to: ProcessId) -> Action<Input> {
    Action::Links(LinkChange::Cut { from, to })
}

/// Runs a script by simulated time, and returns the events.
pub(crate) fn play<A: Algorithm<Family = LogicalTime>>(
    options: Options,
    script: &[Line],
) -> (Vec<Event>, Report) {
    let mut window = Window::new(0, usize::MAX);
    let tracer = Tracer::new(options.plan.setup.n, vec![&mut window]);
    let mut run = Simulator::of::<A>(options, Some(tracer)).expect("the plan fits");
    for (at_ms, action) in script {
        run.at(Fault::at(at_ms * 1_000, action.clone().map(LogicalTime::any_input)));
    }
    let report = run.run(|_, _| {}).expect("a window never fails");
    (window.events, report)
}

/// Time, process and text of the events of one kind.
pub(crate) fn list(events: &[Event], what: What) -> Vec<(u64, u32, &str)> {
    let of_kind = events.iter().filter(|event| event.what == what);
    let process = |event: &Event| event.process.map_or(u32::MAX, |process| process.0);
    of_kind.map(|event| (event.time_us, process(event), event.text.as_str())).collect()
}

/// Drives a world by hand: choices are always 0.
pub(crate) struct Hand;

impl<A: Algorithm> Driver<A> for Hand {
    fn choose(&mut self, _: u32) -> u32 {
        0
    }
}

/// Notes messages and outputs in words, in order.
#[derive(Default)]
pub(crate) struct Scroll(pub(crate) Vec<String>);

impl<A: Algorithm> Driver<A> for Scroll {
    fn choose(&mut self, _: u32) -> u32 {
        0
    }

    fn see(&mut self, _: u64, happening: Happening<'_, A>) {
        match happening {
            Happening::Sent { envelope, layer, .. } => {
                self.0.push(format!("{layer} sends {:?}", envelope.body));
            }
            Happening::Output(_, output) => self.0.push(format!("tells {output:?}")),
            Happening::Synced(_, records) => self.0.push(format!("writes {records}")),
            _ => {}
        }
    }
}

/// A world that has started.
pub(crate) fn begun<A: Algorithm>(plan: &Plan) -> World<A> {
    let mut world = World::new(plan).expect("the plan fits");
    world.start(&mut Hand);
    world
}

/// The messages under way, in the order of sending.
pub(crate) fn in_flight<A: Algorithm>(world: &World<A>) -> Vec<&A::Message> {
    let mut envelopes: Vec<_> = world.flight().iter().map(|(_, envelope)| envelope).collect();
    envelopes.sort_by_key(|envelope| envelope.number);
    let bodies = envelopes.into_iter().map(|envelope| &envelope.body);
    bodies
        .filter_map(|body| match body {
            Body::Message(message) => Some(message),
            Body::Tell(_) => None,
        })
        .collect()
}
