//! Cristian's method, broken on purpose: by a formula that is easily misread, and by a network on
//! which anybody may answer.

use super::cristian::{Process, Round, Sound, Variant};
use serde::{Deserialize, Serialize};
use synod_core::ProcessId;
use synod_core::card::{Card, Counterexample, Mutant, Scope};
use synod_core::family::clock_sync::{T5, T6};

/// Takes "the time of receiving plus the time of sending" for clock readings, not for durations.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Sum;

/// One process of the mutant that adds clock readings.
pub type CristianSum = Process<Sum>;

impl Variant for Sum {
    const CARD: Card = Card {
        name: "cristian-sum",
        title: "Cristian's method with the sum of two clock readings",
        idea: "Read Tround as the sum of the readings at sending and receiving.",
        promises: &[T6],
        counterexamples: &[Counterexample {
            property: T5,
            scope: Scope { ticks: 1, ..Scope::of(2) },
            steps: 4,
            story: "A client asks when its clock shows 1 ms, and is answered at once that the \
                    server's clock shows 1 ms. It adds half of 1 ms + 1 ms.",
        }],
        mutant: Some(Mutant {
            of: "cristian",
            change: "what is added is half the sum, not half the difference, of T1 and T0",
            breaks: T5,
        }),
        ..Sound::CARD
    };

    fn age_us(round: &Round) -> i64 {
        round.received_us.saturating_add(round.sent_us) / 2
    }
}

/// Clients multicast their request and believe whoever answers first.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Impostor;

/// One process of the mutant in which p2 answers in the server's place.
pub type CristianImpostor = Process<Impostor>;

impl Variant for Impostor {
    const CARD: Card = Card {
        name: "cristian-impostor",
        title: "Cristian's method with an impostor",
        idea: "Ask everybody for the time, and believe the first who answers.",
        assumes: &["reliable links"],
        promises: &[T6],
        costs: &[],
        counterexamples: &[Counterexample {
            property: T5,
            scope: Scope::of(3),
            steps: 3,
            story: "The request of p1 reaches p2 before the server. p2 answers with a time that is \
                    an hour off, and p1 believes it.",
        }],
        smallest: 3,
        mutant: Some(Mutant {
            of: "cristian",
            change: "the request goes to everybody, anybody's answer is believed, and p2 lies",
            breaks: T5,
        }),
        ..Sound::CARD
    };

    const IMPOSTOR: Option<ProcessId> = Some(ProcessId(2));
}
