//! What the registry and the applications ask for.

use super::mutants::Variant;
use super::{Line, Message, Stage, Switchboard, announcement, founding};
use synod_core::family::services::{Definition, Output, Tag};
use synod_core::family::slots::{Input as Request, OperatorCommand, Output as Answer};
use synod_core::group::{Level, Service, Session, ViewId};
use synod_core::{ProcessId, ProcessSet};

impl<V: Variant> Switchboard<V> {
    /// Multicasts a fact of the registry. If no view stands, the next one begins with an
    /// announcement of it.
    fn spread(&mut self, fact: Message, session: &mut Session<'_, Self>) {
        if !matches!(self.stage, Stage::Outside | Stage::Between(_)) {
            self.unsent.push_back(fact);
            self.flush(session);
        }
    }

    /// A request to a pool. No operator certifies a death to one pool alone.
    pub(super) fn ask(&mut self, tag: Tag, request: Request, session: &mut Session<'_, Self>) {
        if let Request::CertifyDead(node) = request {
            let void = Answer::Void(OperatorCommand::CertifyDead(node));
            return session.notify(Output::Pool(tag, void));
        }
        if !self.in_line(tag, session, |line, session| line.pool_mut().on_command(request, session))
        {
            session.notify(Output::Unknown(tag));
        }
    }

    pub(super) fn open(
        &mut self,
        tag: Tag,
        definition: Definition,
        session: &mut Session<'_, Self>,
    ) {
        if self.leaving || self.closed.contains(&tag) || self.known.contains_key(&tag) {
            return;
        }
        self.known.insert(tag, definition);
        self.nodes.known.extend(definition.founder().map(|founder| founder.node));
        self.spread(Message::Open(tag, definition), session);
    }

    pub(super) fn on_open(
        &mut self,
        tag: Tag,
        definition: Definition,
        sent_in: ViewId,
        session: &mut Session<'_, Self>,
    ) {
        if self.view() != Some(sent_in) || self.closed.contains(&tag) {
            return;
        }
        self.known.entry(tag).or_insert(definition);
        match &mut self.stage {
            // The sender learned it after its announcement: all members open it with the other
            // services.
            Stage::Gathering(gathering) => gathering.add(tag, definition),
            Stage::Connected(view) if !self.lines.contains_key(&tag) => {
                self.agreed.known.extend(definition.founder().map(|founder| founder.node));
                let founder = founding::founder::<V>(view, definition);
                let view = announcement::first_view(view, founder);
                self.enter(tag, definition, &view, founder, session);
            }
            _ => {}
        }
    }

    pub(super) fn close(&mut self, tag: Tag, session: &mut Session<'_, Self>) {
        if !self.leaving && !self.closed.contains(&tag) {
            self.on_close(tag, session);
            self.spread(Message::Close(tag), session);
        }
    }

    /// A deleted service moves no slots, so its members need not close it at the same place.
    pub(super) fn on_close(&mut self, tag: Tag, session: &mut Session<'_, Self>) {
        if self.closed.insert(tag) && self.known.remove(&tag).is_some() {
            self.in_line(tag, session, |_, session| Line::cancel_timers(session));
            self.lines.remove(&tag);
            self.queue.retain(|other| *other != tag);
            session.notify(Output::Closed(tag));
        }
    }

    pub(super) fn forget(
        &mut self,
        node: ProcessId,
        nodes: ProcessSet,
        session: &mut Session<'_, Self>,
    ) {
        self.nodes.absorb(&V::certificate(node, nodes.clone()));
        self.spread(Message::Forget(node, nodes), session);
    }

    /// A certificate is delivered. All members of the view that it was sent in take it in at one
    /// place of the order.
    pub(super) fn on_forget(
        &mut self,
        node: ProcessId,
        nodes: ProcessSet,
        sent_in: ViewId,
        session: &mut Session<'_, Self>,
    ) {
        let certificate = V::certificate(node, nodes);
        self.nodes.absorb(&certificate);
        if self.view() != Some(sent_in) {
            return;
        }
        match &mut self.stage {
            Stage::Gathering(gathering) => gathering.certify(&certificate),
            Stage::Connected(_) => {
                self.agreed.absorb(&certificate);
                let nodes = self.agreed.accountable();
                self.in_all_lines(session, |line, session| {
                    line.pool_mut().on_nodes(&nodes, session);
                });
            }
            Stage::Outside | Stage::Between(_) => {}
        }
    }

    pub(super) fn cast(
        &mut self,
        tag: Tag,
        level: Level,
        bytes: Vec<u8>,
        session: &mut Session<'_, Self>,
    ) {
        if self.known.get(&tag) != Some(&Definition::Group) {
            return session.notify(Output::Unknown(tag));
        }
        if self.leaving || session.multicast(level, Message::Cast(tag, bytes)).is_err() {
            session.notify(Output::Full(tag));
        }
    }

    pub(super) fn leave(&mut self, session: &mut Session<'_, Self>) {
        if std::mem::replace(&mut self.leaving, true) {
            return;
        }
        if self.lines.is_empty() {
            return session.leave();
        }
        self.in_all_lines(session, |line, session| {
            line.pool_mut().on_command(Request::Leave, session);
        });
    }
}
