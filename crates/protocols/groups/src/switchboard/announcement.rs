//! What members announce as a view begins, and the views of services that follow from it.

use super::nodes::Nodes;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use synod_core::family::services::{Definition, Tag};
use synod_core::group::{Cause, Change, Member, Part, View, ViewId};
use synod_core::{ProcessId, ProcessSet};

/// A service, as a member announces it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Announced {
    /// What it is.
    pub what: Definition,
    /// Whether the service was in the last view that services entered at the sender.
    pub is_open: bool,
}

/// The services and nodes that a member knows.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Announcement {
    /// The services that exist.
    pub known: BTreeMap<Tag, Announced>,
    /// Those that are deleted.
    pub closed: BTreeSet<Tag>,
    /// Where the open services come from, if there are any.
    pub from: Option<Origin>,
    /// The nodes.
    pub nodes: Nodes,
}

/// Where the open services of a member come from: members with the same origin have delivered the
/// same messages.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Origin {
    /// The last view that services entered.
    pub view: ViewId,
    /// The members of that view that have gone with the sender from each view of the engine to the
    /// next one since.
    pub with: ProcessSet,
}

/// The last view that services entered at this node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Entered {
    pub(super) members: Vec<Member>,
    pub(super) origin: Origin,
}

impl Entered {
    pub(super) fn new(view: &View) -> Self {
        let origin = Origin { view: view.id, with: view.set() };
        Entered { members: view.members.clone(), origin }
    }

    /// The same, as if no member had parted since: for a mutant.
    pub(super) fn without_partings(&self) -> Self {
        let with = self.members.iter().map(|member| member.node).collect();
        Entered { origin: Origin { with, ..self.origin }, ..self.clone() }
    }

    /// The engine goes on to another view.
    pub(super) fn go_on(&mut self, me: ProcessId, view: &View) {
        let together = view.companions(me);
        let here = |node| view.member(node).is_some_and(|member| self.members.contains(&member));
        let with = self.origin.with.iter().filter(|node| together.contains(*node) && here(*node));
        self.origin.with = with.collect();
    }
}

/// A view of the engine whose members have not all announced their services.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Gathering {
    pub(super) view: View,
    /// The view of the engine before it.
    last: Option<ViewId>,
    announced: BTreeMap<ProcessId, Announcement>,
    /// Services that a member opened after its announcement.
    added: BTreeMap<Tag, Definition>,
    /// Nodes of certificates that were delivered in this view.
    certified: Nodes,
}

impl Gathering {
    pub(super) fn new(view: View, last: Option<ViewId>) -> Self {
        let (announced, added, certified) = Default::default();
        Gathering { view, last, announced, added, certified }
    }

    pub(super) fn announce(&mut self, from: ProcessId, announcement: Announcement) {
        self.announced.insert(from, announcement);
    }

    pub(super) fn is_complete(&self) -> bool {
        self.view.members.iter().all(|member| self.announced.contains_key(&member.node))
    }

    pub(super) fn add(&mut self, tag: Tag, definition: Definition) {
        self.added.insert(tag, definition);
    }

    pub(super) fn certify(&mut self, nodes: &Nodes) {
        self.certified.absorb(nodes);
    }

    /// The services that some member knows.
    pub(super) fn known(&self) -> BTreeMap<Tag, Definition> {
        let mut known = self.added.clone();
        for announcement in self.announced.values() {
            known.extend(announcement.known.iter().map(|(tag, service)| (*tag, service.what)));
        }
        known
    }

    /// The services that some member knows to be deleted.
    pub(super) fn closed(&self) -> BTreeSet<Tag> {
        self.announced
            .values()
            .flat_map(|announcement| announcement.closed.iter().copied())
            .collect()
    }

    /// The nodes that some member knows. The founder of a service is one of them.
    pub(super) fn nodes(&self) -> Nodes {
        let mut nodes = self.certified.clone();
        self.announced.values().for_each(|announcement| nodes.absorb(&announcement.nodes));
        let founders = self.known().into_values().filter_map(|what| what.founder());
        nodes.known.extend(founders.map(|founder| founder.node));
        nodes
    }

    /// The view as a service sees it. `entered` is the last view that it entered at this member;
    /// `founder` founds it in this view, if it is new there.
    pub(super) fn view_of(
        &self,
        tag: Tag,
        founder: Option<ProcessId>,
        entered: Option<&Entered>,
    ) -> View {
        let View { id, members, .. } = &self.view;
        let mine = entered.map_or(&[][..], |entered| &entered.members);
        let change = |member: &Member, cause| Change { member: *member, cause };
        let joined = members.iter().filter(|member| !mine.contains(member));
        let joined = joined.map(|member| change(member, self.join(tag, *member))).collect();
        let left = mine.iter().filter(|member| !members.contains(member));
        let left = left.map(|member| change(member, self.loss(*member, entered))).collect();
        let origin = |node| self.origin(tag, node);
        let came_with = Some(parts(&self.view, founder, origin));
        View { id: *id, members: members.clone(), joined, left, came_with }
    }

    /// Where a service of a member comes from; none if it is new there.
    fn origin(&self, tag: Tag, node: ProcessId) -> Option<&Origin> {
        let announcement = self.announced.get(&node)?;
        announcement
            .from
            .as_ref()
            .filter(|_| announcement.known.get(&tag).is_some_and(|s| s.is_open))
    }

    fn join(&self, tag: Tag, member: Member) -> Cause {
        match self.origin(tag, member.node) {
            Some(_) => Cause::Merge,
            None => Cause::Join,
        }
    }

    /// Why a member of the service's last view is missing. The engine tells what became of the
    /// members of its own last view. If the services did not enter that view, the member may have
    /// been in others since.
    fn loss(&self, member: Member, entered: Option<&Entered>) -> Cause {
        let is_recent = entered.map(|entered| entered.origin.view) == self.last;
        let told = self.view.left.iter().find(|change| change.member == member);
        told.filter(|_| is_recent).map_or(Cause::Partition, |change| change.cause)
    }
}

/// The view of a service that begins while the engine's view stands: all members are new in it.
pub(super) fn first_view(view: &View, founder: Option<ProcessId>) -> View {
    let join = |member: &Member| Change { member: *member, cause: Cause::Join };
    View {
        joined: view.members.iter().map(join).collect(),
        left: Vec::new(),
        came_with: Some(parts(view, founder, |_| None)),
        ..view.clone()
    }
}

/// The parts of a service's view. Members with the same origin are a part (step 3 of the argument
/// in the [module header](super)). The members in which the service is new are one, but for its
/// founder: that one knows already who owns what.
fn parts<'g>(
    view: &View,
    founder: Option<ProcessId>,
    origin: impl Fn(ProcessId) -> Option<&'g Origin>,
) -> Vec<Part> {
    let mut parts: Vec<(Option<&Origin>, Part)> = Vec::new();
    for node in view.members.iter().map(|member| member.node) {
        let origin = origin(node);
        let founds = origin.is_none() && founder == Some(node);
        let from = if founds { Some(view.id) } else { origin.map(|origin| origin.view) };
        let same =
            |(other, part): &&mut (Option<&Origin>, Part)| *other == origin && part.from == from;
        match parts.iter_mut().find(same) {
            Some((_, part)) => _ = part.members.insert(node),
            None => parts.push((origin, Part { from, members: [node].into_iter().collect() })),
        }
    }
    parts.into_iter().map(|(_, part)| part).collect()
}
