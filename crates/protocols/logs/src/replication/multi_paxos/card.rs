//! Multi-Paxos in the catalogue.

use super::settings::{PARAMETERS as OWN, from_setup};
use super::{MultiPaxos, Rules, Sound};
use crate::replication::settings::STEADY;
use std::collections::BTreeSet;
use synod_agreement::consensus::acceptor::Vote;
use synod_agreement::consensus::quorum::majority;
use synod_core::algorithm::Snapshot;
use synod_core::byzantine::{ADVERSARY, LIES, SCRIPT, TRAITORS};
use synod_core::card::{
    Bounds, Card, Cost, Counterexample, Crashes, Larger, Order, OtherCosts, Parameter, Rounds,
    Scope, Settings, Source, Tolerance,
};
use synod_core::family::replication::{
    ANSWERED, ASKERS, CLIENTS, KEYS, LINEARIZABLE, ONCE, ONE_LEADER, OPERATIONS, PATIENCE, READS,
    SAME_LOG, SNAPSHOT, TRIES,
};
use synod_core::replication::{Catalogued, Command, Entry, KeyValue, Operation, Sessions, Store};
use synod_core::{Invariant, Rule, Setup, SetupError, Trigger};

/// p0 leads, and its clients ask; it sends no heartbeats.
const UNDISTURBED: Settings =
    &[("ballots", "1"), ("beats", "0"), ("ask", "no"), ("standing", "p0"), ("askers", "p0")];

/// A process below the key-value store, with rules `R`.
pub type Server<R> = MultiPaxos<Command<Operation>, Sessions<Store>, R>;

pub(super) const SOURCE: Source = Source {
    author: "L. Lamport",
    year: 2001,
    work: "Paxos made simple. ACM SIGACT News 32(4), section 3",
};

pub(super) const PARAMETERS: &[Parameter] = &[
    OWN[0], OWN[1], OWN[2], OWN[3], OWN[4], OWN[5], OWN[6], OWN[7], OWN[8], OWN[9], OWN[10],
    OWN[11], ASKERS, CLIENTS, KEYS, OPERATIONS, READS, PATIENCE, TRIES, SNAPSHOT, TRAITORS,
    ADVERSARY, LIES, SCRIPT,
];

/// Everything may go wrong that is no lie.
pub(super) const TOLERATES: Tolerance = Tolerance {
    crashes: Crashes::Minority,
    recovery: true,
    loss: true,
    duplication: true,
    ..Tolerance::NOTHING
};

/// Three processes; p0 asks twice.
pub(super) const fn small(set: Settings) -> Scope {
    Scope { rounds: Rounds::Times(2), order: Order::Fifo, set, ..Scope::of(3) }
}

/// Two processes that begin ballots; a crash and a restart, a lost message and a doubled one, in
/// any order. Nothing is tried again there, so that a request may stay without an answer.
const LARGER: &[Larger] = &[Larger {
    scope: Scope {
        rounds: Rounds::Times(1),
        crashes: 1,
        restarts: 1,
        drops: 1,
        duplicates: 1,
        ..small(&[
            ("ballots", "1"),
            ("beats", "0"),
            ("ask", "no"),
            ("spread", "1"),
            ("batch", "no"),
            ("tries", "0"),
            ("records", "whole"),
            ("standing", "p0 p1"),
            ("askers", "p0"),
            ("operations", "put"),
        ])
    },
    holds: &[ONE_LEADER, SAME_LOG, ONCE, LINEARIZABLE],
    states: 2_013_002,
    seconds: 10,
    mebibytes: 119,
}];

impl Catalogued for Server<Sound> {
    const CARD: Card = Card {
        name: "multi-paxos",
        title: "Multi-Paxos",
        source: SOURCE,
        idea: "Each place of the log is decided by Paxos. One leader gets the promises for all places \
               at once, and then has one entry after the other accepted, in one round trip each; what \
               an earlier leader may have begun it finishes first.",
        rules: &[
            Rule::on(
                &[Trigger::Timer("Election"), Trigger::Message("Ask"), Trigger::Message("Granted")],
                "no leader for a while: if a majority hears of none either, begin a ballot, and \
                 ask all for a promise for every place that is not known to be chosen (1a)",
            ),
            Rule::on_message(
                "Prepare",
                "promise to take part in no smaller ballot, and tell all that you have accepted; \
                 write it down first (1b)",
            ),
            Rule::on(
                &[Trigger::Message("Promise"), Trigger::Timer("Flush")],
                "promises of a majority: propose at each place what was accepted there in the \
                 greatest ballot, and nothing in the gaps; then what you are asked to append (2a)",
            ),
            Rule::on_message(
                "Accept",
                "accept what is proposed unless you have promised a greater ballot; write it down \
                 first (2b)",
            ),
            Rule::on(
                &[
                    Trigger::Message("Accepted"),
                    Trigger::Message("Accept"),
                    Trigger::Message("Heartbeat"),
                ],
                "what a majority has accepted in one ballot is chosen; tell the others how far \
                 with what you send next",
            ),
            Rule::on(
                &[
                    Trigger::Message("Heartbeat"),
                    Trigger::Message("Lacks"),
                    Trigger::Message("Learn"),
                    Trigger::Message("Install"),
                ],
                "whoever lacks what is chosen asks for it, and gets the entries or a state",
            ),
            Rule::on(
                &[
                    Trigger::Timer("Heartbeat"),
                    Trigger::Message("Alive"),
                    Trigger::Message("Refused"),
                ],
                "a majority does not answer your heartbeats, or somebody has promised a greater \
                 ballot: lead no more",
            ),
            Rule::on(
                &[Trigger::Input("Transfer"), Trigger::Message("Stand")],
                "asked to hand the lead over: tell the other to begin a ballot",
            ),
        ],
        assumes: &[
            "processes crash, and start again with their disks",
            "messages may be lost, doubled, late and out of order",
            "for answers: one process and a majority hear each other, quicker than \
             the election timeout",
        ],
        tolerates: TOLERATES,
        promises: &[ONE_LEADER, SAME_LOG, ONCE, LINEARIZABLE, ANSWERED],
        usual: Some(2),
        proved: &[
            small(&[
                ("ballots", "1"),
                ("beats", "0"),
                ("ask", "no"),
                ("spread", "1"),
                ("batch", "no"),
                ("tries", "0"),
                ("records", "whole"),
                ("standing", "p0"),
                ("askers", "p0"),
                ("operations", "put-get"),
            ]),
            small(&[
                ("ballots", "1"),
                ("beats", "0"),
                ("ask", "no"),
                ("spread", "1"),
                ("batch", "no"),
                ("tries", "0"),
                ("records", "whole"),
                ("standing", "p0"),
                ("askers", "p0"),
                ("operations", "put-get"),
                ("reads", "index"),
            ]),
            Scope {
                crashes: 1,
                duplicates: 1,
                ..small(&[
                    ("ballots", "1"),
                    ("beats", "0"),
                    ("ask", "no"),
                    ("spread", "1"),
                    ("batch", "no"),
                    ("tries", "0"),
                    ("records", "whole"),
                    ("standing", "p0"),
                    ("askers", "p0"),
                    ("operations", "put-get"),
                ])
            },
        ],
        larger: LARGER,
        counterexamples: &[
            Counterexample {
                property: SAME_LOG,
                scope: Scope {
                    crashes: 1,
                    restarts: 1,
                    ..small(&[
                        ("acceptors", "forgetful"),
                        ("ballots", "1"),
                        ("beats", "0"),
                        ("ask", "no"),
                        ("spread", "1"),
                        ("batch", "no"),
                        ("tries", "0"),
                        ("standing", "p0"),
                        ("askers", "p0"),
                        ("operations", "put"),
                    ])
                },
                steps: 13,
                story: "Nothing is written down. p0 leads, its put is chosen and applied, and it \
                        crashes. It starts again, begins the same ballot once more, takes promises and \
                        votes that were meant for its last life for its own, and applies another put \
                        at the same place.",
            },
            Counterexample {
                property: SAME_LOG,
                scope: Scope {
                    rounds: Rounds::Times(1),
                    ..small(&[
                        ("adopt", "nothing"),
                        // No process crashes, so records do not matter.
                        ("acceptors", "forgetful"),
                        ("ballots", "1"),
                        ("beats", "0"),
                        ("ask", "no"),
                        ("spread", "1"),
                        ("batch", "no"),
                        ("tries", "0"),
                        ("standing", "p0 p2"),
                        ("askers", "p0 p2"),
                        ("operations", "put"),
                    ])
                },
                steps: 12,
                story: "A new leader does not propose what it is told. p0 leads, and its put is chosen \
                        with p1. p1 tells it to p2, which begins a greater ballot, but proposes its own \
                        put at the same place.",
            },
        ],
        other_costs: &[
            OtherCosts::with(UNDISTURBED, STEADY),
            OtherCosts {
                set: UNDISTURBED,
                multicast: true,
                costs: &[Cost {
                    formula: "N",
                    expected: |size| Bounds::exactly(if size.n == 1 { 0 } else { size.n }),
                    ..STEADY[0]
                }],
            },
        ],
        parameters: PARAMETERS,
        layers: &["key-value store", "multi-paxos"],
        restless: true,
        ..Card::BLANK
    };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        group(setup)
    }

    fn invariants() -> &'static [Invariant<KeyValue<Self>>] {
        const { &[chosen_stays()] }
    }
}

/// A chosen value stays chosen.
pub(super) const fn chosen_stays<R: Rules>() -> Invariant<KeyValue<Server<R>>>
where
    Server<R>: Catalogued,
{
    Invariant {
        name: "chosen-stays",
        statement: "if a majority has accepted a value at a place in one ballot, nobody has \
                    accepted another one there in that ballot or a greater one, or knows \
                    another one to be chosen",
        holds: stays,
    }
}

/// Processes with some rules, as the parameters say.
pub(super) fn group<R: Rules>(setup: &Setup) -> Result<Vec<Server<R>>, SetupError> {
    let (settings, limits) = from_setup(setup)?;
    Ok(vec![MultiPaxos::limited(settings, limits); setup.n])
}

type VoteOf = Vote<Entry<Command<Operation>>>;

fn stays<R: Rules>(snapshot: &Snapshot<'_, KeyValue<Server<R>>>) -> bool
where
    Server<R>: Catalogued,
{
    let servers: Vec<&Server<R>> = snapshot.processes().map(|p| p.process().engine()).collect();
    let open: BTreeSet<u64> =
        servers.iter().flat_map(|p| p.log().votes().keys().copied()).collect();
    open.into_iter().all(|index| {
        let votes: Vec<&VoteOf> =
            servers.iter().filter_map(|p| p.log().votes().get(&index)).collect();
        let known = servers.iter().filter_map(|p| p.log().chosen(index));
        let is_chosen = |vote: &&&VoteOf| {
            votes.iter().filter(|other| **other == **vote).count() >= majority(servers.len())
        };
        let agree = |vote: &VoteOf| {
            let later = |other: &&&VoteOf| other.ballot >= vote.ballot;
            votes.iter().filter(later).all(|other| other.value == vote.value)
                && known.clone().all(|entry| *entry == vote.value)
        };
        votes.iter().filter(is_chosen).all(|vote| agree(vote))
    })
}
