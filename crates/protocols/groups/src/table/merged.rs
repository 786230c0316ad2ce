//! A table of keys and values in a group: written by multicast, read anywhere, merged after a
//! partition.
//!
//! A write bears a stamp, greater than every stamp that its writer knows of. A member that delivers
//! a write keeps it if its stamp is the greatest for its key. So the order in which a copy takes in
//! writes makes no difference to its contents, and two copies are merged by keeping the greater
//! stamp of each key.
//!
//! When a view brings members together that were apart, each of them multicasts its copy. Once a
//! member has delivered the copies of all members of the view, it is *ready*. By then every ready
//! member has taken in the same copies and the same writes, because all deliver the same messages
//! in the same order. A new member becomes ready in the same way; its own copy is empty. Members
//! that come from one view together, and were ready there, have delivered the same messages and
//! exchange nothing.
//!
//! What a merge means, honestly: of two writes to one key on two sides of a partition, the one with
//! the smaller stamp is overwritten, although its writer was told that it was written. The greater
//! stamp is not the later one on the wall; it is the one whose side has written more. A write never
//! loses to one that its writer knew of. A write that no living member has delivered is gone.
//!
//! - Assumes: the contract of [`synod_core::group`], with agreed delivery.
//! - Guarantees: members that are ready in one view got the same copy there; a copy never goes back
//!   to an older entry.
//! - Cost: one multicast for a write, none for a read; one for each member when a view brings
//!   members together.
//! - State: an entry for each key that was ever written (no entry is ever deleted), and a set of
//!   members. A copy is multicast whole, so the longest multicast of the engine limits the size of
//!   the table.

use super::GroupEngine;
use super::mutants::{Sound, Variant};
use serde::{Deserialize, Serialize};
use std::marker::PhantomData;
use synod_core::card::{Card, Crashes, Order, Rounds, Scope, Source, Tolerance};
use synod_core::family::SharedTable;
use synod_core::family::table::{
    ANSWERED, Entries, Entry, Input, KEPT, KEYS, Key, Output, READY, SAME, Stamp, keys,
};
use synod_core::group::{
    Catalogued, Delivery, Level, Member, Served, Service, Session, View, ViewId,
};
use synod_core::reductions::Fleeting;
use synod_core::{Never, ProcessId, ProcessSet, Rule, Setup, SetupError, Trigger, Wire};

/// The table, on the engine that the setup names.
pub type TableAlgorithm = Served<Table, GroupEngine<Message>>;

/// The multicasts of members.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message {
    /// A write.
    Put(Key, Entry),
    /// The sender's copy, when it came into the view.
    Status(Entries),
}

impl Wire for Message {
    fn label(&self) -> String {
        match self {
            Message::Put(key, entry) => format!("Put {key} = {}", entry.value),
            Message::Status(entries) => format!("Status of {} keys", entries.len()),
        }
    }
}

impl Fleeting for Message {
    /// Between two views a member gathers no copies: all members multicast theirs again in the next
    /// view.
    fn is_void_between_views(&self) -> bool {
        matches!(self, Message::Status(_))
    }
}

/// Whether a member is in the group.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Standing {
    /// Not in the group.
    Outside,
    /// In a view, as this member.
    Inside { view: ViewId, me: Member, transfer: StateTransfer },
}

/// How far a member is in its view.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum StateTransfer {
    /// The member has yet to deliver the copies of these members.
    Gathering(ProcessSet),
    /// The member has the copy that all members of the view have.
    Ready,
    /// The view ended before the member had delivered all copies.
    Over,
}

/// The table at one member.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Table<V: Variant = Sound> {
    copy: Entries,
    /// The greatest count that this member knows of.
    count: u64,
    standing: Standing,
    /// Whether the member has yet to multicast its copy, because the engine had no room.
    unsaid: bool,
    variant: PhantomData<V>,
}

impl<V: Variant> Service for Table<V> {
    type Message = Message;
    type Command = Input;
    type Notice = Output;
    type Timer = Never;

    fn on_command(&mut self, command: Input, session: &mut Session<'_, Self>) {
        match command {
            Input::Put(key, value) => self.put(key, value, session),
            Input::Get(key) => {
                let value = self.copy.get(&key).map(|entry| entry.value);
                session.notify(Output::Read(key, value));
            }
            Input::Leave => session.leave(),
        }
    }

    fn on_view(&mut self, view: &View, session: &mut Session<'_, Self>) {
        let Some(me) = view.member(session.me()) else { return };
        let was_ready = match &self.standing {
            Standing::Inside { view: known, .. } if *known == view.id => return,
            Standing::Inside { transfer, .. } => *transfer == StateTransfer::Ready,
            Standing::Outside => false,
        };
        let stay_together = was_ready && view.companions(me.node) == view.set();
        let transfer =
            if stay_together { StateTransfer::Ready } else { StateTransfer::Gathering(view.set()) };
        self.unsaid = transfer != StateTransfer::Ready;
        self.standing = Standing::Inside { view: view.id, me, transfer };
        session.notify(match stay_together {
            true => Output::Ready(view.id, self.copy.clone()),
            false => Output::Gathers(view.id),
        });
        self.say(session);
    }

    /// From here on members of the view may deliver different messages. A member that became ready
    /// now might have another copy than the members before it, so it waits for the next view.
    fn on_transitional(&mut self, _with: &ProcessSet, _session: &mut Session<'_, Self>) {
        if let Standing::Inside { transfer: transfer @ StateTransfer::Gathering(_), .. } =
            &mut self.standing
        {
            *transfer = StateTransfer::Over;
            self.unsaid = false;
        }
    }

    fn on_deliver(&mut self, delivery: Delivery<Message>, session: &mut Session<'_, Self>) {
        match delivery.message {
            Message::Put(key, entry) => {
                self.take_in(key, entry);
                if self.me() == Some(delivery.sender) {
                    session.notify(Output::Written(key, entry.stamp));
                }
            }
            Message::Status(copy) => {
                self.on_status(delivery.sender, delivery.sent_in, copy, session);
            }
        }
        self.say(session);
    }

    fn on_room(&mut self, session: &mut Session<'_, Self>) {
        self.say(session);
    }

    fn on_lost(&mut self, session: &mut Session<'_, Self>) {
        *self = Table::new();
        session.notify(Output::Lost);
    }
}

impl<V: Variant> Table<V> {
    pub(super) fn new() -> Self {
        let (copy, standing) = (Entries::new(), Standing::Outside);
        Table { copy, count: 0, standing, unsaid: false, variant: PhantomData }
    }

    /// The copy of this member.
    pub fn copy(&self) -> &Entries {
        &self.copy
    }

    fn me(&self) -> Option<Member> {
        match self.standing {
            Standing::Outside => None,
            Standing::Inside { me, .. } => Some(me),
        }
    }

    /// The writer stamps a write before it sends it. So the write is the same in every view in
    /// which members may deliver it.
    fn put(&mut self, key: Key, value: u64, session: &mut Session<'_, Self>) {
        let stamp = self.me().map(|writer| Stamp { count: self.count + 1, writer });
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

    fn on_status(
        &mut self,
        sender: Member,
        sent_in: ViewId,
        copy: Entries,
        session: &mut Session<'_, Self>,
    ) {
        let Standing::Inside { view, transfer, me } = &mut self.standing else { return };
        let StateTransfer::Gathering(missing) = transfer else { return };
        if sent_in != *view {
            return;
        }
        missing.remove(sender.node);
        if missing.is_empty() || V::HASTY && sender == *me {
            *transfer = StateTransfer::Ready;
        }
        let ready = (*transfer == StateTransfer::Ready).then_some(*view);
        if V::REPLACES {
            self.copy.clear();
        }
        copy.into_iter().for_each(|(key, entry)| self.take_in(key, entry));
        if let Some(view) = ready {
            session.notify(Output::Ready(view, self.copy.clone()));
        }
    }

    /// Multicasts the copy, if that is still to be done and the engine has room.
    fn say(&mut self, session: &mut Session<'_, Self>) {
        if self.unsaid {
            let said = session.multicast(Level::Agreed, Message::Status(self.copy.clone()));
            self.unsaid = said.is_err();
        }
    }
}

impl Catalogued<GroupEngine<Message>> for Table {
    type Family = SharedTable;

    const CARD: Card = Card {
        name: "table",
        title: "A replicated table that merges after a partition",
        source: Source {
            author: "P. R. Johnson, R. H. Thomas",
            year: 1975,
            work: "The maintenance of duplicate databases, RFC 677",
        },
        idea: "Writes bear stamps, and each key keeps the write with the greatest one. So copies \
               can be merged key by key, in any order.",
        // A member hears of views and deliveries by messages of the abstract engine that are named
        // after them, and by `Ready`, `Commit`, `Data` and `Grant` of the embedded one.
        rules: &[
            Rule::on_input(
                "Put",
                "put: multicast the write, with a stamp greater than all known ones",
            ),
            Rule::on_input("Get", "get: answer from the own copy"),
            Rule::on(
                &[Trigger::Message("Put"), Trigger::Message("Data"), Trigger::Message("Grant")],
                "a write is delivered: keep it, if its stamp is the greatest of its key",
            ),
            Rule::on(
                &[Trigger::Message("View"), Trigger::Message("Ready"), Trigger::Message("Commit")],
                "a view brings members together that were apart, or not ready: multicast the own \
                 copy",
            ),
            Rule::on(
                &[Trigger::Message("Status"), Trigger::Message("Data"), Trigger::Message("Grant")],
                "the copies of all members of the view are delivered: ready",
            ),
            Rule::on(
                &[Trigger::Input("Leave"), Trigger::Message("Lost")],
                "leave, or be excluded: forget the copy",
            ),
        ],
        assumes: &[
            "a group engine that keeps the contract of extended virtual synchrony; agreed delivery \
             suffices",
            "a whole copy fits into one multicast",
        ],
        tolerates: Tolerance {
            crashes: Crashes::AllButOne,
            loss: true,
            duplication: true,
            ..Tolerance::NOTHING
        },
        promises: &[SAME, KEPT, ANSWERED, READY],
        usual: Some(0),
        proved: PROVED,
        parameters: &[KEYS],
        layers: &["table", "group"],
        smallest: 2,
        restless: true,
        ..Card::BLANK
    };

    fn service(_: ProcessId, _: &ProcessSet, setup: &Setup) -> Result<Self, SetupError> {
        keys(setup)?;
        Ok(Table::new())
    }
}

/// A world of `n` processes, on the abstract engine, in which every member writes once.
pub(super) const fn writing(n: usize, set: synod_core::card::Settings) -> Scope {
    Scope { rounds: Rounds::Times(1), order: Order::Fifo, set, ..Scope::of(n) }
}

const PROVED: &[Scope] = &[
    writing(3, &[("engine", "abstract"), ("keys", "1"), ("partitions", "1"), ("merges", "1")]),
    writing(3, &[("engine", "abstract"), ("keys", "1"), ("deaths", "1"), ("restarts", "1")]),
];
