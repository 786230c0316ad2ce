//! The messages of one turn, as one player received them.

use super::opening::{Digest, LeftOut, Opening};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use synod_core::family::lockstep::{Turn, Verdict};
use synod_core::{ProcessId, ProcessSet};

/// The table of one turn: a seat for each player.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Table {
    seats: Vec<Seat>,
    /// The players that have told us the commitments that they received.
    pub echoed: ProcessSet,
    /// The players that have told us the openings that they received.
    pub compared: ProcessSet,
}

/// The messages from one player, and those about it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Seat {
    commitment: Option<Digest>,
    claimed: Claim,
    reveal: Option<Opening>,
    /// The different openings that others received from this player. Each of them adds at most one,
    /// which bounds the list.
    relayed: SmallVec<[Opening; 1]>,
}

/// The commitments that others received from a player.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Claim {
    /// No commitment.
    #[default]
    Nothing,
    /// Only this one.
    One(Digest),
    /// Two different ones, or more.
    Several,
}

impl Claim {
    fn with(self, digest: Digest) -> Claim {
        match self {
            Claim::Nothing => Claim::One(digest),
            Claim::One(other) if other == digest => self,
            Claim::One(_) | Claim::Several => Claim::Several,
        }
    }
}

impl Table {
    pub(super) fn new(n: usize) -> Self {
        let seats = vec![Seat::default(); n];
        Table { seats, echoed: ProcessSet::EMPTY, compared: ProcessSet::EMPTY }
    }

    fn seat(&self, player: ProcessId) -> &Seat {
        &self.seats[player.index()]
    }

    /// Whether no message of the turn has arrived.
    pub(super) fn is_empty(&self) -> bool {
        *self == Table::new(self.seats.len())
    }

    /// A player commits. False if it has made a different commitment before.
    pub(super) fn commit(&mut self, player: ProcessId, digest: Digest) -> bool {
        *self.seats[player.index()].commitment.get_or_insert(digest) == digest
    }

    pub(super) fn commitment(&self, player: ProcessId) -> Option<Digest> {
        self.seat(player).commitment
    }

    pub(super) fn commitments(&self) -> Vec<Option<Digest>> {
        self.seats.iter().map(|seat| seat.commitment).collect()
    }

    /// The player `from` tells which commitments it received.
    pub(super) fn echo(&mut self, from: ProcessId, commitments: &[Option<Digest>]) {
        self.echoed.insert(from);
        for (seat, digest) in self.seats.iter_mut().zip(commitments) {
            if let Some(digest) = digest {
                seat.claimed = seat.claimed.with(*digest);
            }
        }
    }

    /// A player reveals. Only its first opening counts.
    pub(super) fn reveal(&mut self, player: ProcessId, opening: Opening) {
        self.seats[player.index()].reveal.get_or_insert(opening);
    }

    pub(super) fn revealed(&self, player: ProcessId) -> Option<Opening> {
        self.seat(player).reveal
    }

    pub(super) fn reveals(&self) -> Vec<Option<Opening>> {
        self.seats.iter().map(|seat| seat.reveal).collect()
    }

    /// The player `from` tells which openings it received.
    pub(super) fn compare(&mut self, from: ProcessId, openings: &[Option<Opening>]) {
        if !self.compared.insert(from) {
            return;
        }
        for (seat, opening) in self.seats.iter_mut().zip(openings) {
            let new = opening.filter(|opening| !seat.relayed.contains(opening));
            seat.relayed.extend(new);
        }
    }

    /// The commitment of a player: the one that we or others received, if there is only one.
    fn agreed(&self, player: ProcessId) -> Claim {
        let Seat { commitment, claimed, .. } = *self.seat(player);
        commitment.map_or(claimed, |digest| claimed.with(digest))
    }

    /// Whether a reveal of this player can count.
    pub(super) fn is_bound(&self, player: ProcessId) -> bool {
        matches!(self.agreed(player), Claim::One(_))
    }

    /// The verdict on a player: it has played the action that opens its commitment, even if only
    /// one player received that opening.
    pub(super) fn verdict(&self, player: ProcessId, turn: Turn, left_out: LeftOut) -> Verdict {
        let digest = match self.agreed(player) {
            Claim::Nothing => return Verdict::Silent,
            Claim::Several => return Verdict::Cheats,
            Claim::One(digest) => digest,
        };
        let opens = |opening: &Opening| opening.commitment(player, turn, left_out) == digest;
        self.first_opening(player, opens)
    }

    /// The verdict in the version without commitments: every opening is right, so the first one
    /// counts.
    pub(super) fn unbound_verdict(&self, player: ProcessId) -> Verdict {
        self.first_opening(player, |_| true)
    }

    fn first_opening(&self, player: ProcessId, right: impl Fn(&Opening) -> bool) -> Verdict {
        let Seat { reveal, relayed, .. } = self.seat(player);
        let mut openings = reveal.iter().chain(relayed);
        match openings.clone().next() {
            None => Verdict::Silent,
            Some(_) => openings
                .find(|opening| right(opening))
                .map_or(Verdict::Cheats, |opening| Verdict::Plays(opening.action)),
        }
    }
}
