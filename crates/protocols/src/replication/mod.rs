//! Replicated logs: every process keeps the same commands in the same order.
//!
//! Each of these is an [engine](synod_core::replication::Engine); with the key-value store that
//! stands above all of them, it is an algorithm of the family.
//!
//! # How to embed one
//!
//! An engine is generic in its commands and in the state that takes their place, and
//! [`Replicated`](synod_core::replication::Replicated) is generic in the state machine above it:
//! any type that implements [`StateMachine`](synod_core::replication::StateMachine). Neither does
//! any input or output. A program that embeds a replicated log hands in what happens, and carries
//! out the effects in their order; [`Host`](synod_core::host::Host) keeps the timers and the rule
//! that a message waits for the records before it. What follows is a group of three in one thread,
//! without disks.
//!
//! ```
//! use std::collections::VecDeque;
//! use synod_core::replication::{
//!     Action, Answer, Command, Invoke, Notice, Operation, Replicated, Sessions, Settings, Store,
//!     Timer,
//! };
//! use synod_core::{Effect, ProcessId, ProcessSet, Protocol, step};
//! use synod_protocols::replication::raft::{self, Raft};
//!
//! // The state machine, the log that replicates it, and both as one process.
//! type Texts = Store<String, String>;
//! type Log = Raft<Command<Operation<String, String>>, Sessions<Texts>>;
//! type Process = Replicated<Texts, Log>;
//!
//! /// What happens to a process.
//! enum Event {
//!     Start,
//!     Input(Invoke<Operation<String, String>>),
//!     Message(ProcessId, <Process as Protocol>::Message),
//!     Timer(<Process as Protocol>::Timer),
//! }
//!
//! let log = Log::new(raft::Settings::new(ProcessSet::all(3)))?;
//! let mut group = vec![Process::new(log, Settings::default()); 3];
//!
//! // All start; p0 waits in vain for a leader; then a client at p1 asks.
//! let hello = Action::Put("hello".to_owned());
//! let operation = Operation { key: "greeting".to_owned(), action: hello };
//! let mut agenda: VecDeque<(ProcessId, Event)> =
//!     ProcessId::all(3).map(|at| (at, Event::Start)).collect();
//! let election = Timer::Engine(raft::Timer::Election);
//! agenda.push_back((ProcessId(0), Event::Timer(election)));
//! let mut asks = vec![(ProcessId(1), Event::Input(Invoke::Operation { client: 0, operation }))];
//! let mut answers = Vec::new();
//!
//! while let Some((at, event)) = agenda.pop_front().or_else(|| asks.pop()) {
//!     let process = &mut group[at.index()];
//!     let effects = step(at, 3, |cx| match event {
//!         Event::Start => process.on_start(cx),
//!         Event::Input(input) => process.on_input(input, cx),
//!         Event::Message(from, message) => process.on_message(from, message, cx),
//!         Event::Timer(timer) => process.on_timer(timer, cx),
//!     });
//!     for effect in effects {
//!         match effect {
//!             Effect::Send { to, message } => agenda.push_back((to, Event::Message(at, message))),
//!             Effect::Multicast { to, message } => {
//!                 agenda.extend(to.iter().map(|to| (to, Event::Message(at, message.clone()))));
//!             }
//!             // Nothing takes time here, so only timers that are due at once run out.
//!             Effect::SetTimer { timer, after_ms: 0 } => {
//!                 agenda.push_back((at, Event::Timer(timer)));
//!             }
//!             Effect::Output(Notice::Returned { answer, .. }) => answers.push((at, answer)),
//!             // A real process writes `Persist` and `Checkpoint` to its disk before it sends on.
//!             _ => {}
//!         }
//!     }
//! }
//! assert_eq!(answers, [(ProcessId(1), Answer::Done)]);
//! let leader = &group[0];
//! assert!(leader.engine().leads());
//! assert_eq!(leader.state().machine().get(&"greeting".to_owned()), Some(&"hello".to_owned()));
//! # Ok::<(), synod_core::replication::BadSettings>(())
//! ```
//!
//! A state machine whose state becomes large keeps it in a [`Map`](synod_core::replication::Map),
//! so that a snapshot costs nothing, and says how it is cut into
//! [parts](synod_core::replication::Parts).

pub mod multi_paxos;
pub mod pbft;
pub mod raft;
mod settings;
mod snapshots;

use synod_core::replication::KeyValue;

/// [Multi-Paxos](multi_paxos) under a key-value store.
pub type MultiPaxos = KeyValue<multi_paxos::Server>;

/// [Raft](raft) under a key-value store.
pub type Raft = KeyValue<raft::Server<raft::Sound>>;

/// [PBFT](pbft) under a key-value store.
pub type Pbft = KeyValue<pbft::Replica>;

/// Algorithms that are broken on purpose.
pub mod mutants {
    use super::raft::Server;
    use super::raft::mutants::{CountsOldTerms, ForgetsVotes, VotesBlindly};
    use synod_core::replication::KeyValue;

    /// Raft that counts copies of entries of earlier terms.
    pub type RaftOldTerm = KeyValue<Server<CountsOldTerms>>;
    /// Raft that votes for any log.
    pub type RaftBlindVote = KeyValue<Server<VotesBlindly>>;
    /// Raft that does not write down its votes.
    pub type RaftForgetful = KeyValue<Server<ForgetsVotes>>;
}
