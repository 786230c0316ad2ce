//! A group service that a test drives by hand.

use std::collections::{BTreeMap, VecDeque};
use synod_core::family::slots::{Input, Output, SlotId, Token};
use synod_core::group::{
    Act, Capabilities, Cause, Change, Delivery, Level, Member, Part, Service, Session, View, ViewId,
};
use synod_core::{ProcessId, ProcessSet, Setup};
use synod_protocols::slots::message::{Body, Message};
use synod_protocols::slots::table::Owner;
use synod_protocols::slots::{Slots, Timer};

const CAN: Capabilities =
    Capabilities { safe: true, partitionable: true, came_with: true, longest_message: usize::MAX };

/// Members p1 to pn, and the undelivered multicasts of each.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Group {
    members: BTreeMap<u32, (u32, Slots)>,
    views: BTreeMap<u32, View>,
    pending: BTreeMap<u32, VecDeque<(ViewId, Message)>>,
    told: BTreeMap<u32, Vec<Output>>,
    /// The timers that are set, in the order in which they were.
    timers: BTreeMap<u32, Vec<Timer>>,
    epoch: u64,
    setup: BTreeMap<String, String>,
    room: usize,
    /// The delivered messages in order: the sender, and the receiver of a donation.
    log: Vec<(u32, Option<ProcessId>)>,
}

impl Group {
    /// A group in which no member has a view yet.
    pub(crate) fn new(n: u32, settings: &[(&str, &str)]) -> Group {
        let setup = settings
            .iter()
            .fold(Setup::new(n as usize + 1), |setup, (name, value)| setup.with(name, value));
        let mut group = Group {
            members: BTreeMap::new(),
            views: BTreeMap::new(),
            pending: BTreeMap::new(),
            told: BTreeMap::new(),
            timers: BTreeMap::new(),
            epoch: 0,
            setup: setup.parameters,
            room: 100,
            log: Vec::new(),
        };
        for member in 1..=n {
            group.members.insert(member, (1, Slots::clone(&group.newborn(member, n))));
            group.pending.insert(member, VecDeque::new());
            group.told.insert(member, Vec::new());
        }
        group
    }

    fn newborn(&self, member: u32, n: u32) -> Slots {
        let setup = Setup { parameters: self.setup.clone(), ..Setup::new(n as usize + 1) };
        let configured = (1..=n).map(ProcessId).collect();
        Slots::from_setup(ProcessId(member), &configured, &setup).expect("the settings are right")
    }

    /// A group in one view, after the last delivery.
    pub(crate) fn settled(n: u32, settings: &[(&str, &str)]) -> Group {
        let mut group = Group::new(n, settings);
        group.view(&(1..=n).collect::<Vec<_>>());
        group.deliver_all();
        group
    }

    /// From now on the group takes in at most this many multicasts at once.
    pub(crate) fn with_room(mut self, room: usize) -> Group {
        self.room = room;
        self
    }

    /// The process of this member dies and starts again: it is new, and in no view.
    pub(crate) fn restart(&mut self, member: u32) {
        let n = self.members.len() as u32;
        let life = self.members[&member].0 + 1;
        self.members.insert(member, (life, self.newborn(member, n)));
        self.views.remove(&member);
        self.pending.insert(member, VecDeque::new());
        self.told.insert(member, Vec::new());
    }

    fn step(&mut self, at: u32, run: impl FnOnce(&mut Slots, &mut Session<'_, Slots>)) {
        let mut acts = VecDeque::new();
        let room = self.room.saturating_sub(self.pending[&at].len());
        let slots = &mut self.members.get_mut(&at).expect("there is one").1;
        run(slots, &mut Session::new(ProcessId(at), CAN, room, &mut acts));
        for act in acts {
            match act {
                Act::Multicast(_, message) => {
                    let tag = self.views[&at].id;
                    let pending = self.pending.get_mut(&at).expect("there is one");
                    pending.push_back((tag, message));
                }
                Act::Notify(output) => self.told.get_mut(&at).expect("there is one").push(output),
                Act::SetTimer(timer, _) => {
                    let timers = self.timers.entry(at).or_default();
                    timers.retain(|other| *other != timer);
                    timers.push(timer);
                }
                Act::CancelTimer(timer) => {
                    self.timers.entry(at).or_default().retain(|other| *other != timer);
                }
                Act::Leave => {}
            }
        }
    }

    /// A member's application or operator gives a command. Returns the outputs.
    pub(crate) fn ask(&mut self, at: u32, input: Input) -> Vec<Output> {
        let before = self.told[&at].len();
        self.step(at, |slots, session| slots.on_command(input, session));
        self.told[&at][before..].to_vec()
    }

    /// The timers of a member that are set.
    pub(crate) fn timers(&self, at: u32) -> &[Timer] {
        self.timers.get(&at).map_or(&[], Vec::as_slice)
    }

    /// A timer of a member runs out. Returns the outputs.
    pub(crate) fn fire(&mut self, at: u32, timer: Timer) -> Vec<Output> {
        let before = self.told[&at].len();
        self.timers.entry(at).or_default().retain(|other| *other != timer);
        self.step(at, |slots, session| slots.on_timer(timer, session));
        self.told[&at][before..].to_vec()
    }

    /// Claims a slot, which must be free.
    pub(crate) fn claim(&mut self, at: u32) -> (SlotId, Token) {
        let told = self.ask(at, Input::Claim);
        let claimed = told.iter().find_map(|output| match output {
            Output::Claimed(slot, token) => Some((*slot, *token)),
            _ => None,
        });
        claimed.unwrap_or_else(|| panic!("p{at} gets a slot, but was told {told:?}"))
    }

    /// There is room again.
    pub(crate) fn make_room(&mut self, at: u32) {
        self.step(at, |slots, session| slots.on_room(session));
    }

    /// All outputs of a member.
    pub(crate) fn told(&self, at: u32) -> &[Output] {
        &self.told[&at]
    }

    /// The undelivered multicasts of a member.
    pub(crate) fn pending(&self, at: u32) -> Vec<&Body> {
        self.pending[&at].iter().map(|(_, message)| &message.body).collect()
    }

    /// The members of the view of `at`.
    fn companions(&self, at: u32) -> Vec<u32> {
        let Some(view) = self.views.get(&at) else { return Vec::new() };
        let together = |other: &u32| self.views.get(other).is_some_and(|v| v.id == view.id);
        self.members.keys().copied().filter(together).collect()
    }

    /// All members in the view of `from` deliver its oldest pending message.
    pub(crate) fn deliver(&mut self, from: u32) {
        let to = self.companions(from);
        self.deliver_to(from, &to);
    }

    /// Only the members `to` deliver it.
    pub(crate) fn deliver_to(&mut self, from: u32, to: &[u32]) {
        let pending = self.pending.get_mut(&from).expect("there is one");
        let (sent_in, message) = pending.pop_front().expect("something is pending");
        let to_whom = match &message.body {
            Body::Donate { to, .. } => Some(*to),
            _ => None,
        };
        self.log.push((from, to_whom));
        let sender = Member { node: ProcessId(from), incarnation: self.members[&from].0 };
        for at in to {
            let message = message.clone();
            let delivery = Delivery { sender, sent_in, level: Level::Agreed, message };
            self.step(*at, |slots, session| slots.on_deliver(delivery, session));
        }
        if to.contains(&from) {
            self.make_room(from);
        }
    }

    /// Delivers all pending messages and all that follow from them; the smallest name first.
    pub(crate) fn deliver_all(&mut self) {
        while let Some(from) = self.speakers().first() {
            self.deliver(*from);
        }
    }

    /// The members with pending messages.
    pub(crate) fn speakers(&self) -> Vec<u32> {
        let speaks = self.pending.iter().filter(|(_, pending)| !pending.is_empty());
        speaks.map(|(member, _)| *member).collect()
    }

    /// The number of delivered multicasts.
    pub(crate) fn delivered(&self) -> usize {
        self.log.len()
    }

    /// The pending messages of a member are never delivered.
    pub(crate) fn lose(&mut self, from: u32) {
        self.pending.get_mut(&from).expect("there is one").clear();
    }

    /// The view of these members is over.
    pub(crate) fn transitional(&mut self, members: &[u32]) {
        let with: ProcessSet = members.iter().copied().map(ProcessId).collect();
        for at in members {
            self.step(*at, |slots, session| slots.on_transitional(&with, session));
        }
    }

    /// These members get a view together; the others cannot be reached.
    pub(crate) fn view(&mut self, members: &[u32]) {
        self.view_without(members, &[], Cause::Partition);
    }

    /// The same, and the members `gone` left for the reason `why`.
    pub(crate) fn view_without(&mut self, members: &[u32], gone: &[u32], why: Cause) {
        self.epoch += 1;
        let member = |at: &u32| Member { node: ProcessId(*at), incarnation: self.members[at].0 };
        let here: Vec<Member> = members.iter().map(member).collect();
        let id = ViewId::new(self.epoch, here[0].node);
        let mut parts: BTreeMap<Option<ViewId>, ProcessSet> = BTreeMap::new();
        for at in members {
            let from = self.views.get(at).map(|view| view.id);
            parts.entry(from).or_default().insert(ProcessId(*at));
        }
        let parts = parts.into_iter().map(|(from, members)| Part { from, members }).collect();
        let parts: Vec<Part> = parts;
        for at in members {
            let last = self.views.get(at).map_or(Vec::new(), |view| view.members.clone());
            let left = last.iter().filter(|member| !here.contains(member)).map(|member| {
                let reborn = here.iter().any(|other| other.node == member.node);
                let dead = reborn || gone.contains(&member.node.0);
                let cause = match (dead, reborn) {
                    (_, true) => Cause::Restart,
                    (true, _) => why,
                    _ => Cause::Partition,
                };
                Change { member: *member, cause }
            });
            let joined = here.iter().filter(|member| !last.contains(member)).map(|member| {
                let new = !self.views.contains_key(&member.node.0);
                let cause = if new { Cause::Join } else { Cause::Merge };
                Change { member: *member, cause }
            });
            let view = View {
                id,
                members: here.clone(),
                joined: joined.collect(),
                left: left.collect(),
                came_with: Some(parts.clone()),
            };
            self.step_into(*at, &view);
        }
        for at in members {
            let members = here.clone();
            let (joined, left) = (Vec::new(), Vec::new());
            self.views.insert(*at, View { id, members, joined, left, came_with: None });
        }
    }

    fn step_into(&mut self, at: u32, view: &View) {
        let old = self.views.insert(at, view.clone());
        self.step(at, |slots, session| slots.on_view(view, session));
        // The other members must still be in their old views when they are asked where they come
        // from.
        match old {
            Some(old) => self.views.insert(at, old),
            None => self.views.remove(&at),
        };
    }

    /// One member.
    pub(crate) fn slots(&self, at: u32) -> &Slots {
        &self.members[&at].1
    }

    /// The number of slots that a member owns, in its own table.
    pub(crate) fn owned(&self, at: u32) -> u32 {
        self.owned_as_seen_by(at, at)
    }

    /// The number of slots that `whose` owns, in the table of `at`.
    pub(crate) fn owned_as_seen_by(&self, at: u32, whose: u32) -> u32 {
        self.slots(at).state().table.count(Owner::Of(ProcessId(whose)))
    }

    /// The number of absent slots in the table of `at`.
    pub(crate) fn absent(&self, at: u32) -> u32 {
        self.slots(at).state().table.count(Owner::Absent)
    }

    /// The number of slots that a member owns, and the number of its free slots.
    pub(crate) fn owned_and_free(&self, at: u32) -> (u32, u32) {
        (self.owned(at), self.slots(at).state().free())
    }

    /// Whether these members are settled with the same table, and their pools agree with it.
    pub(crate) fn agree(&self, members: &[u32]) -> bool {
        let table = &self.slots(members[0]).state().table;
        members.iter().all(|at| {
            let state = self.slots(*at).state();
            state.table == *table && state.is_settled() && state.pool.owned() == state.owned()
        })
    }
}
