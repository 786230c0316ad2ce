//! What replicas and clients send each other, sign and write down.

use super::slot::{Accepted, Slot};
use crate::seal::{Digest, Signature};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use synod_core::replication::Command;
use synod_core::{Data, ProcessId, Wire};

/// What a client wants, signed by its process.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Request<O> {
    /// What.
    pub command: Command<O>,
    /// Of the process where the client is.
    pub signature: Signature,
}

impl<O: fmt::Debug> fmt::Debug for Request<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.command.fmt(f)
    }
}

/// What stands at one sequence number: requests in their order. An empty one does nothing.
pub type Batch<O> = Vec<Request<O>>;

/// In this view, this sequence number is for the batch with this digest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Proposal {
    /// The view.
    pub view: u64,
    /// The sequence number, from 1.
    pub number: u64,
    /// Of the batch.
    pub digest: Digest,
}

/// `0/3 1c2d3e4f`: in view 0, at number 3.
impl fmt::Debug for Proposal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{} {:?}", self.view, self.number, self.digest)
    }
}

/// What is signed. Each kind of statement has its own name, so that no signature is good for
/// another.
#[derive(Debug, Serialize)]
pub(super) enum Statement<'a, O> {
    Request(&'a Command<O>),
    PrePrepare(Proposal),
    Prepare(Proposal),
    Checkpoint { number: u64, digest: Digest },
    ViewChange(&'a ViewChange<O>),
    NewView { view: u64, proposals: Digest },
}

/// A proposal that a quorum has accepted: in no other view can it become another one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Certificate<O> {
    /// What the primary proposed, and its signature.
    pub accepted: Accepted<O>,
    /// The signatures of backups.
    pub prepares: BTreeMap<ProcessId, Signature>,
}

/// The state after a sequence number, as a quorum has it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Proof {
    /// The sequence number; 0: the beginning, which needs no proof.
    pub number: u64,
    /// Of the number, the length of the log, and the state.
    pub digest: Digest,
    /// Whose word it is.
    pub signatures: BTreeMap<ProcessId, Signature>,
}

/// A replica leaves all views before this one, with what it knows.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ViewChange<O> {
    /// The view that it wants to be in.
    pub view: u64,
    /// Its last stable checkpoint.
    pub stable: Proof,
    /// What it has prepared since, in the order of sequence numbers.
    pub prepared: Vec<Certificate<O>>,
}

/// The same, with the name and the signature of the replica.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SignedChange<O> {
    /// Who.
    pub by: ProcessId,
    /// What.
    pub change: ViewChange<O>,
    /// Its signature.
    pub signature: Signature,
}

/// How a view begins. What is proposed in it follows from the view changes; everybody works it out.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct NewView<O> {
    /// The view.
    pub view: u64,
    /// A quorum of them.
    pub changes: Vec<SignedChange<O>>,
    /// The primary's signatures under the proposals, in their order.
    pub pre_prepares: Vec<Signature>,
    /// Its signature under all of them together.
    pub signature: Signature,
}

/// What travels.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message<O, S> {
    /// A client wants something, or a replica hands it on to the primary.
    Request(Request<O>),
    /// To a client: this is the view.
    View(u64),
    /// The primary proposes; others may pass it on.
    PrePrepare(Accepted<O>),
    /// A backup accepts that proposal and no other in its view.
    Prepare(Proposal, Signature),
    /// A replica has seen that a quorum accepts it.
    Commit(Proposal),
    /// The state after this number has this digest.
    Checkpoint {
        /// The sequence number.
        number: u64,
        /// Of the state.
        digest: Digest,
        /// The sender's.
        signature: Signature,
    },
    /// A replica wants another view.
    ViewChange(Box<SignedChange<O>>),
    /// The primary begins it; others may pass it on.
    NewView(Box<NewView<O>>),
    /// A replica waits for something: who knows more, help.
    Status {
        /// Its view.
        view: u64,
        /// Whether the view has not begun for it.
        changing: bool,
        /// The last number that it has executed.
        executed: u64,
        /// Its last stable checkpoint.
        stable: u64,
        /// How often it asked.
        round: u32,
    },
    /// The state of a stable checkpoint.
    State {
        /// That it is one.
        proof: Proof,
        /// The length of the log there.
        index: u64,
        /// The state.
        state: S,
    },
}

impl<O: Data, S: Data> Wire for Message<O, S> {}

impl<O: fmt::Debug, S> fmt::Debug for Message<O, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Message::Request(request) => write!(f, "Request({request:?})"),
            Message::View(view) => write!(f, "View({view})"),
            Message::PrePrepare(Accepted { proposal, batch, .. }) => {
                write!(f, "PrePrepare({proposal:?}: {batch:?})")
            }
            Message::Prepare(proposal, _) => write!(f, "Prepare({proposal:?})"),
            Message::Commit(proposal) => write!(f, "Commit({proposal:?})"),
            Message::Checkpoint { number, digest, .. } => {
                write!(f, "Checkpoint({number} {digest:?})")
            }
            Message::ViewChange(signed) => {
                let ViewChange { view, stable, prepared } = &signed.change;
                let prepared: Vec<_> = prepared.iter().map(|one| one.accepted.proposal).collect();
                write!(f, "ViewChange({view} after {}: {prepared:?})", stable.number)
            }
            Message::NewView(new) => {
                let by: Vec<_> = new.changes.iter().map(|change| change.by).collect();
                write!(f, "NewView({} by {by:?})", new.view)
            }
            Message::Status { view, changing, executed, .. } => {
                let stage = if *changing { "to" } else { "in" };
                write!(f, "Status({stage} {view}, {executed} done)")
            }
            Message::State { proof, .. } => write!(f, "State({})", proof.number),
        }
    }
}

/// What goes to the disk.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Record<O, S> {
    /// A proposal was accepted, or made.
    Accepted(Accepted<O>),
    /// A quorum accepted it.
    Prepared(u64, BTreeMap<ProcessId, Signature>),
    /// All views before this one are left.
    Left(u64),
    /// This view has begun.
    Begun(Box<NewView<O>>),
    /// Everything, in the place of all that was written before.
    Whole(Box<Whole<O, S>>),
}

/// All that a replica must not forget.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Whole<O, S> {
    pub(super) view: u64,
    pub(super) changing: bool,
    pub(super) new_view: Option<Box<NewView<O>>>,
    pub(super) stable: Stable<S>,
    pub(super) log: BTreeMap<u64, Slot<O>>,
    pub(super) forgot: bool,
}

/// The last stable checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Stable<S> {
    pub(super) proof: Proof,
    /// The length of the log there.
    pub(super) index: u64,
    /// Nothing has happened before the first.
    pub(super) state: Option<S>,
}

/// What timers are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Timer {
    /// The primary is taking too long.
    Suspect,
    /// Something may have been lost.
    Resend,
}
