//! Raft in the catalogue.

use super::judge::{leaders_are_complete, logs_match};
use super::settings::{PARAMETERS as OWN, first_entries, from_setup};
use super::{Raft, Rules, Sound};
use crate::replication::settings::STEADY;
use synod_core::byzantine::{ADVERSARY, LIES, SCRIPT, TRAITORS};
use synod_core::card::{
    Card, Crashes, Larger, Order, OtherCosts, Parameter, Rounds, Scope, Settings, Source, Tolerance,
};
use synod_core::family::replication::{
    ANSWERED, ASKERS, CLIENTS, KEYS, LINEARIZABLE, ONCE, ONE_LEADER, OPERATIONS, PATIENCE, READS,
    SAME_LOG, SNAPSHOT, TRIES,
};
use synod_core::replication::{Catalogued, Command, KeyValue, Operation, Sessions, Store};
use synod_core::{Invariant, Rule, Setup, SetupError, Trigger};

/// A server below the key-value store, with rules `R`.
pub type Server<R> = Raft<Command<Operation>, Sessions<Store>, R>;

pub(super) const SOURCE: Source = Source {
    author: "D. Ongaro, J. Ousterhout",
    year: 2014,
    work: "In search of an understandable consensus algorithm. USENIX ATC",
};

pub(super) const PARAMETERS: &[Parameter] = &[
    OWN[0], OWN[1], OWN[2], OWN[3], OWN[4], OWN[5], OWN[6], OWN[7], OWN[8], OWN[9], OWN[10],
    OWN[11], OWN[12], ASKERS, CLIENTS, KEYS, OPERATIONS, READS, PATIENCE, TRIES, SNAPSHOT,
    TRAITORS, ADVERSARY, LIES, SCRIPT,
];

/// Everything may go wrong that is no lie.
pub(super) const TOLERATES: Tolerance = Tolerance {
    crashes: Crashes::Minority,
    recovery: true,
    loss: true,
    duplication: true,
    ..Tolerance::NOTHING
};

/// Three servers of which one may campaign and asks twice.
/// Two terms, a crash and a restart. Nothing is tried again there, so that a request may stay
/// without an answer.
const LARGER: &[Larger] = &[Larger {
    scope: Scope {
        rounds: Rounds::Times(1),
        crashes: 1,
        restarts: 1,
        ..small(&[
            ("terms", "2"),
            ("beats", "0"),
            ("prevote", "no"),
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
    states: 6_784_797,
    seconds: 43,
    mebibytes: 284,
}];

const fn small(set: Settings) -> Scope {
    Scope { rounds: Rounds::Times(2), order: Order::Fifo, set, ..Scope::of(3) }
}

impl Catalogued for Server<Sound> {
    const CARD: Card = Card {
        name: "raft",
        title: "Raft",
        source: SOURCE,
        idea: "One leader, elected by a majority for a term, writes the log, and the others copy it. \
               Only a server whose log is as good as those of a majority is elected, so a leader has \
               everything that was ever committed.",
        rules: &[
            Rule::on_timer(
                "Election",
                "election timeout: enter the next term, vote for yourself, ask all for their votes \
                 (having asked before whether it is worth it)",
            ),
            Rule::on_message(
                "RequestVote",
                "vote once in a term, for a log that is at least as good as your own; write it \
                 down first",
            ),
            Rule::on(
                &[Trigger::Message("Vote"), Trigger::Timer("Heartbeat")],
                "a majority of votes: lead; append an empty entry; send heartbeats",
            ),
            Rule::on(
                &[
                    Trigger::Message("Appended"),
                    Trigger::Timer("Flush"),
                    Trigger::Timer("Heartbeat"),
                ],
                "leader: send what a follower lacks after the last place where both logs agree",
            ),
            Rule::on_message(
                "Append",
                "follower: accept entries after a place where your log agrees; what contradicts \
                 them goes",
            ),
            Rule::on(
                &[Trigger::Message("Appended"), Trigger::Message("Append")],
                "an entry of the leader's own term that a majority has is committed, and all \
                 before it",
            ),
            Rule::on(
                &[
                    Trigger::Message("RequestVote"),
                    Trigger::Message("Vote"),
                    Trigger::Message("Append"),
                    Trigger::Message("Appended"),
                    Trigger::Message("Install"),
                    Trigger::Message("TimeoutNow"),
                ],
                "a greater term in any message: enter it, and follow",
            ),
            Rule::on_timer(
                "Heartbeat",
                "leader: no majority has answered your heartbeats for a while: lead no more",
            ),
            Rule::on_message(
                "Install",
                "a follower lacks entries that a snapshot has replaced: send it the snapshot; it \
                 takes the state over",
            ),
            Rule::on(
                &[Trigger::Input("Transfer"), Trigger::Message("TimeoutNow")],
                "asked to hand the lead over: wait until the other has the whole log, then tell it \
                 to stand at once",
            ),
            Rule::on_input(
                "Reconfigure",
                "asked for other voters: append them, one more or one less at a time; they count \
                 from that entry on",
            ),
            Rule::on_timer(
                "Lease",
                "the lease is over: answer reads after a round of heartbeats again",
            ),
        ],
        assumes: &[
            "processes crash, and start again with their disks",
            "messages may be lost, doubled, late and out of order",
            "for answers: a majority of voters is up and hears each other, quicker than the time \
             before an election",
        ],
        tolerates: TOLERATES,
        promises: &[ONE_LEADER, SAME_LOG, ONCE, LINEARIZABLE, ANSWERED],
        usual: Some(2),
        proved: &[
            small(&[
                ("terms", "1"),
                ("beats", "0"),
                ("prevote", "no"),
                ("spread", "1"),
                ("batch", "no"),
                ("tries", "0"),
                ("records", "whole"),
                ("standing", "p0"),
                ("askers", "p0"),
                ("operations", "put-get"),
            ]),
            small(&[
                ("terms", "1"),
                ("beats", "0"),
                ("prevote", "no"),
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
                    ("terms", "1"),
                    ("beats", "0"),
                    ("prevote", "no"),
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
        other_costs: &[OtherCosts::with(
            &[
                ("terms", "1"),
                ("beats", "0"),
                ("prevote", "no"),
                ("standing", "p0"),
                ("askers", "p0"),
            ],
            STEADY,
        )],
        parameters: PARAMETERS,
        layers: &["key-value store", "raft"],
        restless: true,
        ..Card::BLANK
    };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        group(setup)
    }

    fn invariants() -> &'static [Invariant<KeyValue<Self>>] {
        const {
            &[
                Invariant {
                    name: "log-matching",
                    statement: "two logs that have an entry of the same term at the same place are the \
                                same up to there",
                    holds: logs_match,
                },
                complete(),
            ]
        }
    }
}

/// Leader completeness.
pub(super) const fn complete<R: Rules>() -> Invariant<KeyValue<Server<R>>>
where
    Server<R>: Catalogued,
{
    Invariant {
        name: "leader-completeness",
        statement: "whoever leads has all that anybody of its term or an earlier one knows to be \
                    committed",
        holds: leaders_are_complete,
    }
}

/// Servers with some rules, as the parameters say.
pub(super) fn group<R: Rules>(setup: &Setup) -> Result<Vec<Server<R>>, SetupError> {
    let (settings, limits) = from_setup(setup)?;
    let logs = first_entries(setup)?;
    let term = logs.iter().flatten().copied().max().unwrap_or(0);
    let server = |log: &Vec<u64>| Raft::limited(settings.clone(), limits.clone(), term, log);
    Ok(logs.iter().map(server).collect())
}
