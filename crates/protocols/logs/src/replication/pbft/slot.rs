//! One sequence number, as far as it has come.

use super::message::{Batch, Certificate, Proposal, Record};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use synod_agreement::seal::Signature;
use synod_core::ProcessId;

/// A pre-prepare: a proposal, its batch, and the signature of the primary of its view.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PrePrepare<O> {
    /// The proposal.
    pub proposal: Proposal,
    /// The requests, piggybacked on it.
    pub batch: Batch<O>,
    /// The primary's.
    pub signature: Signature,
}

/// The messages about one sequence number. Of each replica only the latest one is kept.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Slot<O> {
    /// The pre-prepare of the latest view that this replica accepted.
    pub(super) pre_prepare: Option<PrePrepare<O>>,
    prepares: BTreeMap<ProcessId, (Proposal, Signature)>,
    commits: BTreeMap<ProcessId, Proposal>,
    /// Of the latest view in which it was prepared.
    pub(super) prepared: Option<Certificate<O>>,
}

impl<O> Default for Slot<O> {
    fn default() -> Self {
        let (prepares, commits) = (BTreeMap::new(), BTreeMap::new());
        Slot { pre_prepare: None, prepares, commits, prepared: None }
    }
}

impl<O: Clone + Eq> Slot<O> {
    /// The latest commit of a replica.
    pub(super) fn commit_of(&self, at: ProcessId) -> Option<Proposal> {
        self.commits.get(&at).copied()
    }

    /// Keeps a prepare, unless there is one of the same replica in a later view.
    pub(super) fn note_prepare(&mut self, by: ProcessId, proposal: Proposal, signed: Signature) {
        if self.prepares.get(&by).is_none_or(|(known, _)| known.view <= proposal.view) {
            self.prepares.insert(by, (proposal, signed));
        }
    }

    /// Keeps a commit, unless there is one of the same replica in a later view.
    pub(super) fn note_commit(&mut self, by: ProcessId, proposal: Proposal) {
        if self.commits.get(&by).is_none_or(|known| known.view <= proposal.view) {
            self.commits.insert(by, proposal);
        }
    }

    /// The prepares that match the pre-prepare.
    pub(super) fn matching_prepares(&self) -> BTreeMap<ProcessId, Signature> {
        let Some(pre_prepare) = &self.pre_prepare else { return BTreeMap::new() };
        let same = self.prepares.iter().filter(|(_, (what, _))| *what == pre_prepare.proposal);
        same.map(|(by, (_, signature))| (*by, signature.clone())).collect()
    }

    /// The predicate prepared(m, v, n) of section 4.2, in this view.
    pub(super) fn is_prepared_in(&self, view: u64) -> bool {
        self.prepared.as_ref().is_some_and(|proof| proof.pre_prepare.proposal.view == view)
    }

    /// The predicate committed-local(m, v, n): the batch that a quorum has committed, if this
    /// replica knows it.
    pub(super) fn committed_local(&self, quorum: usize) -> Option<&Batch<O>> {
        let count = |what: &Proposal| self.commits.values().filter(|other| *other == what).count();
        let committed = self.commits.values().find(|what| count(what) >= quorum)?;
        let prepared = self.prepared.as_ref().map(|certificate| &certificate.pre_prepare);
        let known = self.pre_prepare.iter().chain(prepared);
        let same = known.filter(|known| known.proposal.digest == committed.digest);
        same.map(|known| &known.batch).next()
    }

    /// Whether a loyal replica is at work here: the primary, or more replicas than may be faulty.
    pub(super) fn is_under_way(&self, faulty: usize) -> bool {
        self.pre_prepare.is_some() || self.prepares.len() > faulty || self.commits.len() > faulty
    }

    /// The slot without the messages of others, as it goes to the disk.
    pub(super) fn kept(&self) -> Self {
        let (pre_prepare, prepared) = (self.pre_prepare.clone(), self.prepared.clone());
        Slot { pre_prepare, prepared, ..Slot::default() }
    }

    /// The same as records of their own: first the certificate, whose pre-prepare may be of an
    /// earlier view, then the latest pre-prepare.
    pub(super) fn records<S>(&self, number: u64) -> Vec<Record<O, S>> {
        let mut records = Vec::new();
        if let Some(Certificate { pre_prepare, prepares }) = &self.prepared {
            records.push(Record::PrePrepare(pre_prepare.clone()));
            records.push(Record::Prepared(number, prepares.clone()));
        }
        let certified = self.prepared.as_ref().map(|certificate| &certificate.pre_prepare);
        let latest = self.pre_prepare.as_ref().filter(|latest| Some(*latest) != certified);
        records.extend(latest.cloned().map(Record::PrePrepare));
        records
    }
}
