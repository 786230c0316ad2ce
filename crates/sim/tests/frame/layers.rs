//! A layer drives the one below: the owner of each message, and the order of effects.

use super::toys::{Hand, P0, P1, Scroll, act, begun, idle, number, play, send, steady, toy};
use serde::{Deserialize, Serialize};
use synod_core::algorithm::Replay;
use synod_core::family::logical_time::{Input, Output};
use synod_core::{Cx, Durable, ProcessId, Protocol, Wire, durable};
use synod_sim::Action;

/// Greets the process that it is asked to greet, says so twice, and reports greetings it hears.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Lower {
    greeted: Vec<ProcessId>,
    rang: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Greeting {
    Hello,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Bell {
    Low,
}

impl Wire for Greeting {}

impl Protocol for Lower {
    type Input = ProcessId;
    type Output = u64;
    type Message = Greeting;
    type Timer = Bell;

    fn on_input(&mut self, to: ProcessId, cx: &mut Cx<'_, Self>) {
        cx.output(1);
        self.greeted.push(to);
        cx.persist(&to);
        cx.send(to, Greeting::Hello);
        cx.output(2);
        cx.set_timer(Bell::Low, 5);
    }

    fn on_message(&mut self, _: ProcessId, _: Greeting, cx: &mut Cx<'_, Self>) {
        cx.output(3);
    }

    fn on_timer(&mut self, Bell::Low: Bell, cx: &mut Cx<'_, Self>) {
        self.rang = true;
        cx.output(4);
    }
}

impl Durable for Lower {
    type Record = ProcessId;

    fn replay(&mut self, to: ProcessId) {
        self.greeted.push(to);
    }
}

/// Passes every input on, and comments each output of the layer below with a message of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Upper {
    acts: u32,
    lower: Lower,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Talk {
    Comment(u64),
    Lower(Greeting),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Clockwork {
    High,
    Low(Bell),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Entry {
    Acted,
    Lower(ProcessId),
}

impl Wire for Talk {}

impl From<Greeting> for Talk {
    fn from(greeting: Greeting) -> Self {
        Talk::Lower(greeting)
    }
}

impl From<Bell> for Clockwork {
    fn from(bell: Bell) -> Self {
        Clockwork::Low(bell)
    }
}

impl From<ProcessId> for Entry {
    fn from(to: ProcessId) -> Self {
        Entry::Lower(to)
    }
}

impl Upper {
    fn below(&mut self, cx: &mut Cx<'_, Self>, step: impl FnOnce(&mut Lower, &mut Cx<'_, Lower>)) {
        let lower = &mut self.lower;
        for output in cx.below_durable(|cx| step(lower, cx)) {
            cx.output(number(output, cx.me()));
            cx.send(cx.me(), Talk::Comment(output));
        }
    }
}

impl Protocol for Upper {
    type Input = Input;
    type Output = Output;
    type Message = Talk;
    type Timer = Clockwork;

    fn on_input(&mut self, input: Input, cx: &mut Cx<'_, Self>) {
        match input {
            Input::Act => {
                self.acts += 1;
                cx.persist(&Entry::Acted);
                cx.set_timer(Clockwork::High, 1);
            }
            Input::Send(to) => self.below(cx, |lower, cx| lower.on_input(to, cx)),
        }
    }

    fn on_message(&mut self, from: ProcessId, message: Talk, cx: &mut Cx<'_, Self>) {
        match message {
            Talk::Comment(_) => {}
            Talk::Lower(greeting) => {
                self.below(cx, |lower, cx| lower.on_message(from, greeting, cx));
            }
        }
    }

    fn on_timer(&mut self, timer: Clockwork, cx: &mut Cx<'_, Self>) {
        match timer {
            Clockwork::High => {}
            Clockwork::Low(bell) => self.below(cx, |lower, cx| lower.on_timer(bell, cx)),
        }
    }
}

impl Durable for Upper {
    type Record = Entry;

    fn replay(&mut self, entry: Entry) {
        match entry {
            Entry::Acted => self.acts += 1,
            Entry::Lower(to) => self.lower.replay(to),
        }
    }
}

toy!(Upper, "upper", const REPLAY: Option<Replay<Self>> = Some(durable::replay););

#[test]
fn what_the_lower_layer_sends_precedes_what_the_upper_one_does_about_its_outputs() {
    let mut world = begun::<Upper>(&idle(2));
    let mut scroll = Scroll::default();
    world.step(&send(P0, P1), &mut scroll);
    world.step(&Action::Sync(P0), &mut scroll);
    let wanted = [
        "writes 1",
        "1 sends Message(Lower(Hello))",
        "tells Stamped(1@p0)",
        "0 sends Message(Comment(1))",
        "tells Stamped(2@p0)",
        "0 sends Message(Comment(2))",
    ];
    assert_eq!(scroll.0, wanted);
}

#[test]
fn messages_are_counted_for_the_layer_that_sent_them_though_they_waited_for_the_disk() {
    let (_, report) = play::<Upper>(steady(2), &[(0, send(P0, P1)), (50, send(P1, P0))]);
    // Two greetings; and a comment on each of the four outputs that every greeting leads to.
    assert_eq!(report.meter.by_layer().into_iter().collect::<Vec<_>>(), [(0, 8), (1, 2)]);
    let kinds = report.meter.by_kind();
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), [("Comment", 8), ("Lower", 2)]);
}

#[test]
fn a_timer_of_the_lower_layer_goes_out_wrapped_and_comes_back_to_it() {
    let mut world = begun::<Upper>(&idle(2));
    world.step(&send(P0, P1), &mut Hand);
    world.step(&act(P0), &mut Hand);
    let timers: Vec<Clockwork> = world.process(P0).timers().iter().map(|set| set.timer).collect();
    assert_eq!(timers, [Clockwork::Low(Bell::Low), Clockwork::High]);
    let timer = world.process(P0).timers()[0].number;
    world.step(&Action::Fire { at: P0, timer }, &mut Hand);
    assert!(world.process(P0).state().lower.rang);
}

#[test]
fn records_of_both_layers_share_one_log_and_find_back_to_their_layer() {
    let mut world = begun::<Upper>(&idle(3));
    for action in [send(P0, P1), act(P0), send(P0, ProcessId(2)), Action::Sync(P0)] {
        world.step(&action, &mut Hand);
    }
    while world.can(&Action::Sync(P0)).is_ok() {
        world.step(&Action::Sync(P0), &mut Hand);
    }
    world.step(&Action::Crash(P0), &mut Hand);
    world.step(&Action::Restart { at: P0, disk: true }, &mut Hand);
    let state = world.process(P0).state();
    assert_eq!((state.acts, &state.lower.greeted[..]), (1, &[P1, ProcessId(2)][..]));
}
