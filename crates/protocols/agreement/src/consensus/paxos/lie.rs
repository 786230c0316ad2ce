//! The lies of traitors in [Paxos](super).

use super::{Message, PaxosProcess};
use crate::consensus::acceptor::Vote;
use synod_core::byzantine::Corruptible;
use synod_core::family::consensus::Value;

/// A liar tells another value than it accepted, or asks others to accept another one.
impl<const NUMBERED: bool, const REMEMBER: bool, const MEET: bool> Corruptible
    for PaxosProcess<NUMBERED, REMEMBER, MEET>
{
    fn lie(&self, message: &Message, value: Value) -> Option<Message> {
        let changed = |vote: &Vote| Vote { value, ..*vote };
        match message {
            Message::Promise(ballot, Some(vote)) => {
                Some(Message::Promise(*ballot, Some(changed(vote))))
            }
            Message::Accept(vote) => Some(Message::Accept(changed(vote))),
            Message::Accepted(vote) => Some(Message::Accepted(changed(vote))),
            Message::Prepare(_) | Message::Promise(_, None) | Message::Refusal(..) => None,
        }
    }
}
