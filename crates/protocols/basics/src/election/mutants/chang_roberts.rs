//! Three ways to spoil [Chang and Roberts's election](crate::election::chang_roberts).

use crate::election::chang_roberts::{PARAMETERS, RingProcess, SOURCE};
use crate::election::ring::ORDERED;
use synod_core::card::{Card, Counterexample, Mutant, Order, Scope};
use synod_core::family::election::{E1, E1_SELF, E2, E3, Election};
use synod_core::{Algorithm, ProcessId, Setup, SetupError};

const OF: &str = "chang-roberts";

/// A process that takes part passes on every identifier, also a smaller one. So every identifier
/// comes home, and its owner believes itself elected.
pub type ChangRobertsForwarding = RingProcess<false, true>;

impl Algorithm for ChangRobertsForwarding {
    type Family = Election;

    const CARD: Card = Card {
        name: "chang-roberts-forwarding",
        title: "Chang and Roberts's election that forwards smaller identifiers",
        source: SOURCE,
        idea: "A process that takes part passes on every identifier, and not only greater ones.",
        assumes: &["reliable links that keep the order of messages", "no process crashes"],
        tolerates: ORDERED,
        promises: &[E2],
        counterexamples: &[
            Counterexample {
                property: E1_SELF,
                scope: Scope { order: Order::Fifo, ..Scope::of(2) },
                steps: 6,
                story: "p0 and p1 start at once, and pass on each other's identifier; both \
                        identifiers come home, and both believe themselves elected",
            },
            Counterexample {
                property: E1,
                scope: Scope { order: Order::Fifo, ..Scope::of(2) },
                steps: 10,
                story: "both are elected, and the news of each goes round; the last that p1 hears \
                        is that p0 is elected",
            },
        ],
        parameters: PARAMETERS,
        mutant: Some(Mutant {
            of: OF,
            change: "a smaller identifier is not discarded by a process that takes part",
            breaks: E1_SELF,
        }),
        fails_with: "--fifo",
        ..Card::BLANK
    };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        Self::group(setup)
    }

    fn takes_part(&self, _me: ProcessId) -> bool {
        self.is_starter()
    }
}

/// Every process passes the result on, also the elected one, so the message never stops.
pub type ChangRobertsEndless = RingProcess<true, false>;

impl Algorithm for ChangRobertsEndless {
    type Family = Election;

    const CARD: Card = Card {
        name: "chang-roberts-endless",
        title: "Chang and Roberts's election whose result goes round for ever",
        source: SOURCE,
        idea: "The elected process passes the news of its election on, too.",
        assumes: &["reliable links that keep the order of messages", "no process crashes"],
        tolerates: ORDERED,
        promises: &[E1, E2, E1_SELF],
        counterexamples: &[Counterexample {
            property: E3,
            scope: Scope { order: Order::Fifo, ..Scope::of(2) },
            steps: 6,
            story: "p1 starts and is elected; the news goes round, comes home, is sent on, and p0 \
                    is told again",
        }],
        parameters: PARAMETERS,
        restless: true,
        mutant: Some(Mutant {
            of: OF,
            change: "the elected one does not stop the news of its election when it comes home",
            breaks: E3,
        }),
        fails_with: "--fifo",
        ..Card::BLANK
    };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        Self::group(setup)
    }

    fn takes_part(&self, _me: ProcessId) -> bool {
        self.is_starter()
    }
}

/// A process that handles an identifier is busier for it, and compares the next one with its load
/// of that moment. So the best does not recognise its own identifier when it comes home.
pub type ChangRobertsFresh = RingProcess<true, true, false>;

impl Algorithm for ChangRobertsFresh {
    type Family = Election;

    const CARD: Card = Card {
        name: "chang-roberts-fresh",
        title: "Chang and Roberts's election by a load that is read afresh",
        source: SOURCE,
        idea: "The identifier is the free share of a processor, as it is when a message arrives; to \
               handle a message costs one percent.",
        assumes: &["reliable links that keep the order of messages", "no process crashes"],
        tolerates: ORDERED,
        promises: &[E1_SELF],
        counterexamples: &[Counterexample {
            property: E2,
            scope: Scope { order: Order::Fifo, set: &[("loads", "100 99")], ..Scope::of(2) },
            steps: 6,
            story: "p1 is the best and its identifier comes home; p1, busier now, takes it for that \
                    of a better process and passes it on, for ever",
        }],
        parameters: PARAMETERS,
        restless: true,
        mutant: Some(Mutant {
            of: OF,
            change: "a process does not fix its quality when it takes part",
            breaks: E2,
        }),
        fails_with: "--fifo",
        ..Card::BLANK
    };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        Self::group(setup)
    }

    fn takes_part(&self, _me: ProcessId) -> bool {
        self.is_starter()
    }
}
