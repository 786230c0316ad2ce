//! One view, from the moment when its members enter it to all its ends.
//!
//! A member's state and its multicasts are functions of the messages that it has delivered. So a
//! history of a view is an order of its multicasts, the *log*: a message gets the next place if its
//! sender has multicast it after some prefix of the log. Each member delivers the log at its own
//! pace: at least the prefix that led to its own messages in the log, and perhaps more. A *moment*
//! is a log.

use super::members::{GroupEvent, Store};
use super::part::{Nodes, PRESENT, Part, Parts, bit};
use super::{Broken, Input, Settings};
use foldhash::fast::FixedState;
use std::collections::{BTreeSet, HashSet};
use std::hash::{BuildHasher, Hash, Hasher};
use synod_core::ProcessId;
use synod_core::group::{Member, View, ViewByView};

/// A member in its view.
struct Track {
    me: Member,
    /// The member after each prefix of the log, the empty one first.
    at: Vec<Place>,
    /// Its multicasts, in order.
    casts: Vec<u32>,
    /// How many of its multicasts have a place in the log.
    ordered: usize,
}

/// A member that has delivered the log up to a place.
#[derive(Clone, Copy)]
struct Place {
    state: u32,
    /// How many multicasts it has made by then.
    casts: usize,
    /// How many of its own it has delivered by then.
    own: usize,
}

impl Track {
    /// The first place of the log by which the member has made all its multicasts that are in the
    /// log.
    fn earliest(&self) -> usize {
        let made = |place: &Place| place.casts >= self.ordered;
        self.at.iter().position(made).expect("what has a place was multicast")
    }

    fn last(&self) -> Place {
        *self.at.last().expect("a member enters with a state")
    }

    /// The member's next multicast, when it has delivered the whole log.
    fn next_cast(&self) -> Option<u32> {
        self.casts.get(self.ordered).copied()
    }
}

/// All ends of a view.
pub(super) struct Ends {
    /// The sets of parts that may be left of it. Members in none of the parts have died.
    pub(super) outcomes: Vec<Vec<u32>>,
    /// The union of what members hold at any moment, a bit for each resource.
    pub(super) reach: u64,
    /// How many moments the view has.
    pub(super) moments: usize,
    /// The first property that does not hold in it.
    pub(super) broken: Option<Broken>,
}

/// The states in which a group of members may leave the view together.
type Ways = BTreeSet<Vec<u32>>;

/// The number of the [`Ways`] of every group of members; the bits of its index name the group.
type Leaving = Vec<u32>;

/// An exploration of a view.
pub(super) struct Within<'a, S: ViewByView> {
    settings: &'a Settings,
    parts: &'a mut Parts<S>,
    view: View,
    tracks: Vec<Track>,
    log: Vec<u32>,
    seen: HashSet<u64, FixedState>,
    /// The moments on the way to the present one.
    path: Vec<u64>,
    ways: Store<Ways>,
    /// For each moment, the ways in which groups may leave.
    leaving: HashSet<Leaving, FixedState>,
    ends: Ends,
}

impl<'a, S: ViewByView> Within<'a, S> {
    /// Members enter a view.
    pub(super) fn enter(input: &Input, settings: &'a Settings, parts: &'a mut Parts<S>) -> Self {
        let mut tracks = Vec::new();
        let mut loser = None;
        for entrant in &input.entrants {
            let view = input.view_of(entrant);
            let (state, said) = parts.members.enter(entrant.state, &view, settings.window);
            let (had, has) = (parts.members.facts(entrant.state), parts.members.facts(state));
            if had.is_initialised && had.keeps & !has.owns != 0 {
                loser = Some(entrant.member.node);
            }
            let first = Place { state, casts: said.len(), own: 0 };
            let (at, casts) = (vec![first], said.to_vec());
            tracks.push(Track { me: entrant.member, at, casts, ordered: 0 });
        }
        let ends = Ends { outcomes: Vec::new(), reach: 0, moments: 0, broken: None };
        let mut within = Within {
            settings,
            parts,
            view: input.view_of(&input.entrants[0]),
            tracks,
            log: Vec::new(),
            seen: HashSet::default(),
            path: Vec::new(),
            ways: Store::default(),
            leaving: HashSet::default(),
            ends,
        };
        if let Some(loser) = loser {
            within.breaks("kept", format!("{loser} loses by a new view what it had"));
        }
        within
    }

    /// Visits every moment of the view, and finds all its ends.
    pub(super) fn explore(mut self, watch: &mut dyn FnMut(&[&S])) -> Ends {
        let nobody = self.ways.add(Ways::new()).0;
        self.visit(&vec![nobody; 1 << self.tracks.len()], watch);
        self.ends.outcomes = self.outcomes().into_iter().collect();
        self.ends.outcomes.sort_unstable();
        self.ends.moments = self.seen.len();
        self.ends
    }

    fn breaks(&mut self, property: &'static str, why: String) {
        let line = |message: &u32| {
            let (sender, message) = self.parts.members.message(*message);
            format!("{}: {message:?}", sender.node)
        };
        if self.ends.broken.is_none() {
            let log = self.log.iter().map(line).collect();
            self.ends.broken = Some(Broken { property, why, log });
        }
    }

    /// Visits the present moment and all moments after it. `before` has the ways in which groups
    /// could leave one message earlier.
    fn visit(&mut self, before: &Leaving, watch: &mut dyn FnMut(&[&S])) {
        let print = self.print();
        if self.path.contains(&print) {
            return self.breaks("settles", "the members of a view go round in circles".to_owned());
        }
        if self.ends.broken.is_some() || !self.seen.insert(print) {
            return;
        }
        let last = |track: &Track| self.parts.members.state(track.last().state);
        watch(&self.tracks.iter().map(last).collect::<Vec<_>>());
        self.judge();
        let leaving = self.leave(before);
        self.path.push(print);
        let mut is_quiet = true;
        for place in 0..self.tracks.len() {
            if let Some(message) = self.tracks[place].next_cast() {
                is_quiet = false;
                self.order(place, message);
                self.visit(&leaving, watch);
                self.take_back(place);
            }
        }
        self.path.pop();
        if is_quiet {
            self.judge_end();
        }
    }

    /// A fingerprint of this moment: the shortest prefix that each member has delivered, its state
    /// there, and the messages that may follow.
    fn print(&self) -> u64 {
        let first = self.tracks.iter().map(Track::earliest).min().unwrap_or(0);
        let mut hasher = FixedState::default().build_hasher();
        for track in &self.tracks {
            let earliest = track.earliest();
            let Place { state, casts, own } = track.at[earliest];
            (earliest - first, state, casts - own).hash(&mut hasher);
            track.casts[track.ordered..casts].hash(&mut hasher);
        }
        self.log[first..].hash(&mut hasher);
        hasher.finish()
    }

    /// A multicast gets the next place in the log.
    fn order(&mut self, place: usize, message: u32) {
        self.tracks[place].ordered += 1;
        self.log.push(message);
        let (members, window) = (&mut self.parts.members, self.settings.window);
        for (number, track) in self.tracks.iter_mut().enumerate() {
            let Place { mut state, mut casts, mut own } = track.last();
            let was_full = casts - own == window;
            own += usize::from(number == place);
            let mut react = |event, casts: &mut usize| {
                let (next, said) = members.react(state, event, &self.view, window - (*casts - own));
                state = next;
                *casts += said.len();
                track.casts.extend_from_slice(&said);
            };
            react(GroupEvent::Message(message), &mut casts);
            if was_full && number == place {
                react(GroupEvent::Room, &mut casts);
            }
            track.at.push(Place { state, casts, own });
        }
    }

    fn take_back(&mut self, place: usize) {
        self.log.pop();
        for track in &mut self.tracks {
            track.at.pop();
            track.casts.truncate(track.last().casts);
        }
        self.tracks[place].ordered -= 1;
    }

    /// Judges the moment. Each member may have delivered any prefix from its shortest one to the
    /// whole log.
    fn judge(&mut self) {
        let mut all: Vec<(ProcessId, u64)> = Vec::new();
        let mut flaws = Vec::new();
        let mut settled = Vec::new();
        for track in &self.tracks {
            let members = &self.parts.members;
            let node = track.me.node;
            let held = track.at[track.earliest()..].iter();
            let held = held.fold(0, |all, place| all | members.facts(place.state).holds);
            if let Some((other, _)) = all.iter().find(|(_, theirs)| theirs & held != 0) {
                flaws.push(("pi1-owned", format!("{other} and {node} may use the same slot")));
            }
            all.push((node, held));
            let last = members.facts(track.last().state);
            flaws.extend(last.flaw.map(|property| (property, format!("at {node}"))));
            settled.extend(last.is_settled.then_some(track.last().state));
        }
        for pair in settled.windows(2) {
            if !self.parts.members.agree(pair[0], pair[1]) {
                flaws.push((
                    "pi2-equal",
                    "two members have delivered as much and differ".to_owned(),
                ));
            }
        }
        self.ends.reach |= all.iter().fold(0, |reach, (_, held)| reach | held);
        flaws.into_iter().for_each(|(property, why)| self.breaks(property, why));
    }

    /// All members have delivered everything, and have nothing to say.
    fn judge_end(&mut self) {
        let serves = |track: &&Track| {
            let facts = self.parts.members.facts(track.last().state);
            facts.is_settled && facts.is_initialised
        };
        if let Some(track) = self.tracks.iter().find(|track| !serves(track)) {
            let why = format!("{} waits for ever", track.me.node);
            self.breaks("settles", why);
        }
    }

    /// All ways in which groups of members can leave the view now. A group that does not deliver
    /// the last message leaves as it could before; unless one of its members sent it, and must
    /// deliver it.
    fn leave(&mut self, before: &Leaving) -> Leaving {
        let sender = self.log.last().map(|last| self.parts.members.message(*last).0);
        let sender = self.tracks.iter().position(|track| Some(track.me) == sender);
        let mut leaving = Leaving::new();
        for (group, before) in before.iter().enumerate() {
            let has_sender = sender.is_some_and(|place| group >> place & 1 == 1);
            let ways = self.leave_together(group, has_sender);
            let before_that = self.ways.get(*before);
            leaving.push(match (has_sender, ways.is_subset(before_that)) {
                (false, true) => *before,
                (false, false) => {
                    let all = before_that.union(&ways).cloned().collect();
                    self.ways.add(all).0
                }
                (true, _) => self.ways.add(ways).0,
            });
        }
        self.leaving.insert(leaving.clone());
        leaving
    }

    /// How these members can leave together if they deliver the last message. They agree on what
    /// they deliver in the regular configuration, at least as much as one of them has delivered by
    /// now, and on what they deliver in the transitional one. Each delivers its own.
    fn leave_together(&mut self, group: usize, has_sender: bool) -> Ways {
        let mut ways = Ways::new();
        let places: Vec<usize> = (0..self.tracks.len()).filter(|p| group >> p & 1 == 1).collect();
        let Some(front) = places.iter().map(|place| self.tracks[*place].earliest()).max() else {
            return ways;
        };
        let with = places.iter().fold(0, |with, place| with | bit(self.tracks[*place].me.node));
        for end in front..=self.log.len() {
            let members = &self.parts.members;
            let counts = |message: &u32| !members.is_void_between_views(*message);
            // A void message makes no difference there: without it they could leave before.
            let is_late = end < self.log.len();
            if is_late && !has_sender && !self.log.last().is_some_and(counts) {
                continue;
            }
            let rest: Vec<u32> = self.log[end..].iter().copied().filter(counts).collect();
            let is_own = |message: u32| with & bit(members.message(message).0.node) != 0;
            let is_last = |place: usize| is_late && !has_sender && place + 1 == rest.len();
            let must = (0..rest.len()).filter(|place| is_own(rest[*place]) || is_last(*place));
            let must = must.fold(0u32, |must, place| must | 1 << place);
            for chosen in (0..1u32 << rest.len()).filter(|chosen| chosen & must == must) {
                let last = (0..rest.len()).filter(|place| chosen >> place & 1 == 1);
                let last: Vec<u32> = last.map(|place| rest[place]).collect();
                ways.insert(places.iter().map(|p| self.close(*p, end, with, &last)).collect());
            }
        }
        ways
    }

    /// A member leaves with others: it delivers the log up to `end`, then `last` in the
    /// transitional configuration.
    fn close(&mut self, place: usize, end: usize, with: Nodes, last: &[u32]) -> u32 {
        let track = &self.tracks[place];
        let node = track.me.node;
        let mut states: Vec<u32> =
            track.at[track.earliest()..=end].iter().map(|p| p.state).collect();
        let mut state = track.at[end].state;
        let messages = last.iter().map(|message| GroupEvent::Message(*message));
        for event in [GroupEvent::Transitional(with)].into_iter().chain(messages) {
            (state, _) = self.parts.members.react(state, event, &self.view, 0);
            states.push(state);
        }
        states.pop();
        let held = states.iter().map(|state| self.parts.members.facts(*state));
        let held = held.filter(|facts| facts.is_initialised);
        let held = held.fold(0, |held, facts| held | facts.holds);
        let facts = *self.parts.members.facts(state);
        if held & !facts.keeps != 0 {
            self.breaks("kept", format!("{node} loses by the end of its view what it held"));
        }
        if let Some(property) = facts.flaw {
            self.breaks(property, format!("at {node}, when its view ends"));
        }
        self.parts.over(state)
    }

    /// All parts that may be left of the view.
    fn outcomes(&mut self) -> HashSet<Vec<u32>, FixedState> {
        let mut divisions = HashSet::<Vec<(usize, u32)>, FixedState>::default();
        for leaving in std::mem::take(&mut self.leaving) {
            for alive in 0..leaving.len() {
                divisions.extend(partitions(alive).into_iter().map(|groups| {
                    groups.into_iter().map(|group| (group, leaving[group])).collect()
                }));
            }
        }
        let mut found = HashSet::default();
        for groups in divisions {
            let alive = groups.iter().fold(0, |alive, (group, _)| alive | group);
            let dead = self.tracks.iter().enumerate().filter(|(place, _)| alive >> place & 1 == 0);
            let dead: Vec<ProcessId> = dead.map(|(_, track)| track.me.node).collect();
            for ended in knowledge(&dead, groups.len()) {
                let groups = groups.iter().map(|(_, ways)| *ways).zip(ended);
                self.combine(groups, &dead, &mut found);
            }
        }
        found
    }

    /// Every group leaves in any of its ways, and knows whose lives ended.
    fn combine(
        &mut self,
        groups: impl Iterator<Item = (u32, Nodes)>,
        dead: &[ProcessId],
        found: &mut HashSet<Vec<u32>, FixedState>,
    ) {
        let present = |track: &Track| Member { incarnation: PRESENT, ..track.me };
        let members: Vec<Member> = self.tracks.iter().map(present).collect();
        let gone = dead.iter().fold(0, |gone, node| gone | bit(*node));
        let mut outcomes = vec![Vec::new()];
        for (ways, ended) in groups {
            let mut longer = Vec::new();
            for states in self.ways.get(ways).clone().iter() {
                let part = Part { states: states.clone(), last: members.clone(), ended };
                let part = self.part(part, gone);
                longer.extend(outcomes.iter().map(|outcome: &Vec<u32>| {
                    let mut outcome = outcome.clone();
                    outcome.push(part);
                    outcome
                }));
            }
            outcomes = longer;
        }
        for mut outcome in outcomes {
            outcome.sort_unstable();
            found.insert(outcome);
        }
    }

    fn part(&mut self, mut part: Part, gone: Nodes) -> u32 {
        if self.settings.forgets {
            let loser;
            (part, loser) = self.parts.leave_behind(&part);
            if let Some(loser) = loser {
                self.breaks("kept", format!("{loser} loses by leaving others what it kept"));
            }
        }
        let part = self.parts.add(part);
        self.parts.outdate(part, gone)
    }
}

/// All ways to divide a set into groups.
fn partitions(set: usize) -> Vec<Vec<usize>> {
    if set == 0 {
        return vec![Vec::new()];
    }
    let first = set & set.wrapping_neg();
    let rest = set & !first;
    let mut all = Vec::new();
    // Every set of others that the first may be together with.
    let mut others = rest;
    loop {
        for mut partition in partitions(rest & !others) {
            partition.push(first | others);
            all.push(partition);
        }
        if others == 0 {
            return all;
        }
        others = (others - 1) & rest;
    }
}

/// Which deaths each group may know of. Groups leave one after the other, and know of the deaths
/// until then. So of any two deaths, all groups that know of the one know of the other, or the
/// other way round.
fn knowledge(dead: &[ProcessId], groups: usize) -> Vec<Vec<Nodes>> {
    let mut all = vec![(vec![0; groups], Vec::<usize>::new())];
    for node in dead {
        let mut longer = Vec::new();
        for (ended, knowers) in &all {
            for who in 0..1usize << groups {
                if knowers.iter().all(|other| who & other == who || who & other == *other) {
                    let knows = |group: usize| if who >> group & 1 == 1 { bit(*node) } else { 0 };
                    let known = ended.iter().enumerate();
                    let known = known.map(|(group, nodes)| nodes | knows(group)).collect();
                    longer.push((known, knowers.iter().copied().chain([who]).collect()));
                }
            }
        }
        all = longer;
    }
    all.into_iter().map(|(ended, _)| ended).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_divided_in_as_many_ways_as_bell_counted() {
        let counts = [0b0, 0b1, 0b101, 0b111, 0b1111, 0b11111].map(|set| partitions(set).len());
        assert_eq!(counts, [1, 1, 2, 5, 15, 52]);
        for partition in partitions(0b1011) {
            assert_eq!(partition.iter().sum::<usize>(), 0b1011, "{partition:?}");
        }
    }

    #[test]
    fn whoever_leaves_later_knows_of_more_deaths() {
        let (p1, p2) = (ProcessId(1), ProcessId(2));
        assert_eq!(knowledge(&[], 2), [[0, 0]]);
        assert_eq!(knowledge(&[p1], 2).len(), 4);
        let two = knowledge(&[p1, p2], 2);
        assert_eq!(two.len(), 14);
        assert!(!two.contains(&vec![bit(p1), bit(p2)]), "each knows of a death the other missed");
    }
}
