//! The states, messages and reactions of members, each kept once.
//!
//! A member's reaction is a function of its state and of the event. The same member meets the same
//! message in the same state in thousands of views, so the explorer looks reactions up.

use super::part::{Nodes, bit};
use foldhash::fast::FixedState;
use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::rc::Rc;
use synod_core::group::{Act, Capabilities, Delivery, Level, Member, Session, View, ViewByView};
use synod_core::reductions::Fleeting;
use synod_core::{ProcessId, ProcessSet};

/// The capabilities of the engine that these views stand for.
const CAN: Capabilities =
    Capabilities { safe: false, partitionable: true, came_with: true, longest_message: usize::MAX };

/// Values that are kept once, and named by numbers.
pub(super) struct Store<T> {
    numbers: HashMap<Rc<T>, u32, FixedState>,
    values: Vec<Rc<T>>,
}

impl<T> Default for Store<T> {
    fn default() -> Self {
        Store { numbers: HashMap::default(), values: Vec::new() }
    }
}

impl<T: Hash + Eq> Store<T> {
    /// The value's number, and whether it is new.
    pub(super) fn add(&mut self, value: T) -> (u32, bool) {
        if let Some(number) = self.numbers.get(&value) {
            return (*number, false);
        }
        let number = u32::try_from(self.values.len()).expect("memory ends long before");
        let value = Rc::new(value);
        self.numbers.insert(value.clone(), number);
        self.values.push(value);
        (number, true)
    }

    pub(super) fn get(&self, number: u32) -> &Rc<T> {
        &self.values[number as usize]
    }

    pub(super) fn len(&self) -> usize {
        self.values.len()
    }
}

/// An event that the engine passes to a member inside a view.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum GroupEvent {
    /// The delivery of a message.
    Message(u32),
    /// The view is over, and these members go on together.
    Transitional(Nodes),
    /// There is room for multicasts again.
    Room,
}

/// The facts about one member that the explorer judges.
#[derive(Clone, Copy)]
pub(super) struct Facts {
    pub(super) holds: u64,
    pub(super) keeps: u64,
    pub(super) owns: u64,
    pub(super) is_settled: bool,
    pub(super) is_initialised: bool,
    pub(super) flaw: Option<&'static str>,
}

/// A state that follows, and the messages that the member multicasts.
type Reaction = (u32, Rc<[u32]>);

/// All states of all members, and all their multicasts.
pub(super) struct Members<S: ViewByView> {
    /// A state comes with its node, because two members may differ in their names only.
    states: Store<(ProcessId, S)>,
    facts: Vec<Facts>,
    messages: Store<(Member, S::Message)>,
    reactions: HashMap<(u32, GroupEvent, usize), Reaction, FixedState>,
    /// Whether two settled members agree, by [`ViewByView::agrees`].
    agreements: HashMap<(u32, u32), bool, FixedState>,
}

impl<S: ViewByView> Default for Members<S> {
    fn default() -> Self {
        Members {
            states: Store::default(),
            facts: Vec::new(),
            messages: Store::default(),
            reactions: HashMap::default(),
            agreements: HashMap::default(),
        }
    }
}

impl<S: ViewByView> Members<S> {
    pub(super) fn add(&mut self, node: ProcessId, state: S) -> u32 {
        let (number, is_new) = self.states.add((node, state));
        if is_new {
            let state = &self.states.get(number).1;
            self.facts.push(Facts {
                holds: state.holds(),
                keeps: state.keeps(),
                owns: state.owns(),
                is_settled: state.is_settled(),
                is_initialised: state.is_initialised(),
                flaw: state.flaw(),
            });
        }
        number
    }

    pub(super) fn state(&self, number: u32) -> &S {
        &self.states.get(number).1
    }

    pub(super) fn node(&self, number: u32) -> ProcessId {
        self.states.get(number).0
    }

    pub(super) fn facts(&self, number: u32) -> &Facts {
        &self.facts[number as usize]
    }

    /// A message, and who multicast it.
    pub(super) fn message(&self, number: u32) -> &(Member, S::Message) {
        self.messages.get(number)
    }

    /// Whether a message changes no member between two views.
    pub(super) fn is_void_between_views(&self, message: u32) -> bool {
        self.message(message).1.is_void_between_views()
    }

    pub(super) fn agree(&mut self, one: u32, other: u32) -> bool {
        let (states, key) = (&self.states, (one, other));
        let compare = || states.get(one).1.agrees(&states.get(other).1);
        *self.agreements.entry(key).or_insert_with(compare)
    }

    /// A member in its present life enters a view.
    pub(super) fn enter(&mut self, state: u32, view: &View, room: usize) -> Reaction {
        self.act(state, view, room, |service, session| service.on_view(view, session))
    }

    /// The reaction of a member of a view to an event.
    pub(super) fn react(
        &mut self,
        state: u32,
        event: GroupEvent,
        view: &View,
        room: usize,
    ) -> Reaction {
        if let Some(known) = self.reactions.get(&(state, event, room)) {
            return known.clone();
        }
        let reaction = match event {
            GroupEvent::Message(message) => {
                let (sender, message) = (**self.messages.get(message)).clone();
                let level = Level::Agreed;
                let delivery = Delivery { sender, sent_in: view.id, level, message };
                self.act(state, view, room, |service, session| {
                    service.on_deliver(delivery, session)
                })
            }
            GroupEvent::Transitional(with) => {
                let members = view.members.iter().map(|member| member.node);
                let with: ProcessSet = members.filter(|node| with & bit(*node) != 0).collect();
                self.act(state, view, 0, |service, session| service.on_transitional(&with, session))
            }
            GroupEvent::Room => {
                self.act(state, view, room, |service, session| service.on_room(session))
            }
        };
        self.reactions.insert((state, event, room), reaction.clone());
        reaction
    }

    fn act(
        &mut self,
        state: u32,
        view: &View,
        room: usize,
        step: impl FnOnce(&mut S, &mut Session<'_, S>),
    ) -> Reaction {
        let (node, mut state) = (**self.states.get(state)).clone();
        let sender = view.member(node).expect("a member is in its view");
        let mut acts = VecDeque::new();
        step(&mut state, &mut Session::new(node, CAN, room, &mut acts));
        let cast = |act| match act {
            Act::Multicast(_, message) => Some(self.messages.add((sender, message)).0),
            Act::Notify(_) | Act::SetTimer(..) | Act::CancelTimer(_) | Act::Leave => None,
        };
        let casts = acts.into_iter().filter_map(cast).collect();
        (self.add(node, state), casts)
    }
}

/// The state in which a node starts again: that of a service that has lost its membership.
pub(super) fn in_a_later_life<S: ViewByView>(node: ProcessId, first: &S) -> S {
    let (mut state, mut acts) = (first.clone(), VecDeque::new());
    state.on_lost(&mut Session::new(node, CAN, 0, &mut acts));
    state
}
