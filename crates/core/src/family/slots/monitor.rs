//! Judges the use of every slot, in all parts of the group.

use super::{Allocation, FENCE, Input, Output, PI1, PI2, PI4, SlotId, TURN, Ticket, Token};
use crate::family::{Moment, Monitor, Violation};
use crate::process::{ProcessId, ProcessSet};
use crate::setup::Setup;
use std::collections::BTreeMap;

/// Knows every slot in use, on all sides of every partition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Landlord {
    /// The users of each slot, each with its token.
    used: BTreeMap<SlotId, Vec<(ProcessId, Token)>>,
    /// The last token of every slot that was ever claimed.
    last: BTreeMap<SlotId, Token>,
    /// Members that have asked for slots and are still waiting.
    asking: ProcessSet,
    /// Members in a transaction of the membership.
    unsettled: ProcessSet,
    /// Members that are settled, with every node accounted for, although some slots have no owner.
    missing: ProcessSet,
    /// The claims that wait at each member, oldest first.
    queues: BTreeMap<ProcessId, Vec<Ticket>>,
    /// Whether tokens are judged; they are remembered only then.
    fences: bool,
    /// Whether the order of claims that wait is judged.
    orders: bool,
}

impl Monitor for Landlord {
    type Family = Allocation;

    fn new(_setup: &Setup, judged: &dyn Fn(&str) -> bool) -> Self {
        Landlord {
            used: BTreeMap::new(),
            last: BTreeMap::new(),
            asking: ProcessSet::EMPTY,
            unsettled: ProcessSet::EMPTY,
            missing: ProcessSet::EMPTY,
            queues: BTreeMap::new(),
            fences: judged(FENCE),
            orders: judged(TURN),
        }
    }

    fn on_input(&mut self, at: ProcessId, input: &Input, _: Moment<'_>, _: &mut Vec<Violation>) {
        match input {
            Input::Release(slot, token) => self.give_back(at, *slot, *token),
            Input::ClaimWithin { ticket, .. } => {
                let queue = self.queues.entry(at).or_default();
                if !queue.contains(ticket) {
                    queue.push(*ticket);
                }
            }
            _ => {}
        }
    }

    fn on_output(
        &mut self,
        at: ProcessId,
        output: &Output,
        _: Moment<'_>,
        found: &mut Vec<Violation>,
    ) {
        match output {
            Output::Claimed(slot, token) => self.claim(at, *slot, *token, found),
            Output::Served { ticket, slot, token } => {
                self.serve(at, *ticket, found);
                self.claim(at, *slot, *token, found);
            }
            Output::Unserved(ticket, _) => self.answer(at, *ticket),
            Output::Asks(_) => {
                self.asking.insert(at);
            }
            Output::Got(_) => {
                self.asking.remove(at);
            }
            Output::Unsettled => {
                self.unsettled.insert(at);
            }
            Output::Settled { absent, whole, .. } => {
                self.unsettled.remove(at);
                self.missing.remove(at);
                if *whole && *absent > 0 {
                    self.missing.insert(at);
                }
            }
            Output::Alarm(slot) => {
                let because = format!("{slot} was claimed by two parts of the group");
                found.push(Violation { property: PI1, at, because });
            }
            Output::Lost => self.evict(at),
            Output::Refused(_) | Output::Released(_) | Output::Stale(_) | Output::Void(_) => {}
        }
    }

    fn on_crash(&mut self, at: ProcessId) {
        self.evict(at);
        self.queues.remove(&at);
    }

    /// Messages between applications never change the use of a slot.
    fn has_news(&self, _from: ProcessId) -> bool {
        false
    }

    fn waiting(&self, property: &str) -> ProcessSet {
        match property {
            PI2 => self.missing.clone(),
            PI4 => {
                let mut open = self.asking.clone();
                open.extend(self.unsettled.iter());
                open.extend(self.queues.keys().copied());
                open
            }
            _ => self.unsettled.clone(),
        }
    }

    fn complaint(&self, property: &str, at: ProcessId) -> String {
        match property {
            PI2 => "knows of slots that nobody owns, although every node is accounted for".into(),
            _ if self.unsettled.contains(at) => "waits for the group to settle".into(),
            _ if self.queues.contains_key(&at) => "has no answer to a claim that waits".into(),
            _ => "waits for answers to its request".into(),
        }
    }
}

impl Landlord {
    /// The membership of a member is lost, and with it all its slots. Claims that wait hold none,
    /// and wait on.
    fn evict(&mut self, at: ProcessId) {
        for users in self.used.values_mut() {
            users.retain(|(user, _)| *user != at);
        }
        self.used.retain(|_, users| !users.is_empty());
        for set in [&mut self.asking, &mut self.unsettled, &mut self.missing] {
            set.remove(at);
        }
    }

    /// A claim that waited gets a slot: the oldest one comes first.
    fn serve(&mut self, at: ProcessId, ticket: Ticket, found: &mut Vec<Violation>) {
        let first = self.queues.get(&at).and_then(|queue| queue.first());
        if let Some(first) = first.filter(|first| self.orders && **first != ticket) {
            let because = format!("{at} serves {ticket} before {first}, which has waited longer");
            found.push(Violation { property: TURN, at, because });
        }
        self.answer(at, ticket);
    }

    /// A claim that waited has its answer.
    fn answer(&mut self, at: ProcessId, ticket: Ticket) {
        if let Some(queue) = self.queues.get_mut(&at) {
            queue.retain(|other| *other != ticket);
            if queue.is_empty() {
                self.queues.remove(&at);
            }
        }
    }

    fn claim(&mut self, at: ProcessId, slot: SlotId, token: Token, found: &mut Vec<Violation>) {
        let users = self.used.entry(slot).or_default();
        if let Some((other, _)) = users.first() {
            let because = format!("{at} uses {slot}, and so does {other}");
            found.push(Violation { property: PI1, at, because });
        }
        users.push((at, token));
        if self.fences {
            let last = self.last.insert(slot, token);
            if let Some(last) = last.filter(|last| *last >= token) {
                let because = format!("{at} claims {slot} with {token}, after {last}");
                found.push(Violation { property: FENCE, at, because });
            }
        }
    }

    fn give_back(&mut self, at: ProcessId, slot: SlotId, token: Token) {
        if let Some(users) = self.used.get_mut(&slot) {
            users.retain(|user| *user != (at, token));
            if users.is_empty() {
                self.used.remove(&slot);
            }
        }
    }
}
