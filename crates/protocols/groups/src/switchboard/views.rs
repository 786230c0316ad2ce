//! From view to view: members announce what they know, and then the services enter the view.

use super::announcement::{Announced, Announcement, Entered, Gathering};
use super::mutants::Variant;
use super::{Line, Message, Stage, Switchboard, founding};
use std::collections::btree_map::Entry;
use synod_core::family::services::{Definition, Output, Tag};
use synod_core::group::{Service, Session, View, ViewId};
use synod_core::{ProcessId, ProcessSet};

impl<V: Variant> Switchboard<V> {
    /// The engine is in a new view: this member announces what it knows.
    pub(super) fn gather(&mut self, view: &View, session: &mut Session<'_, Self>) {
        let last = self.view();
        self.stop_queueing();
        self.nodes.known.extend(view.set().iter());
        if let Some(entered) = &mut self.entered {
            if !V::REMEMBERS_PARTINGS {
                *entered = entered.without_partings();
            }
            entered.go_on(session.me(), view);
        }
        session.notify(Output::View(view.id, view.members.clone()));
        self.stage = Stage::Gathering(Box::new(Gathering::new(view.clone(), last)));
        self.unsent.clear();
        self.unsent.push_back(Message::Announce(Box::new(self.announcement())));
        self.flush(session);
    }

    /// The view is over. Only pools that have entered it learn so.
    pub(super) fn end_view(&mut self, with: &ProcessSet, session: &mut Session<'_, Self>) {
        let Some(view) = self.view() else { return };
        let has_entered = self.is_connected();
        self.stage = Stage::Between(view);
        self.unsent.clear();
        self.stop_queueing();
        if has_entered {
            self.in_all_lines(session, |line, session| {
                line.pool_mut().on_transitional(with, session);
            });
        }
    }

    /// The membership is lost. The pools begin anew, too; their tokens go on growing.
    pub(super) fn begin_anew(&mut self, session: &mut Session<'_, Self>) {
        self.leaving = false;
        self.stage = Stage::Outside;
        self.entered = None;
        self.unsent.clear();
        self.stop_queueing();
        self.in_all_lines(session, Line::begin_anew);
    }

    fn stop_queueing(&mut self) {
        self.queue.clear();
        self.lines.values_mut().for_each(Line::leave_queue);
    }

    fn is_open(&self, tag: Tag) -> bool {
        self.entered.is_some() && self.lines.contains_key(&tag)
    }

    fn announcement(&self) -> Announcement {
        let known = self.known.iter();
        let known =
            known.map(|(tag, what)| (*tag, Announced { what: *what, is_open: self.is_open(*tag) }));
        Announcement {
            known: known.collect(),
            closed: self.closed.clone(),
            from: self.entered.as_ref().map(|entered| entered.origin.clone()),
            nodes: self.nodes.clone(),
        }
    }

    pub(super) fn on_announce(
        &mut self,
        from: ProcessId,
        sent_in: ViewId,
        announcement: Announcement,
        session: &mut Session<'_, Self>,
    ) {
        let Stage::Gathering(gathering) = &mut self.stage else { return };
        if gathering.view.id != sent_in {
            return;
        }
        gathering.announce(from, announcement);
        if gathering.is_complete() {
            let gathering = gathering.clone();
            self.complete(&gathering, session);
        }
    }

    /// All members have announced: the services enter the view.
    fn complete(&mut self, gathering: &Gathering, session: &mut Session<'_, Self>) {
        let view = &gathering.view;
        self.stage = Stage::Connected(Box::new(view.clone()));
        self.agreed = if V::SHARES_NODES { gathering.nodes() } else { self.nodes.clone() };
        self.nodes.absorb(&self.agreed);
        for tag in gathering.closed() {
            self.on_close(tag, session);
        }
        let before = self.entered.replace(Entered::new(view));
        for (tag, what) in gathering.known() {
            if !self.closed.contains(&tag) {
                self.known.entry(tag).or_insert(what);
                let entered = before.as_ref().filter(|_| self.lines.contains_key(&tag));
                let founder = founding::founder::<V>(view, what);
                let is_new = entered.is_none();
                let view = gathering.view_of(tag, founder, entered);
                self.enter(tag, what, &view, founder.filter(|_| is_new), session);
            }
        }
    }

    /// A service enters a view. If this node did not have it, it begins now. `founder` founds it,
    /// if it is new there.
    pub(super) fn enter(
        &mut self,
        tag: Tag,
        what: Definition,
        view: &View,
        founder: Option<ProcessId>,
        session: &mut Session<'_, Self>,
    ) {
        let Definition::Pool(settings) = what else { return };
        let (me, nodes) = (session.me(), self.agreed.accountable());
        if let Entry::Vacant(place) = self.lines.entry(tag) {
            place.insert(Line::new(me, nodes.clone(), &settings));
            session.notify(Output::Opened(tag));
        }
        self.in_line(tag, session, |line, session| {
            if founder == Some(me) {
                line.pool_mut().found();
            }
            line.pool_mut().set_nodes(&nodes);
            line.pool_mut().on_view(view, session);
        });
    }
}
