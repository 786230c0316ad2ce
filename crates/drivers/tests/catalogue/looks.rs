//! A session that looks back repeats steps, and does not judge them again.

use serde::{Deserialize, Serialize};
use std::cell::Cell;
use synod_core::boxed::Which;
use synod_core::family::mutex;
use synod_core::{Algorithm, Card, Cx, Invariant, Never, ProcessId, Protocol, Setup, SetupError};
use synod_drivers::{Catalogue, Session, session};
use synod_sim::scenario::Scenario;

thread_local! {
    /// How often the invariant of [`Greedy`] was asked by this test.
    static ASKED: Cell<u32> = const { Cell::new(0) };
}

/// Every process enters at once, whoever else is inside.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Greedy {
    is_inside: bool,
}

impl Protocol for Greedy {
    type Input = mutex::Input;
    type Output = mutex::Output;
    type Message = Never;
    type Timer = Never;

    fn on_input(&mut self, input: mutex::Input, cx: &mut Cx<'_, Self>) {
        self.is_inside = input == mutex::Input::Enter;
        if self.is_inside {
            cx.output(mutex::Output::Entered);
        }
    }

    fn on_message(&mut self, _from: ProcessId, message: Never, _cx: &mut Cx<'_, Self>) {
        match message {}
    }
}

impl Algorithm for Greedy {
    type Family = mutex::Mutex;

    const CARD: Card = Card { name: "greedy", ..Card::BLANK };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        Ok(vec![Greedy { is_inside: false }; setup.n])
    }

    fn invariants() -> &'static [Invariant<Self>] {
        &[Invariant {
            name: "somebody-is-outside",
            statement: "not all are inside",
            holds: |snapshot| {
                ASKED.set(ASKED.get() + 1);
                snapshot.processes().any(|process| !process.is_inside)
            },
        }]
    }
}

/// Whether both have the same events and verdicts; those of the invariant are violated in between.
fn shows_the_same(one: &dyn Session, other: &dyn Session) {
    assert_eq!(one.events(), other.events());
    assert_eq!(one.verdicts(), other.verdicts());
    let states = |session: &dyn Session| {
        ProcessId::all(session.processes()).map(|at| session.state(at)).collect::<Vec<_>>()
    };
    assert_eq!(states(one), states(other));
}

/// There are more moves than marks, so both have to repeat steps.
#[test]
fn looks_and_steps_back_are_not_judged_again_and_show_the_same() {
    let header = "algorithm: greedy\nprocesses: 2\n---\n";
    let lines = ["p0 requests", "p1 requests", "crash p0", "restart p0", "p1 leaves"].repeat(30);
    let scenario = |lines: &[&str]| {
        let text = format!("{header}{}\n", lines.join("\n"));
        Scenario::parse(&text).expect("it is a scenario")
    };
    let greedy: Catalogue = |_| Some(Which::of::<Greedy>());
    let open = |lines: &[&str]| {
        let session = session(greedy, &scenario(lines)).expect("it is of a family");
        session.expect("every line is possible")
    };
    let mut steps = open(&lines);
    let judged = ASKED.get();
    assert_eq!(judged, 1 + lines.len() as u32, "after the start, and after every step");
    let violations = steps.events().iter().filter(|event| event.kind == "somebody-is-outside");
    assert_eq!(violations.count(), 60, "also after the crash: its state is kept");

    let looks: Vec<_> = steps.events().iter().map(|event| steps.look(event.index)).collect();
    for _ in 0..77 {
        assert!(steps.back());
    }
    assert_eq!(ASKED.get(), judged, "nothing was judged twice");

    let straight = open(&lines[..lines.len() - 77]);
    shows_the_same(&*steps, &*straight);
    let again: Vec<_> = straight.events().iter().map(|event| straight.look(event.index)).collect();
    assert_eq!(looks[..again.len()], again);
    let asked = ASKED.get();
    steps.take("p1 leaves").expect("it is inside");
    assert_eq!(ASKED.get(), asked + 1, "a new step is judged");
}
