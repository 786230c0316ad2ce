//! The card of the group service, and its parameters.

use super::peers::LONGEST_BAN;
use super::{Beat, Embedded, Settings};
use synod_core::card::{
    Bounds, Calm, Cost, Crashes, Deadline, Larger, Load, Order, Parameter, Quantity, Rounds, Scope,
    Settings as Given, Timing, Tolerance,
};
use synod_core::family::group::{
    ENGINE, G1, G2, G3, G4, G5, GroupService, INTEGRITY, LEVEL, SETTLES, VIEWS,
};
use synod_core::family::multicast::{PAYLOAD, Payload, body};
use synod_core::{Algorithm, Card, ProcessId, Rule, Setup, SetupError, Source, Trigger};

const PERIOD_MS: u64 = 20;
const TIMEOUT_MS: u64 = 100;
const WINDOW: u64 = 64;

/// Limits for times and sizes, below which no sum overflows.
const LONGEST_MS: u64 = 3_600_000;
const LARGEST_WINDOW: u64 = 65_536;

/// The period of heartbeats.
pub const PERIOD: Parameter = Parameter {
    name: "period",
    meaning: "milliseconds from one heartbeat to the next (default: 20)",
};
/// The time of silence after which a member is excluded.
pub const TIMEOUT: Parameter = Parameter {
    name: "timeout",
    meaning: "milliseconds of silence after which the others exclude a member from the view, in \
              whole periods (default: 100)",
};
/// Flow control.
pub const WINDOW_OF: Parameter = Parameter {
    name: "window",
    meaning: "how many messages of one member may be under way (default: 64)",
};
/// For small worlds.
pub const VIEWS_AT_MOST: Parameter = Parameter {
    name: "views",
    meaning: "how many views a process proposes in one life at most; for worlds that are to be \
              explored to the end (default: any number)",
};

fn whole(setup: &Setup, name: &str, default: u64, most: u64) -> Result<u64, SetupError> {
    match setup.number(name, default)? {
        number if (1..=most).contains(&number) => Ok(number),
        _ => Err(setup.bad(name, format!("it is a whole number from 1 to {most}"))),
    }
}

pub(super) fn settings(setup: &Setup) -> Result<Settings, SetupError> {
    let period_ms = whole(setup, PERIOD.name, PERIOD_MS, LONGEST_MS)?;
    let timeout_ms = whole(setup, TIMEOUT.name, TIMEOUT_MS.max(period_ms), LONGEST_MS)?;
    let views = setup.number(VIEWS_AT_MOST.name, u32::MAX.into())?;
    Ok(Settings {
        period_ms,
        patience: timeout_ms.div_ceil(period_ms) as u32,
        window: whole(setup, WINDOW_OF.name, WINDOW, LARGEST_WINDOW)? as usize,
        views: u32::try_from(views).unwrap_or(u32::MAX),
    })
}

/// The parameters of the engine alone.
pub const PARAMETERS: [Parameter; 4] = [PERIOD, TIMEOUT, WINDOW_OF, VIEWS_AT_MOST];

/// Time-outs of calm after which all members are in one view. Ten pass at most until every node
/// knows every other, and every earlier proposal is given up; then the longest ban; and twelve more
/// until the next view, if its first proposal is refused. `docs/groups.md` counts them.
const SETTLED_AFTER: u64 = 10 + LONGEST_BAN + 12;

/// The calm that settling needs, and for how long. There is none for the abstract engine, which has
/// no clock, nor for a coordinator with a limited number of views, which may have none left.
fn calm(setup: &Setup) -> Option<Calm> {
    let settings = settings(setup).ok()?;
    if setup.text(ENGINE.name) == Some("abstract") || settings.views < u32::MAX {
        return None;
    }
    let timeout_ms = u64::from(settings.patience) * settings.period_ms;
    let delay_ms = timeout_ms - settings.period_ms;
    Some(Calm { delay_ms, within_ms: SETTLED_AFTER * timeout_ms })
}

const PROMPT: Timing = Timing::Synchronous { delay_ms: 1 };
const SHORT: Given = &[("period", "2"), ("timeout", "4")];
const LONGER: Given = &[("period", "3"), ("timeout", "6")];
const IDEALISED: Given = &[("engine", "abstract"), ("partitions", "1")];
const MORTAL: Given = &[("engine", "abstract"), ("partitions", "1"), ("deaths", "1")];
const FRAIL: Given = &[("engine", "abstract"), ("partitions", "1"), ("node-crashes", "1")];

/// The network falls apart and comes together, one member dies and one node starts again, in any
/// order.
const LARGER: &[Larger] = &[Larger {
    scope: Scope {
        order: Order::Fifo,
        set: &[
            ("engine", "abstract"),
            ("partitions", "1"),
            ("deaths", "1"),
            ("merges", "1"),
            ("restarts", "1"),
        ],
        ..Scope::of(3)
    },
    holds: &[G1, G2, G3, G4, G5, VIEWS, INTEGRITY, SETTLES],
    states: 931_821,
    seconds: 10,
    mebibytes: 397,
}];

/// How views come about, for the cards of services.
pub const MEMBERSHIP: Rule = Rule::on(
    &[
        Trigger::Start,
        Trigger::Timer("Beat"),
        Trigger::Message("Hello"),
        Trigger::Message("Bye"),
        Trigger::Message("Propose"),
        Trigger::Message("Accept"),
        Trigger::Message("Prepare"),
        Trigger::Message("Ready"),
        Trigger::Message("Commit"),
    ],
    "engine=embedded: heartbeats, and views by proposal and flush, as group does it",
);

/// How multicasts get their order, for the cards of services.
pub const ORDER: Rule = Rule::on(
    &[
        Trigger::Message("Request"),
        Trigger::Message("Grant"),
        Trigger::Message("Data"),
        Trigger::Message("Have"),
        Trigger::Message("Stable"),
    ],
    "engine=embedded: numbers for multicasts, and deliveries in their order, as group does it",
);

/// The card of the group service.
pub const CARD: Card = Card {
    name: "group",
    aliases: &["virtual-synchrony", "extended-virtual-synchrony"],
    title: "the group service: views and multicast in one order, with extended virtual synchrony",
    source: Source {
        author: "L. Moser, Y. Amir, P. M. Melliar-Smith, D. Agarwal",
        year: 1994,
        work: "Extended virtual synchrony, ICDCS",
    },
    idea: "Nodes that reach each other agree on a view, and on the messages delivered in the last \
           one; in a view, a sequencer gives out numbers and senders multicast with them.",
    rules: &[
        Rule::on(
            &[Trigger::Start, Trigger::Timer("Beat")],
            "once in a period: send all nodes a heartbeat with the nodes that you hear, and your \
             progress",
        ),
        Rule::on(
            &[Trigger::Input("Multicast"), Trigger::Message("Request"), Trigger::Message("Grant")],
            "multicast: ask the sequencer, the first of the view, for a number; then send the \
             message with its number to all",
        ),
        Rule::on(
            &[
                Trigger::Message("Data"),
                Trigger::Message("Have"),
                Trigger::Message("Stable"),
                Trigger::Message("Payload"),
            ],
            "deliver in the order of the numbers; a safe message when every member has it",
        ),
        Rule::on_timer(
            "Beat",
            "if the nodes that reach each other are not the members of the view, the smallest of \
             them proposes a view",
        ),
        Rule::on_message(
            "Propose",
            "on a proposal: deliver no more, and send the proposer the messages of your view",
        ),
        Rule::on(
            &[
                Trigger::Message("Accept"),
                Trigger::Message("Prepare"),
                Trigger::Message("Ready"),
                Trigger::Message("Commit"),
            ],
            "when all have accepted: send the members of each old view the messages that they hold \
             together; when all have these, the new view begins",
        ),
        Rule::on(
            &[Trigger::Message("Ready"), Trigger::Message("Commit"), Trigger::Message("Hello")],
            "at the end of a view: deliver every message that a companion has delivered; then, in \
             the transitional configuration, the rest up to the first gap, and the multicasts of \
             companions beyond it",
        ),
        Rule::on_message(
            "Hello",
            "on a heartbeat: note which nodes reach each other, and how far the sender is",
        ),
        Rule::on(
            &[Trigger::Input("Leave"), Trigger::Message("Bye")],
            "leave: tell all nodes; they go on without the member",
        ),
    ],
    assumes: &[
        "the nodes are known beforehand",
        "a node that starts again has a higher incarnation",
        "for settling: from some moment on there are no faults, no message is lost, and messages \
         take less than the time-out less a period; 86 time-outs later at the latest all nodes \
         that reach each other are in one view",
    ],
    tolerates: Tolerance {
        crashes: Crashes::AllButOne,
        loss: true,
        duplication: true,
        ..Tolerance::NOTHING
    },
    promises: &[G1, G2, G3, G4, G5, VIEWS, INTEGRITY, SETTLES],
    deadlines: &[Deadline { property: SETTLES, calm }],
    usual: Some(5),
    proved: &[
        // A heartbeat arrives within half a period, and a node that is silent for two periods is
        // excluded.
        Scope { timing: PROMPT, rounds: Rounds::Times(0), set: SHORT, ..Scope::of(2) },
        Scope {
            timing: PROMPT,
            rounds: Rounds::Times(0),
            order: Order::Fifo,
            crashes: 1,
            set: SHORT,
            ..Scope::of(2)
        },
        Scope {
            timing: PROMPT,
            rounds: Rounds::Times(0),
            order: Order::Fifo,
            drops: 1,
            set: SHORT,
            ..Scope::of(2)
        },
        Scope { timing: PROMPT, order: Order::Fifo, set: LONGER, ..Scope::of(2) },
        Scope { order: Order::Fifo, set: IDEALISED, ..Scope::of(3) },
        Scope { order: Order::Fifo, set: MORTAL, ..Scope::of(3) },
        Scope { order: Order::Fifo, set: FRAIL, ..Scope::of(3) },
    ],
    larger: LARGER,
    costs: &[Cost {
        name: "data messages per multicast",
        quantity: Quantity::KindPerOperation("Data"),
        load: Load::Any,
        formula: "at most N - 1",
        expected: |size| Bounds::between(0, size.n - 1),
    }],
    parameters: &[PERIOD, TIMEOUT, WINDOW_OF, VIEWS_AT_MOST, LEVEL, PAYLOAD],
    restless: true,
    ..Card::BLANK
};

impl Algorithm for Embedded<Payload> {
    type Family = GroupService;

    const CARD: Card = CARD;

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        body(setup)?;
        setup.choice(LEVEL.name, &["agreed", "safe", "mixed"])?;
        ProcessId::all(setup.n).map(|me| Embedded::from_setup(me, setup)).collect()
    }

    fn begins_round(Beat: &Beat) -> bool {
        true
    }
}
