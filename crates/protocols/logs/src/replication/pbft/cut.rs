//! A large state, cut into parts that can be checked one by one.
//!
//! A quorum signs one digest for a checkpoint. A replica that fetches the state must reject a false
//! part before it keeps it: otherwise a traitor could fill its memory, or spoil the whole transfer
//! with the last part. So the parts form a chain. The *link* of a part is the digest of the part
//! and of the link of the next one. What a quorum signs contains the first link; a part proves the
//! link of the next one.
//!
//! All loyal replicas cut the same state into the same parts. So a transfer that one replica began
//! another one can go on with.

use serde::{Deserialize, Serialize};
use synod_agreement::seal::Digest;
use synod_core::Data;
use synod_core::replication::{Part, Parts};

/// Where the parts of a state end, and their links. It grows part by part: a step that hashed a
/// large state at once would hold up all messages.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "M: Data")]
pub(super) struct Cut<M> {
    /// Where each part ends, but for the last.
    ends: Vec<M>,
    /// The digest of each part; when the cut is complete, the link of each part.
    digests: Vec<Digest>,
}

impl<M> Default for Cut<M> {
    fn default() -> Self {
        Cut { ends: Vec::new(), digests: Vec::new() }
    }
}

impl<M: Data> Cut<M> {
    pub(super) fn is_complete(&self) -> bool {
        self.digests.len() > self.ends.len()
    }

    /// Cuts off one more part.
    pub(super) fn go_on<S: Parts<Mark = M>>(&mut self, state: &S, bytes: usize) {
        if self.is_complete() {
            return;
        }
        let (part, end) = state.part(self.ends.last(), bytes);
        self.digests.push(Digest::of_data(&part));
        match end {
            Some(end) => self.ends.push(end),
            None => self.chain(),
        }
    }

    fn chain(&mut self) {
        let mut next = None;
        for digest in self.digests.iter_mut().rev() {
            *digest = link(*digest, next);
            next = Some(*digest);
        }
    }

    /// The link of the first part, if the cut is complete.
    pub(super) fn first(&self) -> Option<Digest> {
        self.digests.first().copied().filter(|_| self.is_complete())
    }

    /// A part, and the link of the next one.
    pub(super) fn part<S: Parts<Mark = M>>(
        &self,
        state: &S,
        number: u64,
        bytes: usize,
    ) -> Option<(Part<S>, Option<Digest>)> {
        let at = usize::try_from(number).ok().filter(|at| *at < self.digests.len())?;
        let after = at.checked_sub(1).map(|before| &self.ends[before]);
        let (part, _) = state.part(after, bytes);
        let next = self.digests.get(at + 1).copied();
        let part = Part { number, is_last: next.is_none(), state: part };
        self.is_complete().then_some((part, next))
    }
}

/// The link of a part, by its digest and the link of the next one.
fn link(part: Digest, next: Option<Digest>) -> Digest {
    Digest::of_data(&(part, next))
}

/// Whether a part has this link, if the next one has that.
pub(super) fn is_linked<S: Serialize>(part: &Part<S>, next: Option<Digest>, to: Digest) -> bool {
    part.is_last == next.is_none() && link(Digest::of_data(&part.state), next) == to
}

/// What a checkpoint's digest is about, if its state has one part.
pub(super) fn digest_of<S: Serialize>(number: u64, index: u64, state: &S) -> Digest {
    Digest::of_data(&(number, index, state))
}

/// The same, if its state has several parts. No sequence number is as large as the one in front:
/// so no state of one part has this digest.
pub(super) fn digest_of_parts(number: u64, index: u64, first: Digest) -> Digest {
    Digest::of_data(&(u64::MAX, number, index, first))
}

#[cfg(test)]
mod tests {
    use super::*;
    use synod_core::replication::Map;

    type State = Map<u16, u8>;

    fn cut(state: &State) -> Cut<u16> {
        let mut cut = Cut::default();
        while !cut.is_complete() {
            assert_eq!(cut.first(), None);
            cut.go_on(state, 64);
        }
        cut
    }

    #[test]
    fn each_part_proves_the_link_of_the_next() {
        let state: State = (0..1_000).map(|key| (key, 7)).collect();
        let cut = cut(&state);
        let (mut link, mut number) = (cut.first(), 0);
        while let Some(known) = link {
            let (part, next) = cut.part(&state, number, 64).expect("the chain goes on");
            assert!(is_linked(&part, next, known));
            let mut false_part = part.clone();
            false_part.state.insert(9_999, 1);
            assert!(!is_linked(&false_part, next, known), "another part");
            assert!(!is_linked(&part, Some(Digest::of("")), known), "another next link");
            assert!(!is_linked(&Part { is_last: !part.is_last, ..part }, next, known));
            (link, number) = (next, number + 1);
        }
        assert!(number > 30, "{number} parts");
        assert_eq!(cut.part(&state, number, 64), None);
    }

    #[test]
    fn states_that_differ_in_their_last_part_have_other_first_links() {
        let one: State = (0..1_000).map(|key| (key, 7)).collect();
        let mut other = one.clone();
        other.insert(999, 8);
        assert_ne!(cut(&one).first(), cut(&other).first());
    }
}
