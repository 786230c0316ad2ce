//! The embedded group engine: views that all members agree on, and one order of their multicasts.
//!
//! Every node starts alone, in a view of its own, and sends heartbeats to all configured nodes.
//! When the nodes that reach each other are not the members of the view, the smallest of them is
//! the coordinator and installs a new view. Every side of a partition has one, and any number of
//! sides that reach each other again merge. In a view a sequencer numbers the multicasts.
//!
//! - `peers` is the failure detector, and chooses the coordinator and the wanted members;
//! - `total_order` gives the multicasts of a view one order, with numbers from `numbers`;
//! - `view_change` changes the view, and `install` makes the last deliveries of the old one.
//!
//! - Assumes: nodes are known beforehand, and do not lie. Messages may be lost, doubled, late and
//!   out of order, links may work in one direction only, nodes crash and start again with a higher
//!   incarnation. If delays are longer than the time-out, views change needlessly, and stay right.
//! - Guarantees: G1 to G5 of [`synod_core::group`], under all of these faults. Once faults cease,
//!   and messages take less than the time-out less a period, all nodes that reach each other are in
//!   one view after 86 time-outs at most; mostly after two.
//! - Cost: N(N − 1) heartbeats in a period. For a multicast in a view of V: V + 1 messages and
//!   three hops, or V − 1 and one hop by the sequencer; under load one message carries many
//!   multicasts.
//! - State: for each member of the view at most `window` messages that some member lacks.
//!
//! Sources: L. Moser, Y. Amir, P. M. Melliar-Smith, D. Agarwal: Extended virtual synchrony. ICDCS
//! 1994. K. Birman, T. Joseph: Exploiting virtual synchrony in distributed systems. SOSP 1987
//! (flush). X. Défago, A. Schiper, P. Urbán: Total order broadcast and multicast algorithms. ACM
//! Computing Surveys 36(4), 2004 (sequencers that give out numbers).

mod attempt;
mod card;
mod install;
mod log;
mod message;
mod numbers;
mod peers;
#[cfg(test)]
mod tests;
mod total_order;
mod view_change;

pub use card::{CARD, MEMBERSHIP, ORDER, PARAMETERS, PERIOD, TIMEOUT, VIEWS_AT_MOST, WINDOW_OF};
pub use message::{Accept, Entry, Hello, Message, Numbered, Prepare};

use attempt::Attempt;
use peers::Peers;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use synod_core::card::Parameter;
use synod_core::group::{
    Ask, Capabilities, Cause, Change, Engine, Event, Level, Member, Part, View, ViewId,
};
use synod_core::{Cx, ProcessId, Protocol, Setup, SetupError, Wire};
use total_order::TotalOrder;

/// Length limit of a message, in bytes.
const LONGEST_MESSAGE: usize = 1 << 20;

/// The parameters of the engine.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Settings {
    /// From one heartbeat to the next.
    period_ms: u64,
    /// Periods of silence after which a node counts as unreachable.
    patience: u32,
    /// Limit for the messages of one member that some member lacks.
    window: usize,
    /// Remaining number of views that this process may propose.
    views: u32,
}

impl Settings {
    /// Progress that is too small to report between two heartbeats.
    fn few(&self) -> u64 {
        (self.window as u64 / 4).max(1)
    }
}

/// A member's place in the change of its view.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Phase<M> {
    /// The view stands.
    Steady,
    /// The member has given up its view for this one.
    Accepted(ViewId),
    /// The member has all messages that it needs to go on.
    Ready(Box<Prepare<M>>),
    /// The member has left the group.
    Out,
}

/// The timer of the next heartbeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Beat;

/// One process of the engine.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Embedded<M, const WAITS: bool = true> {
    settings: Settings,
    peers: Peers,
    /// The highest epoch that this process has heard of.
    epoch: u64,
    /// The present view, and its total order.
    order: TotalOrder<M>,
    phase: Phase<M>,
    /// The last view that this member accepted.
    promised: ViewId,
    /// Periods without deliveries because the view changes.
    frozen: u32,
    /// Whether this member is in its first view.
    fresh: bool,
    /// The wanted members, if this process is a coordinator; and for how many periods they have
    /// been the same.
    wanted: Vec<Member>,
    settled: u32,
    /// The view that this process tries to install as coordinator.
    attempt: Option<Attempt<M>>,
    /// Our multicasts that have no number yet.
    queue: VecDeque<Entry<M>>,
    /// How many of our messages have a number, and some member lacks them.
    own_kept: usize,
    /// Whether a multicast was refused, and the service has yet to learn of new room.
    full: bool,
}

impl<M: Wire, const WAITS: bool> Protocol for Embedded<M, WAITS> {
    type Input = Ask<M>;
    type Output = Event<M>;
    type Message = Message<M>;
    type Timer = Beat;

    fn on_start(&mut self, cx: &mut Cx<'_, Self>) {
        let (me, node) = (self.member(cx), cx.me());
        self.epoch = view_change::first_epoch(u64::from(cx.incarnation()).saturating_sub(1)) + 1;
        let id = ViewId { epoch: self.epoch, by: me };
        self.order = TotalOrder::new(id, vec![me]);
        self.promised = id;
        let joined = vec![Change { member: me, cause: Cause::Join }];
        let part = Part { from: None, members: [node].into_iter().collect() };
        let came_with = Some(vec![part]);
        cx.output(Event::View(View { id, members: vec![me], joined, left: Vec::new(), came_with }));
        self.say_hello(cx);
    }

    fn on_input(&mut self, ask: Ask<M>, cx: &mut Cx<'_, Self>) {
        match ask {
            Ask::Multicast { level, message } => self.multicast(level, message, cx),
            Ask::Leave => self.leave(cx),
        }
    }

    fn on_message(&mut self, from: ProcessId, message: Message<M>, cx: &mut Cx<'_, Self>) {
        if from == cx.me() || !cx.is_member(from) {
            return cx.accuse(from, "does not belong to the others");
        }
        if self.phase == Phase::Out {
            return self.answer_from_outside(from, &message, cx);
        }
        match message {
            Message::Hello(hello) => self.on_hello(from, hello, cx),
            Message::Bye { member, view } if member.node == from => self.peers.on_bye(member, view),
            Message::Bye { .. } => cx.accuse(from, "said that somebody else leaves"),
            Message::Propose { attempt, members } => self.on_propose(from, attempt, &members, cx),
            Message::Accept(accept) => self.on_accept(from, *accept, cx),
            Message::Prepare(prepare) => self.on_prepare(from, prepare, cx),
            Message::Ready { attempt } => self.on_ready(from, attempt, cx),
            Message::Commit { attempt } => self.on_sign_of(from, attempt, cx),
            Message::Request { view, index } if self.is_in(from, view, cx) => {
                self.on_request(from, index, cx);
            }
            Message::Grant { view, index, number, count } if self.is_in(from, view, cx) => {
                self.on_grant(from, (index, number, count), cx);
            }
            Message::Data { view, number, entries } if self.is_in(from, view, cx) => {
                self.on_data(from, number, entries, cx);
            }
            Message::Have { view, number } if self.is_in(from, view, cx) => {
                self.on_have(from, number, cx);
            }
            Message::Stable { view, number } if self.is_in(from, view, cx) => {
                self.on_stable(from, number, cx);
            }
            // The view is over here, or has not begun.
            Message::Request { .. }
            | Message::Grant { .. }
            | Message::Data { .. }
            | Message::Have { .. }
            | Message::Stable { .. } => {}
        }
    }

    fn on_timer(&mut self, Beat: Beat, cx: &mut Cx<'_, Self>) {
        if self.phase == Phase::Out {
            return;
        }
        self.peers.on_beat(self.order.view, &self.order.members);
        self.remind(cx);
        self.decide(cx);
        if self.phase == Phase::Steady {
            self.repair(cx);
        }
        self.say_hello(cx);
    }
}

impl<M: Wire, const WAITS: bool> Engine<M> for Embedded<M, WAITS> {
    fn capabilities(&self) -> Capabilities {
        let longest_message = LONGEST_MESSAGE;
        Capabilities { safe: true, partitionable: true, came_with: true, longest_message }
    }

    fn room(&self) -> usize {
        match self.phase {
            Phase::Out => 0,
            _ => self.settings.window.saturating_sub(self.queue.len() + self.own_kept),
        }
    }

    const PARAMETERS: &'static [Parameter] = &PARAMETERS;

    fn engines(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        ProcessId::all(setup.n).map(|me| Self::from_setup(me, setup)).collect()
    }

    /// Heartbeats never end.
    fn is_restless(&self) -> bool {
        true
    }
}

impl<M: Wire, const WAITS: bool> Embedded<M, WAITS> {
    /// The process at `me`, with the parameters `period`, `timeout`, `window` and `views`.
    pub fn from_setup(me: ProcessId, setup: &Setup) -> Result<Self, SetupError> {
        let settings = card::settings(setup)?;
        let me_first = Member { node: me, incarnation: 1 };
        let id = ViewId { epoch: 1, by: me_first };
        Ok(Embedded {
            peers: Peers::new(me, setup.n, settings.patience),
            settings,
            epoch: 1,
            order: TotalOrder::new(id, vec![me_first]),
            phase: Phase::Steady,
            promised: id,
            frozen: 0,
            fresh: true,
            wanted: Vec::new(),
            settled: 0,
            attempt: None,
            queue: VecDeque::new(),
            own_kept: 0,
            full: false,
        })
    }

    /// The present view of this process.
    pub fn view(&self) -> (ViewId, &[Member]) {
        (self.order.view, &self.order.members)
    }

    fn member(&self, cx: &Cx<'_, Self>) -> Member {
        Member { node: cx.me(), incarnation: cx.incarnation() }
    }

    fn multicast(&mut self, level: Level, message: M, cx: &mut Cx<'_, Self>) {
        if self.room() == 0 {
            self.full = true;
            return cx.output(Event::Refused(message));
        }
        self.queue.push_back(Entry { sent_in: self.order.view, level, message });
        self.full = self.room() == 0;
        self.submit(cx);
    }

    fn announce_room(&mut self, cx: &mut Cx<'_, Self>) {
        if self.full && self.room() > 0 {
            self.full = false;
            cx.output(Event::Room);
        }
    }

    fn leave(&mut self, cx: &mut Cx<'_, Self>) {
        if self.phase == Phase::Out {
            return;
        }
        self.phase = Phase::Out;
        (self.attempt, self.queue) = (None, VecDeque::new());
        cx.multicast(self.bye(cx));
        cx.cancel_timer(Beat);
        cx.output(Event::Lost);
    }

    /// A member that has left repeats so to a node that still hears it.
    fn answer_from_outside(
        &mut self,
        from: ProcessId,
        message: &Message<M>,
        cx: &mut Cx<'_, Self>,
    ) {
        if matches!(message, Message::Hello(hello) if hello.hears.contains(cx.me())) {
            cx.send(from, self.bye(cx));
        }
    }

    fn bye(&self, cx: &Cx<'_, Self>) -> Message<M> {
        Message::Bye { member: self.member(cx), view: self.order.view }
    }

    fn say_hello(&mut self, cx: &mut Cx<'_, Self>) {
        cx.multicast(Message::Hello(Hello {
            incarnation: cx.incarnation(),
            epoch: self.epoch,
            view: self.order.view,
            frozen: self.phase != Phase::Steady,
            have: self.order.log.have(),
            hears: self.peers.hears(),
            follows: self.peers.follows(),
            wants: self.wanted.iter().map(|member| member.node).collect(),
        }));
        cx.set_timer(Beat, self.settings.period_ms);
    }

    fn on_hello(&mut self, from: ProcessId, hello: Hello, cx: &mut Cx<'_, Self>) {
        if hello.incarnation == 0 || hello.epoch > view_change::LAST_EPOCH {
            return cx.accuse(from, "gave a sign of life that cannot be");
        }
        let (epoch, view, have) = (hello.epoch, hello.view, hello.have);
        if !self.peers.on_hello(from, hello) {
            return;
        }
        self.epoch = self.epoch.max(epoch);
        if self.is_in(from, view, cx) {
            self.note_have(from, have);
        }
    }

    /// Whether this member and the sender are in this view, and the view stands.
    fn is_in(&mut self, from: ProcessId, view: ViewId, cx: &mut Cx<'_, Self>) -> bool {
        self.on_sign_of(from, view, cx);
        self.phase == Phase::Steady && self.order.view == view && self.order.contains(from)
    }
}
