//! Several groups at once: one layer for each group of the process.
//!
//! A layer of this family knows one group: the members that its `Cx` names. Here each process has
//! one instance of the layer for every group that it is in. Messages and timers carry the name of
//! the group, and a process refuses messages from outside the group. So every layer becomes an
//! algorithm of the catalogue with any number of overlapping groups, without code of its own for
//! that.

use super::carrier::OVER;
use super::{Deliver, Layer, Multicast};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::marker::PhantomData;
use synod_core::family::GroupMulticast;
use synod_core::family::multicast::{
    GROUPS, GroupId, Groups, Input, Output, Payload, body, senders,
};
use synod_core::{
    Algorithm, Card, Cx, Data, ProcessId, ProcessSet, Protocol, Setup, SetupError, Wire,
};

/// A tower of layers with a name.
pub trait Tower: Data {
    /// The top layer.
    type Top: Layer<Payload>;

    /// The card of the catalogue.
    const CARD: Card;

    /// The layers of one member of a group.
    fn build(me: ProcessId, members: &ProcessSet, setup: &Setup) -> Result<Self::Top, SetupError>;
}

/// A message or a timer, with the group that it belongs to.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct In<T> {
    /// The group.
    pub group: GroupId,
    /// The message or the timer.
    pub it: T,
}

impl<M: Wire> Wire for In<M> {
    fn kind(&self) -> &'static str {
        self.it.kind()
    }

    fn label(&self) -> String {
        match self.group {
            GroupId(0) => self.it.label(),
            group => format!("{} in {group}", self.it.label()),
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for In<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.group {
            GroupId(0) => self.it.fmt(f),
            group => write!(f, "{:?} in {group}", self.it),
        }
    }
}

/// One process: a tower for each of its groups.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct InGroups<T: Tower> {
    /// Whether the application multicasts.
    speaks: bool,
    memberships: Vec<Membership<T::Top>>,
    tower: PhantomData<T>,
}

/// The state of a process in one group.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Membership<L> {
    group: GroupId,
    members: ProcessSet,
    layer: L,
}

impl<T: Tower> Protocol for InGroups<T> {
    type Input = Input;
    type Output = Output;
    type Message = In<<T::Top as Protocol>::Message>;
    type Timer = In<<T::Top as Protocol>::Timer>;

    fn on_start(&mut self, cx: &mut Cx<'_, Self>) {
        for membership in &mut self.memberships {
            membership.step(cx, |layer, cx| layer.on_start(cx));
        }
    }

    fn on_input(&mut self, Input::Multicast { group, payload }: Input, cx: &mut Cx<'_, Self>) {
        let membership = self.membership(group).expect("it multicasts to its own groups only");
        membership.step(cx, |layer, cx| layer.on_input(Multicast(payload), cx));
    }

    fn on_message(&mut self, from: ProcessId, message: Self::Message, cx: &mut Cx<'_, Self>) {
        let In { group, it } = message;
        match self.membership(group).filter(|membership| membership.members.contains(from)) {
            Some(membership) => membership.step(cx, |layer, cx| layer.on_message(from, it, cx)),
            None => cx.accuse(from, "spoke in a group that we do not share"),
        }
    }

    fn on_timer(&mut self, In { group, it }: Self::Timer, cx: &mut Cx<'_, Self>) {
        let membership = self.membership(group).expect("only our own groups set timers");
        membership.step(cx, |layer, cx| layer.on_timer(it, cx));
    }
}

impl<T: Tower> InGroups<T> {
    fn membership(&mut self, group: GroupId) -> Option<&mut Membership<T::Top>> {
        self.memberships.iter_mut().find(|membership| membership.group == group)
    }
}

impl<L: Layer<Payload>> Membership<L> {
    fn step<T: Tower<Top = L>>(
        &mut self,
        cx: &mut Cx<'_, InGroups<T>>,
        step: impl FnOnce(&mut L, &mut Cx<'_, L>),
    ) {
        let Membership { group, members, layer } = self;
        let group = *group;
        let deliver = delivered_in(group);
        cx.through(Some(members), in_group(group), in_group(group), deliver, |cx| step(layer, cx));
    }
}

/// Says of which group a message or a timer is.
fn in_group<I>(group: GroupId) -> impl Fn(I) -> In<I> {
    move |it| In { group, it }
}

fn delivered_in(group: GroupId) -> impl Fn(Deliver<Payload>) -> Output {
    move |Deliver { sender, payload }| Output::Deliver { group, sender, payload }
}

impl<T: Tower> Algorithm for InGroups<T> {
    type Family = GroupMulticast;

    const CARD: Card = T::CARD;

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        let groups = Groups::of(setup)?;
        let senders = senders(setup)?;
        body(setup)?;
        let process = |me| {
            let memberships = groups.of_process(me).map(|(group, members)| {
                let layer = T::build(me, members, setup)?;
                Ok(Membership { group, members: members.clone(), layer })
            });
            let memberships = memberships.collect::<Result<_, SetupError>>()?;
            let speaks = senders.contains(me);
            Ok(InGroups { speaks, memberships, tower: PhantomData })
        };
        ProcessId::all(setup.n).map(process).collect()
    }

    /// The formulas are about one group of all processes, over the simplest carrier.
    fn has_costs(setup: &Setup) -> bool {
        let is_usual = |name: &str, usual: &str| setup.text(name).is_none_or(|set| set == usual);
        setup.text(GROUPS.name).is_none() && is_usual(OVER.name, "basic")
    }

    fn takes_part(&self, _me: ProcessId) -> bool {
        self.speaks && !self.memberships.is_empty()
    }
}
