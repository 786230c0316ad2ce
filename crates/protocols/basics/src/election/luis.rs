//! Election by a failure detector ("Luís").
//!
//! The elected process is the greatest that is not suspected. The processes exchange no message
//! about it: each has a failure detector, and looks again whenever the detector changes its
//! opinion.
//!
//! - Assumes: every process knows all identifiers, and they differ; each has a failure detector
//!   that notices every crash.
//! - Guarantees: with a perfect detector E1, E2, E3 and E1-self: a process that believes itself
//!   elected knows that all greater ones have crashed. With one that is only eventually perfect E1
//!   and E2, in the end, but until then several may believe themselves elected.
//! - Cost: no message of its own. But the detectors watch all processes, all the time.
//! - State: the last result; and that of the detector.
//!
//! Source: the course Sistemas Distribuídos at Instituto Superior Técnico, Lisbon, 2023. With a
//! detector that errs and settles it is the Ω of T. D. Chandra, V. Hadzilacos, S. Toueg: The
//! weakest failure detector for solving consensus. JACM 43(4), 1996.

use super::cost;
use crate::detector::{self, Detector, parameter, rule};
use serde::{Deserialize, Serialize};
use synod_core::card::{
    Bounds, Card, Counterexample, Crashes, OtherCosts, Scope, Size, Source, Timing, Tolerance,
    Variant,
};
use synod_core::family::election::{
    E1, E1_AGREE, E1_ALWAYS, E1_SELF, E2, E3, Election, IDS, Input, LOADS, Output, STARTERS, TIES,
    VERSIONS, starters, unique_ids,
};
use synod_core::{Algorithm, Cx, ProcessId, Protocol, Rule, Setup, SetupError, Trigger};

/// One process of the algorithm.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Luis {
    ids: Vec<u64>,
    detector: Detector,
    /// The greatest identifier that was not suspected at the last look; `None` before the start.
    leader: Option<u64>,
    is_starter: bool,
}

impl Protocol for Luis {
    type Input = Input;
    type Output = Output;
    type Message = detector::Message;
    type Timer = detector::Timer;

    fn on_start(&mut self, cx: &mut Cx<'_, Self>) {
        let opinions = cx.below(|cx| self.detector.on_start(cx));
        assert!(opinions.is_empty(), "no process is suspected before time has passed");
        self.look(cx);
    }

    /// No message is needed: the detector knows the answer already.
    fn on_input(&mut self, Input::Start: Input, cx: &mut Cx<'_, Self>) {
        cx.output(Output::Undecided);
        self.leader = None;
        self.look(cx);
    }

    fn on_message(&mut self, from: ProcessId, message: detector::Message, cx: &mut Cx<'_, Self>) {
        let opinions = cx.below(|cx| self.detector.on_message(from, message, cx));
        if !opinions.is_empty() {
            self.look(cx);
        }
    }

    fn on_timer(&mut self, timer: detector::Timer, cx: &mut Cx<'_, Self>) {
        let opinions = cx.below(|cx| self.detector.on_timer(timer, cx));
        if !opinions.is_empty() {
            self.look(cx);
        }
    }
}

impl Luis {
    fn look(&mut self, cx: &mut Cx<'_, Self>) {
        let alive = cx.group().zip(&self.ids).filter(|(p, _)| !self.detector.suspects(*p));
        let greatest = alive.map(|(_, id)| *id).max();
        if greatest != self.leader {
            self.leader = greatest;
            cx.output(Output::Elected(greatest.expect("no process suspects itself")));
        }
    }
}

const SYNCHRONOUS: Timing = Timing::Synchronous { delay_ms: 1 };
const IN_TIME: Tolerance =
    Tolerance { crashes: Crashes::AllButOne, delay_ms: Some(1), ..Tolerance::NOTHING };

impl Algorithm for Luis {
    type Family = Election;

    const CARD: Card = Card {
        name: "luis",
        aliases: &["omega"],
        title: "election by a failure detector (Luís)",
        source: Source {
            author: "Departamento de Engenharia Informática, Instituto Superior Técnico",
            year: 2023,
            work: "Sistemas Distribuídos, slides of the course",
        },
        idea: "The elected one is the greatest that is not suspected.",
        rules: &[
            Rule::on(
                &[
                    Trigger::Start,
                    Trigger::Input("Start"),
                    Trigger::Message("Heartbeat"),
                    Trigger::Message("Pong"),
                    Trigger::Timer("TimeOut"),
                    Trigger::Timer("Accrual"),
                    Trigger::Timer("Common"),
                ],
                "start, and whenever the detector suspects or trusts a process: take the greatest \
                 that is not suspected for elected",
            ),
            Rule::on(
                &[
                    Trigger::Message("Heartbeat"),
                    Trigger::Message("Ping"),
                    Trigger::Message("Pong"),
                    Trigger::Timer("TimeOut"),
                    Trigger::Timer("Accrual"),
                    Trigger::Timer("Common"),
                ],
                rule::DETECTOR,
            ),
        ],
        assumes: &[
            "every process knows all identifiers, and they differ",
            "a failure detector at each process; here a perfect one, for which reliable links are \
             needed on which no message takes longer than the delay",
            "no crashed process comes back",
        ],
        tolerates: IN_TIME,
        promises: &[E1, E2, E3, E1_SELF, E1_AGREE],
        variants: &[Variant {
            set: &[("detector", "eventually-perfect")],
            tolerates: IN_TIME,
            promises: &[E1, E2, E3, E1_AGREE],
        }],
        usual: Some(1),
        proved: &[
            Scope { timing: SYNCHRONOUS, crashes: 1, ..Scope::of(2) },
            Scope {
                timing: SYNCHRONOUS,
                crashes: 2,
                set: &[("starters", "nobody")],
                ..Scope::of(3)
            },
        ],
        counterexamples: &[
            Counterexample {
                property: E1_SELF,
                scope: Scope {
                    timing: SYNCHRONOUS,
                    late: 1,
                    set: &[("detector", "eventually-perfect")],
                    ..Scope::of(2)
                },
                steps: 11,
                story: "a sign of life of p1 takes longer than expected: p0 suspects p1, and both \
                        believe themselves elected until p0 hears of p1 again",
            },
            Counterexample {
                property: E1,
                scope: Scope { timing: SYNCHRONOUS, late: 1, ..Scope::of(2) },
                steps: 17,
                story: "a sign of life of p1 takes longer than the bound: the perfect detector of \
                        p0 declares p1 crashed, and never changes its mind",
            },
            Counterexample {
                property: E1_ALWAYS,
                scope: Scope {
                    timing: SYNCHRONOUS,
                    crashes: 1,
                    set: &[("starters", "nobody")],
                    ..Scope::of(3)
                },
                steps: 14,
                story: "p2 crashes, and p0 notices a moment earlier than p1",
            },
        ],
        costs: &[cost::result_hops("0", |_| Bounds::exactly(0)), detector::PER_PERIOD],
        other_costs: &[OtherCosts::over_multicast(&[detector::PER_PERIOD_MULTICAST])],
        parameters: &[
            IDS,
            LOADS,
            VERSIONS,
            TIES,
            STARTERS,
            parameter::DETECTOR,
            parameter::PERIOD,
            parameter::STYLE,
            parameter::DELAY,
            parameter::STEP,
        ],
        layers: &["luis", "the failure detector"],
        restless: true,
        ..Card::BLANK
    };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        let (ids, starters) = (unique_ids(setup)?, starters(setup)?);
        let detector = Detector::from_setup(setup, "perfect")?;
        let process = |me| Luis {
            ids: ids.clone(),
            detector: detector.clone(),
            leader: None,
            is_starter: starters.contains(me),
        };
        Ok(ProcessId::all(setup.n).map(process).collect())
    }

    fn takes_part(&self, _me: ProcessId) -> bool {
        self.is_starter
    }

    fn size(processes: &[Self]) -> Size {
        let n = processes.len();
        processes.first().map_or(Size { n, k: 0 }, |process| process.detector.size(n))
    }

    fn begins_round(timer: &detector::Timer) -> bool {
        timer.begins_round()
    }
}
