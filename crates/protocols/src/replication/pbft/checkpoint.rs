//! Checkpoints (section 4.3), and the state for those who are behind.

use super::message::Statement;
use super::{Message, Pbft, Proof, Stable};
use crate::seal::{Digest, Signature};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use synod_core::replication::Event;
use synod_core::{Cx, Data, ProcessId};

/// Of each replica so many checkpoints are kept: there are two in a window.
const MOST_SIGNED: usize = 3;

/// Checkpoints of this process that are not stable yet.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "S: Data")]
pub(super) struct Taken<S> {
    /// Those for which the state was asked for: their numbers, by the length of the log.
    pub(super) due: BTreeMap<u64, u64>,
    states: BTreeMap<u64, State<S>>,
}

/// The state at a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct State<S> {
    /// The length of the log.
    index: u64,
    digest: Digest,
    state: S,
}

impl<S> Default for Taken<S> {
    fn default() -> Self {
        Taken { due: BTreeMap::new(), states: BTreeMap::new() }
    }
}

/// What a checkpoint's digest is about.
fn digest_of<S: Serialize>(number: u64, index: u64, state: &S) -> Digest {
    Digest::of_data(&(number, index, state))
}

impl<O: Data, S: Data> Pbft<O, S> {
    /// The layer above hands over the state that was asked for.
    pub(super) fn take_checkpoint(&mut self, index: u64, state: S, cx: &mut Cx<'_, Self>) {
        let Some(number) = self.taken.due.remove(&index) else { return };
        let digest = digest_of(number, index, &state);
        self.taken.states.insert(number, State { index, digest, state });
        if !self.forgot {
            let signature = self.sign(&Statement::Checkpoint { number, digest });
            let message = Message::Checkpoint { number, digest, signature: signature.clone() };
            self.tell_all(message, cx);
            self.note_checkpoint(self.me(), number, digest, signature);
        }
        self.settle_checkpoints(cx);
    }

    pub(super) fn on_checkpoint(
        &mut self,
        from: ProcessId,
        number: u64,
        digest: Digest,
        signature: Signature,
        cx: &mut Cx<'_, Self>,
    ) {
        if number <= self.low() {
            return;
        }
        let statement = Statement::Checkpoint { number, digest };
        let due = number.is_multiple_of(self.settings.period);
        if !due || !self.is_signed(from, &statement, &signature) {
            return cx.accuse(from, "takes a checkpoint that is not due, or does not sign it");
        }
        self.note_checkpoint(from, number, digest, signature);
        self.settle_checkpoints(cx);
    }

    /// Keeps the latest checkpoints of each replica.
    fn note_checkpoint(&mut self, by: ProcessId, number: u64, digest: Digest, signed: Signature) {
        let of_replica = self.signed.entry(by).or_default();
        of_replica.insert(number, (digest, signed));
        while of_replica.len() > MOST_SIGNED {
            of_replica.pop_first();
        }
    }

    /// The replicas that signed this checkpoint.
    fn signatures(&self, number: u64, digest: Digest) -> BTreeMap<ProcessId, Signature> {
        let of = |(by, signed): (&ProcessId, &BTreeMap<u64, (Digest, Signature)>)| {
            let (theirs, signature) = signed.get(&number)?;
            (*theirs == digest).then(|| (*by, signature.clone()))
        };
        self.signed.iter().filter_map(of).collect()
    }

    /// The latest of our checkpoints that a quorum signed becomes stable.
    pub(super) fn settle_checkpoints(&mut self, cx: &mut Cx<'_, Self>) {
        let quorum = self.settings.quorum();
        let signed = self.taken.states.iter().rev().find_map(|(number, taken)| {
            let signatures = self.signatures(*number, taken.digest);
            (signatures.len() >= quorum).then_some((*number, signatures))
        });
        let Some((number, signatures)) = signed else { return };
        let taken = self.taken.states.remove(&number).expect("it was just found");
        let proof = Proof { number, digest: taken.digest, signatures };
        self.stable = Stable { proof, index: taken.index, state: Some(taken.state) };
        self.forget(cx);
        self.propose(cx);
    }

    /// What is in the stable checkpoint need not be kept.
    fn forget(&mut self, cx: &mut Cx<'_, Self>) {
        let low = self.low();
        self.log.retain(|number, _| *number > low);
        self.taken.states.retain(|number, _| *number > low);
        self.taken.due.retain(|_, number| *number > low);
        self.signed.values_mut().for_each(|signed| signed.retain(|number, _| *number > low));
        self.last = self.last.max(low);
        self.save_all(cx);
    }

    /// Takes over the signatures under a checkpoint that another replica had.
    pub(super) fn learn_proof(&mut self, proof: &Proof, cx: &mut Cx<'_, Self>) {
        if proof.number <= self.low() {
            return;
        }
        for (by, signature) in &proof.signatures {
            self.note_checkpoint(*by, proof.number, proof.digest, signature.clone());
        }
        self.settle_checkpoints(cx);
    }

    /// Whether a loyal replica is known to be ahead by a checkpoint.
    pub(super) fn is_behind(&self) -> bool {
        let executed = self.executed;
        let ahead = |signed: &BTreeMap<u64, _>| signed.keys().any(|number| *number > executed);
        self.signed.values().filter(|signed| ahead(signed)).count() > self.settings.faulty
    }

    /// Whether a quorum signed this checkpoint.
    pub(super) fn is_proven(&self, proof: &Proof) -> bool {
        let Proof { number, digest, ref signatures } = *proof;
        let statement = Statement::Checkpoint { number, digest };
        let valid = |(by, signature): (&ProcessId, &Signature)| {
            self.settings.is_replica(*by) && self.is_signed(*by, &statement, signature)
        };
        let enough = signatures.len() >= self.settings.quorum() && signatures.iter().all(valid);
        number == 0 || number.is_multiple_of(self.settings.period) && enough
    }

    /// Somebody hands us the state of a stable checkpoint.
    pub(super) fn on_state(
        &mut self,
        from: ProcessId,
        proof: Proof,
        index: u64,
        state: S,
        cx: &mut Cx<'_, Self>,
    ) {
        if proof.number <= self.low() {
            return;
        }
        if !self.is_proven(&proof) || digest_of(proof.number, index, &state) != proof.digest {
            return cx.accuse(from, "hands on a state that no quorum signed");
        }
        if proof.number <= self.executed {
            return self.learn_proof(&proof, cx);
        }
        (self.executed, self.told) = (proof.number, index);
        self.stable = Stable { proof, index, state: Some(state.clone()) };
        self.forget(cx);
        // What is in the state is not known request by request: who still waits asks again.
        self.pending.clear();
        self.queue.clear();
        self.rounds = 0;
        cx.output(Event::Restored { index, state });
        self.watch(cx);
        self.execute(cx);
    }
}
