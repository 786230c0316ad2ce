//! Total order in a view: sequence numbers from a sequencer, and messages from their senders.
//!
//! The first member of a view is its *sequencer*. A sender asks it for a number, and then
//! multicasts the message with its number. While one request is under way, more messages gather,
//! and the next request is for all of them. Members deliver in the order of the numbers: an agreed
//! message in its turn, a safe one when every member has it. The sender knows the number before any
//! member has the message. So when a view falls apart, members that are cut off from the sequencer
//! still deliver in the same order as the others. A message without a number has not been delivered
//! by any member, and may go into the next view.
//!
//! Heartbeats report up to which number each member has all messages. Senders repeat a message that
//! a member has lacked for a while, and ask again for numbers that do not come.
//!
//! - Assumes: nothing of links. The coordinator excludes a member that is silent for long.
//! - Cost: 2 + (V − 1) messages in a view of V, by the sequencer V − 1, for any number of
//!   multicasts sent at once; a safe one 2(V − 1) more.
//! - State: at most `window` messages of each member that some member lacks; all members keep
//!   those.

use super::Embedded;
use super::log::Log;
use super::message::{Entry, Message};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};
use synod_core::group::{Delivery, Event, Member, ViewId};
use synod_core::{Cx, ProcessId, ProcessSet, Wire};

/// Periods without progress after which a message is sent again.
const STUCK: u32 = 2;

/// The progress of one member of the view, as this member knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Progress {
    /// The number up to which it has all messages.
    have: u64,
    /// The value of `have` one period ago, and for how many periods it has stayed the same.
    before: u64,
    stuck: u32,
    /// At the sequencer: the number of grants it got.
    pub(super) granted: u64,
    /// At the sequencer: its grants that it has not used yet, as (index, number, count).
    pub(super) spans: VecDeque<(u64, u64, u64)>,
}

/// The total order of one view.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct TotalOrder<M> {
    pub(super) view: ViewId,
    pub(super) members: Vec<Member>,
    pub(super) log: Log<M>,
    pub(super) progress: Vec<Progress>,
    /// At the sequencer: the last number granted.
    pub(super) last: u64,
    /// The number in our last `Have`, or, at the sequencer, in its last `Stable`.
    reported: u64,
    /// How many of our messages have a number, and how many numbers we asked for.
    pub(super) numbered: u64,
    pub(super) asked: u64,
    /// Periods since our request for numbers.
    pub(super) waited: u32,
    /// Numbers that were granted out of turn, by index.
    pub(super) tickets: BTreeMap<u64, u64>,
}

impl<M: Wire> TotalOrder<M> {
    /// The order of a view that begins.
    pub(super) fn new(view: ViewId, members: Vec<Member>) -> Self {
        let progress = vec![Progress::default(); members.len()];
        TotalOrder {
            view,
            members,
            log: Log::new(),
            progress,
            last: 0,
            reported: 0,
            numbered: 0,
            asked: 0,
            waited: 0,
            tickets: BTreeMap::new(),
        }
    }

    pub(super) fn rank(&self, node: ProcessId) -> Option<usize> {
        self.members.binary_search_by_key(&node, |member| member.node).ok()
    }

    pub(super) fn contains(&self, node: ProcessId) -> bool {
        self.rank(node).is_some()
    }

    pub(super) fn sequencer(&self) -> ProcessId {
        self.members[0].node
    }

    pub(super) fn set(&self) -> ProcessSet {
        self.members.iter().map(|member| member.node).collect()
    }

    /// Whether `count` messages can have these numbers. Every message above our `have` is one that
    /// some member lacks, and each sender has at most `window` of those; so a higher number is
    /// forged.
    pub(super) fn may_be(&self, number: u64, count: u64, window: usize) -> bool {
        let last = self.log.have() + (self.members.len() * window) as u64;
        number > 0 && number.checked_add(count).is_some_and(|end| end <= last + 1)
    }

    /// The number up to which every member has all messages, as far as this member knows.
    fn everywhere(&self, me: ProcessId) -> u64 {
        let others = self.members.iter().zip(&self.progress).filter(|(at, _)| at.node != me);
        others.map(|(_, progress)| progress.have).min().unwrap_or(u64::MAX).min(self.log.have())
    }
}

impl<M: Wire, const WAITS: bool> Embedded<M, WAITS> {
    pub(super) fn on_data(
        &mut self,
        from: ProcessId,
        number: u64,
        entries: Vec<Entry<M>>,
        cx: &mut Cx<'_, Self>,
    ) {
        let (window, order) = (self.settings.window, &mut self.order);
        let Some(rank) = order.rank(from) else { return };
        if !order.may_be(number, entries.len() as u64, window) {
            return cx.accuse(from, "sent a message with a number that cannot be");
        }
        let sender = order.members[rank];
        let mut safe = false;
        for (number, entry) in (number..).zip(entries) {
            safe |= order.log.put(number, sender, entry);
        }
        self.after_progress(safe, cx);
    }

    /// After new messages: delivers, and reports our progress if a safe message waits for it
    /// (`urgent`) or the progress is large.
    pub(super) fn after_progress(&mut self, urgent: bool, cx: &mut Cx<'_, Self>) {
        self.deliver(cx);
        let order = &mut self.order;
        let (have, view) = (order.log.have(), order.view);
        if order.sequencer() == cx.me() {
            for has in &mut order.progress {
                let used = |span: &&(u64, u64, u64)| span.1 + span.2 - 1 <= have;
                while has.spans.front().filter(used).is_some() {
                    has.spans.pop_front();
                }
            }
            self.stabilise(cx);
        } else if have > order.reported && (urgent || have - order.reported >= self.settings.few())
        {
            order.reported = have;
            cx.send(order.sequencer(), Message::Have { view, number: have });
        }
    }

    pub(super) fn on_have(&mut self, from: ProcessId, number: u64, cx: &mut Cx<'_, Self>) {
        if self.order.sequencer() != cx.me() || number > self.order.last {
            return cx.accuse(from, "has what was never numbered, or tells the wrong one");
        }
        self.note_have(from, number);
        self.stabilise(cx);
    }

    /// A member of the view has all messages up to this number.
    pub(super) fn note_have(&mut self, from: ProcessId, number: u64) {
        if let Some(rank) = self.order.rank(from) {
            let has = &mut self.order.progress[rank];
            has.have = has.have.max(number);
        }
    }

    /// Finds the messages that every member has. The sequencer announces these, if a safe message
    /// waits for it or the progress is large.
    pub(super) fn stabilise(&mut self, cx: &mut Cx<'_, Self>) {
        let order = &mut self.order;
        let number = order.everywhere(cx.me());
        let urgent = order.log.stabilise(number);
        if order.sequencer() == cx.me() && order.members.len() > 1 {
            let view = order.view;
            if number > order.reported && (urgent || number - order.reported >= self.settings.few())
            {
                order.reported = number;
                cx.multicast_to(order.set(), Message::Stable { view, number });
            }
        }
        self.deliver(cx);
    }

    pub(super) fn on_stable(&mut self, from: ProcessId, number: u64, cx: &mut Cx<'_, Self>) {
        if from != self.order.sequencer() || number > self.order.log.have() {
            return cx.accuse(from, "said that all have what is missing here");
        }
        self.order.log.stabilise(number);
        self.deliver(cx);
    }

    fn deliver(&mut self, cx: &mut Cx<'_, Self>) {
        let next = match WAITS {
            true => Log::next,
            false => Log::next_anyway,
        };
        while let Some((sender, entry)) = next(&mut self.order.log) {
            deliver_entry(sender, entry, cx);
        }
        let me = self.member(cx);
        self.own_kept -= self.order.log.forget(me);
        self.announce_room(cx);
    }

    /// A period is over: repeats messages and requests that may be lost.
    pub(super) fn repair(&mut self, cx: &mut Cx<'_, Self>) {
        self.stabilise(cx);
        let order = &mut self.order;
        let view = order.view;
        if order.asked > order.numbered {
            order.waited += 1;
            if order.waited >= STUCK {
                order.waited = 0;
                let index = order.asked;
                cx.send(order.sequencer(), Message::Request { view, index });
            }
        }
        let last = order.log.last();
        let mut lacking = Vec::new();
        for (member, has) in order.members.iter().zip(&mut order.progress) {
            let same = has.have == has.before && has.have < last;
            has.stuck = if same { (has.stuck + 1).min(STUCK) } else { 0 };
            has.before = has.have;
            if has.stuck >= STUCK && member.node != cx.me() {
                lacking.push((member.node, has.have + 1));
            }
        }
        for (node, from) in lacking {
            self.send_again(node, from, cx);
        }
    }

    /// Repeats our own messages to a member that lacks them, from this number on.
    fn send_again(&mut self, to: ProcessId, from: u64, cx: &mut Cx<'_, Self>) {
        let (view, me) = (self.order.view, self.member(cx));
        let mut runs: Vec<(u64, Vec<Entry<M>>)> = Vec::new();
        for (number, (_, entry)) in self.order.log.iter().filter(|(_, (by, _))| *by == me) {
            match runs.last_mut() {
                _ if number < from => {}
                Some((first, run)) if *first + run.len() as u64 == number => {
                    run.push(entry.clone())
                }
                _ => runs.push((number, vec![entry.clone()])),
            }
        }
        for (number, entries) in runs {
            cx.send(to, Message::Data { view, number, entries });
        }
    }
}

/// Hands a message to the service.
pub(super) fn deliver_entry<M: Wire, const WAITS: bool>(
    sender: Member,
    entry: Entry<M>,
    cx: &mut Cx<'_, Embedded<M, WAITS>>,
) {
    let Entry { sent_in, level, message } = entry;
    cx.output(Event::Deliver(Delivery { sender, sent_in, level, message }));
}
