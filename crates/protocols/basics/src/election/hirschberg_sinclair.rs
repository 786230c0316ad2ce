//! Election as a tournament in a ring (Hirschberg and Sinclair, 1980).
//!
//! A candidate sends its identifier both ways, 1 process far, then 2, then 4 … As long as it meets
//! no greater one the last process of each way replies, and with both replies the candidate goes on
//! to the next phase. So each phase leaves at most half of the candidates, and the one whose
//! identifier comes home from all round the ring is elected.
//!
//! - Assumes: all identifiers differ; reliable links that keep the order of messages, both ways
//!   round the ring; no process crashes.
//! - Guarantees: E1, E2, E3, E1-self, E1-agree, E1-always.
//! - Cost: at most 8N(1 + ⌈log₂ N⌉) + N messages, in at most 1 + ⌈log₂ N⌉ phases. The exact number
//!   depends on the order of the ring and on the processes that start, not on the order in which
//!   messages arrive.
//! - State: a phase, the direction of the first reply, and the number of the election.
//!
//! *Every message carries the number of its election.* When a candidate is elected, its second
//! probe and some probes of others are still on their way. Without the number, a process that has
//! concluded would take them for a new election, which no candidate finishes.
//!
//! Source: D. Hirschberg, J. Sinclair: Decentralized extrema-finding in circular configurations of
//! processors. CACM 23(11), 1980.

use super::cost;
use super::ring::{Neighbours, ORDERED, RING, neighbours};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::fmt;
use synod_core::card::{Bounds, Card, Counterexample, Order, Scope, Source};
use synod_core::family::election::{
    E1, E1_AGREE, E1_ALWAYS, E1_SELF, E2, E3, Election, IDS, Input, LOADS, Output, STARTERS, TIES,
    VERSIONS, starters, unique_ids,
};
use synod_core::{Algorithm, Cx, Never, ProcessId, Protocol, Rule, Setup, SetupError, Wire};

/// The messages that travel round the ring.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Message {
    /// What the message says.
    pub what: What,
    /// The identifier of the candidate or of the elected process.
    pub id: u64,
    /// The number of the election.
    pub election: u64,
    /// The direction in which it travels.
    pub way: Way,
}

/// The kinds of messages about a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum What {
    /// To the processes within reach: has one of you a greater identifier?
    Probe {
        /// The candidate's phase: the probe goes 2^phase processes far.
        phase: u8,
        /// The distance from the candidate to the receiver, in processes.
        hop: u64,
    },
    /// To the candidate: no process within the reach of that phase is greater.
    Reply {
        /// The phase of the probe.
        phase: u8,
    },
    /// To all: the candidate is elected.
    Leader,
}

impl Wire for What {}

impl Wire for Message {
    fn kind(&self) -> &'static str {
        self.what.kind()
    }

    fn label(&self) -> String {
        let (kind, id) = (self.what.kind(), self.id);
        match self.what {
            What::Probe { phase, hop } => format!("{kind} {id}, phase {phase}, hop {hop}"),
            What::Reply { phase } => format!("{kind} {id}, phase {phase}"),
            What::Leader => format!("{kind} {id}"),
        }
    }
}

/// `Probe(28, phase 1, hop 2, onward, election 1)`.
impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({}, ", self.what.kind(), self.id)?;
        match self.what {
            What::Probe { phase, hop } => write!(f, "phase {phase}, hop {hop}, ")?,
            What::Reply { phase } => write!(f, "phase {phase}, ")?,
            What::Leader => {}
        }
        let way = match self.way {
            Onward => "onward",
            Backward => "backward",
        };
        write!(f, "{way}, election {})", self.election)
    }
}

/// One of the two directions of a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Way {
    /// To the next.
    Onward,
    /// To the previous.
    Backward,
}

use Way::{Backward, Onward};

impl Way {
    fn opposite(self) -> Way {
        match self {
            Onward => Backward,
            Backward => Onward,
        }
    }
}

/// No ring is so large that a phase after this one is needed.
const LAST_PHASE: u8 = 63;

/// The number of processes that a probe of this phase visits.
fn reach(phase: u8) -> u64 {
    1 << phase.min(LAST_PHASE)
}

/// Where a process stands in the election that it took part in last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum State {
    /// It does not know the result, and only passes on the messages of others.
    Relay,
    /// It wants to be elected.
    Candidate {
        /// The number of times that its reach was doubled.
        phase: u8,
        /// The direction in which the first reply of this phase travelled, if there was one.
        replied: Option<Way>,
    },
    /// It knows the result; or there was no election yet.
    Over,
}

/// One process of the algorithm.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct HirschbergSinclair {
    id: u64,
    neighbours: Neighbours,
    /// The number of the election that we took part in last.
    election: u64,
    state: State,
    is_starter: bool,
}

impl Protocol for HirschbergSinclair {
    type Input = Input;
    type Output = Output;
    type Message = Message;
    type Timer = Never;

    fn on_input(&mut self, Input::Start: Input, cx: &mut Cx<'_, Self>) {
        // A process that takes part already will learn the result of the election that is under
        // way.
        if self.state == State::Over {
            self.take_part(self.election.saturating_add(1), cx);
            self.be_candidate(0, cx);
        }
    }

    fn on_message(&mut self, from: ProcessId, message: Message, cx: &mut Cx<'_, Self>) {
        if from != self.neighbour(message.way.opposite()) {
            return cx.accuse(from, "sent against the direction of its message");
        }
        if message.election < self.election {
            // A newer election goes on, and every process will learn its result.
            return;
        }
        match message.what {
            What::Probe { phase, hop } if phase > LAST_PHASE || hop > reach(phase) => {
                cx.accuse(from, "sent a probe further than its phase goes");
            }
            What::Probe { phase, hop } => self.on_probe(message, phase, hop, cx),
            What::Reply { phase } if message.id == self.id => self.on_reply(message, phase, cx),
            What::Reply { .. } => self.pass_on(message, cx),
            What::Leader => self.on_leader(message, cx),
        }
    }
}

impl HirschbergSinclair {
    fn on_probe(&mut self, probe: Message, phase: u8, hop: u64, cx: &mut Cx<'_, Self>) {
        if probe.election > self.election {
            self.take_part(probe.election, cx);
            if probe.id < self.id {
                self.be_candidate(0, cx);
            }
        }
        match probe.id.cmp(&self.id) {
            Ordering::Less => {}
            Ordering::Equal => self.on_own_probe(probe, cx),
            Ordering::Greater if hop < reach(phase) => {
                self.pass_on(Message { what: What::Probe { phase, hop: hop + 1 }, ..probe }, cx);
            }
            Ordering::Greater => {
                let (what, way) = (What::Reply { phase }, probe.way.opposite());
                self.pass_on(Message { what, way, ..probe }, cx);
            }
        }
    }

    /// The probe has been all round the ring. The first one elects us; the second, or a late one,
    /// finds us no longer a candidate.
    fn on_own_probe(&mut self, probe: Message, cx: &mut Cx<'_, Self>) {
        if self.is_candidate_in(probe.election) {
            self.conclude(self.id, cx);
            self.pass_on(Message { what: What::Leader, way: Onward, ..probe }, cx);
        }
    }

    fn on_reply(&mut self, reply: Message, phase: u8, cx: &mut Cx<'_, Self>) {
        match self.state {
            State::Candidate { phase: current, replied }
                if phase == current && reply.election == self.election =>
            {
                match replied {
                    Some(way) if way != reply.way => {
                        // Both neighbourhoods of this phase hold no greater process: look twice as
                        // far.
                        self.be_candidate((phase + 1).min(LAST_PHASE), cx);
                    }
                    _ => self.state = State::Candidate { phase, replied: Some(reply.way) },
                }
            }
            // The reply came too late: another probe of ours met a greater process.
            State::Candidate { .. } | State::Relay | State::Over => {}
        }
    }

    fn on_leader(&mut self, leader: Message, cx: &mut Cx<'_, Self>) {
        // Otherwise the message has come home, or a newer election goes on, which will have its own
        // result.
        if leader.election == self.election && self.state != State::Over {
            self.conclude(leader.id, cx);
            self.pass_on(leader, cx);
        }
    }

    fn take_part(&mut self, election: u64, cx: &mut Cx<'_, Self>) {
        (self.election, self.state) = (election, State::Relay);
        cx.output(Output::Undecided);
    }

    fn be_candidate(&mut self, phase: u8, cx: &mut Cx<'_, Self>) {
        if self.neighbours.next == cx.me() {
            return self.conclude(self.id, cx);
        }
        self.state = State::Candidate { phase, replied: None };
        let what = What::Probe { phase, hop: 1 };
        for way in [Onward, Backward] {
            let (id, election) = (self.id, self.election);
            self.pass_on(Message { what, id, election, way }, cx);
        }
    }

    fn conclude(&mut self, id: u64, cx: &mut Cx<'_, Self>) {
        self.state = State::Over;
        cx.output(Output::Elected(id));
    }

    fn pass_on(&self, message: Message, cx: &mut Cx<'_, Self>) {
        cx.send(self.neighbour(message.way), message);
    }

    fn neighbour(&self, way: Way) -> ProcessId {
        match way {
            Onward => self.neighbours.next,
            Backward => self.neighbours.previous,
        }
    }

    fn is_candidate_in(&self, election: u64) -> bool {
        election == self.election && matches!(self.state, State::Candidate { .. })
    }
}

impl Algorithm for HirschbergSinclair {
    type Family = Election;

    const CARD: Card = Card {
        name: "hirschberg-sinclair",
        aliases: &["tournament-ring", "hs"],
        title: "Hirschberg and Sinclair's tournament in a ring",
        source: Source {
            author: "D. Hirschberg, J. Sinclair",
            year: 1980,
            work: "Decentralized extrema-finding in circular configurations of processors, CACM \
                   23(11)",
        },
        idea: "Candidates look for a greater one 1, 2, 4 … processes far, both ways; the one whose \
               probe gets all round is elected.",
        rules: &[
            Rule::on_input("Start", "start: take part, send a probe of phase 0 both ways"),
            Rule::on_message(
                "Probe",
                "on a probe of a new election: take part, as a candidate if we are the greater one",
            ),
            Rule::on_message("Probe", "on a smaller one's probe: swallow it"),
            Rule::on_message(
                "Probe",
                "on a greater one's probe: pass it on, or reply if it has gone 2^phase far",
            ),
            Rule::on_message("Reply", "on a reply for another: pass it on"),
            Rule::on_message(
                "Reply",
                "on the second reply of our phase: send probes of the next phase, twice as far",
            ),
            Rule::on_message("Probe", "on our own probe: we are elected; tell the next"),
            Rule::on_message(
                "Leader",
                "on the news that another is elected: note it, and pass it on",
            ),
        ],
        assumes: &[
            "all identifiers differ",
            "reliable links that keep the order of messages, both ways round the ring",
            "no process of the ring crashes",
        ],
        tolerates: ORDERED,
        promises: &[E1, E2, E3, E1_SELF, E1_AGREE, E1_ALWAYS],
        usual: Some(2),
        counterexamples: &[Counterexample {
            property: E2,
            scope: Scope { order: Order::Fifo, crashes: 1, ..Scope::of(2) },
            steps: 2,
            story: "p0 starts, and p1 crashes when the first probe arrives: no process is left \
                    that could reply to p0, or be elected",
        }],
        costs: &[
            cost::one_starts("at most 8N(1 + ceil(log2 N)) + N", |size| at_most(size.n)),
            cost::all_start("at most 8N(1 + ceil(log2 N)) + N", |size| at_most(size.n)),
        ],
        parameters: &[IDS, LOADS, VERSIONS, TIES, RING, STARTERS],
        ..Card::BLANK
    };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        let (ids, starters) = (unique_ids(setup)?, starters(setup)?);
        let around = neighbours(setup)?.into_iter().zip(ids).zip(ProcessId::all(setup.n));
        let process = |((neighbours, id), me)| HirschbergSinclair {
            id,
            neighbours,
            election: 0,
            state: State::Over,
            is_starter: starters.contains(me),
        };
        Ok(around.map(process).collect())
    }

    fn takes_part(&self, _me: ProcessId) -> bool {
        self.is_starter
    }
}

fn at_most(n: usize) -> Bounds {
    let phases = 1 + n.next_power_of_two().ilog2() as usize;
    Bounds::between(0, 8 * n * phases + n)
}
