//! The attempts of the course before it arrives at
//! [`RicartAgrawalaTickets`](crate::mutex::RicartAgrawalaTickets), and the two ways to do its
//! first step in two.
//!
//! R0 takes any number and always compares. R1 breaks ties. R2 takes a number larger than those
//! received. R3 compares only while requesting, and is right; R3′ and R3″ are R3 with a gap
//! between saying that one is requesting and taking the number.

use crate::mutex::tickets::bounded::{self, Modulo};
use crate::mutex::tickets::{Halves, State, TICKETS, Tickets, Version};
use serde::{Deserialize, Serialize};
use synod_core::card::{Card, Counterexample, Mutant, Rounds, Scope};
use synod_core::family::mutex::{ME1, ME2};
use synod_core::{Cx, Timestamp};

/// Any number, no tie-break, always compares.
pub type R0 = Tickets<Arbitrary>;
/// Any number, always compares.
pub type R1 = Tickets<ArbitraryWithTieBreak>;
/// Always compares.
pub type R2 = Tickets<WithoutFlag>;
/// The flag first, then the number.
pub type R3Split = Tickets<FlagThenNumber>;
/// The number first, then the flag.
pub type R3Swapped = Tickets<NumberThenFlag>;
/// Bounded numbers, with a modulus that is too small.
pub type SmallModulus = Tickets<Modulo<2>>;

/// The card of [`SmallModulus`].
pub(in crate::mutex) const SMALL_MODULUS: Card = Card {
    name: "ra-small-modulus",
    aliases: &[],
    title: "tickets modulo 2N - 2",
    promises: &[],
    proved: &[],
    costs: &[],
    counterexamples: &[Counterexample {
        property: ME2,
        scope: Scope { rounds: Rounds::Times(2), ..Scope::of(2) },
        steps: 8,
        story: "of two, numbers are 0 or 1: each takes the number of the other for the larger one, \
                and both put each other off",
    }],
    mutant: Some(Mutant {
        of: "ricart-agrawala-bounded",
        change: "numbers are kept modulo 2N - 2, one less than they need",
        breaks: ME2,
    }),
    fails_with: "-n 2 --load saturated",
    ..bounded::CARD
};

const OF: &str = "ricart-agrawala-tickets";

/// The size of the range of arbitrary numbers. A larger range shows no further defect.
const NUMBERS: u32 = 3;

fn any_number<V: Version>(cx: &mut Cx<'_, Tickets<V>>) -> u64 {
    1 + u64::from(cx.choose(NUMBERS))
}

/// The version of [`R0`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Arbitrary;

impl Version for Arbitrary {
    const CARD: Card = Card {
        name: "ra-r0",
        aliases: &["ra-arbitrary-tickets"],
        title: "tickets, first attempt: any number",
        counterexamples: &[QUIESCENT, OVERTAKEN],
        mutant: Some(Mutant {
            of: OF,
            change: "numbers are arbitrary, ties are not broken, and a process compares with its \
                     last number even when it does not want to enter",
            breaks: ME1,
        }),
        fails_with: "-n 2 --load saturated --hold 1s",
        ..TICKETS
    };

    fn number(_highest: u64, cx: &mut Cx<'_, Tickets<Self>>) -> u64 {
        any_number(cx)
    }

    fn precedes(theirs: Timestamp, ours: Timestamp, _n: usize) -> bool {
        theirs.time < ours.time
    }

    fn is_requesting(_state: &State) -> bool {
        true
    }
}

/// The version of [`R1`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ArbitraryWithTieBreak;

impl Version for ArbitraryWithTieBreak {
    const CARD: Card = Card {
        name: "ra-r1",
        aliases: &["ra-arbitrary-tickets-tie-break"],
        title: "tickets, second attempt: ties broken by name",
        counterexamples: &[QUIESCENT, OVERTAKEN],
        mutant: Some(Mutant {
            of: OF,
            change: "numbers are arbitrary, and a process compares with its last number even when \
                     it does not want to enter",
            breaks: ME1,
        }),
        ..TICKETS
    };

    fn number(_highest: u64, cx: &mut Cx<'_, Tickets<Self>>) -> u64 {
        any_number(cx)
    }

    fn is_requesting(_state: &State) -> bool {
        true
    }
}

/// The version of [`R2`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct WithoutFlag;

impl Version for WithoutFlag {
    const CARD: Card = Card {
        name: "ra-r2",
        aliases: &["ra-quiescent"],
        title: "tickets, third attempt: larger than those received",
        counterexamples: &[QUIESCENT],
        mutant: Some(Mutant {
            of: OF,
            change: "a process compares with its last number even when it does not want to enter",
            breaks: ME2,
        }),
        ..TICKETS
    };

    fn is_requesting(_state: &State) -> bool {
        true
    }
}

/// The version of [`R3Split`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FlagThenNumber;

impl Version for FlagThenNumber {
    const CARD: Card = Card {
        name: "ra-r3-split",
        aliases: &["ra-r3-prime"],
        title: "tickets with a gap between the flag and the number",
        counterexamples: &[Counterexample {
            property: ME2,
            scope: Scope::of(2),
            steps: 6,
            story: "p0 says that it is requesting, and puts off p1's request because its own \
                    number is still the old one; then it takes a larger one, and p1 puts it off",
        }],
        mutant: Some(Mutant {
            of: OF,
            change: "a request may arrive after a process has said that it is requesting and \
                     before it has taken its number",
            breaks: ME2,
        }),
        ..TICKETS
    };

    const HALVES: Halves = Halves::FlagFirst;
}

/// The version of [`R3Swapped`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct NumberThenFlag;

impl Version for NumberThenFlag {
    const CARD: Card = Card {
        name: "ra-r3-swapped",
        aliases: &["ra-r3-second"],
        title: "tickets with a gap between the number and the flag",
        counterexamples: &[Counterexample {
            property: ME1,
            scope: Scope::of(2),
            steps: 8,
            story: "p0 takes number 1 and does not say so; p1 asks with number 1 and p0 replies; \
                    then p0 asks with its 1, wins the tie, and p1 replies",
        }],
        mutant: Some(Mutant {
            of: OF,
            change: "a request may arrive after a process has taken its number and before it has \
                     said that it is requesting",
            breaks: ME1,
        }),
        fails_with: "--latency 0ms..1ms --hold 20ms --requests 5000",
        ..TICKETS
    };

    const HALVES: Halves = Halves::NumberFirst;

    fn is_requesting(state: &State) -> bool {
        matches!(state, State::Wanted { .. } | State::Held)
    }
}

const QUIESCENT: Counterexample = Counterexample {
    property: ME2,
    scope: Scope::of(2),
    steps: 4,
    story: "p0's request reaches p1, which has never asked and whose number is 0: it puts p0 off, \
            and then asks with a larger number, which p0 puts off",
};

const OVERTAKEN: Counterexample = Counterexample {
    property: ME1,
    scope: Scope { rounds: Rounds::Times(2), ..Scope::of(2) },
    steps: 10,
    story: "p1 enters and leaves with a smaller number than p0's, which then enters; p1 asks again \
            with a small number, and p0 replies from inside",
};
