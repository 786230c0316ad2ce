//! The card of the algorithm, and its invariant.

use super::{MaekawaSanders, SandersProcess, State, What};
use crate::mutex::cost::{per_entry, relay_hops};
use crate::mutex::voting::{ALONE, ENTRY_HOPS, ENTRY_MESSAGES, SETS, each_in_one_place};
use crate::mutex::voting_sets::VotingSets;
use std::collections::BTreeSet;
use synod_core::card::{Bounds, Card, Counterexample, Parameter, Scope, Size, Source};
use synod_core::family::mutex::{ME1, ME2, ME3, Mutex};
use synod_core::{Algorithm, Invariant, ProcessId, ProcessSet, Rule, Setup, SetupError, Snapshot};

impl<const TELL_DISPLACED: bool> SandersProcess<TELL_DISPLACED> {
    pub(in crate::mutex) fn group(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        let sets = VotingSets::from_setup(setup)?;
        let clocks = setup.number_each("clocks")?.unwrap_or_else(|| vec![0; setup.n]);
        let process = |(me, clock)| SandersProcess {
            clock,
            voters: sets.of(me),
            state: State::Released,
            lock: None,
            queue: BTreeSet::new(),
            failed: ProcessSet::EMPTY,
        };
        Ok(ProcessId::all(setup.n).zip(clocks).map(process).collect())
    }

    pub(in crate::mutex) fn voting_size(processes: &[Self]) -> Size {
        Size { n: processes.len(), k: processes.first().map_or(0, |p| p.voters.len()) }
    }
}

pub(in crate::mutex) const SOURCE: Source = Source {
    author: "B. Sanders",
    year: 1987,
    work: "The information structure of distributed mutual exclusion algorithms, ACM TOCS 5(3)",
};

pub(in crate::mutex) const PARAMETERS: &[Parameter] = &[
    SETS,
    Parameter {
        name: "clocks",
        meaning: "the logical clock of each process at the start, e.g. 0 4 6 (default: all 0)",
    },
];

impl Algorithm for MaekawaSanders {
    type Family = Mutex;

    const CARD: Card = Card {
        name: "maekawa-sanders",
        aliases: &["sanders"],
        title: "Maekawa's mutual exclusion by voting, made free of deadlock by Sanders",
        source: SOURCE,
        idea: "Vote as Maekawa does, but for the earliest request: a voter asks its vote back \
               when an earlier one comes, and a candidate that cannot win now gives it up.",
        rules: &[
            Rule::on_input(
                "Enter",
                "enter: advance the clock, ask every member of the voting set, oneself included",
            ),
            Rule::on_message(
                "Request",
                "on a request: if the vote is free, grant it; if an earlier request has it or \
                 waits for it, answer failed; else tell the one displaced from the head of the \
                 queue that it failed, and inquire at the one that has the vote, once",
            ),
            Rule::on_message(
                "Failed",
                "on failed: remember it as long as the request lives, and yield every vote \
                 inquired",
            ),
            Rule::on_message(
                "Inquire",
                "on an inquiry: yield the vote if we failed somewhere; if not, or if the vote is \
                 still on its way, remember the inquiry; if we are inside, or it is about an old \
                 request, ignore it",
            ),
            Rule::on_message(
                "Yield",
                "on a yielded vote: queue the request again, grant the vote to the earliest",
            ),
            Rule::on_message("Grant", "on a grant: if it was the last vote missing, we are inside"),
            Rule::on_input("Exit", "exit: release every vote"),
            Rule::on_message(
                "Release",
                "on a release: grant the vote to the earliest in the queue, if there is one",
            ),
        ],
        assumes: &["reliable links, in any order (ME3: in causal order)", "no process crashes"],
        promises: &[ME1, ME2],
        counterexamples: &[Counterexample {
            property: ME3,
            scope: Scope { tells: 1, ..Scope::of(3) },
            steps: 6,
            story: "p0 asks, then tells p1, which asks too; p1 has its own vote and that of p2 \
                    before the request of p0 arrives",
        }],
        costs: &[
            per_entry("3(K - 1) to 7(K - 1)", |size| {
                Bounds::between(3 * (size.k - 1), 7 * (size.k - 1))
            }),
            ALONE,
            ENTRY_MESSAGES,
            ENTRY_HOPS,
            relay_hops(">= 1", |_| Bounds::at_least(1)),
        ],
        parameters: PARAMETERS,
        ..Card::BLANK
    };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        Self::group(setup)
    }

    fn size(processes: &[Self]) -> Size {
        Self::voting_size(processes)
    }

    fn invariants() -> &'static [Invariant<Self>] {
        &[Invariant {
            name: "one-vote",
            statement: "a vote is in one place: at home, on its way, or with one candidate",
            holds: every_vote_is_in_one_place,
        }]
    }

    fn stamp(&mut self) -> u64 {
        self.clock
    }

    fn witness(&mut self, stamp: u64) {
        self.learn(stamp);
    }
}

fn every_vote_is_in_one_place(snapshot: &Snapshot<'_, MaekawaSanders>) -> bool {
    let with_candidates = snapshot.processes().flat_map(|candidate| {
        candidate.voters.iter().filter(|voter| candidate.has_vote_of(*voter))
    });
    let on_their_way =
        snapshot.in_flight().into_iter().filter_map(|(from, to, message)| match message.what {
            What::Grant => Some(from),
            What::Yield | What::Release => Some(to),
            What::Request | What::Failed | What::Inquire => None,
        });
    let given = snapshot.processes().map(|voter| voter.lock.is_some());
    each_in_one_place(given, with_candidates.chain(on_their_way))
}
