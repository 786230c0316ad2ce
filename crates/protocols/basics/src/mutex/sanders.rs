//! Mutual exclusion by voting, without deadlock (Maekawa, 1985; Sanders, 1987).
//!
//! As in Maekawa's algorithm, a process asks its voting set, and each member locks for one request
//! at a time. But requests have Lamport timestamps, and the earliest is to win: a member that has
//! locked for a later request *inquires* whether its owner will get in anyway. An owner that knows
//! that some other member *failed* it *yields*. So every circle of processes that wait for each
//! other is broken by the request in it that learns of its defeat.
//!
//! - Assumes: reliable links in any order; no process crashes.
//! - Guarantees: ME1, ME2; ME3 too, but only if messages are delivered in causal order: otherwise
//!   a later request may collect its votes before the earlier one arrives anywhere.
//! - Cost: 3(K − 1) messages per entry if no other process asks; 7(K − 1) at most.
//! - State: one request, two sets of voters, and a queue of at most K requests.
//!
//! *Every message carries the timestamp of the request that it is about.* Links do not keep the
//! order of messages, so FAILED and INQUIRE may come too late and are ignored then; and INQUIRE may
//! come before the GRANT that it is about, and waits for it. A member must also tell the head of
//! its queue FAILED when an earlier request displaces it: Maekawa forgot that, and the mutant
//! [`sanders-untold`](super::mutants::sanders_untold) shows the deadlock.
//!
//! Sources: M. Maekawa: A √N algorithm for mutual exclusion in decentralized systems. ACM TOCS
//! 3(2), 1985. B. Sanders: The information structure of distributed mutual exclusion algorithms.
//! ACM TOCS 5(3), 1987.

mod card;
pub mod crash;

pub(in crate::mutex) use card::{PARAMETERS, SOURCE};

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;
use synod_core::family::mutex::{Input, Output};
use synod_core::{Cx, Never, ProcessId, ProcessSet, Protocol, Timestamp, Wire};

/// A message between a candidate and a voter.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Message {
    /// What the message says about the request.
    pub what: What,
    /// The request that it is about.
    pub request: Timestamp,
    /// The sender's logical clock.
    pub clock: u64,
}

/// The kinds of messages. The owner of a request sends the first three to its voters, and the
/// voters send the other three to the owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum What {
    /// May I have your vote?
    Request,
    /// Other requests precede mine: give them your vote first, and me later.
    Yield,
    /// I have left: here is your vote back.
    Release,
    /// You have my vote.
    Grant,
    /// You do not have it: an earlier request has it, or waits for it.
    Failed,
    /// You have it, but an earlier request wants it. Can you give it up?
    Inquire,
}

impl Wire for What {}

impl Wire for Message {
    fn kind(&self) -> &'static str {
        self.what.kind()
    }
}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}({:?}, clock {})", self.what, self.request, self.clock)
    }
}

/// Where a process stands with its own request.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum State {
    /// It does not want to enter.
    Released,
    /// It asked, and waits for votes.
    Wanted(Candidacy),
    /// It is inside, with the request of that time.
    Held(Timestamp),
}

/// A request that is not fulfilled yet, as its owner sees it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Candidacy {
    /// When it was made.
    pub request: Timestamp,
    /// The voters that have granted it their vote.
    pub granted: ProcessSet,
    /// Whether some voter ever said that it prefers another request.
    pub failed: bool,
    /// The voters that wait to hear whether we give their vote up. (The vote itself may still be on
    /// its way.)
    pub inquirers: ProcessSet,
}

/// The request that a voter has locked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Lock {
    /// The name of its owner, and when it was made.
    pub request: Timestamp,
    /// Whether its owner was asked to give the vote up.
    pub inquired: bool,
}

/// One process of the algorithm: a candidate and a voter in one. With `TELL_DISPLACED` it is right;
/// without, it is the mutant [`sanders-untold`](super::mutants::sanders_untold).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SandersProcess<const TELL_DISPLACED: bool> {
    /// The latest time that this process knows of.
    clock: u64,
    voters: ProcessSet,
    state: State,
    lock: Option<Lock>,
    /// The requests that wait for our vote; the earliest is first.
    queue: BTreeSet<Timestamp>,
    /// The owners of queued requests that we sent `Failed`. We tell each of them once only.
    failed: ProcessSet,
}

/// One process of the right version.
pub type MaekawaSanders = SandersProcess<true>;

impl<const TELL_DISPLACED: bool> Protocol for SandersProcess<TELL_DISPLACED> {
    type Input = Input;
    type Output = Output;
    type Message = Message;
    type Timer = Never;

    fn on_input(&mut self, input: Input, cx: &mut Cx<'_, Self>) {
        match input {
            Input::Enter => self.enter(cx),
            Input::Exit => self.exit(cx),
        }
    }

    fn on_message(&mut self, from: ProcessId, message: Message, cx: &mut Cx<'_, Self>) {
        self.learn(message.clock.max(message.request.time));
        let (what, request) = (message.what, message.request);
        let to_voter = matches!(what, What::Request | What::Yield | What::Release);
        if request.process != if to_voter { from } else { cx.me() } {
            return cx.accuse(from, "spoke about a request that is not between us");
        }
        match what {
            What::Request => self.on_request(request, cx),
            What::Yield => self.on_yield(request, cx),
            What::Release => self.on_release(request, cx),
            What::Grant => self.on_grant(from, request, cx),
            What::Failed => self.on_failed(request, cx),
            What::Inquire => self.on_inquire(from, request, cx),
        }
    }
}

/// The candidate.
impl<const TELL_DISPLACED: bool> SandersProcess<TELL_DISPLACED> {
    fn enter(&mut self, cx: &mut Cx<'_, Self>) {
        assert_eq!(self.state, State::Released, "enter while already wanting or holding");
        self.clock = self.clock.saturating_add(1);
        let request = Timestamp::new(self.clock, cx.me());
        self.state = State::Wanted(Candidacy {
            request,
            granted: ProcessSet::EMPTY,
            failed: false,
            inquirers: ProcessSet::EMPTY,
        });
        self.send_to_voters(What::Request, request, cx);
    }

    fn exit(&mut self, cx: &mut Cx<'_, Self>) {
        let State::Held(request) = self.state else { panic!("exit without holding") };
        self.state = State::Released;
        self.send_to_voters(What::Release, request, cx);
    }

    fn on_grant(&mut self, voter: ProcessId, request: Timestamp, cx: &mut Cx<'_, Self>) {
        let all = self.voters.len();
        let known = self.voters.contains(voter);
        let candidacy = self.candidacy(request).filter(|_| known);
        let Some(granted) = candidacy.map(|ours| &mut ours.granted) else {
            return cx.accuse(voter, "gave a vote that nobody had asked for");
        };
        granted.insert(voter);
        if granted.len() == all {
            self.state = State::Held(request);
            cx.output(Output::Entered);
        } else {
            self.yield_if_failed(cx);
        }
    }

    fn on_failed(&mut self, request: Timestamp, cx: &mut Cx<'_, Self>) {
        if let Some(ours) = self.candidacy(request) {
            ours.failed = true;
            self.yield_if_failed(cx);
        }
    }

    fn on_inquire(&mut self, voter: ProcessId, request: Timestamp, cx: &mut Cx<'_, Self>) {
        if let Some(ours) = self.candidacy(request) {
            ours.inquirers.insert(voter);
            self.yield_if_failed(cx);
        }
    }

    /// Returns the votes that their voters inquired about, if some voter prefers another request. A
    /// candidate that no voter failed keeps its votes: it may still win.
    fn yield_if_failed(&mut self, cx: &mut Cx<'_, Self>) {
        let State::Wanted(ours) = &mut self.state else { return };
        if !ours.failed {
            return;
        }
        let request = ours.request;
        let given_up: Vec<_> =
            ours.inquirers.iter().filter(|voter| ours.granted.contains(*voter)).collect();
        for voter in &given_up {
            ours.inquirers.remove(*voter);
            ours.granted.remove(*voter);
        }
        for voter in given_up {
            self.send(voter, What::Yield, request, cx);
        }
    }

    /// Our candidacy, if the message is about it and we still wait. Otherwise the message came too
    /// late.
    fn candidacy(&mut self, request: Timestamp) -> Option<&mut Candidacy> {
        match &mut self.state {
            State::Wanted(ours) if ours.request == request => Some(ours),
            State::Wanted(_) | State::Released | State::Held(_) => None,
        }
    }
}

/// The voter.
impl<const TELL_DISPLACED: bool> SandersProcess<TELL_DISPLACED> {
    fn on_request(&mut self, new: Timestamp, cx: &mut Cx<'_, Self>) {
        if self.queue.iter().any(|waiting| waiting.process == new.process) {
            return cx.accuse(new.process, "asked again while its request was waiting");
        }
        let Some(lock) = self.lock else { return self.grant(new, cx) };
        let head = self.queue.first().copied();
        self.queue.insert(new);
        if new > lock.request || head.is_some_and(|head| new > head) {
            return self.tell_failed(new, cx);
        }
        // The correction by Sanders: an owner that is not told that it lost the head of the queue
        // keeps votes that others need.
        if let Some(displaced) = head.filter(|_| TELL_DISPLACED) {
            self.tell_failed(displaced, cx);
        }
        self.inquire(cx);
    }

    fn on_yield(&mut self, request: Timestamp, cx: &mut Cx<'_, Self>) {
        if self.unlock(request, cx) {
            self.queue.insert(request);
            // An owner that yields knows already that another request precedes its own.
            self.failed.insert(request.process);
            self.grant_to_first(cx);
        }
    }

    fn on_release(&mut self, request: Timestamp, cx: &mut Cx<'_, Self>) {
        if self.unlock(request, cx) {
            self.grant_to_first(cx);
        }
    }

    fn unlock(&mut self, request: Timestamp, cx: &mut Cx<'_, Self>) -> bool {
        let had_it = self.lock.take_if(|lock| lock.request == request).is_some();
        if !had_it {
            cx.accuse(request.process, "gave back a vote that it did not have");
        }
        had_it
    }

    fn grant_to_first(&mut self, cx: &mut Cx<'_, Self>) {
        if let Some(first) = self.queue.pop_first() {
            self.grant(first, cx);
        }
    }

    fn grant(&mut self, request: Timestamp, cx: &mut Cx<'_, Self>) {
        // A new lock: its owner may be inquired once, and may fail again.
        self.lock = Some(Lock { request, inquired: false });
        self.failed.remove(request.process);
        self.send(request.process, What::Grant, request, cx);
    }

    fn tell_failed(&mut self, request: Timestamp, cx: &mut Cx<'_, Self>) {
        if self.failed.insert(request.process) {
            self.send(request.process, What::Failed, request, cx);
        }
    }

    fn inquire(&mut self, cx: &mut Cx<'_, Self>) {
        if let Some(lock) = self.lock.as_mut().filter(|lock| !lock.inquired) {
            lock.inquired = true;
            let request = lock.request;
            self.send(request.process, What::Inquire, request, cx);
        }
    }
}

/// Both.
impl<const TELL_DISPLACED: bool> SandersProcess<TELL_DISPLACED> {
    fn send_to_voters(&mut self, what: What, request: Timestamp, cx: &mut Cx<'_, Self>) {
        for voter in self.voters.clone().iter() {
            self.send(voter, what, request, cx);
        }
    }

    /// A message to ourselves needs no network.
    fn send(&mut self, to: ProcessId, what: What, request: Timestamp, cx: &mut Cx<'_, Self>) {
        let message = Message { what, request, clock: self.clock };
        if to == cx.me() {
            self.on_message(to, message, cx);
        } else {
            cx.send(to, message);
        }
    }

    /// The clock counts requests only: it never ticks for a message. A request is later than all
    /// requests that happened before it nevertheless, and the explorer has fewer states to visit.
    fn learn(&mut self, time: u64) {
        self.clock = self.clock.max(time);
    }

    fn has_vote_of(&self, voter: ProcessId) -> bool {
        match &self.state {
            State::Released => false,
            State::Wanted(ours) => ours.granted.contains(voter),
            State::Held(_) => true,
        }
    }

    /// Where the process stands with its own request.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The request that this process has locked for, as a voter.
    pub fn lock(&self) -> Option<Lock> {
        self.lock
    }

    /// The requests that wait for the vote of this process.
    pub fn queue(&self) -> impl Iterator<Item = Timestamp> + '_ {
        self.queue.iter().copied()
    }
}
