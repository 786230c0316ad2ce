//! Commitments: what hides an action and yet binds to it.

pub use crate::seal::Digest;

use serde::{Deserialize, Serialize};
use synod_core::ProcessId;
use synod_core::family::lockstep::{Action, Turn};

/// What opens a commitment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Opening {
    /// What the player does.
    pub action: Action,
    /// What nobody could guess.
    pub nonce: u64,
}

/// The commitment to an action: bound to the player and the turn, so that nobody can take it over, and
/// hidden by a nonce, because there are few actions and all could be tried.
pub fn commitment(player: &str, turn: Turn, nonce: &str, action: &str) -> Digest {
    Digest::of(&format!("{player}|{turn}|{nonce}|{action}"))
}

/// What is left out of the protocol, to see what it is good for.
pub type LeftOut = u8;
/// Nothing: this is the protocol.
pub const NOTHING: LeftOut = 0;
/// The nonce in a commitment.
pub const NONCE: LeftOut = 1;
/// The player and the turn in a commitment.
pub const BINDING: LeftOut = 2;
/// The commitment.
pub const COMMITMENT: LeftOut = 3;
/// The comparison of what was received.
pub const ECHO: LeftOut = 4;

impl Opening {
    /// The commitment that this opens.
    pub fn commitment(self, player: ProcessId, turn: Turn, left_out: LeftOut) -> Digest {
        let Opening { action, nonce } = self;
        match left_out {
            NONCE => commitment(&player.to_string(), turn, "", action.word()),
            BINDING => Digest::of(&format!("{nonce}|{}", action.word())),
            _ => commitment(&player.to_string(), turn, &nonce.to_string(), action.word()),
        }
    }
}

/// The enumeration attack: tries every action, with the nonce that one would take for none.
pub fn guess(digest: Digest, player: ProcessId, turn: Turn, left_out: LeftOut) -> Option<Action> {
    let opens = |action: &Action| {
        let opening = Opening { action: *action, nonce: 0 };
        opening.commitment(player, turn, left_out) == digest
    };
    Action::ALL.into_iter().find(opens)
}
