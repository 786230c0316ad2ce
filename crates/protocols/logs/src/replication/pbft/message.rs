//! The messages of replicas and clients, the statements that they sign, and the records.

use super::slot::{PrePrepare, Slot};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use synod_agreement::seal::{Digest, Signature};
use synod_core::replication::{Command, Part};
use synod_core::{Data, ProcessId, Wire, sight};

/// A client's request, signed by its process. The number of the command is the timestamp of section
/// 4.1: a replica executes no request of a client whose timestamp is not greater than the last.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Request<O> {
    /// The operation, its client, and its timestamp.
    pub command: Command<O>,
    /// Of the process where the client is.
    pub signature: Signature,
}

impl<O: fmt::Debug> fmt::Debug for Request<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.command.fmt(f)
    }
}

/// The requests at one sequence number, in their order. An empty batch is the null request of
/// section 4.4.
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

/// A statement that a process signs. Each kind has its own name, so that no signature is good for
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

/// The proof that a proposal is prepared (section 4.4, the sets P_m): no later view can have
/// another batch at its number, if a replica has committed it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Certificate<O> {
    /// The pre-prepare, with the primary's signature.
    pub pre_prepare: PrePrepare<O>,
    /// The signatures of backups.
    pub prepares: BTreeMap<ProcessId, Signature>,
}

/// The proof that a checkpoint is stable: a quorum has signed the same digest.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Proof {
    /// The sequence number; 0: the beginning, which needs no proof.
    pub number: u64,
    /// Of the number, the length of the log, and the state.
    pub digest: Digest,
    /// The signatures of the quorum.
    pub signatures: BTreeMap<ProcessId, Signature>,
}

/// A view-change message: a replica leaves all views before this one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ViewChange<O> {
    /// The view that it wants to be in.
    pub view: u64,
    /// Its last stable checkpoint.
    pub stable: Proof,
    /// The requests that it has prepared since, in the order of sequence numbers.
    pub prepared: Vec<Certificate<O>>,
}

/// The same, with the name and the signature of the replica.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SignedChange<O> {
    /// The replica.
    pub by: ProcessId,
    /// Its view-change message.
    pub change: ViewChange<O>,
    /// Its signature.
    pub signature: Signature,
}

/// A new-view message: the primary begins a view. Its proposals follow from the view changes, so
/// each replica computes them itself.
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

/// The messages.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message<O, S> {
    /// From a client, or from a replica that relays it to the primary.
    Request(Request<O>),
    /// To a client: this is the view.
    View(u64),
    /// The primary proposes; others may pass it on.
    PrePrepare(PrePrepare<O>),
    /// A backup accepts that proposal, and no other at its number in its view.
    Prepare(Proposal, Signature),
    /// The proposal is prepared at a replica.
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
    /// A replica lacks messages or a checkpoint: the others send again what it lacks.
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
    /// The state of a stable checkpoint has several parts; fetch them.
    Offer {
        /// The proof of the checkpoint.
        proof: Proof,
        /// The length of the log there.
        index: u64,
        /// The link of the first part.
        first: Digest,
    },
    /// A replica lacks a part of a state.
    Fetch {
        /// The checkpoint.
        number: u64,
        /// The part.
        part: u64,
    },
    /// The part.
    StatePart {
        /// The checkpoint.
        number: u64,
        /// The part.
        part: Part<S>,
        /// The link of the next part.
        next: Option<Digest>,
    },
}

impl<O: Data, S: Data> Wire for Message<O, S> {
    fn label(&self) -> String {
        match self {
            Message::Request(request) => format!("Request {}", request.command.request),
            Message::PrePrepare(PrePrepare { proposal, .. }) => format!("PrePrepare {proposal:?}"),
            Message::Prepare(proposal, _) => format!("Prepare {proposal:?}"),
            Message::Commit(proposal) => format!("Commit {proposal:?}"),
            Message::ViewChange(signed) => format!("ViewChange {}", signed.change.view),
            _ => sight::short(&format!("{self:?}"), self.kind()),
        }
    }
}

impl<O: fmt::Debug, S> fmt::Debug for Message<O, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Message::Request(request) => write!(f, "Request({request:?})"),
            Message::View(view) => write!(f, "View({view})"),
            Message::PrePrepare(PrePrepare { proposal, batch, .. }) => {
                write!(f, "PrePrepare({proposal:?}: {batch:?})")
            }
            Message::Prepare(proposal, _) => write!(f, "Prepare({proposal:?})"),
            Message::Commit(proposal) => write!(f, "Commit({proposal:?})"),
            Message::Checkpoint { number, digest, .. } => {
                write!(f, "Checkpoint({number} {digest:?})")
            }
            Message::ViewChange(signed) => {
                let ViewChange { view, stable, prepared } = &signed.change;
                let prepared: Vec<_> =
                    prepared.iter().map(|one| one.pre_prepare.proposal).collect();
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
            Message::Offer { proof, .. } => write!(f, "Offer({})", proof.number),
            Message::Fetch { number, part } => write!(f, "Fetch({number}: part {part})"),
            Message::StatePart { number, part, .. } => {
                write!(f, "StatePart({number}: part {})", part.number)
            }
        }
    }
}

/// A record on the disk.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Record<O, S> {
    /// A backup accepted a pre-prepare, or the primary sent it.
    PrePrepare(PrePrepare<O>),
    /// The proposal at this number is prepared: the signatures of the matching prepares.
    Prepared(u64, BTreeMap<ProcessId, Signature>),
    /// The replica has left all views before this one.
    ViewChange(u64),
    /// This view has begun.
    NewView(Box<NewView<O>>),
    /// The whole state, in the place of all records before.
    Whole(Box<Whole<O, S>>),
    /// A stable checkpoint begins whose state is written in parts. With its last part, it and the
    /// records since take the place of all records before.
    Begin {
        /// The proof of the checkpoint.
        proof: Proof,
        /// The length of the log there.
        index: u64,
        /// Whether the disk was lost before that.
        lost_disk: bool,
    },
    /// The next part of it.
    Part(Part<S>),
}

/// The state of a replica that outlasts a crash.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Whole<O, S> {
    pub(super) view: u64,
    pub(super) changing: bool,
    pub(super) new_view: Option<Box<NewView<O>>>,
    pub(super) stable: Stable<S>,
    pub(super) log: BTreeMap<u64, Slot<O>>,
    pub(super) lost_disk: bool,
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

/// The reasons to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Timer {
    /// The primary is taking too long.
    Suspect,
    /// Messages may have been lost.
    Resend,
    /// The next part of a state is cut, or written.
    Snapshot,
}
