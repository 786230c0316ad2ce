//! PBFT: a log kept by replicas of which some may be traitors.
//!
//! One replica is the *primary* of a view, the others are its *backups*; the next view has the next
//! primary. A client signs its request and sends it to the primary. The primary assigns it a
//! sequence number (*pre-prepare*). A backup that accepts it there tells all (*prepare*): if a
//! quorum accepts it, no quorum can accept another request at that number in this view. A replica
//! that has seen such a quorum tells all (*commit*): if a quorum says so, every later view hears of
//! the request. Replicas execute committed requests in the order of sequence numbers, and all
//! answer the client, which believes an answer that f + 1 replicas give alike.
//!
//! Now and then replicas sign the state that they have reached (*checkpoint*). A checkpoint that a
//! quorum signed is *stable*: replicas discard the log before it, and a replica that lags behind
//! takes the state instead. The stable checkpoint is the *low water mark*; no sequence number
//! beyond the *high water mark* is accepted.
//!
//! If a request takes too long, a replica leaves the view, and tells all which requests it has
//! prepared, with proofs (*view-change*). With a quorum of such messages the primary of the next
//! view begins it (*new-view*): it proposes prepared requests again at their numbers, and null
//! requests in the gaps. Every backup checks that. Each time the timeout is twice as long, so in
//! the end it is long enough.
//!
//! - Assumes: N ≥ 3f + 1 replicas of which f are traitors or crash for good; the others may crash
//!   and start again with their disks. Signatures cannot be forged. Messages are lost, doubled,
//!   late and out of order. A replica that lost its disk follows, but says nothing more.
//! - Guarantees: the same log at all loyal replicas; requests are linearizable. They are answered
//!   if messages among loyal replicas are not late for ever.
//! - Cost: for one request of a client outside the group 1 request, N − 1 pre-prepares, (N − 1)²
//!   prepares, N(N − 1) commits and N replies: 29 messages if N = 4, and five hops.
//! - State: a window of two periods between checkpoints, one request for each client, and of each
//!   replica its latest message about each number. A state of several parts is kept once for each
//!   replica that fetches it.
//!
//! A quorum is N − f: as many as one can wait for. Any two have a loyal replica in common if N >
//! 3f.
//!
//! Messages may be lost: a replica that waits tells the others now and then how far it is
//! (*status*), and they send again what it lacks. Pre-prepares, prepares, checkpoints, view changes
//! and new views are signed, because they are shown to others; commits are not.
//!
//! Source: M. Castro, B. Liskov: Practical Byzantine fault tolerance. OSDI 1999 (sections 4.2 to
//! 4.5).

mod card;
mod checkpoint;
mod cut;
mod lies;
mod message;
pub mod mutants;
mod normal;
mod records;
mod requests;
mod settings;
mod slot;
mod stale;
mod status;
#[cfg(test)]
mod tests;
mod transfer;
mod view_change;

pub use card::Replica;
pub use message::{
    Batch, Certificate, Message, NewView, Proof, Proposal, Record, Request, SignedChange, Stable,
    Timer, ViewChange, Whole,
};
pub use settings::{Rules, Settings, Sound};
pub use slot::{PrePrepare, Slot};

use super::snapshots::Writing;
use checkpoint::Taken;
use cut::Cut;
use message::Statement;
use records::Head;
use serde::{Deserialize, Serialize};
use settings::Limits;
use std::collections::{BTreeMap, VecDeque};
use std::marker::PhantomData;
use synod_agreement::seal::{Digest, Sealer, Signature};
use synod_core::replication::{Ask, BadSettings, Client, Command, Engine, Event, Parts};
use synod_core::{Cx, Data, ProcessId, ProcessSet, Protocol, Reductions};
use transfer::{Fetching, Served};

/// No view and no sequence number gets as far in any life; there is room above to count on.
const FAR: u64 = 1 << 62;

/// A replica, or a process that only has clients; with operations `O` and states `S`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "O: Data, S: Parts")]
pub struct Pbft<O, S: Parts, R = Sound> {
    rules: PhantomData<R>,
    settings: Settings,
    limits: Limits,
    sealer: Sealer,
    view: u64,
    /// Whether it has left all views before this one, and this one has not begun.
    changing: bool,
    /// The new-view message of this view, or of the last view that began.
    new_view: Option<Box<NewView<O>>>,
    /// The latest view change of each replica, if it is not over.
    changes: BTreeMap<ProcessId, SignedChange<O>>,
    /// The sequence numbers after the stable checkpoint.
    log: BTreeMap<u64, Slot<O>>,
    /// The last number that the primary assigned.
    assigned: u64,
    /// The last number that was executed.
    executed: u64,
    /// The last entry of the log that the layer above has applied: a batch has several.
    applied: u64,
    stable: Stable<S>,
    /// The parts of the stable state, if it has several.
    cut: Option<Cut<S::Mark>>,
    /// A checkpoint whose state is being written, part by part.
    writing: Option<Box<Writing<Head, S>>>,
    /// A checkpoint whose state this replica fetches from another one.
    fetching: Option<Fetching>,
    /// The states that other replicas fetch here: one for each at most.
    served: BTreeMap<ProcessId, Served<S>>,
    /// Whether the next part of a state will be cut or written.
    working: bool,
    /// Checkpoints that are not stable yet.
    taken: Taken<S>,
    /// The last checkpoints that each replica signed.
    signed: BTreeMap<ProcessId, BTreeMap<u64, (Digest, Signature)>>,
    /// The requests that wait: of each client the last one. At a process that only has clients, the
    /// last request of each of them.
    pending: BTreeMap<Client, Request<O>>,
    /// The clients whose requests the primary has not proposed yet.
    queue: VecDeque<Client>,
    /// The client for whose request the timer runs.
    watched: Option<Client>,
    /// A request that came, until it is known whether it is new.
    heard: Option<Request<O>>,
    /// At a process with clients: the view that each replica says it is in.
    views: BTreeMap<ProcessId, u64>,
    /// The views in a row in which no request was executed.
    failures: u32,
    /// The statuses that this replica has sent in vain.
    rounds: u32,
    /// Whether the timer for the next status runs.
    asking: bool,
    /// Whether its disk was lost, and with it what it had signed: it must not sign again.
    lost_disk: bool,
}

impl<O: Data, S: Parts> Pbft<O, S> {
    /// A process before its first start: a replica, or one that only has clients.
    pub fn new(settings: Settings, sealer: Sealer) -> Result<Self, BadSettings> {
        settings.check()?;
        Ok(Pbft::limited(settings, Limits::NONE, sealer))
    }
}

impl<O: Data, S: Parts, R: Rules> Pbft<O, S, R> {
    fn limited(settings: Settings, limits: Limits, sealer: Sealer) -> Self {
        let beginning = Proof { number: 0, digest: Digest::of(""), signatures: BTreeMap::new() };
        Pbft {
            rules: PhantomData,
            settings,
            limits,
            sealer,
            view: 0,
            changing: false,
            new_view: None,
            changes: BTreeMap::new(),
            log: BTreeMap::new(),
            assigned: 0,
            executed: 0,
            applied: 0,
            stable: Stable { proof: beginning, index: 0, state: None },
            cut: None,
            writing: None,
            fetching: None,
            served: BTreeMap::new(),
            working: false,
            taken: Taken::default(),
            signed: BTreeMap::new(),
            pending: BTreeMap::new(),
            queue: VecDeque::new(),
            watched: None,
            heard: None,
            views: BTreeMap::new(),
            failures: 0,
            rounds: 0,
            asking: false,
            lost_disk: false,
        }
    }

    /// The current view.
    pub fn view(&self) -> u64 {
        self.view
    }

    /// The last sequence number that was executed.
    pub fn executed(&self) -> u64 {
        self.executed
    }

    /// h of section 4.3: the last stable checkpoint.
    pub fn low_water_mark(&self) -> u64 {
        self.stable.proof.number
    }

    /// The number of sequence numbers in its log.
    pub fn kept(&self) -> usize {
        self.log.len()
    }

    /// A replica can wait for this many: the others may be silent. Any two quorums have a loyal
    /// replica in common.
    fn quorum(&self) -> usize {
        (self.settings.quorum() - usize::from(!R::QUORUMS_MEET)).max(1)
    }

    fn me(&self) -> ProcessId {
        self.sealer.me()
    }

    /// Whether this process keeps the log.
    fn is_replica(&self) -> bool {
        self.settings.is_replica(self.me())
    }

    /// Whether this process is the primary of the current view.
    fn is_primary(&self) -> bool {
        self.settings.primary(self.view) == self.me()
    }

    /// Whether it takes part in the current view.
    fn is_active(&self) -> bool {
        self.is_replica() && !self.changing && !self.lost_disk
    }

    /// Section 4.2: whether h < n ≤ H.
    fn is_between_water_marks(&self, number: u64) -> bool {
        number > self.low_water_mark() && number <= self.low_water_mark() + self.settings.window()
    }

    fn sign(&self, statement: &Statement<'_, O>) -> Signature {
        self.sealer.sign(statement)
    }

    fn is_signed(&self, by: ProcessId, what: &Statement<'_, O>, signature: &Signature) -> bool {
        self.sealer.is_signed(by, what, signature)
    }

    /// Sends a message to all other replicas.
    fn multicast(&self, message: Message<O, S>, cx: &mut Cx<'_, Self>) {
        cx.multicast_to(self.settings.all(), message);
    }
}

impl<O: Data, S: Parts, R: Rules> Protocol for Pbft<O, S, R> {
    type Input = Ask<Command<O>, S>;
    type Output = Event<Command<O>, S>;
    type Message = Message<O, S>;
    type Timer = Timer;

    const REDUCTIONS: Reductions<Self> =
        Reductions { ignores: Some(Self::is_stale), ..Reductions::NONE };

    fn on_start(&mut self, cx: &mut Cx<'_, Self>) {
        if !self.is_replica() {
            return;
        }
        if cx.has_lost_disk() {
            self.lost_disk = true;
            self.save_all(cx);
        }
        self.recall(cx);
        if self.is_active() && self.is_primary() {
            cx.output(Event::Leads(self.view));
        }
        if cx.incarnation() > 1 {
            self.ask_for_help(cx);
        }
    }

    fn on_input(&mut self, ask: Ask<Command<O>, S>, cx: &mut Cx<'_, Self>) {
        match ask {
            Ask::Append(command) => self.append(command, cx),
            Ask::Compact { index, state } => self.take_checkpoint(index, state, cx),
            Ask::Read(number) => cx.output(Event::Unreadable(number)),
            // The group does not change, and views have their primaries.
            Ask::Reconfigure(_) | Ask::Transfer(_) => {}
        }
    }

    fn on_message(&mut self, from: ProcessId, message: Message<O, S>, cx: &mut Cx<'_, Self>) {
        if self.is_stale(from, &message) {
            return;
        }
        self.heard = None;
        match message {
            Message::View(view) => return self.on_view(from, view),
            _ if !self.is_replica() => return,
            Message::Request(request) => return self.on_request(from, request, cx),
            _ if !self.settings.is_replica(from) => {
                return cx.accuse(from, "talks like a replica and is none");
            }
            Message::PrePrepare(pre_prepare) => self.on_pre_prepare(from, pre_prepare, cx),
            Message::Prepare(proposal, signature) => {
                self.on_prepare(from, proposal, signature, cx);
            }
            Message::Commit(proposal) => self.on_commit(from, proposal, cx),
            Message::Checkpoint { number, digest, signature } => {
                self.on_checkpoint(from, number, digest, signature, cx);
            }
            Message::ViewChange(change) => self.on_view_change(from, *change, cx),
            Message::NewView(new) => self.on_new_view(from, new, cx),
            Message::Status { view, changing, executed, stable, round } => {
                if view < self.view || view == self.view && changing {
                    self.help_into_view(from, cx);
                }
                self.help_to_checkpoint(from, stable, round, cx);
                self.help_in_view(from, executed, cx);
            }
            Message::State { proof, index, state } => self.on_state(from, proof, index, state, cx),
            Message::Offer { proof, index, first } => self.on_offer(from, proof, index, first, cx),
            Message::Fetch { number, part } => self.on_fetch(from, number, part, cx),
            Message::StatePart { number, part, next } => {
                self.on_state_part(from, number, part, next, cx);
            }
        }
        self.keep_asking(cx);
    }

    fn on_timer(&mut self, timer: Timer, cx: &mut Cx<'_, Self>) {
        match timer {
            Timer::Suspect => self.on_timer_expired(cx),
            Timer::Resend => self.ask_for_help(cx),
            Timer::Snapshot => self.go_on_working(cx),
        }
    }
}

impl<O: Data, S: Parts, R: Rules> Engine<Command<O>, S> for Pbft<O, S, R> {
    /// Its own engine, which signs the request and knows where it goes.
    fn whom_to_ask(&self, me: ProcessId, _tries: u32) -> ProcessSet {
        [me].into_iter().collect()
    }

    fn answers(&self, me: ProcessId) -> bool {
        self.settings.is_replica(me)
    }

    fn keeps_log(&self, at: ProcessId) -> bool {
        self.settings.is_replica(at)
    }

    fn answers_needed(&self) -> usize {
        self.settings.faulty + 1
    }

    fn room(&self) -> usize {
        requests::MOST_PENDING
    }
}
