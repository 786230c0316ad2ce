//! The verdict on a recorded history: the same checker, fed event by event, but every answer is
//! known when its operation begins.

use super::checker::Checker;
use super::explain::{Counterexample, explain};
use super::{Event, Finding, History, Model, What};
use std::collections::BTreeMap;

/// The number of events between two reports of progress.
const STRIDE: usize = 1_000;

/// The state in which an object begins.
pub(super) type Start<M> = (<M as Model>::Key, <M as Model>::State);

impl<M: Model> History<M> {
    /// Whether it is linearizable. `limit` is as for [`Checker::new`]; `progress` gets the number
    /// of events judged so far.
    ///
    /// A history is `Unknown` if some key is, and none is `Broken`.
    pub fn check(
        &self,
        limit: usize,
        progress: &mut dyn FnMut(usize),
    ) -> Finding<Box<Counterexample<M>>> {
        let events: Vec<&Event<M>> = self.events().iter().collect();
        match judge(&events, None, limit, progress) {
            Finding::Linearizable => Finding::Linearizable,
            Finding::Unknown => Finding::Unknown,
            Finding::Broken(key) => {
                Finding::Broken(Box::new(explain(&of_key(&events, &key), key, limit)))
            }
        }
    }
}

/// The verdict on these events, with the broken key. Operations without an answer among them are
/// abandoned.
pub(super) fn judge<M: Model>(
    events: &[&Event<M>],
    start: Option<&Start<M>>,
    limit: usize,
    progress: &mut dyn FnMut(usize),
) -> Finding<M::Key> {
    let mut verdict = Finding::Linearizable;
    let mut feed = Feed::new(events, start, limit);
    while let Some(index) = feed.next_index() {
        if index % STRIDE == 0 {
            progress(index);
        }
        match feed.step() {
            Finding::Linearizable => {}
            Finding::Unknown => verdict = Finding::Unknown,
            Finding::Broken(broken) => return Finding::Broken(M::key(&broken.operation)),
        }
    }
    verdict
}

/// Feeds a checker with events.
pub(super) struct Feed<'a, M: Model> {
    pub(super) checker: Checker<M>,
    events: &'a [&'a Event<M>],
    /// For each call its answer, if it has one.
    answers: Vec<Option<&'a M::Answer>>,
    /// The call whose answer the checker must not know in advance.
    surprise: Option<usize>,
    index: usize,
}

impl<'a, M: Model> Feed<'a, M> {
    pub(super) fn new(events: &'a [&'a Event<M>], start: Option<&Start<M>>, limit: usize) -> Self {
        let mut checker = Checker::new(limit);
        if let Some((key, state)) = start {
            checker.begin_with(key.clone(), state.clone());
        }
        Feed { checker, events, answers: answers(events), surprise: None, index: 0 }
    }

    /// The place of the next event, if there is one.
    pub(super) fn next_index(&self) -> Option<usize> {
        (self.index < self.events.len()).then_some(self.index)
    }

    /// Whether the call at this place is ever answered.
    pub(super) fn is_answered(&self, index: usize) -> bool {
        self.answers[index].is_some()
    }

    /// Hides the last answer from the checker until it comes.
    pub(super) fn forget_last_answer(&mut self) {
        let Some(last) = self.events.last() else { return };
        let is_call =
            |event: &Event<M>| event.client == last.client && matches!(event.what, What::Invoke(_));
        self.surprise = self.events.iter().rposition(|event| is_call(event));
    }

    /// Feeds the next event.
    pub(super) fn step(&mut self) -> Finding<Box<super::Broken<M>>> {
        let Event { client, what, .. } = self.events[self.index];
        let answer = self.answers[self.index];
        let foreseen = answer.filter(|_| self.surprise != Some(self.index));
        self.index += 1;
        match what {
            What::Invoke(operation) => {
                self.checker.invoke_foreseen(*client, operation.clone(), foreseen.cloned());
                if answer.is_none() {
                    self.checker.abandon(*client);
                }
                Finding::Linearizable
            }
            What::Answer(answer) => self.checker.answer(*client, answer),
            What::Abandon => Finding::Linearizable,
        }
    }
}

/// For each event that is a call: its answer.
fn answers<'a, M: Model>(events: &[&'a Event<M>]) -> Vec<Option<&'a M::Answer>> {
    let mut answers = vec![None; events.len()];
    let mut open = BTreeMap::new();
    for (index, event) in events.iter().enumerate() {
        match &event.what {
            What::Invoke(_) => drop(open.insert(event.client, index)),
            What::Abandon => drop(open.remove(&event.client)),
            What::Answer(answer) => {
                if let Some(call) = open.remove(&event.client) {
                    answers[call] = Some(answer);
                }
            }
        }
    }
    answers
}

/// The events of the operations about this key.
fn of_key<'a, M: Model>(events: &[&'a Event<M>], key: &M::Key) -> Vec<&'a Event<M>> {
    let mut about = BTreeMap::new();
    let is_wanted = |event: &&&Event<M>| match &event.what {
        What::Invoke(operation) => {
            let wanted = M::key(operation) == *key;
            about.insert(event.client, wanted);
            wanted
        }
        What::Answer(_) | What::Abandon => about.get(&event.client).copied().unwrap_or(false),
    };
    events.iter().filter(is_wanted).copied().collect()
}
