//! The card of [turn-lock](super).

use super::TurnLock;
use synod_core::card::{
    Bounds, Card, Cost, Load, OtherCosts, Parameter, Quantity, Rounds, Scope, Source, Timing,
    Tolerance,
};
use synod_core::family::lockstep::{CHEATER, LK1, LK2, LK3, LK4, LK5, Lockstep};
use synod_core::{Algorithm, Rule, Setup, SetupError, Trigger};

pub(crate) const SOURCE: Source = Source {
    author: "N. E. Baughman, B. N. Levine",
    year: 2001,
    work: "Cheat-proof playout for centralized and distributed online games, IEEE INFOCOM",
};

pub(crate) const PARAMETERS: &[Parameter] = &[
    CHEATER,
    Parameter {
        name: "delay",
        meaning: "how many milliseconds a message takes at most (default: 1)",
    },
];

pub(crate) const PROMPT: Timing = Timing::Synchronous { delay_ms: 1 };

impl Algorithm for TurnLock {
    type Family = Lockstep;

    const CARD: Card = Card {
        name: "turn-lock",
        aliases: &["lockstep", "commit-reveal"],
        title: "Turn-lock: commit, then reveal",
        source: SOURCE,
        idea: "First each player sends a hash of its action, then, when all hashes are there, the \
               action itself.",
        rules: &[
            Rule::on_input("Play", "play: send all others H(player | turn | nonce | action)"),
            Rule::on(
                &[Trigger::Message("Commit"), Trigger::Timer("Deadline")],
                "all commitments are there, or 3D have passed: tell all others which ones we \
                 received",
            ),
            Rule::on(
                &[Trigger::Message("Echo"), Trigger::Timer("Deadline")],
                "all have told, or 6D have passed: reveal the action and the nonce to all others; \
                 a player that is committed to two actions cheats, a player that is committed to \
                 none is silent",
            ),
            Rule::on(
                &[Trigger::Message("Reveal"), Trigger::Timer("Deadline")],
                "all have revealed, or 9D have passed: tell all others which openings we received",
            ),
            Rule::on(
                &[Trigger::Message("Compare"), Trigger::Timer("Deadline")],
                "all have told, or 12D have passed: a player that revealed the opening of its \
                 commitment, to any player, has played that action; one that revealed another \
                 opening cheats, one that revealed none is silent; both forfeit their places",
            ),
        ],
        assumes: &[
            "reliable links, in any order; no message takes longer than the delay",
            "players decide at once, and none crashes",
            "at most one player cheats, in one of the known ways, and none lies about the messages \
             of others",
        ],
        tolerates: Tolerance { duplication: true, delay_ms: Some(1), ..Tolerance::NOTHING },
        promises: &[LK1, LK2, LK3, LK4, LK5],
        proved: &[
            Scope { timing: PROMPT, rounds: Rounds::Times(2), duplicates: 1, ..Scope::of(2) },
            Scope { timing: PROMPT, ..Scope::of(3) },
            Scope { timing: PROMPT, set: &[("cheater", "p1:mute-commit")], ..Scope::of(3) },
            Scope { timing: PROMPT, set: &[("cheater", "p1:mute-reveal")], ..Scope::of(3) },
        ],
        costs: &[
            Cost {
                name: "messages per turn",
                quantity: Quantity::MessagesInAll,
                load: Load::Saturated,
                formula: "4N(N - 1); 2N(N - 1) without comparing",
                expected: |size| Bounds::exactly(4 * size.n * (size.n - 1)),
            },
            Cost {
                name: "commitments among them, for each player",
                quantity: Quantity::KindPerOperation("Commit"),
                load: Load::Any,
                formula: "N - 1",
                expected: |size| Bounds::exactly(size.n - 1),
            },
            Cost {
                name: "hops per turn",
                quantity: Quantity::EntryHops,
                load: Load::Any,
                formula: "4",
                expected: |_| Bounds::exactly(4),
            },
        ],
        other_costs: &[OtherCosts::over_multicast(&[
            Cost {
                name: "messages per turn",
                quantity: Quantity::MessagesInAll,
                load: Load::Saturated,
                formula: "4N",
                expected: |size| Bounds::exactly(4 * size.n),
            },
            Cost {
                name: "commitments among them, for each player",
                quantity: Quantity::KindPerOperation("Commit"),
                load: Load::Any,
                formula: "1",
                expected: |_| Bounds::exactly(1),
            },
        ])],
        parameters: PARAMETERS,
        smallest: 2,
        ..Card::BLANK
    };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        Self::group(setup)
    }
}
