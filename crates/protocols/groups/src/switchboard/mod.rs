//! A switchboard: many services on one group engine, told apart by tags.
//!
//! Every pool with an engine of its own would mean as many heartbeats, failure detectors and views
//! as there are pools. So a node has one engine, and the switchboard above it connects each
//! multicast to the service with its tag.
//!
//! A service must see the views of its own life, and nodes learn of a service at different times: a
//! registry tells them, and a node that is cut off hears of it later. So the switchboard does not
//! pass the engine's views on as they come. In a new view every member *announces* the services
//! that it knows, and where they come from. When a member has delivered the announcements of all
//! members, it opens the services that it did not know, and only now each service enters the view.
//! All members deliver the announcements in one order, so a service enters the view at the same
//! place of the order everywhere. A member that did not have the service is new in it; members with
//! the same origin come along together.
//!
//! A service that becomes known while the view stands is opened by a multicast: at its delivery
//! every member opens it, and all are new in it.
//!
//! # Layout
//! - [`Switchboard`] (this file): deliveries, and room for multicasts; `requests`: its inputs
//! - `views`, `announcement`: from view to view; [`nodes`]: the list of nodes
//! - `line`: one pool under its tag; [`message`]: multicasts
//! - `card`, `proved`, `invariants`, [`mutants`]: claims, and what breaks without a rule
//!
//! - Assumes: the contract of [`synod_core::group`]; a tag names one service for ever; the duties
//!   of the registry in [`nodes`] and [`founding`].
//! - Guarantees: each service sees a group that keeps the same contract; so what holds for it on an
//!   engine of its own holds here.
//! - Cost: one multicast for each member of a view, and one more message delay until services go
//!   on.
//! - State: the services; while a view begins, one announcement for each member.
//!
//! # Why a service may trust its views
//! 1. A multicast of a service is passed on only in the view in which it was sent, and only if the
//!    service has entered this view. So between two views of a service nothing is delivered to it,
//!    but for what its last view still brings before the engine's next view.
//! 2. Members that go together from one view of the engine to the next have delivered the same
//!    announcements. So either all of them have seen their services enter the first view, or none.
//! 3. A view of the engine may end before the services enter it, and members that left the
//!    service's last view apart may go on from there together. So a member announces its *origin*:
//!    the last view that its services entered, and the members that have gone with it from each
//!    view of the engine to the next one since. Only members with the same origin are a part.
//!
//! Source: K. Guo, L. Rodrigues: Dynamic light-weight groups. ICDCS 1997.

mod announcement;
mod card;
pub mod founding;
mod invariants;
pub mod line;
pub mod message;
pub mod mutants;
pub mod nodes;
mod proved;
mod requests;
mod views;

pub use announcement::{Announced, Announcement, Origin};
pub use card::SwitchboardAlgorithm;
pub use line::{Line, Timer};
pub use message::Message;
pub use nodes::Nodes;

use crate::slots;
use announcement::{Entered, Gathering};
use mutants::{Sound, Variant};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::marker::PhantomData;
use synod_core::ProcessSet;
use synod_core::family::services::{Definition, Input, Output, Tag};
use synod_core::group::{Delivery, Level, Service, Session, View, ViewId};

synod_core::catalogue! {
    SwitchboardAlgorithm,
    mutants::CrossedLines,
    mutants::LateCalls,
    mutants::PartingsForgotten,
    mutants::NodesUntold,
    mutants::FoundsAgain,
}

/// The place of a member in the views of its engine.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Stage {
    /// In no view.
    Outside,
    /// In a view whose members have not all announced their services.
    Gathering(Box<Gathering>),
    /// In a view that the services have entered.
    Connected(Box<View>),
    /// The view is over.
    Between(ViewId),
}

/// The switchboard of one node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Switchboard<V: Variant = Sound> {
    /// The nodes that this member knows.
    nodes: Nodes,
    /// The nodes that all members of the last view that services entered knew together.
    agreed: Nodes,
    stage: Stage,
    /// The last view that services entered, if this life was in one.
    entered: Option<Entered>,
    /// The services that this node knows, open or not.
    known: BTreeMap<Tag, Definition>,
    /// The open pools.
    lines: BTreeMap<Tag, Line>,
    /// The services that are deleted. A node that was cut off may still have them.
    closed: BTreeSet<Tag>,
    /// Multicasts of the switchboard itself for which the engine had no room: at most two for each
    /// service, one for each certificate, and the announcement.
    unsent: VecDeque<Message>,
    /// The pools that wait for room, each once.
    queue: VecDeque<Tag>,
    leaving: bool,
    variant: PhantomData<V>,
}

impl<V: Variant> Service for Switchboard<V> {
    type Message = Message;
    type Command = Input;
    type Notice = Output;
    type Timer = Timer;

    fn on_command(&mut self, command: Input, session: &mut Session<'_, Self>) {
        match command {
            Input::Open(tag, definition) => self.open(tag, definition, session),
            Input::Close(tag) => self.close(tag, session),
            Input::Nodes(nodes) => self.nodes.absorb(&Nodes::new(nodes)),
            Input::Forget(node, nodes) => self.forget(node, nodes, session),
            Input::Pool(tag, request) => self.ask(tag, request, session),
            Input::Cast(tag, level, bytes) => self.cast(tag, level, bytes, session),
            Input::Leave => self.leave(session),
        }
    }

    fn on_view(&mut self, view: &View, session: &mut Session<'_, Self>) {
        if self.view() != Some(view.id) && view.contains(session.me()) {
            self.gather(view, session);
        }
    }

    fn on_transitional(&mut self, with: &ProcessSet, session: &mut Session<'_, Self>) {
        self.end_view(with, session);
    }

    fn on_deliver(&mut self, delivery: Delivery<Message>, session: &mut Session<'_, Self>) {
        let Delivery { sender, sent_in, level, message } = delivery;
        match message {
            Message::Announce(announcement) => {
                self.on_announce(sender.node, sent_in, *announcement, session);
            }
            Message::Open(tag, definition) => self.on_open(tag, definition, sent_in, session),
            Message::Close(tag) => self.on_close(tag, session),
            Message::Forget(node, nodes) => self.on_forget(node, nodes, sent_in, session),
            Message::Pool(tag, message) => {
                let delivery = Delivery { sender, sent_in, level, message };
                self.connect(V::line(tag), delivery, session);
            }
            Message::Cast(tag, bytes) => {
                if self.known.get(&tag) == Some(&Definition::Group) {
                    session.notify(Output::Heard(V::line(tag), sender, bytes));
                }
            }
        }
        self.flush(session);
    }

    fn on_room(&mut self, session: &mut Session<'_, Self>) {
        self.flush(session);
    }

    fn on_lost(&mut self, session: &mut Session<'_, Self>) {
        self.begin_anew(session);
        session.notify(Output::Lost);
    }

    fn on_timer(&mut self, Timer { tag, timer }: Timer, session: &mut Session<'_, Self>) {
        self.in_line(tag, session, |line, session| line.pool_mut().on_timer(timer, session));
    }
}

impl<V: Variant> Switchboard<V> {
    /// The switchboard of a node that knows no service. `nodes` are the nodes that it knows.
    pub fn new(nodes: ProcessSet) -> Self {
        Switchboard {
            nodes: Nodes::new(nodes),
            agreed: Nodes::default(),
            stage: Stage::Outside,
            entered: None,
            known: BTreeMap::new(),
            lines: BTreeMap::new(),
            closed: BTreeSet::new(),
            unsent: VecDeque::new(),
            queue: VecDeque::new(),
            leaving: false,
            variant: PhantomData,
        }
    }

    /// The present view of the engine, or the last one.
    pub fn view(&self) -> Option<ViewId> {
        match &self.stage {
            Stage::Outside => None,
            Stage::Gathering(gathering) => Some(gathering.view.id),
            Stage::Connected(view) => Some(view.id),
            Stage::Between(last) => Some(*last),
        }
    }

    /// The view that the services have entered, if it stands.
    pub fn connected(&self) -> Option<&View> {
        match &self.stage {
            Stage::Connected(view) => Some(view),
            _ => None,
        }
    }

    /// The services that this node knows.
    pub fn known(&self) -> &BTreeMap<Tag, Definition> {
        &self.known
    }

    /// The open pools.
    pub fn lines(&self) -> &BTreeMap<Tag, Line> {
        &self.lines
    }

    /// The nodes that this node knows.
    pub fn nodes(&self) -> &Nodes {
        &self.nodes
    }

    /// The nodes that must be here or accounted for before absent slots return, as the members of
    /// the last view agreed.
    pub fn accountable(&self) -> ProcessSet {
        self.agreed.accountable()
    }

    fn is_connected(&self) -> bool {
        matches!(self.stage, Stage::Connected(_))
    }

    /// Whether the service has entered this view of the engine.
    fn has_entered(&self, tag: Tag, view: ViewId) -> bool {
        let last = self.entered.as_ref().map(|entered| entered.origin.view);
        last == Some(view) && self.lines.contains_key(&tag)
    }

    /// Takes a step of one service, and does what it asks for. Returns false if there is no such
    /// service. A pool multicasts only in a view that it has entered.
    fn in_line(
        &mut self,
        tag: Tag,
        session: &mut Session<'_, Self>,
        step: impl FnOnce(&mut Line, &mut line::LineSession<'_>),
    ) -> bool {
        let room = if self.is_connected() { session.room() } else { 0 };
        let Some(line) = self.lines.get_mut(&tag) else { return false };
        line.step(tag, room, session, step);
        if line.begins_to_queue() {
            self.queue.push_back(tag);
        }
        if self.leaving && self.lines.values().all(Line::has_left) {
            session.leave();
        }
        true
    }

    fn in_all_lines(
        &mut self,
        session: &mut Session<'_, Self>,
        step: impl Fn(&mut Line, &mut line::LineSession<'_>),
    ) {
        let tags: Vec<Tag> = self.lines.keys().copied().collect();
        for tag in tags {
            self.in_line(tag, session, &step);
        }
    }

    /// Multicasts what waits for room: first what the switchboard itself has to say, then what the
    /// pools have to say, in turn.
    fn flush(&mut self, session: &mut Session<'_, Self>) {
        let room = session.room().min(self.unsent.len());
        for message in self.unsent.drain(..room) {
            session.multicast(Level::Agreed, message).expect("there is room");
        }
        for _ in 0..self.queue.len() {
            if session.room() == 0 || !self.is_connected() {
                return;
            }
            let Some(tag) = self.queue.pop_front() else { return };
            self.in_line(tag, session, |line, session| {
                line.leave_queue();
                line.pool_mut().on_room(session);
            });
        }
    }

    /// Step 1: passes a multicast on if the service has entered the view in which it was sent, and
    /// no other view of the engine has come since.
    fn connect(
        &mut self,
        tag: Tag,
        mut delivery: Delivery<slots::message::Message>,
        session: &mut Session<'_, Self>,
    ) {
        if let Some(view) = self.view().filter(|_| V::LATE_CALLS) {
            delivery.sent_in = view;
        }
        if self.view() == Some(delivery.sent_in) && self.has_entered(tag, delivery.sent_in) {
            let step = |line: &mut Line, session: &mut line::LineSession<'_>| {
                line.pool_mut().on_deliver(delivery, session);
            };
            self.in_line(tag, session, step);
        }
    }
}
