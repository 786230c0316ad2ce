//! A token in a ring that is repaired when processes crash.
//!
//! A crash breaks the ring, and may take the token along. So when a process is taken for crashed,
//! the first process that is left begins a new *generation*: it asks all others who has the token,
//! and tells them who is dead, which closes the ring. If no process has the token, the first one
//! makes a new one, of the new generation. A token of an old generation may still be on its way,
//! perhaps to a process that has answered "not here"; its receiver throws it away. The new token
//! carries the names of the dead, because it may overtake the question.
//!
//! - Assumes: a perfect failure detector below (the parameter `detector`), hence reliable links and
//!   a bound on delays. If it errs about the holder, the ring goes on without it, with a second
//!   token.
//! - Guarantees: ME1, ME2, although all processes but one crash. Not ME3.
//! - Cost: that of the ring without crashes; 2(N − 2) messages more for the first crash of N
//!   processes, and those of the detector.
//! - State: one word, the ring, the dead, and a generation, which grows with each crash.
//!
//! Sources: G. Le Lann: Distributed systems, towards a formal approach. IFIP Congress, 1977, which
//! regenerates a lost token. The repair by one process that asks all others is folklore.

use super::cost;
use super::token_ring::State;
use super::watching::{
    ASKERS, AT_ONCE, BOUNDED, CRASHES, DELAY, DETECTOR, LAYERS, PERFECT, PERIOD, SAFE_AND_LIVE,
    SIGNS_OF_LIFE, STEP, STYLE, Survivor, Watched, Watching,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use synod_core::card::{Bounds, Card, Counterexample, Parameter, Scope, Source, Variant};
use synod_core::family::mutex::{Input, ME1, ME2, ME3, Output};
use synod_core::{
    Cx, Invariant, Never, ProcessId, ProcessSet, Protocol, Rule, Setup, SetupError, Snapshot,
    Timestamp, Wire,
};

/// The number of a generation, and the process that began it.
pub type Generation = Timestamp;

/// The messages between processes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Message {
    /// The permission to enter, in the ring of that generation, which is without these processes.
    Token(Generation, ProcessSet),
    /// A new generation begins without these processes. Do you have the token?
    Ask(Generation, ProcessSet),
    /// To the process that began it: yes or no.
    Answer(Generation, bool),
}

impl Wire for Message {}

/// The question of a process that begins a generation.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Enquiry {
    /// The processes that have not answered yet.
    missing: ProcessSet,
    /// Whether some process has the token.
    found: bool,
}

/// One process of the algorithm. With `GENERATIONS` it is right; without, tokens of old generations
/// are accepted: the mutant [`token-ring-two-tokens`](super::mutants::crash).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RepairedRing<const GENERATIONS: bool> {
    /// The other processes in the order of the ring, from the next one on.
    others: Vec<ProcessId>,
    /// The processes that are no longer in the ring.
    dead: ProcessSet,
    /// The latest generation that this process knows of; that of the token, if it has it.
    generation: Generation,
    state: State,
    enquiry: Option<Enquiry>,
}

/// One process of the right version, with its failure detector.
pub type TokenRingCrash = Watching<RepairedRing<true>>;

impl<const GENERATIONS: bool> Protocol for RepairedRing<GENERATIONS> {
    type Input = Input;
    type Output = Output;
    type Message = Message;
    type Timer = Never;

    fn on_start(&mut self, cx: &mut Cx<'_, Self>) {
        if self.state == State::Resting {
            self.pass_on(cx);
        }
    }

    fn on_input(&mut self, input: Input, cx: &mut Cx<'_, Self>) {
        match (input, self.state) {
            (Input::Enter, State::Released) => self.state = State::Wanted,
            (Input::Enter, State::Resting) => self.hold(cx),
            (Input::Exit, State::Held) => self.pass_on(cx),
            (input, state) => panic!("{input:?} while {state:?}"),
        }
    }

    fn on_message(&mut self, from: ProcessId, message: Message, cx: &mut Cx<'_, Self>) {
        match message {
            // A process sends nothing to those that it takes for crashed.
            Message::Token(_, dead) | Message::Ask(_, dead) if dead.contains(cx.me()) => {
                cx.accuse(from, "sent a message to a process that it calls dead");
            }
            Message::Token(generation, dead) => self.on_token(from, generation, &dead, cx),
            Message::Ask(generation, dead) => self.on_ask(from, generation, &dead, cx),
            Message::Answer(generation, here) => self.on_answer(from, generation, here, cx),
        }
    }
}

/// The ring.
impl<const GENERATIONS: bool> RepairedRing<GENERATIONS> {
    fn on_token(
        &mut self,
        from: ProcessId,
        generation: Generation,
        dead: &ProcessSet,
        cx: &mut Cx<'_, Self>,
    ) {
        // A later generation has asked for this token, and did not find it: there is another.
        if GENERATIONS && generation < self.generation {
            return;
        }
        // The token may overtake the question that began its generation. Without the names of the
        // dead its receiver would pass it on to one of them, and no process would ask again.
        self.leave_out(dead);
        self.generation = self.generation.max(generation);
        if self.has_token() {
            cx.accuse(from, "sent a second token");
        } else {
            self.take_token(cx);
        }
    }

    fn take_token(&mut self, cx: &mut Cx<'_, Self>) {
        if self.state == State::Wanted {
            self.hold(cx);
        } else {
            self.pass_on(cx);
        }
    }

    fn hold(&mut self, cx: &mut Cx<'_, Self>) {
        self.state = State::Held;
        cx.output(Output::Entered);
    }

    fn pass_on(&mut self, cx: &mut Cx<'_, Self>) {
        match self.others.iter().find(|process| !self.dead.contains(**process)) {
            Some(next) => {
                self.state = State::Released;
                cx.send(*next, Message::Token(self.generation, self.dead.clone()));
            }
            // Alone in its ring, the process would send the token to itself for ever.
            None => self.state = State::Resting,
        }
    }

    /// Whether one of these processes was still in the ring.
    fn leave_out(&mut self, dead: &ProcessSet) -> bool {
        let known = self.dead.len();
        dead.iter().for_each(|process| {
            self.dead.insert(process);
        });
        self.dead.len() > known
    }

    fn has_token(&self) -> bool {
        matches!(self.state, State::Held | State::Resting)
    }
}

/// The repair.
impl<const GENERATIONS: bool> RepairedRing<GENERATIONS> {
    fn begin_generation(&mut self, cx: &mut Cx<'_, Self>) {
        self.generation = Generation::new(self.generation.time.saturating_add(1), cx.me());
        let missing: ProcessSet =
            cx.others().filter(|process| !self.dead.contains(*process)).collect();
        cx.multicast_to(missing.clone(), Message::Ask(self.generation, self.dead.clone()));
        self.enquiry = Some(Enquiry { missing, found: self.has_token() });
        self.conclude(cx);
    }

    fn on_ask(
        &mut self,
        from: ProcessId,
        generation: Generation,
        dead: &ProcessSet,
        cx: &mut Cx<'_, Self>,
    ) {
        if generation.process != from {
            return cx.accuse(from, "asked in the name of another process");
        }
        if generation < self.generation {
            return;
        }
        self.generation = generation;
        self.enquiry = None;
        self.leave_out(dead);
        cx.send(from, Message::Answer(generation, self.has_token()));
    }

    fn on_answer(
        &mut self,
        from: ProcessId,
        generation: Generation,
        here: bool,
        cx: &mut Cx<'_, Self>,
    ) {
        // An answer to an earlier question of ours comes too late.
        if generation < self.generation {
            return;
        }
        let ours = self.enquiry.as_mut().filter(|_| generation == self.generation);
        let expected = ours.is_some_and(|enquiry| {
            enquiry.found |= here;
            enquiry.missing.remove(from)
        });
        if expected {
            self.conclude(cx);
        } else {
            cx.accuse(from, "answered what nobody had asked");
        }
    }

    /// All have answered: if the token is nowhere, the old one is lost or will be thrown away.
    fn conclude(&mut self, cx: &mut Cx<'_, Self>) {
        let answered = self.enquiry.take_if(|enquiry| enquiry.missing.is_empty());
        if answered.is_some_and(|enquiry| !enquiry.found) && !self.has_token() {
            self.take_token(cx);
        }
    }

    fn group(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        let ring = setup.ring("ring")?;
        let mut places: Vec<(ProcessId, Self)> = Vec::new();
        for (place, me) in ring.iter().enumerate() {
            let others = ring[place + 1..].iter().chain(&ring[..place]).copied().collect();
            let state = if place == 0 { State::Resting } else { State::Released };
            let generation = Generation::new(0, ring[0]);
            let dead = ProcessSet::EMPTY;
            places.push((*me, RepairedRing { others, dead, generation, state, enquiry: None }));
        }
        places.sort_by_key(|(name, _)| *name);
        Ok(places.into_iter().map(|(_, process)| process).collect())
    }
}

impl<const GENERATIONS: bool> Survivor for RepairedRing<GENERATIONS> {
    const CARD: Card = if GENERATIONS { CARD } else { super::mutants::crash::TWO_TOKENS };

    const INVARIANTS: &'static [Invariant<Watching<Self>>] = &[Invariant {
        name: "one-token-of-a-generation",
        statement: "no two tokens have the same generation, at processes or on their way",
        holds: tokens_differ,
    }];

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        Self::group(setup)
    }

    fn do_without(&mut self, dead: &ProcessSet, cx: &mut Cx<'_, Self>) {
        let is_news = self.leave_out(dead);
        let first = cx.group().find(|process| !self.dead.contains(*process));
        if is_news && first == Some(cx.me()) {
            self.begin_generation(cx);
        }
    }
}

fn tokens_differ<const G: bool>(snapshot: &Snapshot<'_, Watching<RepairedRing<G>>>) -> bool {
    let mut known = BTreeSet::new();
    let processes = snapshot.processes().map(|process| &process.algorithm);
    let mut held = processes.filter(|process| process.has_token()).map(|p| p.generation);
    held.all(|generation| known.insert(generation))
        && snapshot.in_flight().into_iter().all(|(_, _, message)| match message {
            Watched::Own(Message::Token(generation, _)) => known.insert(*generation),
            _ => true,
        })
}

/// The card; the mutant takes most of it over.
pub(super) const CARD: Card = Card {
    name: "token-ring-crash",
    aliases: &["ring-crash"],
    title: "mutual exclusion by a token in a ring that is repaired",
    source: Source {
        author: "G. Le Lann",
        year: 1977,
        work: "Distributed systems: towards a formal approach, IFIP Congress",
    },
    idea: "After a crash the first process asks all others for the token; if it is lost, there is \
           a new one, and an old one that turns up is thrown away.",
    rules: &[
        Rule::on_start("start: the first process has the token, and passes it on"),
        Rule::on_input("Enter", "enter: wait for the token"),
        Rule::on_message(
            "Token",
            "on the token: throw it away if its generation is old; if we wait for it, we are \
             inside; else pass it on to the next that is not dead",
        ),
        Rule::on_input("Exit", "exit: pass the token on"),
        Rule::on_timer(
            "TimeOut",
            "when a process is taken for crashed: the first that is left begins a new generation, \
             and asks all others whether they have the token",
        ),
        Rule::on_message(
            "Ask",
            "on the question: leave the dead out of the ring, move on to the new generation, with \
             the token if we have it, and answer",
        ),
        Rule::on_message(
            "Answer",
            "on the last answer: if no process has the token, make a new one",
        ),
        SIGNS_OF_LIFE,
    ],
    assumes: &[
        "reliable links, in any order",
        "crashes are noticed by a perfect failure detector, for which no message takes longer \
         than the delay; without a detector, no process crashes",
        "no crashed process comes back",
    ],
    promises: &[ME1, ME2],
    variants: &[Variant { set: PERFECT, tolerates: CRASHES, promises: SAFE_AND_LIVE }],
    usual: Some(3),
    proved: &[
        Scope::of(2),
        Scope::of(3),
        Scope { timing: BOUNDED, crashes: 1, set: PERFECT, ..Scope::of(2) },
        Scope {
            timing: AT_ONCE,
            crashes: 1,
            set: &[("detector", "perfect"), ("askers", "p1 p2")],
            ..Scope::of(3)
        },
    ],
    counterexamples: &[
        Counterexample {
            property: ME1,
            scope: Scope { timing: BOUNDED, late: 1, set: PERFECT, ..Scope::of(2) },
            steps: 14,
            story: "a sign of life of p1, which is inside, takes longer than the bound: p0 takes \
                    it for crashed, and the token for lost",
        },
        Counterexample {
            property: ME2,
            scope: Scope { crashes: 1, ..Scope::of(2) },
            steps: 2,
            story: "without a detector, p1 crashes with the token, and p0 waits for it for ever",
        },
        Counterexample {
            property: ME3,
            scope: Scope { tells: 1, ..Scope::of(2) },
            steps: 5,
            story: "the token is on its way from p0 to p1; p0 asks and tells p1, p1 asks because \
                    of it, and the token reaches p1 first",
        },
    ],
    costs: &[
        cost::entry_messages("0 to N", |size| Bounds::between(0, size.n)),
        cost::entry_hops("0 to N", |size| Bounds::between(0, size.n)),
        cost::relay_hops("1 to N - 1", |size| Bounds::between(1, size.n.max(2) - 1)),
    ],
    parameters: &[
        Parameter {
            name: "ring",
            meaning: "the processes in the order of the ring, the token starts at the first, \
                      e.g. p0 p2 p1 (default: by name)",
        },
        ASKERS,
        DETECTOR,
        PERIOD,
        STYLE,
        DELAY,
        STEP,
    ],
    layers: LAYERS,
    restless: true,
    ..Card::BLANK
};
