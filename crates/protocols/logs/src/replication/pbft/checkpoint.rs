//! Checkpoints (section 4.3): replicas sign the state that they have reached, and a quorum of
//! signatures lets them discard the log before it.

use super::cut::{Cut, digest_of, digest_of_parts};
use super::message::Statement;
use super::{Message, Pbft, Proof, Rules, Stable, Timer};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use synod_agreement::seal::{Digest, Signature};
use synod_core::replication::Parts;
use synod_core::{Cx, Data, ProcessId};

/// Of each replica this many checkpoints are kept: there are two between the water marks.
const MOST_SIGNED: usize = 3;

/// Checkpoints of this replica that are not stable yet.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "S: Parts")]
pub(super) struct Taken<S: Parts> {
    /// Those for which the state was asked for: their numbers, by the length of the log.
    pub(super) due: BTreeMap<u64, u64>,
    states: BTreeMap<u64, Checkpoint<S>>,
}

/// The state at a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "S: Parts")]
struct Checkpoint<S: Parts> {
    /// The length of the log.
    index: u64,
    /// None, while the state is being cut into parts.
    digest: Option<Digest>,
    state: S,
    /// None, if the state has one part.
    cut: Option<Cut<S::Mark>>,
}

impl<S: Parts> Default for Taken<S> {
    fn default() -> Self {
        Taken { due: BTreeMap::new(), states: BTreeMap::new() }
    }
}

/// Taking a checkpoint.
impl<O: Data, S: Parts, R: Rules> Pbft<O, S, R> {
    /// The layer above hands over the state that was asked for. The digest of a large one takes
    /// time: it is taken part by part, and the replica signs it later.
    pub(super) fn take_checkpoint(&mut self, index: u64, state: S, cx: &mut Cx<'_, Self>) {
        let Some(number) = self.taken.due.remove(&index) else { return };
        let is_small = self.has_one_part(&state);
        let digest = is_small.then(|| digest_of(number, index, &state));
        let cut = (!is_small).then(Cut::default);
        self.taken.states.insert(number, Checkpoint { index, digest, state, cut });
        match digest {
            Some(digest) => self.sign_checkpoint(number, digest, cx),
            None => self.work_soon(cx),
        }
    }

    /// Whether a state fits in one message.
    pub(super) fn has_one_part(&self, state: &S) -> bool {
        state.part(None, self.settings.part_bytes).1.is_none()
    }

    /// Section 4.3: multicasts a checkpoint message with the digest of the state.
    fn sign_checkpoint(&mut self, number: u64, digest: Digest, cx: &mut Cx<'_, Self>) {
        if !self.lost_disk {
            let signature = self.sign(&Statement::Checkpoint { number, digest });
            let message = Message::Checkpoint { number, digest, signature: signature.clone() };
            self.multicast(message, cx);
            self.note_checkpoint(self.me(), number, digest, signature);
        }
        self.settle_checkpoints(cx);
    }

    /// Large states are cut and written part by part, with time between two of them: so no message
    /// waits for longer than one part takes.
    pub(super) fn work_soon(&mut self, cx: &mut Cx<'_, Self>) {
        let is_cut = |cut: &Cut<S::Mark>| cut.is_complete();
        let cuts = self.taken.states.values().any(|taken| taken.digest.is_none())
            || !self.cut.as_ref().is_none_or(is_cut);
        let writes = self.writing.as_ref().is_some_and(|writing| writing.is_own());
        if (cuts || writes) && !std::mem::replace(&mut self.working, true) {
            cx.set_timer(Timer::Snapshot, (self.settings.suspect_ms / 32).max(1));
        }
    }

    /// Cuts one part, and writes one.
    pub(super) fn go_on_working(&mut self, cx: &mut Cx<'_, Self>) {
        self.working = false;
        self.cut_next(cx);
        self.write_next(cx);
        self.work_soon(cx);
    }

    /// Cuts the next part of a checkpoint that is to be signed; or of the stable one, so that
    /// others can fetch it.
    fn cut_next(&mut self, cx: &mut Cx<'_, Self>) {
        let bytes = self.settings.part_bytes;
        let unsigned = self.taken.states.iter_mut().find(|(_, taken)| taken.digest.is_none());
        if let Some((number, taken)) = unsigned {
            let cut = taken.cut.get_or_insert_default();
            cut.go_on(&taken.state, bytes);
            let Some(first) = cut.first() else { return };
            let (number, digest) = (*number, digest_of_parts(*number, taken.index, first));
            taken.digest = Some(digest);
            self.sign_checkpoint(number, digest, cx);
        } else if let (Some(cut), Some(state)) = (&mut self.cut, &self.stable.state) {
            cut.go_on(state, bytes);
        }
    }
}

/// Stable checkpoints.
impl<O: Data, S: Parts, R: Rules> Pbft<O, S, R> {
    pub(super) fn on_checkpoint(
        &mut self,
        from: ProcessId,
        number: u64,
        digest: Digest,
        signature: Signature,
        cx: &mut Cx<'_, Self>,
    ) {
        if number <= self.low_water_mark() {
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
        let quorum = self.quorum();
        let signed = self.taken.states.iter().rev().find_map(|(number, taken)| {
            let digest = taken.digest?;
            let signatures = self.signatures(*number, digest);
            let proof = Proof { number: *number, digest, signatures };
            (proof.signatures.len() >= quorum).then_some(proof)
        });
        let Some(proof) = signed else { return };
        let taken = self.taken.states.remove(&proof.number).expect("it was just found");
        self.stable = Stable { proof, index: taken.index, state: Some(taken.state) };
        self.cut = taken.cut;
        self.discard();
        self.save_stable(cx);
        self.propose(cx);
    }

    /// Section 4.3: discards all messages up to the stable checkpoint, and earlier checkpoints.
    pub(super) fn discard(&mut self) {
        let low = self.low_water_mark();
        self.log.retain(|number, _| *number > low);
        self.taken.states.retain(|number, _| *number > low);
        self.taken.due.retain(|_, number| *number > low);
        self.signed.values_mut().for_each(|signed| signed.retain(|number, _| *number > low));
        self.assigned = self.assigned.max(low);
        self.let_go_of_idle();
    }

    /// Takes over the signatures under a checkpoint that another replica had.
    pub(super) fn learn_proof(&mut self, proof: &Proof, cx: &mut Cx<'_, Self>) {
        if proof.number <= self.low_water_mark() {
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
        let enough = signatures.len() >= self.quorum() && signatures.iter().all(valid);
        number == 0 || number.is_multiple_of(self.settings.period) && enough
    }
}
