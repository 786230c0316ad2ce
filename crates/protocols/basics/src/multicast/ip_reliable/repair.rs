//! Repair of losses: a member asks for missing messages, and another sends them again.

use super::{IpReliable, Message, Verdict};
use synod_core::{Cx, Data, ProcessId};

/// The largest number of messages in one request; a member asks for the rest at the next
/// opportunity.
const NACK_AT_MOST: usize = 64;

impl<D: Data> IpReliable<D> {
    /// Asks `holder` for the messages of `sender` that it has and we lack.
    pub(super) fn ask_for_missing(
        &mut self,
        holder: ProcessId,
        sender: ProcessId,
        cx: &mut Cx<'_, Self>,
    ) {
        let ours = self.knowledge.upto(cx.me(), sender);
        let theirs = self.knowledge.upto(holder, sender);
        let missing = |number: &u32| {
            let held = self.copies[sender.index()].get(*number).is_some();
            !held && !self.asked.contains(&(sender, *number))
        };
        let numbers: Vec<u32> = (ours + 1..=theirs).filter(missing).take(NACK_AT_MOST).collect();
        if !numbers.is_empty() {
            self.asked.extend(numbers.iter().map(|number| (sender, *number)));
            cx.send(holder, Message::Nack { sender, numbers });
        }
    }

    /// Sends messages again to a member that lacks them, as far as we have copies.
    pub(super) fn on_nack(
        &mut self,
        from: ProcessId,
        sender: ProcessId,
        numbers: &[u32],
        cx: &mut Cx<'_, Self>,
    ) -> Verdict {
        if !cx.is_member(sender) || numbers.len() > NACK_AT_MOST {
            return Err("asked for messages that cannot be missing");
        }
        for &number in numbers {
            if let Some(payload) = self.copies[sender.index()].get(number).cloned() {
                cx.send(from, Message::Again { sender, number, payload });
            }
        }
        Ok(())
    }
}
