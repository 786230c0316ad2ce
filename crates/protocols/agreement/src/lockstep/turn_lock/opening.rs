//! Commitments: a hash hides an action, and yet binds its player to it.

pub use crate::seal::Digest;

use serde::{Deserialize, Serialize};
use synod_core::ProcessId;
use synod_core::family::lockstep::{Action, Turn};

/// The opening of a commitment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Opening {
    /// The action of the player.
    pub action: Action,
    /// A random number that no other player can guess.
    pub nonce: u64,
}

/// The commitment to an action: bound to the player and the turn, so that no other player can take
/// it over, and hidden by a nonce, because a cheater could try all of the few actions.
pub fn commitment(player: &str, turn: Turn, nonce: &str, action: &str) -> Digest {
    Digest::of(&format!("{player}|{turn}|{nonce}|{action}"))
}

/// The ingredient that a mutant leaves out, to show which cheat it prevents.
pub type LeftOut = u8;
/// No ingredient is missing: this is the protocol.
pub const NOTHING: LeftOut = 0;
/// The nonce in a commitment.
pub const NONCE: LeftOut = 1;
/// The player and the turn in a commitment.
pub const BINDING: LeftOut = 2;
/// The commitment.
pub const COMMITMENT: LeftOut = 3;
/// The comparison of the messages received.
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

/// The enumeration attack: tries every action, with nonce 0. It succeeds only if the commitment has
/// no nonce.
pub fn guess(digest: Digest, player: ProcessId, turn: Turn, left_out: LeftOut) -> Option<Action> {
    let opens = |action: &Action| {
        let opening = Opening { action: *action, nonce: 0 };
        opening.commitment(player, turn, left_out) == digest
    };
    Action::ALL.into_iter().find(opens)
}
