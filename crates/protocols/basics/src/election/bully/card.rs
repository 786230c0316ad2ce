//! The card of the [bully](super) algorithm.

use super::announcement::{ANNOUNCE, DURABLE};
use super::{Bully, Phase, Process};
use crate::detector::{Detector, parameter, rule};
use crate::election::cost;
use synod_core::algorithm::{Kit, Replay};
use synod_core::card::{
    Bounds, Card, Counterexample, Crashes, Parameter, Scope, Source, Timing, Tolerance, Variant,
};
use synod_core::family::election::{
    E1, E1_AGREE, E1_ALWAYS, E1_SELF, E2, E3, Election, IDS, LOADS, STARTERS, TIES, VERSIONS,
};
use synod_core::{
    Algorithm, Invariant, ProcessId, Rule, Setup, SetupError, Snapshot, Trigger, durable,
};

const ORDERED: &[(&str, &str)] = &[("announce", "ordered")];
const EPOCHS: &[(&str, &str)] = &[("announce", "epochs")];
const ONE_LEADER: &str = "one-leader-per-epoch";
const SYNCHRONOUS: Timing = Timing::Synchronous { delay_ms: 1 };
const IN_TIME: Tolerance = Tolerance { delay_ms: Some(1), ..Tolerance::NOTHING };
const EVERYTHING: &[&str] = &[E1, E2, E3, E1_SELF, E1_AGREE];

impl Algorithm for Bully {
    type Family = Election;

    const CARD: Card = Card {
        name: "bully",
        aliases: &["garcia-molina"],
        title: "García-Molina's bully",
        source: Source {
            author: "H. García-Molina",
            year: 1982,
            work: "Elections in a distributed computing system, IEEE Transactions on Computers \
                   C-31(1)",
        },
        idea: "Ask all greater ones; if none answers in time, tell all smaller ones that you are \
               the coordinator.",
        rules: &[
            Rule::on(
                &[Trigger::Start, Trigger::Input("Start")],
                "start (called by the application, by the detector, or after a crash): ask all \
                 greater ones; if there is none, we are the coordinator",
            ),
            Rule::on_message("Election", "on an election: answer, and start too"),
            Rule::on_message("Answer", "on an answer: wait for a coordinator"),
            Rule::on_timer(
                "Answer",
                "no answer within T = 2D + P: we are the coordinator; tell all smaller ones (or have \
                 p0 number the announcement, or claim the next epoch)",
            ),
            Rule::on_timer(
                "Coordinator",
                "no coordinator within 2T (3T if it is not announced directly): start again",
            ),
            Rule::on_message("Coordinator", "on a coordinator: note it"),
            Rule::on(
                &[Trigger::Message("Announce"), Trigger::Message("Ordered")],
                "ordered announcements: p0 writes down the next number and tells all; the one with \
                 the greatest number counts; a greater process that hears of it starts again",
            ),
            Rule::on(
                &[
                    Trigger::Message("Claim"),
                    Trigger::Message("Grant"),
                    Trigger::Message("Refusal"),
                    Trigger::Message("Leader"),
                ],
                "epochs: grant an epoch greater than all before, written down, or refuse and tell \
                 the last one; a claim that a majority grants makes the leader; ignore leaders of \
                 earlier epochs",
            ),
            Rule::on_timer("Detector", "on a suspicion of the coordinator: start"),
            Rule::on(
                &[
                    Trigger::Message("Heartbeat"),
                    Trigger::Message("Ping"),
                    Trigger::Message("Pong"),
                    Trigger::Timer("Detector"),
                ],
                rule::DETECTOR,
            ),
        ],
        assumes: &[
            "every process knows all identifiers, and they differ",
            "reliable links, in any order; no message takes longer than the delay",
            "some process notices each crash; no crashed process comes back",
        ],
        tolerates: IN_TIME,
        promises: EVERYTHING,
        variants: &[
            Variant {
                set: &[("detector", "perfect"), ("startup", "election")],
                tolerates: Tolerance { crashes: Crashes::AllButOne, ..IN_TIME },
                promises: EVERYTHING,
            },
            Variant { set: ORDERED, tolerates: IN_TIME, promises: EVERYTHING },
            Variant { set: EPOCHS, tolerates: IN_TIME, promises: EVERYTHING },
        ],
        proved: &[
            Scope { timing: SYNCHRONOUS, set: ORDERED, ..Scope::of(2) },
            Scope { timing: SYNCHRONOUS, set: EPOCHS, ..Scope::of(2) },
            Scope { timing: SYNCHRONOUS, ..Scope::of(2) },
            Scope { timing: SYNCHRONOUS, ..Scope::of(3) },
        ],
        counterexamples: COUNTEREXAMPLES,
        costs: &[
            cost::one_starts("N - 1 to (N - 1)(2N - 1)", |size| {
                Bounds::between(size.n - 1, (size.n - 1) * (2 * size.n - 1))
            }),
            cost::result_hops("0 to 2", |_| Bounds::between(0, 2)),
        ],
        parameters: &[
            IDS,
            LOADS,
            VERSIONS,
            TIES,
            STARTERS,
            Parameter {
                name: "startup",
                meaning: "quiet or election: whether a process calls an election when it starts, \
                          and starts again after a crash (default: quiet)",
            },
            Parameter {
                name: "trust_detection",
                meaning: "yes or no: whether a process asks no other that it takes for crashed; \
                          without a detector, that is the last coordinator (default: no)",
            },
            ANNOUNCE,
            DURABLE,
            parameter::DELAY,
            parameter::DETECTOR,
            parameter::PERIOD,
            parameter::STYLE,
            parameter::STEP,
        ],
        layers: &["bully", "the failure detector, if there is one"],
        ..Card::BLANK
    };

    const REPLAY: Option<Replay<Self>> = Some(durable::replay);

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        Self::group(setup)
    }

    fn takes_part(&self, _me: ProcessId) -> bool {
        self.is_starter()
    }

    fn is_restless(processes: &[Self]) -> bool {
        processes.iter().any(|process| process.detector != Detector::None)
    }

    fn kit(setup: &Setup) -> Kit<Self> {
        let mut kit = Kit::whole();
        let has_epochs = setup.text(ANNOUNCE.name) == Some("epochs");
        kit.invariants.retain(|invariant| has_epochs || invariant.name != ONE_LEADER);
        // A winner that announces itself directly writes nothing.
        kit.replay =
            kit.replay.filter(|_| !matches!(setup.text(ANNOUNCE.name), None | Some("direct")));
        kit
    }

    fn invariants() -> &'static [Invariant<Self>] {
        &[
            Invariant {
                name: "the-greatest-never-waits",
                statement: "the process with the greatest identifier asks no other, and waits for \
                            no other if it announces itself directly",
                holds: the_greatest_never_waits,
            },
            Invariant {
                name: ONE_LEADER,
                statement: "where there are epochs, no two processes lead the same",
                holds: one_leads_each_epoch,
            },
        ]
    }
}

fn the_greatest_never_waits<const ROUND_TRIP: bool>(
    snapshot: &Snapshot<'_, Process<ROUND_TRIP>>,
) -> bool {
    let waits = |p: &Process<ROUND_TRIP>| match p.announcement.is_direct() {
        true => p.phase != Phase::Idle,
        false => p.phase == Phase::WaitAnswer,
    };
    snapshot.processes().all(|p| !p.greater.is_empty() || !waits(p))
}

fn one_leads_each_epoch(snapshot: &Snapshot<'_, Bully>) -> bool {
    let mut led: Vec<u64> = snapshot.processes().filter_map(Bully::leads).collect();
    let leaders = led.len();
    led.sort_unstable();
    led.dedup();
    led.len() == leaders
}

const COUNTEREXAMPLES: &[Counterexample] = &[
    Counterexample {
        property: E1_SELF,
        scope: Scope { timing: SYNCHRONOUS, late: 1, ..Scope::of(2) },
        steps: 7,
        story: "p0's question to p1 takes longer than the bound, so p0 gets no answer in time and \
                believes itself elected; p1, which is up, does so too",
    },
    Counterexample {
        property: E1_AGREE,
        scope: Scope {
            timing: SYNCHRONOUS,
            crashes: 1,
            restarts: 1,
            set: &[("starters", "p1 p2")],
            ..Scope::of(3)
        },
        steps: 12,
        story: "p2 crashes, p1 gets no answer and announces itself; p2 is back and announces \
                itself, too; p0 hears of p2 first and of p1 last, p1 of p2",
    },
    Counterexample {
        property: E1_SELF,
        scope: Scope {
            timing: SYNCHRONOUS,
            crashes: 1,
            restarts: 1,
            set: &[("announce", "ordered"), ("starters", "p1 p2")],
            ..Scope::of(3)
        },
        steps: 16,
        story: "ordered announcements make all agree in the end, but not at once: p2 crashes and p1 \
                is announced; p2 is back, is announced next, and knows it before p1 does",
    },
    Counterexample {
        property: E1,
        scope: Scope { timing: SYNCHRONOUS, crashes: 1, ..Scope::of(2) },
        steps: 4,
        story: "p1 announces itself and crashes, and p0, which has no detector, never notices",
    },
    Counterexample {
        property: E1_ALWAYS,
        scope: Scope { timing: SYNCHRONOUS, crashes: 1, ..Scope::of(3) },
        steps: 7,
        story: "p2 announces itself to p0 and crashes before p1 has heard of it; p1 gets no answer \
                and announces itself, and for a moment p0 still believes in p2",
    },
];
