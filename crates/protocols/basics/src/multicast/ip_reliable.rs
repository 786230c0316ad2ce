//! Reliable multicast over IP multicast: acknowledgements ride along with messages, and members ask
//! for missing ones.
//!
//! The network carries a message to all at once, and usually it arrives. Each sender numbers its
//! messages, and attaches R to each: for every process, the number up to which the sender has all
//! of its messages. A member notices that it lacks a message when a number is ahead of its turn, or
//! when another's R is ahead of its own. It sends a *negative acknowledgement* to the member that
//! revealed the gap; that one has the message and sends it again. As long as a member does not know
//! that all have every message, and has no message of its own to send, it multicasts its R as a
//! *heartbeat*: otherwise no member would notice the loss of the last message. A member that knows
//! of no gap answers a heartbeat with its R. So in the end all know that all have every message,
//! and are silent.
//!
//! A member keeps a copy of a message until it knows that every member has it (the message is
//! *stable*). At most `window` messages of a sender are not stable; further ones wait at the
//! sender. A member that does not answer `patience` heartbeats in a row is taken for crashed, and
//! no longer counts.
//!
//! - Assumes: losses do not go on for ever, and only a crashed process leaves `patience` heartbeats
//!   without an answer. Messages may be lost, doubled and reordered; with `gaps` = `hold` any
//!   number of processes may crash.
//! - Guarantees: integrity, validity, agreement. Not uniform: a sender delivers its message before
//!   it knows whether it left. With `gaps` = `hold` also FIFO order, because a message ahead of its
//!   turn is held back; with `deliver` it is delivered at once.
//! - Cost: one multicast per message, and for each loss one negative acknowledgement and one
//!   retransmission; heartbeats apart.
//! - State: `window` copies for each sender; n² numbers; the messages that wait at the sender.
//!
//! In many books S starts at 0 and R at 0: then receivers take the first message of every sender
//! for a duplicate. S is the *next* number, R the *last*: they start at 1 and 0.
//!
//! Sources: G. Coulouris et al.: Distributed Systems, 5th ed. 2012, 15.4.2. P. M. Melliar-Smith,
//! L. E. Moser, V. Agrawala: Broadcast protocols for distributed systems. IEEE TPDS 1(1), 1990.

mod card;
mod copies;
mod knowledge;
mod message;
mod repair;

pub use card::{GAPS, HEARTBEAT, IpMulticast, IpTower, PATIENCE, WINDOW};
pub use knowledge::Numbers;
pub use message::{Beat, Gaps, Message, Settings};

use super::{Deliver, Multicast};
use copies::Copies;
use knowledge::Knowledge;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, VecDeque};
use synod_core::{Cx, Data, ProcessId, Protocol};

/// One process of a group.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct IpReliable<D> {
    settings: Settings,
    /// S: the number of our next message.
    next: u32,
    /// R, and the last known R of each other process.
    knowledge: Knowledge,
    /// The unstable messages of each process, and those that are ahead of their turn.
    copies: Vec<Copies<D>>,
    /// Our messages for which the window has no room yet.
    waiting: VecDeque<D>,
    /// The messages that we asked for since the last heartbeat.
    asked: BTreeSet<(ProcessId, u32)>,
    /// Whether the timer is set.
    beating: bool,
    /// Whether the others have heard our R since the last heartbeat.
    spoke: bool,
    /// The number of messages that have come since the others heard our R.
    unspoken: u32,
}

impl<D: Data> IpReliable<D> {
    /// A process in a world of `n`.
    pub fn new(n: usize, settings: Settings) -> Self {
        IpReliable {
            settings,
            next: settings.first,
            knowledge: Knowledge::new(n, settings.patience),
            copies: vec![Copies::from(settings.first); n],
            waiting: VecDeque::new(),
            asked: BTreeSet::new(),
            beating: false,
            spoke: false,
            unspoken: 0,
        }
    }

    /// The number of copies, including messages that are held back.
    pub fn unstable(&self) -> usize {
        self.copies.iter().map(Copies::len).sum()
    }
}

impl<D: Data> Protocol for IpReliable<D> {
    type Input = Multicast<D>;
    type Output = Deliver<D>;
    type Message = Message<D>;
    type Timer = Beat;

    fn on_input(&mut self, Multicast(payload): Multicast<D>, cx: &mut Cx<'_, Self>) {
        self.waiting.push_back(payload);
        self.transmit_what_fits(cx);
    }

    fn on_message(&mut self, from: ProcessId, message: Message<D>, cx: &mut Cx<'_, Self>) {
        self.knowledge.hear(from);
        let wrong = match message {
            Message::Data { number, received, payload } => {
                self.on_data(from, number, &received, payload, cx)
            }
            Message::Again { sender, number, payload } => {
                self.on_again(sender, number, payload, cx)
            }
            Message::Nack { sender, numbers } => self.on_nack(from, sender, &numbers, cx),
            Message::Heartbeat(received) => self.on_heartbeat(from, &received, cx),
            Message::Ack(received) => self.on_received(from, &received, cx),
        };
        match wrong {
            Ok(()) => self.keep_beating(cx),
            Err(why) => cx.accuse(from, why),
        }
    }

    fn on_timer(&mut self, Beat: Beat, cx: &mut Cx<'_, Self>) {
        self.beating = false;
        // A message that we asked for and that has not come may be asked for again, as soon as
        // another R reveals it.
        self.asked.clear();
        self.collect(cx);
        if !self.spoke && !self.is_settled(cx) {
            self.beat(cx);
            for member in cx.others() {
                self.knowledge.wait(member);
            }
        }
        self.spoke = false;
        self.keep_beating(cx);
    }
}

/// The result of a check: why no honest process can have sent the message.
type Verdict = Result<(), &'static str>;

impl<D: Data> IpReliable<D> {
    /// Multicasts waiting messages, as far as the window has room.
    fn transmit_what_fits(&mut self, cx: &mut Cx<'_, Self>) {
        let me = cx.me();
        while self.copies[me.index()].len() < self.settings.window as usize {
            let Some(payload) = self.waiting.pop_front() else { break };
            let (number, received) = (self.next, self.knowledge.of(me).clone());
            self.next += 1;
            cx.multicast(Message::Data { number, received, payload: payload.clone() });
            self.copies[me.index()].keep(number, payload.clone());
            self.knowledge.learn(me, me, number);
            self.have_spoken();
            cx.output(Deliver { sender: me, payload });
            self.forget_stable(me, cx);
        }
        self.keep_beating(cx);
    }

    fn on_data(
        &mut self,
        from: ProcessId,
        number: u32,
        received: &Numbers,
        payload: D,
        cx: &mut Cx<'_, Self>,
    ) -> Verdict {
        self.check(received, cx)?;
        self.take_in(from, number, payload, cx)?;
        self.knowledge.learn(from, from, number);
        self.on_received(from, received, cx)?;
        self.unspoken += 1;
        // A member that only listens must tell its R in time, or the windows of all senders run
        // full.
        if self.unspoken >= (self.settings.window / 4).max(1) {
            self.beat(cx);
        }
        Ok(())
    }

    fn on_again(
        &mut self,
        sender: ProcessId,
        number: u32,
        payload: D,
        cx: &mut Cx<'_, Self>,
    ) -> Verdict {
        if !cx.is_member(sender) || sender == cx.me() {
            return Err("sent a message again that cannot be missing");
        }
        self.take_in(sender, number, payload, cx)?;
        self.forget_stable(sender, cx);
        Ok(())
    }

    /// Delivers a message that is new, and those that waited for it.
    fn take_in(
        &mut self,
        sender: ProcessId,
        number: u32,
        payload: D,
        cx: &mut Cx<'_, Self>,
    ) -> Verdict {
        let me = cx.me();
        let last = self.knowledge.upto(me, sender);
        if number <= last || self.copies[sender.index()].get(number).is_some() {
            return Ok(());
        }
        if number - last > self.settings.window {
            return Err("sent a message that is ahead of every window");
        }
        self.asked.remove(&(sender, number));
        let at_once = self.settings.gaps == Gaps::Deliver;
        self.copies[sender.index()].keep(number, payload.clone());
        if at_once {
            cx.output(Deliver { sender, payload });
        }
        for number in last + 1.. {
            let Some(payload) = self.copies[sender.index()].get(number) else { break };
            if !at_once {
                cx.output(Deliver { sender, payload: payload.clone() });
            }
            self.knowledge.learn(me, sender, number);
        }
        Ok(())
    }

    /// Takes in the R of another member, and asks it for messages that it has and we lack.
    fn on_received(
        &mut self,
        from: ProcessId,
        received: &Numbers,
        cx: &mut Cx<'_, Self>,
    ) -> Verdict {
        self.check(received, cx)?;
        for sender in cx.group() {
            let new = self.knowledge.learn(from, sender, received.0[sender.index()]);
            self.ask_for_missing(from, sender, cx);
            if new {
                self.forget_stable(sender, cx);
            }
        }
        // There may be room in the window again.
        self.transmit_what_fits(cx);
        Ok(())
    }

    /// Checks that R is possible: no process has more messages than the windows allow, or more of
    /// ours than we sent.
    fn check(&self, received: &Numbers, cx: &Cx<'_, Self>) -> Verdict {
        let mine = &self.knowledge.of(cx.me()).0;
        if received.0.len() != mine.len() {
            return Err("acknowledged the messages of another world");
        }
        let window = |sender| if sender == cx.me() { 0 } else { self.settings.window };
        let possible = |sender: ProcessId| {
            let (theirs, ours) = (received.0[sender.index()], mine[sender.index()]);
            theirs <= ours.saturating_add(window(sender))
        };
        match cx.group().all(possible) {
            true => Ok(()),
            false => Err("acknowledged what nobody can have sent"),
        }
    }

    fn on_heartbeat(
        &mut self,
        from: ProcessId,
        received: &Numbers,
        cx: &mut Cx<'_, Self>,
    ) -> Verdict {
        self.on_received(from, received, cx)?;
        // An unsettled member tells its R with its own next heartbeat.
        if self.is_settled(cx) {
            cx.send(from, Message::Ack(self.knowledge.of(cx.me()).clone()));
        }
        Ok(())
    }

    /// Whether, as far as we know, all members have every message, and none waits at this one.
    fn is_settled(&self, cx: &Cx<'_, Self>) -> bool {
        let mine = self.knowledge.of(cx.me());
        let has_all = |other| !self.knowledge.counts(other) || self.knowledge.of(other) == mine;
        // A gap in the messages of a crashed sender may never be filled, so it does not count.
        let open = |sender: ProcessId| {
            self.knowledge.counts(sender) && self.copies[sender.index()].len() > 0
        };
        self.waiting.is_empty() && cx.others().all(has_all) && !cx.group().any(open)
    }

    /// Forgets the copies of messages that every member has.
    fn forget_stable(&mut self, sender: ProcessId, cx: &Cx<'_, Self>) {
        let me = cx.me();
        let count = cx.group().filter(|&other| other == me || self.knowledge.counts(other));
        if let Some(upto) = count.map(|member| self.knowledge.upto(member, sender)).min() {
            self.copies[sender.index()].forget(upto);
        }
    }

    /// A member may have stopped counting, and more messages may be stable without it.
    fn collect(&mut self, cx: &mut Cx<'_, Self>) {
        for sender in cx.group() {
            self.forget_stable(sender, cx);
        }
        self.transmit_what_fits(cx);
    }

    fn beat(&mut self, cx: &mut Cx<'_, Self>) {
        cx.multicast(Message::Heartbeat(self.knowledge.of(cx.me()).clone()));
        self.have_spoken();
    }

    fn have_spoken(&mut self) {
        self.spoke = true;
        self.unspoken = 0;
    }

    fn keep_beating(&mut self, cx: &mut Cx<'_, Self>) {
        let Some(heartbeat_ms) = self.settings.heartbeat_ms else { return };
        if !self.beating && !self.is_settled(cx) {
            self.beating = true;
            cx.set_timer(Beat, heartbeat_ms);
        }
    }
}
