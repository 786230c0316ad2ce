use super::*;
use crate::cx::step;
use crate::protocol::{Never, Wire};

const P0: ProcessId = ProcessId(0);

/// Sends a value to all.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Herald;

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Message {
    Order(u64),
    Bow,
}

impl Wire for Message {}

impl Protocol for Herald {
    type Input = u64;
    type Output = u64;
    type Message = Message;
    type Timer = Never;

    fn on_input(&mut self, order: u64, cx: &mut Cx<'_, Self>) {
        cx.multicast(Message::Order(order));
        cx.send(ProcessId(1), Message::Bow);
        cx.output(order);
    }

    fn on_message(&mut self, _from: ProcessId, _message: Message, _cx: &mut Cx<'_, Self>) {}
}

impl Corruptible for Herald {
    fn lie(&self, message: &Message, Value(value): Value) -> Option<Message> {
        matches!(message, Message::Order(_)).then_some(Message::Order(value))
    }
}

fn setup(adversary: &str) -> Setup {
    Setup::new(4).with("traitors", "p0").with("adversary", adversary)
}

/// The messages of p0 when it is to send 7, and its outputs.
fn said(setup: &Setup) -> Vec<String> {
    let mut group = Byzantine::group(setup, vec![Herald; 4]).expect("the setup makes sense");
    let effects = step(P0, 4, |cx| group[0].on_input(7, cx));
    let word = |effect| match effect {
        Effect::Send { to, message } => format!("{to} {message:?}"),
        Effect::Multicast { to, message } => format!("{to:?} {message:?}"),
        Effect::Output(output) => format!("told {output}"),
        other => panic!("a herald does not do this: {other:?}"),
    };
    effects.into_iter().map(word).collect()
}

#[test]
fn a_loyal_process_does_what_it_wants() {
    let loyal = said(&Setup::new(4));
    assert_eq!(loyal.len(), 3);
    assert!(loyal[0].ends_with("Order(7)"), "{loyal:?}");
    assert_eq!(loyal[1..], ["p1 Bow", "told 7"]);
}

#[test]
fn a_silent_traitor_sends_nothing() {
    assert_eq!(said(&setup("silent")), ["told 7"]);
}

#[test]
fn an_equivocating_traitor_sends_the_second_half_another_value() {
    let said = said(&setup("equivocating").with("lies", "8 9"));
    assert_eq!(said, ["p1 Order(8)", "p2 Order(9)", "p3 Order(9)", "p1 Bow", "told 7"]);
}

#[test]
fn an_odd_liar_has_one_story_for_odd_and_one_for_even_processes() {
    let said = said(&setup("odd-liar").with("lies", "8 9"));
    assert_eq!(said[..3], ["p1 Order(8)", "p2 Order(9)", "p3 Order(8)"]);
}

#[test]
fn a_scripted_traitor_says_what_it_is_told_message_by_message() {
    let script = "p1:5 p1:silence p2:truth p3:silence";
    let said = said(&setup("scripted").with("script", script));
    assert_eq!(said, ["p1 Order(5)", "p2 Order(7)", "told 7"]);
}

/// Every message that an adversary may send to p1 instead of the order 7.
fn all(adversary: &mut Adversary<Message>) -> Vec<Option<Message>> {
    let (mut said, mut next, mut among) = (Vec::new(), 0, 1);
    while next < among {
        let lie = |value| Herald.lie(&Message::Order(7), value);
        let mut choose = |count| {
            among = count;
            next
        };
        said.push(adversary.says(&Message::Order(7), ProcessId(1), &lie, &mut choose));
        next += 1;
    }
    said
}

#[test]
fn a_random_traitor_may_say_the_truth_or_nothing_or_any_lie() {
    let mut adversary = Adversary::from_setup(&setup("random").with("lies", "8 9")).expect("so");
    let order = |value| Some(Message::Order(value));
    assert_eq!(all(&mut adversary), [order(7), None, order(8), order(9)]);
}

#[test]
fn a_replaying_traitor_may_say_again_what_it_saw_of_late() {
    let mut adversary = Adversary::from_setup(&setup("replaying")).expect("so");
    for number in [1, 2, 2, 3, 4, 5] {
        adversary.remember(Message::Order(number));
    }
    let order = |value| Some(Message::Order(value));
    assert_eq!(all(&mut adversary), [7, 2, 3, 4, 5].map(order));
}

#[test]
fn what_makes_no_sense_is_refused_with_a_reason() {
    let why = |setup: Setup| {
        Byzantine::group(&setup, vec![Herald; 4]).expect_err("it makes no sense").to_string()
    };
    assert!(why(setup("polite")).contains("silent or equivocating"));
    assert!(why(setup("random").with("lies", "1")).contains("needs two values"));
    assert!(why(setup("random").with("lies", "1 x")).contains("whole numbers"));
    assert!(why(setup("scripted").with("script", "p1=7")).contains("e.g. p1:7"));
    assert!(why(setup("scripted").with("script", "p9:7")).contains("no process"));
    assert!(why(Setup::new(4).with("traitors", "p7")).contains("no process"));
}
