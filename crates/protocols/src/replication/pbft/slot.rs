//! One sequence number, as far as it has come.

use super::message::{Batch, Certificate, Proposal};
use crate::seal::Signature;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use synod_core::ProcessId;

/// A proposal, with its batch and the signature of the primary of its view.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Accepted<O> {
    /// The proposal.
    pub proposal: Proposal,
    /// What it is about.
    pub batch: Batch<O>,
    /// The primary's.
    pub signature: Signature,
}

/// What is known of a sequence number. Of each replica only the latest word is kept.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Slot<O> {
    /// The proposal of the latest view.
    pub(super) accepted: Option<Accepted<O>>,
    prepares: BTreeMap<ProcessId, (Proposal, Signature)>,
    commits: BTreeMap<ProcessId, Proposal>,
    /// Of the latest view in which it was prepared.
    pub(super) prepared: Option<Certificate<O>>,
}

impl<O> Default for Slot<O> {
    fn default() -> Self {
        let (prepares, commits) = (BTreeMap::new(), BTreeMap::new());
        Slot { accepted: None, prepares, commits, prepared: None }
    }
}

impl<O: Clone> Slot<O> {
    /// What this replica would say again.
    pub(super) fn commit_of(&self, at: ProcessId) -> Option<Proposal> {
        self.commits.get(&at).copied()
    }

    /// Keeps a prepare, unless there is a later one of the same replica.
    pub(super) fn note_prepare(&mut self, by: ProcessId, proposal: Proposal, signed: Signature) {
        if self.prepares.get(&by).is_none_or(|(known, _)| known.view <= proposal.view) {
            self.prepares.insert(by, (proposal, signed));
        }
    }

    /// Keeps a commit, unless there is a later one of the same replica.
    pub(super) fn note_commit(&mut self, by: ProcessId, proposal: Proposal) {
        if self.commits.get(&by).is_none_or(|known| known.view <= proposal.view) {
            self.commits.insert(by, proposal);
        }
    }

    /// The signatures of those who prepare what is accepted.
    pub(super) fn prepares(&self) -> BTreeMap<ProcessId, Signature> {
        let Some(accepted) = &self.accepted else { return BTreeMap::new() };
        let same = self.prepares.iter().filter(|(_, (what, _))| *what == accepted.proposal);
        same.map(|(by, (_, signature))| (*by, signature.clone())).collect()
    }

    /// Whether a replica has accepted it in this view.
    pub(super) fn is_prepared_in(&self, view: u64) -> bool {
        self.prepared.as_ref().is_some_and(|proof| proof.accepted.proposal.view == view)
    }

    /// The batch that so many replicas have committed, if it is known.
    pub(super) fn decided(&self, quorum: usize) -> Option<&Batch<O>> {
        let count = |what: &Proposal| self.commits.values().filter(|other| *other == what).count();
        let decided = self.commits.values().find(|what| count(what) >= quorum)?;
        let prepared = self.prepared.as_ref().map(|certificate| &certificate.accepted);
        let known = self.accepted.iter().chain(prepared);
        let same = known.filter(|known| known.proposal.digest == decided.digest);
        same.map(|known| &known.batch).next()
    }

    /// Whether somebody who can be believed is at work here, if this many may lie.
    pub(super) fn is_under_way(&self, faulty: usize) -> bool {
        self.accepted.is_some() || self.prepares.len() > faulty || self.commits.len() > faulty
    }

    /// The same, without what others said.
    pub(super) fn kept(&self) -> Self {
        let (accepted, prepared) = (self.accepted.clone(), self.prepared.clone());
        Slot { accepted, prepared, ..Slot::default() }
    }
}
