//! What a server writes down, and how it reads it back.

use super::{Log, Raft, Record, Rules};
use synod_core::{Cx, Data, Durable};

impl<C: Data, S: Data, R: Rules> Raft<C, S, R> {
    /// Writes down the term and the vote.
    pub(super) fn save_ballot(&self, cx: &mut Cx<'_, Self>) {
        if self.limits.writes_whole {
            self.save_all(cx);
        } else {
            cx.persist(&Record::Ballot { term: self.term, vote: self.vote });
        }
    }

    /// Writes down the lines after a place.
    pub(super) fn save_after(&self, after: u64, cx: &mut Cx<'_, Self>) {
        let lines = self.log.after(after, usize::MAX).unwrap_or_default();
        if self.limits.writes_whole {
            self.save_all(cx);
        } else if !lines.is_empty() {
            cx.persist(&Record::Append { after, lines: lines.to_vec() });
        }
    }

    /// Writes down everything, in the place of all that was written before.
    pub(super) fn save_all(&self, cx: &mut Cx<'_, Self>) {
        let keeps = R::KEEPS_VOTES || !self.limits.writes_whole;
        let (term, vote) =
            if keeps { (self.term, self.vote) } else { (self.log.last().term, None) };
        let (snapshot, lines) = (self.log.snapshot().clone(), self.log.lines().to_vec());
        cx.checkpoint(&Record::Whole { term, vote, snapshot, lines, forgot: self.forgot });
    }
}

impl<C: Data, S: Data, R: Rules> Durable for Raft<C, S, R> {
    type Record = Record<C, S>;

    fn replay(&mut self, record: Record<C, S>) {
        match record {
            Record::Ballot { term, vote } => (self.term, self.vote) = (term, vote),
            Record::Append { after, lines } => {
                self.log.replace_after(after, &lines);
            }
            Record::Whole { term, vote, snapshot, lines, forgot } => {
                (self.term, self.vote, self.forgot) = (term, vote, forgot);
                self.log = Log::restored(snapshot, lines);
            }
        }
    }
}
