//! The clients at one process.

use super::{ASKERS, CLIENTS, KEYS, OPERATIONS, Replication};
use crate::card::Rounds;
use crate::family::{Application, Moment};
use crate::process::ProcessId;
use crate::replication::{Action, Answer, Invoke, Notice, Operation};
use crate::setup::{Setup, SetupError};
use smallvec::{SmallVec, smallvec};
use std::collections::BTreeMap;

/// Clients that ask again and again; no two of all processes ever put the same value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Clients {
    plan: Plan,
    /// The requests that they may still make, together.
    left: Rounds,
    /// The number of requests made so far.
    made: u64,
    /// The open request of each client.
    waits: SmallVec<[Option<Operation>; 1]>,
    /// The last known value of each key, for swaps.
    seen: BTreeMap<u64, Option<u64>>,
}

/// The part that never changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Plan {
    me: ProcessId,
    n: u64,
    keys: u64,
    mix: Mix,
}

/// The mix of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Mix {
    Put,
    PutGet,
    Mixed,
}

/// A larger number is most likely a typing error.
const MOST_CLIENTS: u64 = 10_000;

/// Checks the parameters that the clients read.
pub(crate) fn check(setup: &Setup) -> Result<(), SetupError> {
    setup.processes(ASKERS.name)?;
    plan(ProcessId(0), setup).map(|_| ())
}

fn plan(me: ProcessId, setup: &Setup) -> Result<(Plan, usize), SetupError> {
    let mix = match setup.choice(OPERATIONS.name, &["mixed", "put", "put-get"])? {
        "put" => Mix::Put,
        "put-get" => Mix::PutGet,
        _ => Mix::Mixed,
    };
    let keys = setup.number(KEYS.name, 2)?;
    if keys == 0 {
        return Err(setup.bad(KEYS.name, "clients need a key"));
    }
    let clients = setup.number(CLIENTS.name, 1)?;
    if !(1..=MOST_CLIENTS).contains(&clients) {
        return Err(setup.bad(CLIENTS.name, format!("from 1 to {MOST_CLIENTS}")));
    }
    Ok((Plan { me, n: setup.n as u64, keys, mix }, clients as usize))
}

impl Application for Clients {
    type Family = Replication;

    fn new(me: ProcessId, setup: &Setup, rounds: Rounds) -> Self {
        let (plan, clients) = plan(me, setup).expect("the algorithm has accepted the setup");
        let (waits, seen) = (smallvec![None; clients], BTreeMap::new());
        let askers = setup.processes(ASKERS.name).expect("the algorithm has accepted the setup");
        let asks = askers.is_none_or(|askers| askers.contains(&me));
        let left = if asks { rounds } else { Rounds::Times(0) };
        Clients { plan, left, made: 0, waits, seen }
    }

    fn offers(&self, offer: &mut dyn FnMut(Invoke<Operation>)) {
        for client in self.idle() {
            (0..self.kinds()).map(|kind| self.asks(client, kind)).for_each(&mut *offer);
        }
    }

    fn offer(&self, pick: &mut dyn FnMut(usize) -> usize) -> Option<Invoke<Operation>> {
        let all = self.idle().count() * self.kinds();
        let picked = if all > 1 { pick(all) } else { 0 };
        let client = self.idle().nth(picked / self.kinds())?;
        Some(self.asks(client, picked % self.kinds()))
    }

    fn may_ask(&self, input: &Invoke<Operation>) -> bool {
        let Invoke::Operation { client, .. } = input else { return false };
        let is_idle = self.left.are_left() && self.waits.get(*client as usize) == Some(&None);
        is_idle && (0..self.kinds()).any(|kind| self.asks(*client, kind) == *input)
    }

    fn on_input(&mut self, input: &Invoke<Operation>) {
        let Invoke::Operation { client, operation } = input else { return };
        self.made += 1;
        self.left.use_one();
        if let Some(waits) = self.waits.get_mut(*client as usize) {
            *waits = Some(operation.clone());
        }
    }

    fn on_output(&mut self, output: &Notice<Answer>, _: Moment<'_>) -> Option<Invoke<Operation>> {
        match output {
            Notice::Returned { client, answer } => self.on_returned(*client, answer),
            Notice::Closed { client } => {
                self.take(*client);
            }
            Notice::Applied { .. }
            | Notice::Restored(_)
            | Notice::Leads(_)
            | Notice::Refused { .. } => {}
        }
        None
    }

    fn on_crash(&mut self) {
        self.waits.iter_mut().for_each(|waits| *waits = None);
        self.seen.clear();
    }
}

impl Clients {
    /// Clients without an open request, if they may still ask.
    fn idle(&self) -> impl Iterator<Item = u32> {
        let may_ask = self.left.are_left();
        let idle =
            self.waits.iter().enumerate().filter(move |(_, waits)| may_ask && waits.is_none());
        idle.map(|(client, _)| client as u32)
    }

    /// The number of kinds of requests that a client may choose from.
    fn kinds(&self) -> usize {
        if self.plan.mix == Mix::Mixed { 4 } else { 1 }
    }

    /// A client's next request, of this kind.
    fn asks(&self, client: u32, kind: usize) -> Invoke<Operation> {
        let action = match (self.plan.mix, kind) {
            (Mix::Put, _) => self.put(),
            (Mix::PutGet, _) if self.made.is_multiple_of(2) => self.put(),
            (Mix::PutGet, _) => Action::Get,
            (Mix::Mixed, 0) => self.put(),
            (Mix::Mixed, 1) => Action::Get,
            (Mix::Mixed, 2) => {
                let expect = self.seen.get(&self.key()).copied().flatten();
                Action::CompareAndSwap { expect, new: self.new_value() }
            }
            (Mix::Mixed, _) => Action::Delete,
        };
        Invoke::Operation { client, operation: Operation { key: self.key(), action } }
    }

    /// The key of the next request.
    fn key(&self) -> u64 {
        self.made % self.plan.keys
    }

    /// A value that no other client puts, and that was not put before.
    fn new_value(&self) -> u64 {
        self.made * self.plan.n + u64::from(self.plan.me.0) + 1
    }

    fn put(&self) -> Action {
        Action::Put(self.new_value())
    }

    fn take(&mut self, client: u32) -> Option<Operation> {
        self.waits.get_mut(client as usize).and_then(Option::take)
    }

    fn on_returned(&mut self, client: u32, answer: &Answer) {
        let Some(operation) = self.take(client) else { return };
        if self.plan.mix != Mix::Mixed {
            return;
        }
        let known = match (operation.action, answer) {
            (Action::Get, Answer::Value(value)) => *value,
            (Action::Put(value), _) => Some(value),
            (Action::CompareAndSwap { new, .. }, Answer::Swapped(true)) => Some(new),
            _ => None,
        };
        self.seen.insert(operation.key, known);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOMENT: Moment<'static> = Moment { now_us: 0, clocks: &[] };

    fn clients(me: u32, setup: &Setup) -> Clients {
        Clients::new(ProcessId(me), setup, Rounds::Times(3))
    }

    fn offers(clients: &Clients) -> Vec<Invoke<Operation>> {
        let mut offers = Vec::new();
        clients.offers(&mut |offer| offers.push(offer));
        offers
    }

    fn returned(client: u32, answer: Answer) -> Notice<Answer> {
        Notice::Returned { client, answer }
    }

    #[test]
    fn each_client_has_one_open_request_at_a_time() {
        let setup = Setup::new(3).with("clients", "2").with("operations", "put");
        let mut clients = clients(0, &setup);
        assert_eq!(offers(&clients).len(), 2);
        let first = offers(&clients)[0].clone();
        clients.on_input(&first);
        assert_eq!(offers(&clients).len(), 1);
        let second = offers(&clients)[0].clone();
        clients.on_input(&second);
        assert!(offers(&clients).is_empty());
        clients.on_output(&returned(1, Answer::Done), MOMENT);
        let third = offers(&clients)[0].clone();
        assert!(matches!(third, Invoke::Operation { client: 1, .. }));
        clients.on_input(&third);
        clients.on_output(&returned(0, Answer::Done), MOMENT);
        assert!(offers(&clients).is_empty(), "they asked three times");
    }

    #[test]
    fn what_is_offered_one_by_one_is_what_is_offered_in_all() {
        let mut clients = clients(0, &Setup::new(3).with("clients", "3"));
        clients.on_input(&offers(&clients)[4].clone());
        let all = offers(&clients);
        let one = |number| clients.offer(&mut |_| number);
        assert_eq!((0..8).filter_map(one).collect::<Vec<_>>(), all);
        assert!(all.iter().all(|input| clients.may_ask(input)));
        let Invoke::Operation { operation, .. } = all[0].clone() else { panic!("it is one") };
        let busy = Invoke::Operation { client: 1, operation };
        assert!(!clients.may_ask(&busy));
    }

    #[test]
    fn no_two_clients_put_the_same_value() {
        let setup = Setup::new(3).with("operations", "put");
        let mut values = Vec::new();
        for me in 0..3 {
            let mut clients = clients(me, &setup);
            while let Some(input) = offers(&clients).first().cloned() {
                clients.on_input(&input);
                let Invoke::Operation {
                    operation: Operation { action: Action::Put(value), .. },
                    ..
                } = input
                else {
                    panic!("they put");
                };
                values.push(value);
                clients.on_output(&returned(0, Answer::Done), MOMENT);
            }
        }
        values.sort_unstable();
        assert_eq!(values, [1, 2, 3, 4, 5, 6, 7, 8, 9]);
    }

    #[test]
    fn a_swap_expects_what_was_seen_last() {
        let mut clients = clients(0, &Setup::new(1).with("keys", "1"));
        let put = offers(&clients)[0].clone();
        clients.on_input(&put);
        clients.on_output(&returned(0, Answer::Done), MOMENT);
        let swap = Action::CompareAndSwap { expect: Some(1), new: 2 };
        let operation = Operation { key: 0, action: swap };
        assert!(offers(&clients).contains(&Invoke::Operation { client: 0, operation }));
    }

    #[test]
    fn after_a_crash_no_client_waits() {
        let mut clients = clients(0, &Setup::new(1).with("operations", "put"));
        let put = offers(&clients)[0].clone();
        clients.on_input(&put);
        assert!(offers(&clients).is_empty());
        clients.on_crash();
        assert_eq!(offers(&clients).len(), 1);
    }

    #[test]
    fn clients_without_a_key_and_no_clients_are_refused() {
        assert!(check(&Setup::new(1).with("keys", "0")).is_err());
        assert!(check(&Setup::new(1).with("clients", "0")).is_err());
        assert!(check(&Setup::new(1).with("operations", "sing")).is_err());
        assert!(check(&Setup::new(1)).is_ok());
    }
}
