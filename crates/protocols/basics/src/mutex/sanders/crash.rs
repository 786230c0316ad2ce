//! Voting without deadlock (Maekawa, 1985; Sanders, 1987), where processes crash.
//!
//! A process that crashes may have votes, may wait for some, and is a voter itself. A voter takes
//! its vote back from a candidate that is dead, and drops its request from the queue. A candidate
//! with a dead voter in its voting set takes back its request everywhere, and asks the next voting
//! set in which all are alive: that of another process will do, because any two have a member in
//! common, and a member that is alive.
//!
//! - Assumes: a perfect failure detector below (the parameter `detector`), hence reliable links and
//!   a bound on delays; links in order; a voting set without a dead member is left. If the detector
//!   errs about a candidate that is inside, its votes are given away.
//! - Guarantees: ME1, ME2 as long as such a set is left, which is certain after one crash of three
//!   processes or more. Not ME3.
//! - Cost: that of the original, and that of the detector; a request that is made again costs
//!   3(K − 1) more.
//! - State: that of the original and of the detector; and the voting sets of all others.
//!
//! Sources: those of the original. Another set in place of one with a dead member: D. Agrawal, A.
//! El Abbadi: An efficient and fault-tolerant solution for distributed mutual exclusion. ACM TOCS
//! 9(1), 1991.

use super::{MaekawaSanders, Message, PARAMETERS, State, What};
use crate::mutex::cost::{per_entry, relay_hops};
use crate::mutex::voting::{ALONE, ENTRY_HOPS, ENTRY_MESSAGES};
use crate::mutex::voting_sets::VotingSets;
use crate::mutex::watching::{
    ASKERS, AT_ONCE, CRASHES, DELAY, DETECTOR, LAYERS, PERFECT, PERIOD, SAFE_AND_LIVE,
    SIGNS_OF_LIFE, STEP, STYLE, Survivor, Watching,
};
use serde::{Deserialize, Serialize};
use synod_core::card::{
    Bounds, Card, Counterexample, Crashes, Order, Scope, Size, Tolerance, Variant,
};
use synod_core::family::mutex::{Input, ME1, ME2, Output};
use synod_core::{
    Algorithm, Cx, Never, ProcessId, ProcessSet, Protocol, Rule, Setup, SetupError, Timestamp,
    Unhashed,
};

/// A process that asks another voting set if its own has a dead member. With `GIVES_BACK` it is
/// right; without, it keeps the votes of the first set: the mutant
/// [`sanders-keeps-votes`](crate::mutex::mutants::crash).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Resilient<const GIVES_BACK: bool> {
    process: MaekawaSanders,
    /// The voting sets of all processes, our own first. They never change.
    sets: Unhashed<Vec<ProcessSet>>,
}

/// One process of the right version, with its failure detector.
pub type MaekawaSandersCrash = Watching<Resilient<true>>;

impl<const GIVES_BACK: bool> Protocol for Resilient<GIVES_BACK> {
    type Input = Input;
    type Output = Output;
    type Message = Message;
    type Timer = Never;

    fn on_input(&mut self, input: Input, cx: &mut Cx<'_, Self>) {
        self.drive(cx, |process, cx| process.on_input(input, cx));
    }

    fn on_message(&mut self, from: ProcessId, message: Message, cx: &mut Cx<'_, Self>) {
        let (what, request) = (message.what, message.request);
        self.drive(cx, |process, cx| {
            process.learn(message.clock.max(request.time));
            match what {
                What::Release if request.process == from => process.take_back(request, cx),
                // A vote for a request that we have taken back: the voter has been told.
                What::Grant if process.candidacy(request).is_none() => {}
                _ => process.on_message(from, message, cx),
            }
        });
    }
}

impl<const GIVES_BACK: bool> Resilient<GIVES_BACK> {
    fn drive(
        &mut self,
        cx: &mut Cx<'_, Self>,
        step: impl FnOnce(&mut MaekawaSanders, &mut Cx<'_, MaekawaSanders>),
    ) {
        let timer = |never: Never| match never {};
        cx.through(
            None,
            |message| message,
            timer,
            |output| output,
            |cx| {
                step(&mut self.process, cx);
            },
        );
    }

    /// The voting set to ask without these processes, if there is one. The rest of our own does not
    /// suffice: two sets may have nothing in common but the dead.
    fn living_set(&self, dead: &ProcessSet) -> Option<ProcessSet> {
        self.sets.0.iter().find(|set| !set.intersects(dead)).cloned()
    }
}

/// What a candidate and a voter do about the dead.
impl MaekawaSanders {
    fn drop_dead_candidates(&mut self, dead: &ProcessSet, cx: &mut Cx<'_, Self>) {
        self.queue.retain(|request| !dead.contains(request.process));
        dead.iter().for_each(|process| {
            self.failed.remove(process);
        });
        if self.lock.take_if(|lock| dead.contains(lock.request.process)).is_some() {
            self.grant_to_first(cx);
        }
    }

    /// A process that is inside keeps its votes: a voter that is alive is in every living set.
    fn ask_another_set(&mut self, set: ProcessSet, gives_back: bool, cx: &mut Cx<'_, Self>) {
        match &self.state {
            State::Held(_) => {}
            State::Released => self.voters = set,
            State::Wanted(ours) => {
                let request = ours.request;
                self.state = State::Released;
                for voter in self.voters.clone().iter().filter(|_| gives_back) {
                    self.withdraw(voter, request, cx);
                }
                self.voters = set;
                self.enter(cx);
            }
        }
    }

    fn withdraw(&mut self, voter: ProcessId, request: Timestamp, cx: &mut Cx<'_, Self>) {
        if voter == cx.me() {
            self.take_back(request, cx);
        } else {
            self.send(voter, What::Release, request, cx);
        }
    }

    /// A vote comes back, or a request is no longer made.
    fn take_back(&mut self, request: Timestamp, cx: &mut Cx<'_, Self>) {
        if self.queue.remove(&request) {
            self.failed.remove(request.process);
        } else {
            self.on_release(request, cx);
        }
    }
}

impl<const GIVES_BACK: bool> Survivor for Resilient<GIVES_BACK> {
    const CARD: Card = if GIVES_BACK { CARD } else { crate::mutex::mutants::crash::KEEPS_VOTES };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        let sets = VotingSets::from_setup(setup)?;
        let with_sets = |(me, process): (ProcessId, MaekawaSanders)| {
            let others = ProcessId::all(setup.n).filter(|other| *other != me);
            let sets = [me].into_iter().chain(others).map(|owner| sets.of(owner)).collect();
            Resilient { process, sets: Unhashed(sets) }
        };
        Ok(ProcessId::all(setup.n).zip(MaekawaSanders::group(setup)?).map(with_sets).collect())
    }

    fn size(processes: &[&Self]) -> Size {
        let k = processes.first().map_or(0, |process| process.process.voters.len());
        Size { n: processes.len(), k }
    }

    fn do_without(&mut self, dead: &ProcessSet, cx: &mut Cx<'_, Self>) {
        self.drive(cx, |process, cx| process.drop_dead_candidates(dead, cx));
        if self.process.voters.intersects(dead)
            && let Some(set) = self.living_set(dead)
        {
            self.drive(cx, |process, cx| process.ask_another_set(set, GIVES_BACK, cx));
        }
    }

    fn stamp(&mut self) -> u64 {
        Algorithm::stamp(&mut self.process)
    }

    fn witness(&mut self, stamp: u64) {
        Algorithm::witness(&mut self.process, stamp);
    }
}

/// The card; the mutant takes most of it over.
pub(in crate::mutex) const CARD: Card = Card {
    name: "maekawa-sanders-crash",
    aliases: &["sanders-crash"],
    title: "mutual exclusion by voting, where processes crash",
    source: <MaekawaSanders as Algorithm>::CARD.source,
    idea: "Take votes back from the dead, and ask a voting set in which all are alive.",
    rules: &[
        Rule::on_input(
            "Enter",
            "enter: advance the clock, ask every member of a voting set in which all are alive",
        ),
        Rule::on_message(
            "Request",
            "on a request: if the vote is free, grant it; if an earlier request has it or waits \
             for it, answer failed; else tell the one displaced from the head of the queue that \
             it failed, and inquire at the one that has the vote, once",
        ),
        Rule::on_message(
            "Failed",
            "on failed: remember it as long as the request lives, and yield every vote inquired",
        ),
        Rule::on_message(
            "Inquire",
            "on an inquiry: yield the vote if we failed somewhere; if not, remember the inquiry",
        ),
        Rule::on_message(
            "Yield",
            "on a yielded vote: queue the request again, grant the vote to the earliest",
        ),
        Rule::on_message(
            "Grant",
            "on a grant: if it was the last vote missing, we are inside; ignore one for a request \
             that we have taken back",
        ),
        Rule::on_input("Exit", "exit: release every vote"),
        Rule::on_message(
            "Release",
            "on a release: drop the request if it waits; if it has the vote, grant that to the \
             earliest in the queue, if there is one",
        ),
        Rule::on_timer(
            "TimeOut",
            "when a process is taken for crashed: take our vote back from it, drop its request; \
             if it is a voter of our own request, release that everywhere and ask another set",
        ),
        SIGNS_OF_LIFE,
    ],
    assumes: &[
        "reliable links, in order",
        "crashes are noticed by a perfect failure detector, for which no message takes longer \
         than the delay; without a detector, no process crashes. If the detector takes a process \
         that is inside for crashed, its votes are given away, and ME1 is lost",
        "some voting set has no dead member",
        "no crashed process comes back",
    ],
    tolerates: Tolerance { order: Order::Fifo, ..Tolerance::NOTHING },
    promises: &[ME1, ME2],
    variants: &[Variant {
        set: PERFECT,
        tolerates: Tolerance { crashes: Crashes::One, order: Order::Fifo, ..CRASHES },
        promises: SAFE_AND_LIVE,
    }],
    usual: Some(1),
    proved: &[
        Scope { order: Order::Fifo, ..Scope::of(3) },
        Scope {
            order: Order::Fifo,
            timing: AT_ONCE,
            crashes: 1,
            set: &[("detector", "perfect"), ("askers", "p0")],
            ..Scope::of(3)
        },
    ],
    counterexamples: &[Counterexample {
        property: ME2,
        scope: Scope { order: Order::Fifo, crashes: 1, ..Scope::of(3) },
        steps: 4,
        story: "without a detector, a voter crashes, and its candidate waits for its vote for ever",
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
    parameters: &[PARAMETERS[0], PARAMETERS[1], ASKERS, DETECTOR, PERIOD, STYLE, DELAY, STEP],
    layers: LAYERS,
    smallest: 3,
    ..Card::BLANK
};
