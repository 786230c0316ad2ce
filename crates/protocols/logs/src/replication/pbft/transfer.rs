//! State transfer: a replica that lacks log entries which the others have discarded takes the state
//! of a stable checkpoint instead (section 4.4, "missing … a stable checkpoint").
//!
//! A replica says in its status how far it is. The replica whose turn it is answers. A state of one
//! part it sends whole. A larger one it *offers*: the offer holds the proof of the checkpoint and
//! the first [link](super::cut). Then the receiver fetches part after part, and checks each before
//! it keeps it.
//!
//! No traitor stops a transfer for ever, or spoils it. A false part is rejected at once, and the
//! receiver asks the next replica for the same part; so it does if no part came for a while. A
//! replica that was asked for a checkpoint that it no longer has offers a later one, and keeps that
//! one as long as the receiver fetches it. The receiver begins anew with a later checkpoint only
//! once for each replica that it turns to: so a traitor cannot make it begin anew for ever, and a
//! loyal one brings it to the end.

use super::cut::{Cut, digest_of, digest_of_parts, is_linked};
use super::records::Head;
use super::{FAR, Message, Pbft, Proof, Rules, Stable};
use crate::replication::snapshots::Writing;
use serde::{Deserialize, Serialize};
use synod_agreement::seal::Digest;
use synod_core::replication::{Event, Part, Parts};
use synod_core::{Cx, Data, ProcessId};

/// A receiver that fetches nothing during this many stable checkpoints is given up.
const MOST_IDLE: u32 = 4;

/// The state that this replica fetches. Its parts are in `Pbft::writing`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Fetching {
    /// The checkpoint.
    number: u64,
    /// The link of the part that comes next.
    link: Digest,
    /// The replica that was asked for it.
    source: ProcessId,
    /// Whether the source has sent a part. Then it must not come with another checkpoint.
    is_bound: bool,
    /// Whether a part came since the last status.
    goes_on: bool,
}

/// The state that another replica fetches here, though a later checkpoint may be stable.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "S: Parts")]
pub(super) struct Served<S: Parts> {
    number: u64,
    state: S,
    cut: Cut<S::Mark>,
    /// How many checkpoints became stable since the last part was fetched.
    idle: u32,
}

/// The replica that has the state.
impl<O: Data, S: Parts, R: Rules> Pbft<O, S, R> {
    /// Hands over the stable checkpoint: whole, or by an offer. A replica that has not cut its
    /// state yet offers nothing; the next status goes to another one.
    pub(super) fn hand_over_state(&mut self, to: ProcessId, cx: &mut Cx<'_, Self>) {
        let Stable { proof, index, state: Some(state) } = self.stable.clone() else { return };
        let Some(cut) = self.cut.clone() else {
            return cx.send(to, Message::State { proof, index, state });
        };
        if let Some(first) = cut.first() {
            self.served.insert(to, Served { number: proof.number, state, cut, idle: 0 });
            cx.send(to, Message::Offer { proof, index, first });
        }
    }

    /// A replica fetches a part. If its checkpoint is gone here, it is offered the stable one.
    pub(super) fn on_fetch(
        &mut self,
        from: ProcessId,
        number: u64,
        part: u64,
        cx: &mut Cx<'_, Self>,
    ) {
        let (low, bytes) = (self.low_water_mark(), self.settings.part_bytes);
        let served = self.served.get_mut(&from).filter(|served| served.number == number);
        let found = match served {
            Some(served) => {
                served.idle = 0;
                served.cut.part(&served.state, part, bytes)
            }
            None if number == low => {
                let state = self.stable.state.as_ref().zip(self.cut.as_ref());
                state.and_then(|(state, cut)| cut.part(state, part, bytes))
            }
            None => None,
        };
        match found {
            Some((part, next)) => cx.send(from, Message::StatePart { number, part, next }),
            None if number < low => self.hand_over_state(from, cx),
            None => {}
        }
    }

    /// A replica says that this checkpoint is stable for it.
    pub(super) fn end_serving(&mut self, to: ProcessId, stable: u64) {
        if self.served.get(&to).is_some_and(|served| served.number <= stable) {
            self.served.remove(&to);
        }
    }

    /// Another checkpoint is stable. States that no replica fetches are not kept.
    pub(super) fn let_go_of_idle(&mut self) {
        self.served.retain(|_, served| {
            served.idle += 1;
            served.idle <= MOST_IDLE
        });
    }
}

/// The replica that lacks the state.
impl<O: Data, S: Parts, R: Rules> Pbft<O, S, R> {
    /// A replica hands over the state of a stable checkpoint, whole.
    pub(super) fn on_state(
        &mut self,
        from: ProcessId,
        proof: Proof,
        index: u64,
        state: S,
        cx: &mut Cx<'_, Self>,
    ) {
        if proof.number <= self.low_water_mark() {
            return;
        }
        if !self.is_proven(&proof) || digest_of(proof.number, index, &state) != proof.digest {
            return cx.accuse(from, "hands on a state that no quorum signed");
        }
        if proof.number <= self.executed {
            return self.learn_proof(&proof, cx);
        }
        self.replace_state(proof, index, state.clone());
        self.stop_fetching();
        self.save_stable(cx);
        self.go_on_from(index, state, cx);
    }

    /// A replica offers the state of a stable checkpoint, in parts.
    pub(super) fn on_offer(
        &mut self,
        from: ProcessId,
        proof: Proof,
        index: u64,
        first: Digest,
        cx: &mut Cx<'_, Self>,
    ) {
        if proof.number <= self.low_water_mark() {
            return;
        }
        let is_signed = digest_of_parts(proof.number, index, first) == proof.digest;
        if proof.number >= FAR || !is_signed || !self.is_proven(&proof) {
            return cx.accuse(from, "offers a state that no quorum signed");
        }
        if proof.number <= self.executed {
            return self.learn_proof(&proof, cx);
        }
        let is_wanted = |fetching: &Fetching| {
            from == fetching.source && !fetching.is_bound && proof.number > fetching.number
        };
        if self.fetching.as_ref().is_none_or(is_wanted) {
            let number = proof.number;
            let (is_bound, goes_on) = (false, false);
            self.fetching = Some(Fetching { number, link: first, source: from, is_bound, goes_on });
            self.begin_writing(Writing::sent(Head { proof, index }), cx);
            self.fetch(cx);
        }
    }

    /// Asks the source for the next part.
    fn fetch(&mut self, cx: &mut Cx<'_, Self>) {
        let parts = self.writing.as_mut().and_then(|writing| writing.incoming());
        if let (Some(fetching), Some(parts)) = (&self.fetching, parts) {
            let (number, part) = (fetching.number, parts.number());
            cx.send(fetching.source, Message::Fetch { number, part });
        }
    }

    /// If no part came since the last status, another replica is asked.
    pub(super) fn fetch_again(&mut self, cx: &mut Cx<'_, Self>) {
        if self.fetching.as_mut().is_some_and(|fetching| !std::mem::take(&mut fetching.goes_on)) {
            self.fetch_elsewhere(cx);
        }
    }

    fn fetch_elsewhere(&mut self, cx: &mut Cx<'_, Self>) {
        let (me, n) = (self.me(), self.settings.replicas as u32);
        let Some(fetching) = &mut self.fetching else { return };
        let after = |at: ProcessId| ProcessId((at.0 + 1) % n);
        let next = after(fetching.source);
        fetching.source = if next == me { after(next) } else { next };
        fetching.is_bound = false;
        self.fetch(cx);
    }

    /// A part of a state. Also a replica that was asked earlier may send the next one.
    pub(super) fn on_state_part(
        &mut self,
        from: ProcessId,
        number: u64,
        part: Part<S>,
        next: Option<Digest>,
        cx: &mut Cx<'_, Self>,
    ) {
        let Some(fetching) = self.fetching.as_mut().filter(|known| known.number == number) else {
            return;
        };
        let parts = self.writing.as_mut().and_then(|writing| writing.incoming());
        let Some(parts) = parts.filter(|parts| parts.number() == part.number) else { return };
        if !is_linked(&part, next, fetching.link) {
            cx.accuse(from, "sends a false part of a state");
            if from == fetching.source {
                self.fetch_elsewhere(cx);
            }
            return;
        }
        (fetching.source, fetching.is_bound, fetching.goes_on) = (from, true, true);
        fetching.link = next.unwrap_or(fetching.link);
        self.rounds = 0;
        let state = parts.join(part.clone());
        let head = self.writing.as_ref().map(|writing| writing.head.clone());
        self.save_part(part, cx);
        match (state, head) {
            (Some(state), Some(Head { proof, index })) => {
                self.fetching = None;
                self.replace_state(proof, index, state.clone());
                // Others may fetch it here, when it is cut.
                self.cut = Some(Cut::default());
                self.work_soon(cx);
                self.go_on_from(index, state, cx);
            }
            _ => self.fetch(cx),
        }
    }

    /// The state of a later checkpoint takes the place of ours.
    fn replace_state(&mut self, proof: Proof, index: u64, state: S) {
        (self.executed, self.applied) = (proof.number, index);
        self.stable = Stable { proof, index, state: Some(state) };
        self.cut = None;
        self.discard();
    }

    fn go_on_from(&mut self, index: u64, state: S, cx: &mut Cx<'_, Self>) {
        // The state does not say which requests are in it: a client that still waits asks again.
        self.pending.clear();
        self.queue.clear();
        self.rounds = 0;
        cx.output(Event::Restored { index, state });
        self.start_timer(cx);
        self.execute(cx);
    }

    /// This replica has executed as much as it fetches: the messages came after all.
    pub(super) fn stop_fetching_the_past(&mut self, cx: &mut Cx<'_, Self>) {
        if self.fetching.as_ref().is_some_and(|fetching| fetching.number <= self.executed) {
            self.stop_fetching();
            self.save_stable(cx);
        }
    }

    fn stop_fetching(&mut self) {
        if self.fetching.take().is_some() {
            self.writing = None;
        }
    }
}
