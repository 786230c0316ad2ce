//! Sequence numbers: a sender requests them from the sequencer, and the sequencer grants them.
//!
//! A request names the total of numbers that the sender wants in this view, so the sender can
//! repeat it. The sequencer can repeat a grant, because it remembers the grant until its numbers
//! are used.

use super::message::{Entry, Message};
use super::{Embedded, Phase};
use synod_core::{Cx, ProcessId, Wire};

impl<M: Wire, const WAITS: bool> Embedded<M, WAITS> {
    /// Requests numbers for the messages in the queue.
    pub(super) fn submit(&mut self, cx: &mut Cx<'_, Self>) {
        if self.queue.is_empty() || self.phase != Phase::Steady {
            return;
        }
        let order = &mut self.order;
        let view = order.view;
        if order.sequencer() != cx.me() {
            // One request at a time: messages that come in meanwhile go with the next one.
            if order.asked == order.numbered {
                order.asked += self.queue.len() as u64;
                order.waited = 0;
                let index = order.asked;
                cx.send(order.sequencer(), Message::Request { view, index });
            }
            return;
        }
        let number = order.last + 1;
        order.last += self.queue.len() as u64;
        let entries = self.queue.drain(..).collect();
        self.send_out(number, entries, cx);
        self.after_progress(false, cx);
    }

    /// Sends our own messages that have numbers, and keeps them. Returns whether a safe one is
    /// among them, so that the others wait to hear that we have it.
    fn send_out(&mut self, number: u64, entries: Vec<Entry<M>>, cx: &mut Cx<'_, Self>) -> bool {
        let (view, me) = (self.order.view, self.member(cx));
        if self.order.members.len() > 1 {
            let entries = entries.clone();
            cx.multicast_to(self.order.set(), Message::Data { view, number, entries });
        }
        self.own_kept += entries.len();
        let mut safe = false;
        for (number, entry) in (number..).zip(entries) {
            safe |= self.order.log.put(number, me, entry);
        }
        safe
    }

    pub(super) fn on_request(&mut self, from: ProcessId, index: u64, cx: &mut Cx<'_, Self>) {
        let (window, order) = (self.settings.window as u64, &mut self.order);
        let Some(rank) = order.rank(from).filter(|_| order.sequencer() == cx.me()) else {
            return cx.accuse(from, "asked somebody for a number who does not give any");
        };
        let view = order.view;
        let has = &mut order.progress[rank];
        if index > has.granted.saturating_add(window) {
            return cx.accuse(from, "asked for more numbers than it may use");
        }
        if index > has.granted {
            let count = index - has.granted;
            has.spans.push_back((has.granted + 1, order.last + 1, count));
            has.granted = index;
            order.last += count;
        }
        // Repeats earlier grants, too: one may be lost.
        for &(index, number, count) in &has.spans {
            cx.send(from, Message::Grant { view, index, number, count });
        }
    }

    pub(super) fn on_grant(
        &mut self,
        from: ProcessId,
        (index, number, count): (u64, u64, u64),
        cx: &mut Cx<'_, Self>,
    ) {
        let (window, order) = (self.settings.window, &mut self.order);
        let asked = index > 0 && index.checked_add(count).is_some_and(|end| end <= order.asked + 1);
        if from != order.sequencer() || !asked || !order.may_be(number, count, window) {
            return cx.accuse(from, "gave a number that nobody asked for");
        }
        let news = (index..index + count).zip(number..);
        order.tickets.extend(news.filter(|(index, _)| *index > order.numbered));
        self.use_tickets(cx);
    }

    /// Sends the messages that have numbers now, consecutive numbers in one message.
    fn use_tickets(&mut self, cx: &mut Cx<'_, Self>) {
        let (before, mut safe) = (self.order.numbered, false);
        loop {
            let order = &mut self.order;
            let Some(&first) = order.tickets.get(&(order.numbered + 1)) else { break };
            let mut entries = Vec::new();
            while order.tickets.get(&(order.numbered + 1)) == Some(&(first + entries.len() as u64))
            {
                let Some(entry) = self.queue.pop_front() else { break };
                order.numbered += 1;
                order.tickets.remove(&order.numbered);
                entries.push(entry);
            }
            if entries.is_empty() {
                break;
            }
            safe |= self.send_out(first, entries, cx);
        }
        if self.order.numbered > before {
            self.after_progress(safe, cx);
            self.submit(cx);
        }
    }
}
