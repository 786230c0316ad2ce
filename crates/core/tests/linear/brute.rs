//! The definition itself: brute force over every order that respects real time; and random
//! histories.

use crate::Kv;
use synod_core::linear::{Event, What};
use synod_core::replication::{Action, Answer, Operation, Store};

struct Called {
    operation: Operation,
    began: usize,
    /// The time and the content of its answer.
    ended: Option<(usize, Answer)>,
}

/// Whether some order of the operations on this store explains every answer. An operation comes
/// before another if it ended before the other began; operations without an answer may be left out.
pub(crate) fn is_linearizable(store: &Store, events: &[Event<Kv>]) -> bool {
    let mut called: Vec<(u64, Called)> = Vec::new();
    for (at, event) in events.iter().enumerate() {
        match &event.what {
            What::Invoke(operation) => {
                let operation = operation.clone();
                called.push((event.client, Called { operation, began: at, ended: None }));
            }
            What::Answer(answer) => {
                let last = called.iter_mut().rfind(|(client, _)| *client == event.client);
                last.expect("it was called").1.ended = Some((at, answer.clone()));
            }
            What::Abandon => {}
        }
    }
    some_order(store, &called.iter().map(|(_, called)| called).collect::<Vec<_>>())
}

fn some_order(store: &Store, left: &[&Called]) -> bool {
    if left.iter().all(|called| called.ended.is_none()) {
        return true;
    }
    let first_end = left.iter().filter_map(|called| Some(called.ended.as_ref()?.0)).min();
    (0..left.len()).any(|index| {
        let Called { operation, began, ended } = left[index];
        if first_end.is_some_and(|end| end < *began) {
            return false;
        }
        let mut store = store.clone();
        let answer = store.apply(operation);
        let fits = ended.as_ref().is_none_or(|(_, told)| *told == answer);
        let rest: Vec<&Called> = [&left[..index], &left[index + 1..]].concat();
        fits && some_order(&store, &rest)
    })
}

/// Numbers that look random and are the same in every run (splitmix64).
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }

    fn action(&mut self, values: u64) -> Action {
        match self.below(8) {
            0..3 => Action::Get,
            3..6 => Action::Put(self.below(values)),
            6 => Action::Delete,
            _ => {
                let expect = Some(self.below(values)).filter(|_| self.below(4) > 0);
                Action::CompareAndSwap { expect, new: self.below(values) }
            }
        }
    }

    /// Some answer to this action, true or not.
    fn lie(&mut self, action: &Action, values: u64) -> Answer {
        let answers = answers_to(action, values);
        answers[self.below(answers.len() as u64) as usize].clone()
    }
}

/// Every possible answer.
pub(crate) fn answers_to(action: &Action, values: u64) -> Vec<Answer> {
    match action {
        Action::Get => (0..values).map(Some).chain([None]).map(Answer::Value).collect(),
        Action::Put(_) => vec![Answer::Done],
        Action::Delete => [true, false].map(Answer::Deleted).to_vec(),
        Action::CompareAndSwap { .. } => [true, false].map(Answer::Swapped).to_vec(),
    }
}

/// The size of a random history.
#[derive(Clone, Copy)]
pub(crate) struct Size {
    pub(crate) operations: u64,
    pub(crate) clients: u64,
    pub(crate) keys: u64,
    pub(crate) values: u64,
    /// One answer in this many is a lie.
    pub(crate) lies: u64,
    /// One operation in this many is abandoned.
    pub(crate) abandons: u64,
}

/// The state of a client of a random history.
#[derive(Clone)]
enum Client {
    Idle,
    Called(Operation),
    Done(Operation, Answer),
}

/// A real store serves its clients, each operation at some moment between call and answer; but some
/// answers are lies, and some clients give up waiting.
pub(crate) fn random_history(size: Size, dice: &mut Dice) -> Vec<Event<Kv>> {
    let mut clients = vec![Client::Idle; size.clients as usize];
    let (mut store, mut events, mut called) = (Store::default(), Vec::new(), 0);
    while called < size.operations || dice.below(8) > 0 {
        let client = dice.below(size.clients);
        let event = |what| Event { client, time_us: None, what };
        let state = &mut clients[client as usize];
        *state = match state.clone() {
            Client::Idle if called == size.operations => Client::Idle,
            Client::Idle => {
                called += 1;
                let (key, action) = (dice.below(size.keys), dice.action(size.values));
                let operation = Operation { key, action };
                events.push(event(What::Invoke(operation.clone())));
                Client::Called(operation)
            }
            _ if dice.below(size.abandons) == 0 => {
                events.push(event(What::Abandon));
                Client::Idle
            }
            Client::Called(operation) => {
                let answer = store.apply(&operation);
                Client::Done(operation, answer)
            }
            Client::Done(operation, answer) => {
                let lies = dice.below(size.lies) == 0;
                let answer = if lies { dice.lie(&operation.action, size.values) } else { answer };
                events.push(event(What::Answer(answer)));
                Client::Idle
            }
        };
    }
    events
}
