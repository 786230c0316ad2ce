//! The records of a node, of a view, and of a message.

use super::{Findings, Name};
use crate::family::group::{G5, VIEWS};
use crate::group::{Level, Member, Part, View, ViewId};
use crate::process::{ProcessId, ProcessSet};
use std::collections::VecDeque;

/// A node and its present life.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Node {
    /// Which life this is.
    pub(super) life: u32,
    /// Whether it is over: it crashed, or lost its membership.
    pub(super) is_over: bool,
    /// The last life that asked to leave.
    pub(super) asked_to_leave: u32,
    /// The view that it is in.
    pub(super) view: Option<ViewId>,
    /// The number of messages it has delivered there in the regular configuration.
    pub(super) regular: u64,
    /// Set when that view is over, until the next one.
    pub(super) transition: Option<Transition>,
    /// The last life that proposed a view that is forgotten, and the greatest epoch of these.
    pub(super) names_used: (u32, u64),
}

impl Default for Node {
    fn default() -> Self {
        Node {
            life: 1,
            is_over: false,
            asked_to_leave: 0,
            view: None,
            regular: 0,
            transition: None,
            names_used: (0, 0),
        }
    }
}

/// On the way from one view to the next.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Transition {
    /// The companions on the way.
    pub(super) with: ProcessSet,
    /// The deliveries on the way.
    pub(super) delivered: Vec<Name>,
}

impl Node {
    pub(super) fn crash(&mut self) {
        self.is_over = true;
        self.stand_nowhere();
    }

    /// Its membership is lost. A second loss is that of another life.
    pub(super) fn lose(&mut self) {
        self.begin();
        self.crash();
    }

    /// A crashed process starts again.
    pub(super) fn restart(&mut self) {
        self.begin();
    }

    /// If its last life is over, this is another one.
    pub(super) fn begin(&mut self) {
        self.life = self.next_life();
        self.is_over = false;
    }

    /// The life of its next event.
    pub(super) fn next_life(&self) -> u32 {
        self.life + u32::from(self.is_over)
    }

    pub(super) fn enter(&mut self, view: ViewId) {
        self.stand_nowhere();
        self.view = Some(view);
    }

    fn stand_nowhere(&mut self) {
        (self.view, self.regular, self.transition) = (None, 0, None);
    }

    /// Whether it has delivered a message of the view that it is in.
    pub(super) fn has_delivered(&self, name: Name, sent: &Sent) -> bool {
        let on_the_way = self.transition.iter().flat_map(|way| &way.delivered);
        self.view == sent.view
            && (sent.place.is_some_and(|place| place < self.regular)
                || on_the_way.into_iter().any(|delivered| *delivered == name))
    }
}

/// A message that was multicast.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Sent {
    /// In which life of its sender.
    pub(super) life: u32,
    /// The delivery level that its sender asked for.
    pub(super) level: Level,
    /// In which view, if there was one.
    pub(super) tag: Option<ViewId>,
    /// In which view it is delivered.
    pub(super) view: Option<ViewId>,
    /// Its place there, if it was delivered in the regular configuration.
    pub(super) place: Option<u64>,
    /// Whether its sender has delivered it.
    pub(super) is_home: bool,
}

impl Sent {
    pub(super) fn new(life: u32, level: Level, tag: Option<ViewId>) -> Self {
        Sent { life, level, tag, view: None, place: None, is_home: false }
    }
}

/// A view, and the deliveries in it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Record {
    pub(super) members: Vec<Member>,
    pub(super) parts: Option<Vec<Part>>,
    /// For members whose past is known: whether they were in a view with others before.
    pub(super) pasts: Vec<(ProcessId, bool)>,
    /// The number of messages at the beginning that every member has delivered that still may. They
    /// are forgotten.
    pub(super) settled: u64,
    /// The others that were delivered in the regular configuration, in order.
    pub(super) order: VecDeque<Name>,
    /// The ways of members that went on to other views.
    pub(super) passages: Vec<Passage>,
}

/// Members that went from one view to the next together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Passage {
    pub(super) to: ViewId,
    /// The number of their deliveries in the regular configuration.
    pub(super) regular: u64,
    /// The companions, and their deliveries on the way.
    pub(super) way: Transition,
    /// The companions that have arrived.
    pub(super) arrived: ProcessSet,
}

impl Record {
    pub(super) fn new(view: &View) -> Self {
        Record {
            members: view.members.clone(),
            parts: view.came_with.clone(),
            pasts: Vec::new(),
            settled: 0,
            order: VecDeque::new(),
            passages: Vec::new(),
        }
    }

    /// The number of messages that any member has delivered in the regular configuration.
    pub(super) fn end(&self) -> u64 {
        self.settled + self.order.len() as u64
    }

    /// The message at a place, unless no member delivered one there, or it is forgotten.
    pub(super) fn at(&self, place: u64) -> Option<Name> {
        let index = place.checked_sub(self.settled)?;
        self.order.get(usize::try_from(index).ok()?).copied()
    }

    /// Whether a member has come to another view from here.
    pub(super) fn has_gone_on(&self, member: ProcessId) -> bool {
        self.passages.iter().any(|passage| passage.arrived.contains(member))
    }

    /// Whether this is the first view of a member that starts alone.
    pub(super) fn is_first_and_alone(&self) -> bool {
        let new = |parts: &Vec<Part>| parts.iter().all(|part| part.from.is_none());
        self.members.len() == 1 && self.parts.as_ref().is_some_and(new)
    }

    /// Compares the view that another member is told with this record.
    pub(super) fn is_told(&self, view: &View, findings: &mut Findings<'_>) {
        if self.members != view.members {
            let because = format!("is told that {} is {:?}", view.id, view.members);
            let known = &self.members;
            findings.add(VIEWS, format!("{because}, and others that it is {known:?}"));
        }
        if self.parts != view.came_with {
            findings.add(
                G5,
                format!("is told otherwise than others who came with whom to {}", view.id),
            );
        }
    }
}
