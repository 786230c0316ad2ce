//! The registry: which nodes, pools and groups there are. A replicated log among the voters, so a
//! change needs a majority of them.
//!
//! # Layout
//! - `state`: the state machine
//! - `disk`: the log on the disk, and the thread that writes it

mod disk;
mod state;

pub(crate) use disk::RegistryDisk;
pub(crate) use state::{Kind, NodeRecord, Object, Operation, Outcome, Registry};

use crate::cell::{Above, Cell, Identity};
use crate::clock::NodeClock;
use crate::links::{Channel, Links};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use synod_core::durable::{self, Record};
use synod_core::replication::{Command, Engine, Invoke, Notice, Replicated, Sessions, Settings};
use synod_core::{Host, ProcessId, ProcessSet};
use synod_logs::replication::raft::{self, Raft};
use tokio::sync::{Notify, oneshot};

/// One voter of the registry.
pub(crate) type Voter = Replicated<Registry, Raft<Command<Operation>, Sessions<Registry>>>;

/// Changes that wait for a majority at one node, at most.
const MOST_OPEN: u32 = 64;
/// The registry takes a snapshot after this number of changes.
const SNAPSHOT_EVERY: u64 = 1_000;
/// A client of the log asks again after this time.
const ASK_AGAIN_MS: u64 = 400;

/// What stands above a voter: the changes that wait for their outcome.
#[derive(Debug, Default)]
pub(crate) struct Desk {
    /// By the number of the client of the log. The log serves a client's requests one by one.
    waiting: BTreeMap<u32, Option<oneshot::Sender<Result<Outcome, Unsure>>>>,
    /// The state may have changed.
    pub(crate) news: Arc<Notify>,
}

/// Whether the change took effect is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unsure;

/// Why a change has no outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoOutcome {
    /// Too many changes wait.
    Full,
    /// No majority answered in time. The change may still take effect.
    InTime,
}

impl Above<Voter> for Desk {
    fn on_output(&mut self, notice: Notice<Outcome>) {
        match notice {
            Notice::Returned { client, answer } => self.end(client, Ok(answer)),
            Notice::Closed { client } | Notice::Refused { client, .. } => {
                self.end(client, Err(Unsure));
            }
            Notice::Applied { .. } | Notice::Restored(_) | Notice::Leads(_) => {
                self.news.notify_one();
            }
        }
    }
}

impl Desk {
    fn end(&mut self, client: u32, outcome: Result<Outcome, Unsure>) {
        if let Some(Some(waiting)) = self.waiting.remove(&client) {
            // A change whose asker has stopped waiting needs no answer.
            let _ = waiting.send(outcome);
        }
    }

    /// A client that waits for nothing.
    fn free_client(&self) -> Option<u32> {
        (0..MOST_OPEN).find(|client| !self.waiting.contains_key(client))
    }
}

/// The registry, as one node takes part in it.
pub(crate) type RegistryCell = Cell<Voter, Desk>;

/// A voter, with the records on its disk.
pub(crate) fn cell(
    identity: Identity,
    voters: ProcessSet,
    records: &[Record],
    (clock, links): (NodeClock, Arc<Links>),
) -> Result<RegistryCell, String> {
    let settings = Settings {
        patience_ms: ASK_AGAIN_MS,
        snapshot_every: SNAPSHOT_EVERY,
        ..Settings::default()
    };
    let raft = Raft::new(raft::Settings::new(voters)).map_err(|error| error.to_string())?;
    let host = Host::restored(Voter::new(raft, settings), durable::replay, records)
        .map_err(|error| format!("the registry on the disk: {error}"))?;
    Ok(Cell::new(host, Desk::default(), identity, (clock, links, Channel::Registry)))
}

impl RegistryCell {
    /// Proposes a change, and waits so long for its outcome.
    pub(crate) async fn change(
        &self,
        operation: Operation,
        patience: Duration,
    ) -> Result<Outcome, NoOutcome> {
        let (sender, outcome) = oneshot::channel();
        self.step(|stepping| {
            let desk = &mut stepping.state.above;
            let client = desk.free_client().ok_or(NoOutcome::Full)?;
            desk.waiting.insert(client, Some(sender));
            stepping.input(Invoke::Operation { client, operation });
            Ok(())
        })?;
        match tokio::time::timeout(patience, outcome).await {
            Ok(Ok(Ok(outcome))) => Ok(outcome),
            _ => Err(NoOutcome::InTime),
        }
    }

    /// The state, as far as this node has applied the log, and the number of the last entry.
    pub(crate) fn state(&self) -> (Registry, u64) {
        let state = self.lock();
        let voter = state.host.state();
        (voter.state().machine().clone(), voter.applied())
    }

    /// If this node leads, the voters are to be these: the living nodes. A voter that is certified
    /// dead would only make majorities harder to find.
    pub(crate) fn let_vote(&self, living: ProcessSet) {
        self.step(|stepping| {
            let engine = stepping.state.host.state().engine();
            if engine.leads() && *engine.log().voters() != living {
                stepping.input(Invoke::Reconfigure(living));
            }
        });
    }

    /// Whether a node votes, as far as this node knows.
    pub(crate) fn votes(&self, node: ProcessId) -> bool {
        self.lock().host.state().engine().log().voters().contains(node)
    }

    /// The leader, if this node knows one, the term, and the last entry that is applied.
    pub(crate) fn progress(&self, me: ProcessId) -> (Option<ProcessId>, u64, u64) {
        let state = self.lock();
        let voter = state.host.state();
        let leader = voter.engine().whom_to_ask(me, 0).first();
        (leader, voter.engine().term(), voter.applied())
    }
}
