//! Raft without one of its rules.

use super::card::{PARAMETERS, SOURCE, TOLERATES, complete, group};
use super::{Rules, Server};
use serde::{Deserialize, Serialize};
use synod_core::card::{Card, Counterexample, Mutant, Order, Rounds, Scope, Settings};
use synod_core::family::replication::ONE_LEADER;
use synod_core::replication::{Catalogued, KeyValue};
use synod_core::{Invariant, Setup, SetupError};

/// A leader takes every entry that a majority has for committed, also those of earlier terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CountsOldTerms;

impl Rules for CountsOldTerms {
    const COMMITS_ONLY_ITS_OWN_TERM: bool = false;
}

/// A server votes for the first candidate that asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct VotesBlindly;

impl Rules for VotesBlindly {
    const COMPARES_LOGS: bool = false;
}

/// A vote is given without being written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ForgetsVotes;

impl Rules for ForgetsVotes {
    const KEEPS_VOTES: bool = false;
}

/// Three servers without clients, which campaign at any time.
const fn idle(set: Settings) -> Scope {
    Scope { rounds: Rounds::Times(0), order: Order::Fifo, set, ..Scope::of(3) }
}

impl Catalogued for Server<CountsOldTerms> {
    const CARD: Card = Card {
        name: "raft-old-term",
        title: "Raft that counts copies of entries of earlier terms",
        source: SOURCE,
        idea: "What a majority has is committed, whichever term wrote it.",
        tolerates: TOLERATES,
        counterexamples: &[Counterexample {
            property: "leader-completeness",
            scope: idle(&[
                ("terms", "4"),
                ("beats", "0"),
                ("prevote", "no"),
                ("spread", "1"),
                ("batch", "no"),
                ("lines", "1"),
                ("logs", "p0:1 p2:2"),
                ("standing", "p0 p2"),
                ("records", "whole"),
            ]),
            steps: 18,
            story: "Figure 8 of the source. p0 wrote an entry in term 1, and p2 another in term 2, and \
                    nobody else has either. p0 leads again in term 3, and copies its entry of term 1 to \
                    p1: a majority has it, and p0 takes it for committed. But p2, whose last entry is of \
                    term 2, gets p1's vote in term 4.",
        }],
        parameters: PARAMETERS,
        restless: true,
        mutant: Some(Mutant {
            of: "raft",
            change: "an entry of an earlier term is committed as soon as a majority has it",
            breaks: "leader-completeness",
        }),
        fails_with: "--requests 300 --load saturated --loss 0.2 --crashes 100 --restart \
                     disk --partitions 20 --within 2s --param prevote=no --param \
                     election=10 --param heartbeat=20 --param lines=1",
        ..Card::BLANK
    };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        group(setup)
    }

    fn invariants() -> &'static [Invariant<KeyValue<Self>>] {
        const { &[complete()] }
    }
}

impl Catalogued for Server<VotesBlindly> {
    const CARD: Card = Card {
        name: "raft-blind-vote",
        title: "Raft that votes for any log",
        source: SOURCE,
        idea: "A server votes for the first that asks in a term, whatever its log.",
        tolerates: TOLERATES,
        counterexamples: &[Counterexample {
            property: "leader-completeness",
            scope: idle(&[
                ("terms", "2"),
                ("beats", "0"),
                ("prevote", "no"),
                ("spread", "1"),
                ("batch", "no"),
                ("standing", "p0 p2"),
                ("records", "whole"),
            ]),
            steps: 16,
            story: "p0 leads in term 1, and commits an entry with p1. p2, which has no entry, campaigns \
                    in term 2 and gets p1's vote.",
        }],
        parameters: PARAMETERS,
        restless: true,
        mutant: Some(Mutant {
            of: "raft",
            change: "a vote is given without a look at the candidate's log",
            breaks: "leader-completeness",
        }),
        fails_with: "-n 3 --crashes 30 --restart disk --within 1s --param prevote=no \
                     --param election=10 --param heartbeat=100",
        ..Card::BLANK
    };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        group(setup)
    }

    fn invariants() -> &'static [Invariant<KeyValue<Self>>] {
        const { &[complete()] }
    }
}

impl Catalogued for Server<ForgetsVotes> {
    const CARD: Card = Card {
        name: "raft-forgetful",
        title: "Raft that does not write down its votes",
        source: SOURCE,
        idea: "A vote is given at once; the disk has only the log.",
        tolerates: TOLERATES,
        counterexamples: &[Counterexample {
            property: ONE_LEADER,
            scope: Scope {
                crashes: 1,
                restarts: 1,
                ..idle(&[
                    ("terms", "1"),
                    ("beats", "0"),
                    ("prevote", "no"),
                    ("spread", "1"),
                    ("batch", "no"),
                    ("standing", "p0 p2"),
                    ("records", "whole"),
                ])
            },
            steps: 12,
            story: "p1 votes for p0 in term 1, crashes, starts again, and votes for p2 in the same term: \
                    both lead.",
        }],
        parameters: PARAMETERS,
        restless: true,
        mutant: Some(Mutant {
            of: "raft",
            change: "a vote is not written down before it is given",
            breaks: ONE_LEADER,
        }),
        fails_with: "-n 3 --requests 30 --crashes 100 --restart disk --within 1s --param \
                     prevote=no --param election=10 --param heartbeat=100",
        ..Card::BLANK
    };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        group(setup)
    }
}
