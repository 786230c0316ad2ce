//! An engine as an entry of the catalogue.

use super::{
    Answer, Command, Engine, Message, Operation, Reads, Replicated, Sessions, Settings, Store,
};
use crate::algorithm::{Invariant, Replay};
use crate::byzantine::{Byzantine, Corruptible, Sworn};
use crate::card::{Card, Rule, Size, Trigger};
use crate::durable;
use crate::family::Replication;
use crate::family::consensus::Value;
use crate::process::ProcessId;
use crate::replication::Action;
use crate::setup::{Setup, SetupError};
use std::marker::PhantomData;

/// An engine under a key-value store, as it stands in the catalogue.
pub type KeyValue<L> = Byzantine<Replicated<Store, L>>;

/// An engine with a card. With a key-value store above it, it is an
/// [`Algorithm`](crate::Algorithm): [`KeyValue`].
pub trait Catalogued: Engine<Command<Operation>, Sessions<Store>> {
    /// Its card. The rules of clients follow those of the engine.
    const CARD: Card;

    /// The engines of a group, before they start. `setup` already fits the card.
    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError>;

    /// What a traitor in the place of this process says instead of `message` if it pretends that
    /// `value` is to be put, made with its own keys alone; see [`Corruptible::lie`].
    fn lie(&self, _message: &Self::Message, _value: Value) -> Option<Self::Message> {
        None
    }

    /// Whether there are clients at this process.
    fn takes_part(&self, _me: ProcessId) -> bool {
        true
    }

    /// Whether such a group goes on sending although no client waits for an answer.
    fn is_restless(_processes: &[KeyValue<Self>]) -> bool {
        Self::CARD.restless
    }

    /// The size that its cost formulas are about.
    fn size(processes: &[KeyValue<Self>]) -> Size {
        Size { n: processes.len(), k: processes.len() }
    }

    /// Whether the formulas on its card are about a group that is set up so.
    fn has_costs(_setup: &Setup) -> bool {
        true
    }

    /// Its invariants.
    fn invariants() -> &'static [Invariant<KeyValue<Self>>] {
        &[]
    }
}

/// The rules of the key-value store above an engine.
const STORE: &[Rule] = &[
    Rule::on(
        &[Trigger::Input("Operation"), Trigger::Timer("AskAgain")],
        "a client asks: send the request where the engine takes it; ask again after a while",
    ),
    Rule::on_message(
        "Request",
        "on a request: answer it if it was carried out before; else have the engine append it",
    ),
    Rule::always("what is committed: carry it out, in the order of the log, and answer the client"),
    Rule::on_message("Reply", "on enough equal replies: give the answer to the client"),
    Rule::on_message(
        "Closed",
        "on the news that its session is closed: tell the client, and begin another session",
    ),
];

/// Limit for the rules of an engine and the store; far above the number of any card.
const MOST_RULES: usize = 64;

struct WithStore<L>(PhantomData<L>);

impl<L: Catalogued> WithStore<L> {
    const ALL: [Rule; MOST_RULES] = Rule::both(L::CARD.rules, STORE);

    /// The card of a mutant may tell its change alone, and no rules.
    const RULES: &'static [Rule] = match L::CARD.rules.len() {
        0 => &[],
        own => Self::ALL.split_at(own + STORE.len()).0,
    };
}

impl<L: Catalogued> Corruptible for Replicated<Store, L> {
    fn lie(&self, message: &Self::Message, value: Value) -> Option<Self::Message> {
        match message {
            Message::Engine(message) => self.engine().lie(message, value).map(Message::Engine),
            Message::Reply { request, .. } => {
                let answer = Answer::Value(Some(value.0));
                Some(Message::Reply { request: *request, answer })
            }
            Message::Request(command) => {
                let action = Action::Put(value.0);
                let operation = Operation { key: command.operation.key, action };
                Some(Message::Request(Command { request: command.request, operation }))
            }
            Message::Closed(_) => None,
        }
    }
}

impl<L: Catalogued> Sworn for Replicated<Store, L> {
    type Family = Replication;

    const CARD: Card = Card { rules: WithStore::<L>::RULES, ..L::CARD };
    const REPLAY: Option<Replay<Byzantine<Self>>> = Some(durable::replay);

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        crate::family::replication::check(setup)?;
        let settings = Settings::from_setup(setup)?;
        let engines = L::assemble(setup)?;
        Ok(engines.into_iter().map(|engine| Replicated::new(engine, settings)).collect())
    }

    fn takes_part(&self, me: ProcessId) -> bool {
        self.engine().takes_part(me)
    }

    fn is_restless(processes: &[Byzantine<Self>]) -> bool {
        L::is_restless(processes)
    }

    fn size(processes: &[Byzantine<Self>]) -> Size {
        L::size(processes)
    }

    fn has_costs(setup: &Setup) -> bool {
        crate::byzantine::all_are_loyal(setup) && L::has_costs(setup)
    }

    fn invariants() -> &'static [Invariant<Byzantine<Self>>] {
        L::invariants()
    }
}

impl Settings {
    /// Reads the parameters.
    fn from_setup(setup: &Setup) -> Result<Self, SetupError> {
        let reads = match setup.choice("reads", &["log", "index"])? {
            "index" => Reads::Index,
            _ => Reads::Log,
        };
        let tries = match setup.text("tries") {
            None => None,
            Some(_) => Some(setup.number("tries", 0)?.min(u32::MAX.into()) as u32),
        };
        Ok(Settings {
            reads,
            patience_ms: setup.number("patience", 1_000)?,
            tries,
            snapshot_every: setup.number("snapshot", 0)?,
        })
    }
}
