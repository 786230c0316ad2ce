//! Commitments, digit by digit.

use synod_core::ProcessId;
use synod_core::family::lockstep::Action;
use synod_protocols::lockstep::turn_lock::{Digest, NONCE, NOTHING, Opening, commitment, guess};

#[test]
fn a_commitment_is_the_sha_256_of_player_turn_nonce_and_action() {
    let alice = commitment("alice", 7, "n0nce-a", "ATTACK:north");
    assert_eq!(alice.hex(), "a45ae302747520c4eb2346355e3a4b7e993c94a3a470893ea91e37b1c34cfda4");
    let bob = commitment("bob", 7, "n0nce-b", "DEFEND");
    assert_eq!(bob.hex(), "e8fc5ad386d0bcbd4266e441d51e2fd4243765f9fa6ead4908a7b4afee7031cb");
}

#[test]
fn a_hash_of_the_action_alone_is_found_by_trying_three() {
    let naive = Digest::of("ATTACK:north");
    let wanted = "f5350827fb9b94ef84636611a2d780efb42a3aa7401bafb89a9579936d4d03d8";
    assert_eq!(naive.hex(), wanted);
    let found = Action::ALL.into_iter().find(|action| Digest::of(action.word()) == naive);
    assert_eq!(found, Some(Action::AttackNorth));
}

#[test]
fn an_action_can_be_guessed_from_its_commitment_only_without_a_nonce() {
    for action in Action::ALL {
        let (player, opening) = (ProcessId(3), Opening { action, nonce: 0x1234_5678 });
        let naive = opening.commitment(player, 7, NONCE);
        assert_eq!(guess(naive, player, 7, NONCE), Some(action));
        assert_eq!(guess(opening.commitment(player, 7, NOTHING), player, 7, NOTHING), None);
    }
}

#[test]
fn a_commitment_belongs_to_one_player_and_one_turn() {
    let opening = Opening { action: Action::Defend, nonce: 5 };
    let mine = opening.commitment(ProcessId(0), 1, NOTHING);
    assert_ne!(mine, opening.commitment(ProcessId(1), 1, NOTHING));
    assert_ne!(mine, opening.commitment(ProcessId(0), 2, NOTHING));
    assert_eq!(mine, commitment("p0", 1, "5", "DEFEND"));
}
