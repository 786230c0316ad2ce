//! The embedded engine without one of its rules.

use super::embedded::{Beat, CARD, Embedded};
use synod_core::card::{Card, Counterexample, Mutant, Order, Rounds, Scope, Timing};
use synod_core::family::GroupService;
use synod_core::family::group::{G4, LEVEL};
use synod_core::family::multicast::{Payload, body};
use synod_core::{Algorithm, ProcessId, Setup, SetupError};

/// A member delivers a safe message in its turn, and does not wait until every member has it.
pub type GroupHasty = Embedded<Payload, false>;

impl Algorithm for GroupHasty {
    type Family = GroupService;

    const CARD: Card = Card {
        name: "group-hasty",
        aliases: &[],
        title: "a group service whose safe messages are not safe",
        idea: "A safe message is delivered like an agreed one: in its turn, by members that do not know \
               whether the others have it.",
        promises: &[],
        deadlines: &[],
        proved: &[],
        larger: &[],
        usual: None,
        costs: &[],
        counterexamples: &[Counterexample {
            property: G4,
            scope: Scope {
                timing: Timing::Synchronous { delay_ms: 1 },
                order: Order::Fifo,
                rounds: Rounds::Times(1),
                drops: 1,
                set: &[("period", "2"), ("timeout", "4"), ("level", "safe")],
                ..Scope::of(2)
            },
            steps: 29,
            story: "A heartbeat of p1 is lost while the view of the two begins: p0 says that it hears \
                    nobody, and p1 goes on alone. Before that, p0 multicasts a safe message and \
                    delivers it at once; p1 never gets it.",
        }],
        mutant: Some(Mutant {
            of: "group",
            change: "a safe message is delivered before every member of the view has it",
            breaks: G4,
        }),
        fails_with: "-n 3 --requests 200 --partitions 20 --within 2s --param level=safe",
        ..CARD
    };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        body(setup)?;
        setup.choice(LEVEL.name, &["agreed", "safe", "mixed"])?;
        ProcessId::all(setup.n).map(|me| Embedded::from_setup(me, setup)).collect()
    }

    fn begins_round(Beat: &Beat) -> bool {
        true
    }
}
