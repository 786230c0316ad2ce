//! The judge of group services: the outputs of all members, against the contract.
//!
//! It remembers a view only while a living member may still deliver in it, and a message only while
//! a member of its view lacks it. So it stays small in runs of any length, and two runs whose
//! differences no longer matter leave it equal: explorers rely on that.

mod causes;
mod order;
mod record;
mod settling;

use super::{G3, G4, GroupService, INTEGRITY, Input, Output, SETTLES, VIEWS};
use crate::family::multicast::Payload;
use crate::family::{Moment, Monitor, Violation};
use crate::group::{Ask, Delivery, Event, Level, Member, View, ViewId};
use crate::process::{ProcessId, ProcessSet};
use crate::setup::Setup;
use record::{Node, Record, Sent, Transition};
use settling::Reach;
use std::collections::BTreeMap;

/// A message: its sender, and its number there.
type Name = (ProcessId, u32);

/// Remembers the outputs of every member, as far as they still matter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Historian {
    /// Whether p0 stands for the group service and is no member: the abstract engine. Only p0 then
    /// knows which members can reach each other.
    oracle: bool,
    nodes: Vec<Node>,
    /// The views in which a member may still deliver.
    views: BTreeMap<ViewId, Record>,
    /// The messages that a member may still deliver.
    messages: BTreeMap<Name, Sent>,
    reach: Reach,
}

/// Collects the violations of one step at one process.
struct Findings<'f> {
    at: ProcessId,
    found: &'f mut Vec<Violation>,
}

impl Findings<'_> {
    fn add(&mut self, property: &'static str, because: impl AsRef<str>) {
        let at = self.at;
        let because = format!("{at} {}", because.as_ref());
        self.found.push(Violation { property, at, because });
    }
}

fn words((sender, number): Name) -> String {
    format!("message {number} of {sender}")
}

impl Monitor for Historian {
    type Family = GroupService;

    fn new(setup: &Setup, _judged: &dyn Fn(&str) -> bool) -> Self {
        Historian {
            oracle: setup.text(super::ENGINE.name) == Some("abstract"),
            nodes: vec![Node::default(); setup.n],
            views: BTreeMap::new(),
            messages: BTreeMap::new(),
            reach: Reach::default(),
        }
    }

    fn on_input(&mut self, at: ProcessId, input: &Input, _: Moment<'_>, _: &mut Vec<Violation>) {
        let node = &mut self.nodes[at.index()];
        match input {
            Ask::Multicast { level, message } => {
                let sent = Sent::new(node.next_life(), *level, node.view);
                self.messages.insert((at, message.number), sent);
            }
            Ask::Leave => node.asked_to_leave = node.life,
        }
    }

    fn on_output(
        &mut self,
        at: ProcessId,
        output: &Output,
        _: Moment<'_>,
        found: &mut Vec<Violation>,
    ) {
        let findings = &mut Findings { at, found };
        match output {
            Event::View(view) => self.on_view(at, view, findings),
            Event::Transitional(with) => self.on_transitional(at, with, findings),
            Event::Deliver(delivery) => self.on_deliver(at, delivery, findings),
            Event::Refused(message) => self.on_refused((at, message.number), findings),
            Event::Lost => {
                self.nodes[at.index()].lose();
                self.forget_views();
            }
            Event::Room => {}
        }
    }

    fn on_crash(&mut self, at: ProcessId) {
        self.nodes[at.index()].crash();
        self.forget_views();
    }

    fn on_restart(&mut self, at: ProcessId) {
        self.nodes[at.index()].restart();
    }

    fn on_links(&mut self, works: &dyn Fn(ProcessId, ProcessId) -> bool) {
        self.reach = Reach::of(self.nodes.len(), works);
    }

    fn has_news(&self, _from: ProcessId) -> bool {
        false
    }

    fn waiting(&self, property: &str) -> ProcessSet {
        match property {
            G3 => self.without_their_own().map(|(sender, _)| sender).collect(),
            G4 => self.without_a_safe_one().map(|(at, _)| at).collect(),
            SETTLES => self.unsettled(),
            _ => ProcessSet::EMPTY,
        }
    }

    fn complaint(&self, property: &str, at: ProcessId) -> String {
        match property {
            G3 => match self.without_their_own().find(|(sender, _)| *sender == at) {
                Some(name) => format!("has not delivered its own {}", words(name)),
                None => "waits".to_owned(),
            },
            G4 => match self.without_a_safe_one().find(|(lacking, _)| *lacking == at) {
                Some((_, name)) => format!("has not delivered {}, which is safe", words(name)),
                None => "waits".to_owned(),
            },
            _ => self.unsettled_in_words(at),
        }
    }
}

impl Historian {
    fn is_node(&self, node: ProcessId) -> bool {
        node.index() < self.nodes.len()
    }

    /// Whether this life of a node is over.
    fn is_over(&self, member: Member) -> bool {
        let node = &self.nodes[member.node.index()];
        member.incarnation < node.life || (member.incarnation == node.life && node.is_over)
    }

    /// Whether this member still has duties: it lives, and did not ask to leave.
    fn is_staying(&self, member: Member) -> bool {
        !self.is_over(member)
            && self.nodes[member.node.index()].asked_to_leave != member.incarnation
    }

    /// Whether a member delivers no more in a view of its own: it is dead, or farther on.
    fn is_done_with(&self, member: Member, view: ViewId) -> bool {
        let farther = |now: ViewId| now != view && now.epoch >= view.epoch;
        let node = &self.nodes[member.node.index()];
        self.is_over(member) || (node.life == member.incarnation && node.view.is_some_and(farther))
    }

    fn on_view(&mut self, at: ProcessId, view: &View, findings: &mut Findings<'_>) {
        let node = &self.nodes[at.index()];
        // An engine may repeat a view, as long as the two agree.
        if node.view == Some(view.id) && node.transition.is_none() {
            return self.views[&view.id].is_told(view, findings);
        }
        self.nodes[at.index()].begin();
        self.judge_name(at, view, findings);
        self.record(view, findings);
        self.judge_members(at, view, findings);
        self.judge_parts(at, view, findings);
        self.judge_causes(at, view, findings);
        self.pass(at, view, findings);
        self.nodes[at.index()].enter(view.id);
        self.forget_views();
    }

    /// Records a view told for the first time, or compares it with the record of other members.
    fn record(&mut self, view: &View, findings: &mut Findings<'_>) {
        if let Some(record) = self.views.get(&view.id) {
            return record.is_told(view, findings);
        }
        let ViewId { epoch, by } = view.id;
        let is_used = |(life, last)| by.incarnation == life && epoch <= last;
        if self.nodes.get(by.node.index()).is_some_and(|node| is_used(node.names_used)) {
            findings.add(VIEWS, format!("is in a new view with an old name, {}", view.id));
        }
        let mut record = Record::new(view);
        record.pasts = view.members.iter().filter_map(|m| self.past(*m, view)).collect();
        // Other names stand for no node, so whether they live cannot be asked.
        record.members.retain(|member| self.is_node(member.node));
        self.views.insert(view.id, record);
    }

    fn on_transitional(&mut self, at: ProcessId, with: &ProcessSet, findings: &mut Findings<'_>) {
        let node = &mut self.nodes[at.index()];
        if node.view.is_none() || node.transition.is_some() {
            findings.add(VIEWS, "is told that a view is over, but it is in none");
        }
        if !with.contains(at) {
            findings.add(VIEWS, "goes on without itself");
        }
        node.transition = Some(Transition { with: with.clone(), delivered: Vec::new() });
    }

    fn on_refused(&mut self, name: Name, findings: &mut Findings<'_>) {
        match self.messages.get(&name) {
            Some(Sent { view: None, .. }) => {
                self.messages.remove(&name);
            }
            _ => findings.add(INTEGRITY, format!("is given back {}", words(name))),
        }
    }

    fn on_deliver(
        &mut self,
        at: ProcessId,
        delivery: &Delivery<Payload>,
        findings: &mut Findings<'_>,
    ) {
        let name = (delivery.sender.node, delivery.message.number);
        let Some(view) = self.nodes[at.index()].view else {
            return findings.add(INTEGRITY, "delivers something before it is in any view");
        };
        if let Err(because) = self.has_integrity(at, view, delivery) {
            return findings.add(INTEGRITY, format!("delivers {}, {because}", words(name)));
        }
        self.judge_place(at, view, name, findings);
        self.judge_sender(view, name, findings);
        self.deliver(at, view, name, findings);
    }

    fn has_integrity(
        &self,
        at: ProcessId,
        view: ViewId,
        delivery: &Delivery<Payload>,
    ) -> Result<(), String> {
        let name = (delivery.sender.node, delivery.message.number);
        let Some(sent) = self.messages.get(&name) else {
            return Err("which was not multicast, or is long delivered by all".to_owned());
        };
        if delivery.sender.incarnation != sent.life {
            return Err(format!("as if {} had multicast it", delivery.sender));
        }
        if sent.tag.is_some_and(|tag| tag != delivery.sent_in) {
            return Err(format!("as if it were sent in {}", delivery.sent_in));
        }
        if delivery.level == Level::Safe && sent.level == Level::Agreed {
            return Err("as if it were to be safe".to_owned());
        }
        if let Some(other) = sent.view.filter(|other| *other != view) {
            return Err(format!("in {view}, and others in {other}"));
        }
        match self.nodes[at.index()].has_delivered(name, sent) {
            true => Err("again".to_owned()),
            false => Ok(()),
        }
    }

    /// The sender of a message must be able to deliver it in the same view as all others.
    fn judge_sender(&self, view: ViewId, name: Name, findings: &mut Findings<'_>) {
        let sent = &self.messages[&name];
        let sender = Member { node: name.0, incarnation: sent.life };
        if sent.view.is_none() && self.is_staying(sender) {
            let is_in = self.views[&view].members.contains(&sender);
            if !is_in || self.is_done_with(sender, view) {
                let because = format!("delivers {} in {view}: {sender} cannot", words(name));
                findings.add(G3, because);
            }
        }
    }
}

#[cfg(test)]
mod tests;
