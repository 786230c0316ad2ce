//! PBFT: a log kept by replicas of which some may be traitors.
//!
//! One replica is the primary of a view; the next view has the next one. A client's request, which
//! it signs, goes to the primary. The primary gives it a sequence number (*pre-prepare*), and all
//! others say to all that they accept it there (*prepare*): if a quorum accepts it, no quorum can
//! accept anything else at that number in this view. Then all say so to all (*commit*): if a quorum
//! says so, every later view hears of it. What is committed is executed in the order of numbers,
//! everybody answers the client, and the client believes what f + 1 say alike.
//!
//! Now and then replicas sign the state that they have reached (*checkpoint*). What a quorum signed
//! is stable: the log before it is forgotten, and who is behind takes the state instead.
//!
//! If a request takes too long, a replica leaves the view, and tells all what it has prepared, with
//! proofs (*view change*). With a quorum of such messages the primary of the next view begins it
//! (*new view*): what was prepared is proposed again, gaps are filled with nothing. Everybody
//! checks it. Each time the wait is twice as long, so in the end it is long enough.
//!
//! - Assumes: N ≥ 3f + 1 replicas of which f are traitors or crash for good; the others may crash
//!   and start again with their disks. Signatures cannot be forged. Messages are lost, doubled,
//!   late and out of order. A replica that lost its disk follows, but says nothing more.
//! - Guarantees: the same log at all loyal replicas; requests are linearizable. They are answered
//!   if messages among loyal replicas are not late for ever.
//! - Cost: for one request of a client outside the group 1 request, N − 1 pre-prepares, (N − 1)²
//!   prepares, N(N − 1) commits and N replies: 29 messages if N = 4, and five hops.
//! - State: a window of two periods between checkpoints, one request for each client, and of each
//!   replica its latest word about everything.
//!
//! A quorum is N − f: as many as one can wait for. Any two have a loyal replica in common if N >
//! 3f.
//!
//! What is lost is asked for: who waits tells the others now and then how far it is (*status*), and
//! they say again what it lacks. Pre-prepares, prepares, checkpoints, view changes and new views
//! are signed, because they are shown to others; commits are not.
//!
//! Source: M. Castro, B. Liskov: Practical Byzantine fault tolerance. OSDI 1999 (sections 4.2 to
//! 4.5).

mod card;
mod checkpoint;
mod lies;
mod message;
mod normal;
#[cfg(test)]
mod paper;
mod past;
mod requests;
mod settings;
mod slot;
mod status;
mod view;

pub use card::Replica;
pub use message::{
    Batch, Certificate, Message, NewView, Proof, Proposal, Record, Request, SignedChange, Stable,
    Timer, ViewChange, Whole,
};
pub use settings::Settings;
pub use slot::{Accepted, Slot};

use crate::seal::{Digest, Sealer, Signature};
use checkpoint::Taken;
use message::Statement;
use serde::{Deserialize, Serialize};
use settings::Limits;
use std::collections::{BTreeMap, VecDeque};
use synod_core::replication::{Ask, BadSettings, Client, Command, Engine, Event};
use synod_core::{Cx, Data, Durable, ProcessId, ProcessSet, Protocol, Reductions};

/// No view and no sequence number gets as far in any life; there is room above to count on.
const FAR: u64 = 1 << 62;

/// A replica, or a process that only has clients; with operations `O` and states `S`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "O: Data, S: Data")]
pub struct Pbft<O, S> {
    settings: Settings,
    limits: Limits,
    sealer: Sealer,
    view: u64,
    /// Whether all views before this one are left, and this one has not begun.
    changing: bool,
    /// How the view began, or the last one that did.
    new_view: Option<Box<NewView<O>>>,
    /// The latest view change of each replica, if it is not over.
    changes: BTreeMap<ProcessId, SignedChange<O>>,
    /// The sequence numbers after the stable checkpoint.
    log: BTreeMap<u64, Slot<O>>,
    /// The last number that a primary gave out.
    last: u64,
    /// The last number that was executed, and how long the log was then.
    executed: u64,
    told: u64,
    stable: Stable<S>,
    /// Checkpoints that are not stable yet.
    taken: Taken<S>,
    /// The last checkpoints that each replica signed.
    signed: BTreeMap<ProcessId, BTreeMap<u64, (Digest, Signature)>>,
    /// What clients wait for: of each the last request. At a process that only has clients, the
    /// last request of each of them.
    pending: BTreeMap<Client, Request<O>>,
    /// Whose requests the primary has not proposed yet.
    queue: VecDeque<Client>,
    /// For whose request the primary is given time.
    watched: Option<Client>,
    /// A request that came, until it is known whether it is new.
    heard: Option<Request<O>>,
    /// In which view each replica says it is, for clients.
    views: BTreeMap<ProcessId, u64>,
    /// How many views came to nothing, one after the other.
    failures: u32,
    /// How often others were told what is missing here.
    rounds: u32,
    /// Whether they will be told again.
    asking: bool,
    /// Whether our disk was lost: what we signed before is not known any more.
    forgot: bool,
}

impl<O: Data, S: Data> Pbft<O, S> {
    /// A process before its first start: a replica, or one that only has clients.
    pub fn new(settings: Settings, sealer: Sealer) -> Result<Self, BadSettings> {
        settings.check()?;
        Ok(Pbft::limited(settings, Limits::NONE, sealer))
    }

    fn limited(settings: Settings, limits: Limits, sealer: Sealer) -> Self {
        let beginning = Proof { number: 0, digest: Digest::of(""), signatures: BTreeMap::new() };
        Pbft {
            settings,
            limits,
            sealer,
            view: 0,
            changing: false,
            new_view: None,
            changes: BTreeMap::new(),
            log: BTreeMap::new(),
            last: 0,
            executed: 0,
            told: 0,
            stable: Stable { proof: beginning, index: 0, state: None },
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
            forgot: false,
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

    /// The last stable checkpoint.
    pub fn low(&self) -> u64 {
        self.stable.proof.number
    }

    /// How many sequence numbers it keeps something of.
    pub fn kept(&self) -> usize {
        self.log.len()
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
        self.is_replica() && !self.changing && !self.forgot
    }

    fn is_in_window(&self, number: u64) -> bool {
        number > self.low() && number <= self.low() + self.settings.window()
    }

    fn sign(&self, statement: &Statement<'_, O>) -> Signature {
        self.sealer.sign(statement)
    }

    fn is_signed(&self, by: ProcessId, what: &Statement<'_, O>, signature: &Signature) -> bool {
        self.sealer.is_signed(by, what, signature)
    }

    /// Says something to all other replicas.
    fn tell_all(&self, message: Message<O, S>, cx: &mut Cx<'_, Self>) {
        cx.multicast_to(self.settings.all(), message);
    }

    /// Writes down everything, in the place of all that was written before.
    fn save_all(&self, cx: &mut Cx<'_, Self>) {
        cx.checkpoint(&Record::Whole(Box::new(Whole {
            view: self.view,
            changing: self.changing,
            new_view: self.new_view.clone(),
            stable: self.stable.clone(),
            log: self.log.iter().map(|(number, slot)| (*number, slot.kept())).collect(),
            forgot: self.forgot,
        })));
    }
}

impl<O: Data, S: Data> Protocol for Pbft<O, S> {
    type Input = Ask<Command<O>, S>;
    type Output = Event<Command<O>, S>;
    type Message = Message<O, S>;
    type Timer = Timer;

    const REDUCTIONS: Reductions<Self> =
        Reductions { ignores: Some(Self::is_past), ..Reductions::NONE };

    fn on_start(&mut self, cx: &mut Cx<'_, Self>) {
        if !self.is_replica() {
            return;
        }
        if cx.has_lost_disk() {
            self.forgot = true;
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
        if self.is_past(from, &message) {
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
            Message::PrePrepare(accepted) => self.on_pre_prepare(from, accepted, cx),
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
        }
        self.keep_asking(cx);
    }

    fn on_timer(&mut self, timer: Timer, cx: &mut Cx<'_, Self>) {
        match timer {
            Timer::Suspect => self.suspect(cx),
            Timer::Resend => self.ask_for_help(cx),
        }
    }
}

impl<O: Data, S: Data> Durable for Pbft<O, S> {
    type Record = Record<O, S>;

    fn replay(&mut self, record: Record<O, S>) {
        match record {
            Record::Accepted(accepted) => {
                let slot = self.log.entry(accepted.proposal.number).or_default();
                slot.accepted = Some(accepted);
            }
            Record::Prepared(number, prepares) => {
                let slot = self.log.entry(number).or_default();
                slot.prepared =
                    slot.accepted.clone().map(|accepted| Certificate { accepted, prepares });
            }
            Record::Left(view) => (self.view, self.changing) = (view, true),
            Record::Begun(new) => self.replay_begun(new),
            Record::Whole(whole) => {
                (self.view, self.changing, self.forgot) =
                    (whole.view, whole.changing, whole.forgot);
                (self.new_view, self.stable, self.log) = (whole.new_view, whole.stable, whole.log);
            }
        }
    }
}

impl<O: Data, S: Data> Engine<Command<O>, S> for Pbft<O, S> {
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
