//! A table that every member of a group has a copy of, told anew in every view.
//!
//! A write is multicast with a stamp greater than all that its writer knows; each key keeps the
//! write with the greatest stamp. In every new view each member multicasts its copy. A member that
//! has delivered the copies of all members is ready.
//!
//! - Assumes: the contract of [`synod_core::group`], with agreed delivery.
//! - Guarantees: members that are ready in one view got the same copy there; a copy never goes
//!   back.
//! - Cost: one multicast for a write; one for each member in every new view.
//! - State: an entry for each key that was ever written, and a set of members.
//!
//! Source: the template of `synod new`. Replace the service and these lines by your own; every
//! claim that you make on the card is then tested.

use super::GroupEngine;
use serde::{Deserialize, Serialize};
use synod_core::card::{Card, Crashes, Order, Scope, Source, Tolerance};
use synod_core::family::SharedTable;
use synod_core::family::table::{
    ANSWERED, Entries, Entry, Input, KEPT, KEYS, Key, Output, READY, SAME, Stamp, keys,
};
use synod_core::group::{
    Catalogued, Delivery, Level, Member, Served, Service, Session, View, ViewId,
};
use synod_core::reductions::Fleeting;
use synod_core::{Never, ProcessId, ProcessSet, Rule, Setup, SetupError, Trigger, Wire};

/// The service on whichever engine: an algorithm like any other.
pub type MyAlgorithm = Served<MyService, GroupEngine<Message>>;

/// What members multicast.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message {
    /// A write.
    Put(Key, Entry),
    /// What the sender has.
    Status(Entries),
}

impl Wire for Message {}

/// Every delivery matters: explorers leave out none.
impl Fleeting for Message {}

/// The service at one member.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct MyService {
    copy: Entries,
    /// The greatest count that this member knows of.
    count: u64,
    /// The view, and this member in it; none outside of the group.
    inside: Option<(ViewId, Member)>,
    /// Whose copies are yet to be delivered. None if this member is ready, or the view is over.
    missing: Option<ProcessSet>,
    /// Whether the copy is still to be multicast, for lack of room.
    unsaid: bool,
}

impl Service for MyService {
    type Message = Message;
    type Command = Input;
    type Notice = Output;
    type Timer = Never;

    fn on_command(&mut self, command: Input, session: &mut Session<'_, Self>) {
        match command {
            Input::Put(key, value) => self.put(key, value, session),
            Input::Get(key) => {
                session.notify(Output::Read(key, self.copy.get(&key).map(|entry| entry.value)));
            }
            Input::Leave => session.leave(),
        }
    }

    fn on_view(&mut self, view: &View, session: &mut Session<'_, Self>) {
        if self.inside.is_some_and(|(known, _)| known == view.id) {
            return;
        }
        self.inside = view.member(session.me()).map(|me| (view.id, me));
        self.missing = Some(view.set());
        self.unsaid = true;
        session.notify(Output::Gathers(view.id));
        self.say(session);
    }

    fn on_transitional(&mut self, _with: &ProcessSet, _session: &mut Session<'_, Self>) {
        (self.missing, self.unsaid) = (None, false);
    }

    fn on_deliver(&mut self, delivery: Delivery<Message>, session: &mut Session<'_, Self>) {
        match delivery.message {
            Message::Put(key, entry) => {
                self.take_in(key, entry);
                if self.inside.is_some_and(|(_, me)| me == delivery.sender) {
                    session.notify(Output::Written(key, entry.stamp));
                }
            }
            Message::Status(copy) => {
                copy.into_iter().for_each(|(key, entry)| self.take_in(key, entry));
                self.on_status(delivery.sender, delivery.sent_in, session);
            }
        }
        self.say(session);
    }

    fn on_room(&mut self, session: &mut Session<'_, Self>) {
        self.say(session);
    }

    fn on_lost(&mut self, session: &mut Session<'_, Self>) {
        *self = MyService::default();
        session.notify(Output::Lost);
    }
}

impl MyService {
    fn put(&mut self, key: Key, value: u64, session: &mut Session<'_, Self>) {
        let stamp = self.inside.map(|(_, writer)| Stamp { count: self.count + 1, writer });
        let sent = stamp.is_some_and(|stamp| {
            session.multicast(Level::Agreed, Message::Put(key, Entry { stamp, value })).is_ok()
        });
        match sent {
            true => self.count += 1,
            false => session.notify(Output::Refused(key)),
        }
    }

    fn take_in(&mut self, key: Key, entry: Entry) {
        self.count = self.count.max(entry.stamp.count);
        let mine = self.copy.entry(key).or_insert(entry);
        *mine = (*mine).max(entry);
    }

    fn on_status(&mut self, sender: Member, sent_in: ViewId, session: &mut Session<'_, Self>) {
        let Some((view, _)) = self.inside.filter(|(view, _)| *view == sent_in) else { return };
        let Some(missing) = &mut self.missing else { return };
        missing.remove(sender.node);
        if missing.is_empty() {
            self.missing = None;
            session.notify(Output::Ready(view, self.copy.clone()));
        }
    }

    /// Multicasts the copy, if it is still to be said and there is room.
    fn say(&mut self, session: &mut Session<'_, Self>) {
        if self.unsaid {
            let said = session.multicast(Level::Agreed, Message::Status(self.copy.clone()));
            self.unsaid = said.is_err();
        }
    }
}

impl Catalogued<GroupEngine<Message>> for MyService {
    type Family = SharedTable;

    const CARD: Card = Card {
        name: "my-algorithm",
        title: "a replicated table, told anew in every view",
        source: Source { author: "folklore", year: 1987, work: "the template of synod new" },
        idea: "Writes bear stamps, and each key keeps the greatest. In a new view all tell what \
               they have.",
        // A member hears of views and deliveries by messages of the abstract engine that are named
        // after them, and by `Ready`, `Commit` and `Data` of the embedded one.
        rules: &[
            Rule::on_input(
                "Put",
                "put: multicast the write, with a stamp greater than all known ones",
            ),
            Rule::on_input("Get", "get: answer from the own copy"),
            Rule::on(
                &[Trigger::Message("Put"), Trigger::Message("Status"), Trigger::Message("Data")],
                "a write, or a copy, is delivered: keep what has the greater stamp",
            ),
            Rule::on(
                &[
                    Trigger::Message("View"),
                    Trigger::Message("Ready"),
                    Trigger::Message("Commit"),
                    Trigger::Message("Status"),
                    Trigger::Message("Data"),
                ],
                "a new view: multicast the copy; ready, when the copies of all members are \
                 delivered",
            ),
        ],
        assumes: &["a group engine that keeps the contract of extended virtual synchrony"],
        tolerates: Tolerance { crashes: Crashes::AllButOne, loss: true, ..Tolerance::NOTHING },
        promises: &[SAME, KEPT, ANSWERED, READY],
        proved: &[Scope {
            order: Order::Fifo,
            set: &[("engine", "abstract"), ("keys", "1"), ("partitions", "1")],
            ..Scope::of(3)
        }],
        parameters: &[KEYS],
        layers: &["my-algorithm", "group"],
        smallest: 2,
        restless: true,
        ..Card::BLANK
    };

    fn service(_: ProcessId, _: &ProcessSet, setup: &Setup) -> Result<Self, SetupError> {
        keys(setup)?;
        Ok(MyService::default())
    }
}
