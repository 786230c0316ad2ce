//! A protocol that always takes a further step, and never gets anywhere.

use serde::{Deserialize, Serialize};
use synod_check::{Question, explore};
use synod_core::card::Scope;
use synod_core::family::mutex::{Input, ME1, ME2, Mutex, Output};
use synod_core::{Algorithm, Card, Cx, Never, ProcessId, Protocol, Setup, SetupError, Wire};
use synod_sim::world::Judged;

/// "After you." "No, after you." A process that is asked answers with the same question, for ever;
/// unless it is `FIRM`: then the second is let in.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Polite<const FIRM: bool> {
    waits: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Message {
    AfterYou,
}

impl Wire for Message {}

impl<const FIRM: bool> Protocol for Polite<FIRM> {
    type Input = Input;
    type Output = Output;
    type Message = Message;
    type Timer = Never;

    fn on_input(&mut self, input: Input, cx: &mut Cx<'_, Self>) {
        self.waits = input == Input::Enter;
        if self.waits {
            cx.multicast(Message::AfterYou);
        }
    }

    fn on_message(&mut self, from: ProcessId, message: Message, cx: &mut Cx<'_, Self>) {
        if FIRM && self.waits {
            self.waits = false;
            cx.output(Output::Entered);
        } else {
            cx.send(from, message);
        }
    }
}

impl<const FIRM: bool> Algorithm for Polite<FIRM> {
    type Family = Mutex;
    const CARD: Card = Card { name: "polite", promises: &[ME1], ..Card::BLANK };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        Ok(vec![Polite { waits: false }; setup.n])
    }

    fn takes_part(&self, me: ProcessId) -> bool {
        me == ProcessId(0)
    }
}

fn circle<A: Algorithm<Family = Mutex>>() -> Option<(usize, Option<usize>)> {
    let mut question = Question::new(Scope::of(2));
    question.judged = Judged::Only(vec![ME2.to_owned()]);
    let exploration = explore::<A>(&question, |_| {}).expect("the size fits");
    assert!(exploration.exhausted());
    let refuted = exploration.refutation(ME2)?;
    Some((refuted.history.steps.len(), refuted.history.returns_to))
}

/// It is asked once, no card says that it is restless, and a step is always possible.
#[test]
fn who_is_put_off_politely_for_ever_is_found_though_nothing_ever_stands_still() {
    assert_eq!(circle::<Polite<false>>(), Some((3, Some(1))));
    assert_eq!(circle::<Polite<true>>(), None);
}
