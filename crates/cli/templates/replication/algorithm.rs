//! A replicated log that p0 orders.
//!
//! Every command goes to p0, the leader. It gives each command the next place in the log, and sends
//! it to all followers. A follower commits entries in the order of their places, and keeps those
//! that come too early.
//!
//! - Assumes: reliable links in any order; no process crashes.
//! - Guarantees: one leader, the same log everywhere, linearizable answers.
//! - Cost: one message to each other process for a command, beside the request and its answer.
//! - State: the last place that is committed; the entries that came too early.
//!
//! Source: the template of `synod new`. Replace the algorithm and these lines by your own; every
//! claim that you make on the card is then tested.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use synod_core::card::{Card, Scope, Source, Tolerance};
use synod_core::family::replication::{
    ANSWERED, ASKERS, CLIENTS, KEYS, LINEARIZABLE, ONCE, ONE_LEADER, OPERATIONS, PATIENCE, READS,
    SAME_LOG, SNAPSHOT, TRIES,
};
use synod_core::replication::{
    Ask, Catalogued, Command, Engine, Entry, Event, KeyValue, Operation, Sessions, Store,
};
use synod_core::{
    Cx, Durable, Never, ProcessId, ProcessSet, Protocol, Rule, Setup, SetupError, Trigger, Wire,
};

/// The engine under a key-value store: an algorithm like any other.
pub type MyAlgorithm = KeyValue<MyEngine>;

/// The process that orders.
pub const LEADER: ProcessId = ProcessId(0);

/// A command: the request of a client of the store.
type Wanted = Command<Operation>;
/// A snapshot, in the place of the beginning of the log.
type Kept = Sessions<Store>;

/// The one message between engines: this command stands at this place.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Placed {
    /// The place, from 1.
    pub index: u64,
    /// The command.
    pub command: Wanted,
}

impl Wire for Placed {}

/// The engine at one process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct MyEngine {
    /// The last place that is committed.
    committed: u64,
    /// Commands that came too early, by their places.
    early: BTreeMap<u64, Wanted>,
}

impl Protocol for MyEngine {
    type Input = Ask<Wanted, Kept>;
    type Output = Event<Wanted, Kept>;
    type Message = Placed;
    type Timer = Never;

    fn on_start(&mut self, cx: &mut Cx<'_, Self>) {
        match cx.me() {
            LEADER => cx.output(Event::Leads(1)),
            _ => cx.output(Event::Follows { term: 1, leader: Some(LEADER) }),
        }
    }

    fn on_input(&mut self, ask: Ask<Wanted, Kept>, cx: &mut Cx<'_, Self>) {
        match ask {
            Ask::Append(command) if cx.me() == LEADER => self.append(command, cx),
            Ask::Read(number) if cx.me() == LEADER => cx.output(Event::Readable(number)),
            Ask::Read(number) => cx.output(Event::Unreadable(number)),
            // The engine keeps no log, so it compacts none; and p0 leads for ever.
            Ask::Append(_) | Ask::Compact { .. } | Ask::Reconfigure(_) | Ask::Transfer(_) => {}
        }
    }

    fn on_message(&mut self, from: ProcessId, placed: Placed, cx: &mut Cx<'_, Self>) {
        if from != LEADER || placed.index <= self.committed {
            return cx.accuse(from, "does not lead, or gave the same place twice");
        }
        self.early.insert(placed.index, placed.command);
        while let Some(command) = self.early.remove(&(self.committed + 1)) {
            self.commit(command, cx);
        }
    }
}

impl MyEngine {
    fn append(&mut self, command: Wanted, cx: &mut Cx<'_, Self>) {
        cx.multicast(Placed { index: self.committed + 1, command: command.clone() });
        self.commit(command, cx);
    }

    fn commit(&mut self, command: Wanted, cx: &mut Cx<'_, Self>) {
        self.committed += 1;
        cx.output(Event::Committed { index: self.committed, entry: Entry::Command(command) });
    }
}

/// Nothing is written down: no process crashes.
impl Durable for MyEngine {
    type Record = ();

    fn replay(&mut self, (): ()) {}
}

impl Engine<Wanted, Kept> for MyEngine {
    fn whom_to_ask(&self, _me: ProcessId, _tries: u32) -> ProcessSet {
        ProcessSet::from_iter([LEADER])
    }

    fn answers(&self, me: ProcessId) -> bool {
        me == LEADER
    }

    fn room(&self) -> usize {
        64
    }
}

impl Catalogued for MyEngine {
    const CARD: Card = Card {
        name: "my-algorithm",
        title: "a replicated log that one process orders",
        source: Source { author: "folklore", year: 1978, work: "the template of synod new" },
        idea: "One process gives every command its place, and sends it to all others.",
        rules: &[
            Rule::on(
                &[Trigger::Input("Operation"), Trigger::Message("Request")],
                "leader, asked to append a command: give it the next place, send it to all, commit \
                 it",
            ),
            Rule::on_message(
                "Placed",
                "follower, on a command with its place: commit it, when all before it is committed",
            ),
        ],
        assumes: &["reliable links, in any order", "no process crashes"],
        tolerates: Tolerance::NOTHING,
        promises: &[ONE_LEADER, SAME_LOG, ONCE, LINEARIZABLE, ANSWERED],
        proved: &[Scope { set: &[("tries", "0"), ("operations", "put-get")], ..Scope::of(2) }],
        parameters: &[CLIENTS, ASKERS, KEYS, OPERATIONS, READS, PATIENCE, TRIES, SNAPSHOT],
        layers: &["key-value store", "my-algorithm"],
        ..Card::BLANK
    };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        Ok(vec![MyEngine::default(); setup.n])
    }
}
