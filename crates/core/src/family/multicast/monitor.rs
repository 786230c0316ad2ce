//! The judge of multicast.
//!
//! Judging a delivery takes constant time. The monitor forgets messages that every member has
//! delivered, but for a few numbers; so its memory does not grow with the run.

use super::{
    AGREEMENT, CAUSAL, FIFO, GroupId, GroupMulticast, Groups, INTEGRITY, Input, Output, TOTAL,
    UNIFORM, VALIDITY, message_in_words,
};
use crate::family::{Family, Moment, Monitor, Violation};
use crate::process::{ProcessId, ProcessSet};
use crate::setup::Setup;
use std::collections::VecDeque;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Records multicasts and deliveries, and judges them.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Scribe {
    rules: Rules,
    /// One for each group.
    logs: Vec<Log>,
    /// Processes that have ever crashed.
    crashed: ProcessSet,
}

/// The part that never changes; copies share it.
#[derive(Clone, Debug)]
struct Rules(Arc<Fixed>);

#[derive(Debug, PartialEq, Eq)]
struct Fixed {
    n: usize,
    groups: Groups,
    /// Whether the order of each sender's messages matters: for FIFO and for causal order.
    senders: bool,
    causal: bool,
    total: bool,
}

impl PartialEq for Rules {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0 == other.0
    }
}

impl Eq for Rules {}

/// All worlds that are ever compared have the same rules, so hashing them would tell nothing.
impl Hash for Rules {
    fn hash<H: Hasher>(&self, _hasher: &mut H) {}
}

/// The state of one group. Lists have one place for each process of the world, or are empty if
/// their property is not judged.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Log {
    /// The members that have not crashed.
    up: ProcessSet,
    /// The multicasts of each process.
    sent: Vec<Sent>,
    /// The number of messages of each sender that each member has delivered: one row for each
    /// member. Up to the first violation of FIFO order these are the first ones.
    delivered: Vec<u32>,
    /// The last message of each sender that happened before the next multicast of each member: one
    /// row for each member. All earlier messages of the sender happened before too.
    known: Vec<u32>,
    /// The last delivery of each member.
    last: Vec<Option<Message>>,
}

/// A message of a group: its sender, and its number.
type Message = (ProcessId, u32);

/// The messages of one sender to one group.
#[derive(Debug, Default, PartialEq, Eq, Hash)]
struct Sent {
    /// The number of messages that every member has delivered. They are forgotten.
    settled: u32,
    /// The others, in order of their numbers.
    open: VecDeque<Open>,
}

/// A message that some member has not delivered yet.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Open {
    /// Members, up, that have not delivered it.
    missing: ProcessSet,
    /// Whether any member has delivered it, even one that crashed since.
    seen: bool,
    /// The last message of each sender that happened before it.
    past: Vec<u32>,
    /// The delivery just before it, the same at all members, up, that have delivered it. So all
    /// their deliveries up to here are the same, in the same order.
    after: Option<Message>,
}

/// Explorers copy monitors all the time: a copy in place keeps the allocations.
macro_rules! cloned_in_place {
    ($type:ident { $($field:ident),* }) => {
        impl Clone for $type {
            fn clone(&self) -> Self {
                $type { $($field: self.$field.clone()),* }
            }

            fn clone_from(&mut self, source: &Self) {
                $(self.$field.clone_from(&source.$field);)*
            }
        }
    };
}

cloned_in_place!(Scribe { rules, logs, crashed });
cloned_in_place!(Log { up, sent, delivered, known, last });
cloned_in_place!(Sent { settled, open });
cloned_in_place!(Open { missing, seen, past, after });

impl Monitor for Scribe {
    type Family = GroupMulticast;

    fn new(setup: &Setup, judged: &dyn Fn(&str) -> bool) -> Self {
        let judged = |id| judged(id) && GroupMulticast::can_judge(id, setup.n);
        let groups = Groups::of(setup).expect("the algorithm has accepted the groups");
        let causal = judged(CAUSAL);
        let (senders, total) = (causal || judged(FIFO), judged(TOTAL));
        let fixed = Fixed { n: setup.n, groups, senders, causal, total };
        let logs = fixed.groups.iter().map(|(_, members)| Log::new(members, &fixed)).collect();
        Scribe { rules: Rules(Arc::new(fixed)), logs, crashed: ProcessSet::EMPTY }
    }

    fn on_input(&mut self, at: ProcessId, input: &Input, _: Moment<'_>, _: &mut Vec<Violation>) {
        let Input::Multicast { group, payload } = input;
        let log = &mut self.logs[group.index()];
        assert_eq!(payload.number, log.sent[at.index()].count() + 1, "applications count");
        log.multicast(at, &self.rules.0);
    }

    fn on_output(
        &mut self,
        at: ProcessId,
        Output::Deliver { group, sender, payload }: &Output,
        _: Moment<'_>,
        found: &mut Vec<Violation>,
    ) {
        let (sender, number) = (*sender, payload.number);
        let mut violated = |property, because: String| {
            found.push(Violation { property, at, because: format!("{at} {because}") });
        };
        if let Err(because) = self.has_integrity(at, *group, sender, number) {
            return violated(INTEGRITY, because);
        }
        // A process that crashed and started again: see the family.
        if self.crashed.contains(at) {
            return;
        }
        let (log, fixed) = (&mut self.logs[group.index()], &*self.rules.0);
        for wrong in log.disorder(at, (sender, number), fixed) {
            let words = |(sender, number)| message_in_words(*group, sender, number);
            violated(wrong.property(), wrong.in_words((sender, number), words));
        }
        log.deliver(at, (sender, number), fixed);
    }

    fn on_crash(&mut self, at: ProcessId) {
        self.crashed.insert(at);
        let n = self.rules.0.n;
        self.logs.iter_mut().for_each(|log| log.crash(at, n));
    }

    /// Only multicasts count for causal order. Messages between applications do not.
    fn has_news(&self, _from: ProcessId) -> bool {
        false
    }

    fn waiting(&self, property: &str) -> ProcessSet {
        let mut waiting = ProcessSet::EMPTY;
        for log in &self.logs {
            for (sender, _, open) in log.open() {
                match property {
                    VALIDITY if open.missing.contains(sender) => {
                        waiting.insert(sender);
                    }
                    AGREEMENT | UNIFORM if log.is_owed(open, property) => {
                        waiting.extend(open.missing.iter());
                    }
                    _ => {}
                }
            }
        }
        waiting
    }

    fn complaint(&self, property: &str, at: ProcessId) -> String {
        for ((group, _), log) in self.rules.0.groups.iter().zip(&self.logs) {
            for (sender, number, open) in
                log.open().filter(|(_, _, open)| open.missing.contains(at))
            {
                let message = message_in_words(group, sender, number);
                let deliverer = || log.up.iter().find(|&member| !open.missing.contains(member));
                match property {
                    VALIDITY if sender == at => return format!("has not delivered {message}"),
                    AGREEMENT | UNIFORM if log.is_owed(open, property) => {
                        return match deliverer() {
                            Some(other) => {
                                format!("has not delivered {message}, which {other} has delivered")
                            }
                            None => format!(
                                "has not delivered {message}, which one that crashed has delivered"
                            ),
                        };
                    }
                    _ => {}
                }
            }
        }
        "waits".to_owned()
    }
}

impl Scribe {
    fn has_integrity(
        &self,
        at: ProcessId,
        group: GroupId,
        sender: ProcessId,
        number: u32,
    ) -> Result<(), String> {
        let message = || message_in_words(group, sender, number);
        let members = self.rules.0.groups.members(group);
        let Some(members) = members.filter(|members| members.contains(at)) else {
            return Err(format!("delivers {}, but it is no member of {group}", message()));
        };
        let log = &self.logs[group.index()];
        if !members.contains(sender) || !log.sent[sender.index()].has(number) {
            return Err(format!("delivers {}, which {sender} has not multicast", message()));
        }
        let again = match log.sent[sender.index()].get(number) {
            None => true,
            Some(open) => !open.missing.contains(at),
        };
        match again && !self.crashed.contains(at) {
            true => Err(format!("delivers {} again", message())),
            false => Ok(()),
        }
    }
}

impl Sent {
    fn count(&self) -> u32 {
        self.settled + self.open.len() as u32
    }

    /// Whether a message with this number was multicast.
    fn has(&self, number: u32) -> bool {
        (1..=self.count()).contains(&number)
    }

    /// The message, unless every member has delivered it.
    fn get(&self, number: u32) -> Option<&Open> {
        self.open.get(number.checked_sub(self.settled + 1)? as usize)
    }

    fn get_mut(&mut self, number: u32) -> Option<&mut Open> {
        self.open.get_mut(number.checked_sub(self.settled + 1)? as usize)
    }

    /// Forgets messages that every member has delivered.
    fn settle(&mut self) {
        while self.open.front().is_some_and(|open| open.missing.is_empty()) {
            self.open.pop_front();
            self.settled += 1;
        }
    }
}

impl Log {
    fn new(members: &ProcessSet, fixed: &Fixed) -> Self {
        let Fixed { n, senders, causal, total, .. } = *fixed;
        let each = |judged, of| if judged { of } else { 0 };
        Log {
            up: members.clone(),
            sent: vec![Sent::default(); n],
            delivered: vec![0; each(senders, n * n)],
            known: vec![0; each(causal, n * n)],
            last: vec![None; each(total, n)],
        }
    }

    fn multicast(&mut self, at: ProcessId, fixed: &Fixed) {
        let mut past = Vec::new();
        let number = self.sent[at.index()].count() + 1;
        if fixed.causal {
            let known = row(&mut self.known, at, fixed.n);
            past.extend_from_slice(known);
            known[at.index()] = number;
        }
        let open = Open { missing: self.up.clone(), seen: false, past, after: None };
        self.sent[at.index()].open.push_back(open);
    }

    /// The orders that the delivery violates.
    fn disorder(&mut self, at: ProcessId, message: Message, fixed: &Fixed) -> Vec<Disorder> {
        let mut found = Vec::new();
        let (sender, number) = message;
        let Some(open) = self.sent[sender.index()].get(number) else { return found };
        if fixed.senders {
            let delivered = &*row(&mut self.delivered, at, fixed.n);
            let next = delivered[sender.index()] + 1;
            if next < number {
                found.push(Disorder::Overtakes(FIFO, (sender, next)));
            }
            let lacks = |(past, delivered): (&u32, &u32)| past > delivered;
            if let Some(index) = open.past.iter().zip(delivered).position(lacks) {
                let cause = (ProcessId(index as u32), delivered[index] + 1);
                found.push(Disorder::Overtakes(CAUSAL, cause));
            }
        }
        // Comparing the delivery just before suffices: by induction, all earlier ones agree.
        if fixed.total && self.is_delivered(open) && open.after != self.last[at.index()] {
            found.push(Disorder::Differs { here: self.last[at.index()], elsewhere: open.after });
        }
        found
    }

    fn deliver(&mut self, at: ProcessId, message: Message, fixed: &Fixed) {
        let (sender, number) = message;
        let first =
            self.sent[sender.index()].get(number).is_some_and(|open| !self.is_delivered(open));
        let Some(open) = self.sent[sender.index()].get_mut(number) else { return };
        open.missing.remove(at);
        open.seen = true;
        if fixed.total {
            let before = self.last[at.index()].replace(message);
            if first {
                // The first delivery fixes the place of the message for all other members.
                open.after = before;
            }
        }
        if fixed.senders {
            row(&mut self.delivered, at, fixed.n)[sender.index()] += 1;
        }
        if fixed.causal {
            let known = row(&mut self.known, at, fixed.n);
            for (mine, theirs) in known.iter_mut().zip(&open.past) {
                *mine = (*mine).max(*theirs);
            }
            known[sender.index()] = known[sender.index()].max(number);
        }
        self.sent[sender.index()].settle();
    }

    /// Whether a member that is up has delivered it.
    fn is_delivered(&self, open: &Open) -> bool {
        open.missing.len() < self.up.len()
    }

    /// Whether members that lack it must deliver it.
    fn is_owed(&self, open: &Open, property: &str) -> bool {
        match property {
            UNIFORM => open.seen,
            _ => self.is_delivered(open),
        }
    }

    /// Messages that some member has not delivered: sender, number, and the rest.
    fn open(&self) -> impl Iterator<Item = (ProcessId, u32, &Open)> {
        ProcessId::all(self.sent.len()).zip(&self.sent).flat_map(|(sender, sent)| {
            (sent.settled + 1..).zip(&sent.open).map(move |(number, open)| (sender, number, open))
        })
    }

    /// The others owe a crashed process no message, and its own deliveries oblige the others only
    /// under uniform agreement.
    fn crash(&mut self, at: ProcessId, n: usize) {
        if !self.up.remove(at) {
            return;
        }
        for sent in &mut self.sent {
            for open in &mut sent.open {
                open.missing.remove(at);
                // Only crashed members had delivered it, and their order binds no other.
                if open.missing.len() == self.up.len() {
                    open.after = None;
                }
            }
            sent.settle();
        }
        for list in [&mut self.delivered, &mut self.known] {
            if !list.is_empty() {
                // The past of a crashed member no longer matters, so worlds that differ only in it
                // are equal.
                row(list, at, n).fill(0);
            }
        }
        if let Some(last) = self.last.get_mut(at.index()) {
            *last = None;
        }
    }
}

/// The error in the place of a delivery.
enum Disorder {
    /// It comes before a message that should be before it, by this property.
    Overtakes(&'static str, Message),
    /// The delivery just before it here is not the one at other members.
    Differs { here: Option<Message>, elsewhere: Option<Message> },
}

impl Disorder {
    fn property(&self) -> &'static str {
        match self {
            Disorder::Overtakes(property, _) => property,
            Disorder::Differs { .. } => TOTAL,
        }
    }

    fn in_words(&self, message: Message, words: impl Fn(Message) -> String) -> String {
        let place = |before: &Option<Message>| match before {
            Some(before) => format!("after {}", words(*before)),
            None => "first of all".to_owned(),
        };
        let message = words(message);
        match self {
            Disorder::Overtakes(_, earlier) => {
                format!("delivers {message} before {}", words(*earlier))
            }
            Disorder::Differs { here, elsewhere } => {
                format!("delivers {message} {}, others {}", place(here), place(elsewhere))
            }
        }
    }
}

/// The numbers of one process.
fn row(list: &mut [u32], at: ProcessId, n: usize) -> &mut [u32] {
    &mut list[at.index() * n..][..n]
}

#[cfg(test)]
mod tests;
