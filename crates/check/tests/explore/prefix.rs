//! An exploration that begins in the middle of a history, and one that its caller cancels.

use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;
use synod_check::{
    Exploration, History, Phase, Progress, Question, ReplayError, Unfinished, explore,
    explore_from, replay,
};
use synod_core::card::{Rounds, Scope};
use synod_core::family::mutex::{Input, ME1, ME2, Mutex, Output};
use synod_core::{
    Algorithm, Card, Cx, Never, ProcessId, ProcessSet, Protocol, Reductions, Setup, SetupError,
    Wire,
};
use synod_protocols::mutex::mutants::TokenUnfair;
use synod_protocols::mutex::{Maekawa, RicartAgrawala};
use synod_sim::world::{Action, Judged, Step};

fn only(scope: Scope, property: &str) -> Question {
    Question { judged: Judged::Only(vec![property.to_owned()]), ..Question::new(scope) }
}

fn go_on(_: &Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn from<A: Algorithm>(question: &Question, prefix: &History<A::Input>) -> Exploration<A::Input> {
    explore_from::<A>(question, Some(prefix), go_on).expect("the prefix is possible")
}

fn history(steps: Vec<Step<Input>>) -> History<Input> {
    History { start: Vec::new(), steps, returns_to: None }
}

fn step(action: Action<Input>) -> Step<Input> {
    Step { action, choices: Vec::new() }
}

fn first<I: Clone>(history: &History<I>, steps: usize) -> History<I> {
    let mut first = History { returns_to: None, ..history.clone() };
    first.steps.truncate(steps);
    first
}

/// From every point of a shortest counterexample, a counterexample of the same length is found; it
/// begins with the prefix, and can be done again. Returns that length.
fn is_found_from_every_point<A: Algorithm>(question: &Question, property: &str) -> usize {
    let whole = explore::<A>(question, |_| {}).expect("the scope fits");
    let whole = &whole.refutation(property).expect("the property fails").history;
    for steps in 0..=whole.steps.len() {
        let prefix = first(whole, steps);
        let exploration = from::<A>(question, &prefix);
        let refuted = exploration.refutation(property).expect("it still fails");
        let again = &refuted.history;
        assert_eq!(again.steps.len(), whole.steps.len(), "after {steps} steps");
        assert_eq!(first(again, steps), prefix);
        let end = replay::<A>(question, again, None).expect("it is possible").world;
        assert!(
            end.found().contains(&refuted.violation)
                || end.waiting().contains(refuted.violation.at)
        );
    }
    whole.steps.len()
}

#[test]
fn a_deadlock_is_found_from_every_point_of_the_way_to_it() {
    assert!(is_found_from_every_point::<Maekawa>(&only(Scope::of(3), ME2), ME2) > 5);
}

#[test]
fn an_empty_prefix_leads_to_every_state() {
    let question = Question::new(Scope::of(3));
    let whole = explore::<RicartAgrawala>(&question, |_| {}).expect("the scope fits");
    let same = from::<RicartAgrawala>(&question, &history(Vec::new()));
    let without = explore_from::<RicartAgrawala>(&question, None, go_on).expect("no prefix");
    assert_eq!(same.progress, whole.progress);
    assert_eq!(without.progress, whole.progress);
    assert!(same.exhausted());
}

#[test]
fn after_a_step_fewer_states_can_be_reached_and_no_step_is_counted_twice() {
    let question = Question::new(Scope::of(3));
    let whole = from::<RicartAgrawala>(&question, &history(Vec::new())).progress;
    let enter = step(Action::Input { at: ProcessId(0), input: Input::Enter });
    let rest = from::<RicartAgrawala>(&question, &history(vec![enter])).progress;
    assert!(rest.unique < whole.unique, "{rest:?} of {whole:?}");
    assert_eq!(rest.depth + 1, whole.depth);
}

#[test]
fn a_circle_behind_a_prefix_returns_to_a_step_of_the_whole_history() {
    let question = only(Scope { rounds: Rounds::Forever, ..Scope::of(3) }, ME2);
    let whole = explore::<TokenUnfair>(&question, |_| {}).expect("the scope fits");
    let whole = &whole.refutation(ME2).expect("p2 starves").history;
    let returns_to = whole.returns_to.expect("it never ends");
    let prefix = first(whole, returns_to);
    let again = from::<TokenUnfair>(&question, &prefix);
    let again = &again.refutation(ME2).expect("p2 starves").history;
    assert!(again.returns_to >= Some(returns_to), "{again:?}");
    assert_eq!(first(again, returns_to), prefix);
    let print = |history: History<Input>| {
        let end = replay::<TokenUnfair>(&question, &history, None).expect("it is possible").world;
        end.normal_fingerprint()
    };
    let there = print(first(again, again.returns_to.expect("it never ends")));
    let back = print(again.clone());
    assert_eq!(there, back);
}

#[test]
fn what_a_prefix_violates_itself_is_told_at_the_step_that_violates_it() {
    let question = only(Scope::of(2), ME1);
    let whole = explore::<FirstAnswer>(&question, |_| {}).expect("the scope fits");
    let mut longer = whole.refutation(ME1).expect("two are in").history.clone();
    let violates = longer.steps.len();
    longer.steps.push(step(Action::Input { at: ProcessId(0), input: Input::Exit }));
    let told = from::<FirstAnswer>(&question, &longer);
    assert_eq!(told.refutation(ME1).map(|refuted| refuted.history.steps.len()), Some(violates));
    assert_eq!(told.unfinished, Some(Unfinished::AllRefuted));
}

/// Goes in at the first answer of a peer, even if another process is in, and ignores the answers
/// after that.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct FirstAnswer {
    has_entered: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Message {
    Ask,
    Answer,
}

impl Wire for Message {}

impl Protocol for FirstAnswer {
    type Input = Input;
    type Output = Output;
    type Message = Message;
    type Timer = Never;

    const REDUCTIONS: Reductions<Self> =
        Reductions { ignores: Some(Self::ignores), ..Reductions::NONE };

    fn on_input(&mut self, input: Input, cx: &mut Cx<'_, Self>) {
        if input == Input::Enter {
            cx.multicast(Message::Ask);
        }
    }

    fn on_message(&mut self, from: ProcessId, message: Message, cx: &mut Cx<'_, Self>) {
        match message {
            Message::Ask => cx.send(from, Message::Answer),
            Message::Answer if !self.has_entered => {
                self.has_entered = true;
                cx.output(Output::Entered);
            }
            Message::Answer => {}
        }
    }
}

impl FirstAnswer {
    fn ignores(&self, _from: ProcessId, message: &Message) -> bool {
        self.has_entered && *message == Message::Answer
    }
}

impl Algorithm for FirstAnswer {
    type Family = Mutex;
    const CARD: Card = Card { name: "first answer", ..Card::BLANK };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        Ok(vec![FirstAnswer { has_entered: false }; setup.n])
    }
}

/// p0 enters at the answer of p1; the answer of p2 is on its way, and p0 will ignore it.
fn until_an_answer_is_late() -> History<Input> {
    let question = only(Scope::of(3), ME1);
    let mut steps = vec![step(Action::Input { at: ProcessId(0), input: Input::Enter })];
    for message in [("ask", 1), ("ask", 2), ("answer", 1)] {
        let end = replay::<FirstAnswer>(&question, &history(steps.clone()), None);
        let end = end.expect("the steps are possible").world;
        let is_meant = |(kind, peer): (&str, u32)| {
            end.flight().iter().find_map(|(slot, envelope)| {
                let peers: ProcessSet = [envelope.from, envelope.to].into_iter().collect();
                let is_kind = envelope.body.kind().eq_ignore_ascii_case(kind);
                (is_kind && peers.contains(ProcessId(peer))).then_some(slot)
            })
        };
        steps.push(step(Action::Deliver(is_meant(message).expect("it is on its way"))));
    }
    history(steps)
}

#[test]
fn a_message_that_its_receiver_will_ignore_may_arrive_in_the_prefix_or_after_it() {
    let question = only(Scope::of(3), ME1);
    let before = until_an_answer_is_late();
    let end = replay::<FirstAnswer>(&question, &before, None).expect("it is possible").world;
    let (late, _) = end.flight().iter().next().expect("the answer of p2");
    let mut after = before.clone();
    after.steps.push(step(Action::Deliver(late)));
    let counts = [before, after].map(|prefix| {
        let exploration = from::<FirstAnswer>(&question, &prefix);
        let refuted = exploration.refutation(ME1).expect("p1 enters, too");
        replay::<FirstAnswer>(&question, &refuted.history, None).expect("it is possible");
        (exploration.progress.unique, refuted.history.steps.len() - prefix.steps.len())
    });
    // The message makes no difference, so both prefixes lead to the same states.
    assert_eq!(counts[0], counts[1]);
    assert!(counts[0].0 > 10);
}

#[test]
fn a_process_may_crash_and_come_back_in_the_prefix_though_none_does_after_it() {
    let question = only(Scope::of(3), ME1);
    let mut prefix = until_an_answer_is_late();
    prefix.steps.push(step(Action::Crash(ProcessId(0))));
    prefix.steps.push(step(Action::Restart { at: ProcessId(0), disk: true }));
    prefix.steps.push(step(Action::Crash(ProcessId(1))));
    let exploration = from::<FirstAnswer>(&question, &prefix);
    // p0 has forgotten that it was in, and the answer of p2 lets it in although its application did
    // not ask.
    let refuted = exploration.refutation(ME1).expect("p0 is let in by a late answer");
    assert_eq!(refuted.history.steps.len(), prefix.steps.len() + 1);
    replay::<FirstAnswer>(&question, &refuted.history, None).expect("it is possible");
}

#[test]
fn a_prefix_that_is_not_possible_is_refused_with_the_number_of_the_step() {
    let question = Question::new(Scope::of(2));
    let refused = |actions: &[Action<Input>]| {
        let prefix = history(actions.iter().cloned().map(step).collect());
        let error = explore_from::<RicartAgrawala>(&question, Some(&prefix), go_on);
        match error.expect_err("it is not possible") {
            ReplayError::Impossible { number, why } => (number, why),
            other => panic!("{other}"),
        }
    };
    let ask = |input| Action::Input { at: ProcessId(0), input };
    assert_eq!(refused(&[Action::Deliver(7)]), (1, "no message is in place 7".to_owned()));
    let not_in = "the application of p0 does not offer 'leaves' now".to_owned();
    assert_eq!(refused(&[ask(Input::Enter), ask(Input::Exit)]), (2, not_in));
    let nobody = Action::Crash(ProcessId(9));
    assert_eq!(refused(&[nobody]).0, 1);
}

#[test]
fn a_caller_that_cancels_gets_what_was_found_by_then() {
    let question = Question::new(Scope::of(3));
    let whole = explore::<RicartAgrawala>(&question, |_| {}).expect("the scope fits");
    let mut calls = 0;
    let exploration = explore_from::<RicartAgrawala>(&question, None, |progress| {
        calls += 1;
        match progress.depth {
            0..5 => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        }
    });
    let exploration = exploration.expect("the scope fits");
    let waiting = exploration.progress.waiting;
    assert_eq!(exploration.unfinished, Some(Unfinished::Cancelled(waiting)));
    assert!(calls > 5 && waiting > 0 && exploration.progress.unique < whole.progress.unique);
}

#[test]
fn a_caller_can_cancel_the_search_for_circles() {
    let question = only(Scope { rounds: Rounds::Forever, ..Scope::of(3) }, ME2);
    let mut phases = Vec::new();
    let exploration = explore_from::<TokenUnfair>(&question, None, |progress| {
        phases.push(progress.phase);
        match progress.phase {
            Phase::Visiting => ControlFlow::Continue(()),
            Phase::SeekingCircles => ControlFlow::Break(()),
        }
    });
    let exploration = exploration.expect("the scope fits");
    assert_eq!(phases.last(), Some(&Phase::SeekingCircles));
    assert!(matches!(exploration.unfinished, Some(Unfinished::Cancelled(_))));
    assert!(exploration.refutation(ME2).is_none(), "no circle was judged");
}

#[test]
fn progress_counts_the_properties_that_have_a_counterexample() {
    let question = only(Scope::of(3), ME2);
    let mut last = Progress::default();
    explore::<Maekawa>(&question, |progress| last = *progress).expect("the scope fits");
    assert_eq!(last.refuted, 1);
}
