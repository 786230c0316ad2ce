//! Election by bullying (García-Molina, 1982).
//!
//! A process that misses the coordinator asks all processes with greater identifiers. If one of
//! them answers, that one takes over. If none answers in time, all of them have crashed: the
//! process that asked is the coordinator now, and tells all smaller ones. The greatest process has
//! no other to ask. A process that comes back after a crash may take over from a coordinator that
//! works: that is the bullying.
//!
//! - Assumes: every process knows all identifiers, and they differ; reliable links in any order; no
//!   message takes longer than `delay`, D. Processes may crash. The application notices it, or the
//!   failure detector that each process owns.
//! - Guarantees: E2, E3, E1-self, E1-agree; E1 too, as long as some process notices each crash of a
//!   coordinator. Not if a message is late, and not if a crashed process comes back: see the
//!   counterexamples on the card. `announce` chooses how the winner becomes known. If p0 orders the
//!   announcements, E1-agree holds although processes come back, as long as p0 is up. With epochs,
//!   which a majority grants, it holds without that, and no epoch has two leaders; but a process
//!   that is back may have to follow a smaller one. See `announcement.rs`.
//! - Cost: if the greatest has crashed and the second greatest notices, N − 1 messages, or N − 2 if
//!   it trusts its detection; if the smallest notices, N² − N − 1, or N² − 2N.
//! - State: a phase, the last coordinator, and two sets of names.
//!
//! An answer comes within T = 2D + P, where P is the time to process a message. The greatest that
//! is up has heard of the election after D, waits for T at most, and its announcement takes D: so a
//! process that got an answer, but hears of no coordinator within 2T of asking, starts again.
//!
//! Source: H. García-Molina: Elections in a distributed computing system. IEEE Transactions on
//! Computers C-31(1), 1982.

mod announcement;
mod card;

use crate::detector::{self, Detector, Opinion};
use announcement::Announcement;
use serde::{Deserialize, Serialize};
use synod_core::family::election::{Input, Output, starters, unique_ids};
use synod_core::{Cx, ProcessId, ProcessSet, Protocol, Setup, SetupError, Wire};

/// The messages between processes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Message {
    /// To greater ones: is one of you up?
    Election,
    /// To a smaller one: I am, leave it to me.
    Answer,
    /// To smaller ones: I am the coordinator, with this identifier.
    Coordinator(u64),
    /// A message between the failure detectors.
    Detector(detector::Message),
    /// To p0, which orders announcements: I am the coordinator, with this identifier.
    Announce(u64),
    /// From p0: the announcement with this number.
    Ordered(u64, Coordinator),
    /// To all: grant me this epoch.
    Claim(u64),
    /// I do.
    Grant(u64),
    /// I do not: I have granted this epoch before.
    Refusal(u64),
    /// To all: I lead this epoch, and have this identifier.
    Leader(u64, u64),
}

impl Wire for Message {
    fn kind(&self) -> &'static str {
        match self {
            Message::Election => "Election",
            Message::Answer => "Answer",
            Message::Coordinator(_) => "Coordinator",
            Message::Detector(message) => message.kind(),
            Message::Announce(_) => "Announce",
            Message::Ordered(..) => "Ordered",
            Message::Claim(_) => "Claim",
            Message::Grant(_) => "Grant",
            Message::Refusal(_) => "Refusal",
            Message::Leader(..) => "Leader",
        }
    }

    fn label(&self) -> String {
        match self {
            Message::Election => "Election".to_owned(),
            Message::Answer => "Answer".to_owned(),
            Message::Coordinator(id) => format!("Coordinator {id}"),
            Message::Detector(message) => message.label(),
            Message::Announce(id) => format!("Announce {id}"),
            Message::Ordered(number, coordinator) => format!("#{number}: {}", coordinator.id),
            Message::Claim(epoch) => format!("Claim {epoch}"),
            Message::Grant(epoch) => format!("Grant {epoch}"),
            Message::Refusal(epoch) => format!("Refusal {epoch}"),
            Message::Leader(epoch, id) => format!("Leader {id} of {epoch}"),
        }
    }
}

impl From<detector::Message> for Message {
    fn from(message: detector::Message) -> Self {
        Message::Detector(message)
    }
}

/// The timers of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Timer {
    /// Until T: the process waits for an answer.
    Answer,
    /// Until 2T: the process waits for a coordinator.
    Coordinator,
    /// A timer of the failure detector.
    Detector(detector::Timer),
}

impl From<detector::Timer> for Timer {
    fn from(timer: detector::Timer) -> Self {
        Timer::Detector(timer)
    }
}

/// Where a process stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Phase {
    /// It takes part in no election.
    Idle,
    /// It asked the greater ones, and none has answered yet.
    WaitAnswer,
    /// A greater one has answered. That one now has the duty to find a coordinator.
    WaitCoordinator,
}

/// One process of the algorithm. With `ROUND_TRIP` it is right; without, it waits for an answer as
/// long as for one message: the mutant [`bully-hasty`](super::mutants::bully).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Process<const ROUND_TRIP: bool> {
    id: u64,
    greater: ProcessSet,
    smaller: ProcessSet,
    /// T.
    timeout_ms: u64,
    phase: Phase,
    /// The last coordinator that this process heard of; possibly itself.
    coordinator: Option<Coordinator>,
    announcement: Announcement,
    detector: Detector,
    options: Options,
}

/// The name and the identifier of a coordinator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Coordinator {
    process: ProcessId,
    id: u64,
}

/// The options that are set before the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Options {
    is_starter: bool,
    /// Whether a process that starts, or starts again, calls an election.
    starts_with_election: bool,
    /// Whether a process sends no message to one that it takes for crashed.
    trusts_detection: bool,
}

/// One process of the right version.
pub type Bully = Process<true>;

impl<const ROUND_TRIP: bool> Protocol for Process<ROUND_TRIP> {
    type Input = Input;
    type Output = Output;
    type Message = Message;
    type Timer = Timer;

    fn on_start(&mut self, cx: &mut Cx<'_, Self>) {
        let opinions = cx.below(|cx| self.detector.on_start(cx));
        assert!(opinions.is_empty(), "no process is suspected before time has passed");
        if self.options.starts_with_election || self.may_have_missed_some(cx) {
            self.call(cx);
        }
    }

    fn on_input(&mut self, Input::Start: Input, cx: &mut Cx<'_, Self>) {
        self.call(cx);
    }

    fn on_message(&mut self, from: ProcessId, message: Message, cx: &mut Cx<'_, Self>) {
        match message {
            Message::Election if self.smaller.contains(from) => self.on_election(from, cx),
            Message::Answer if self.greater.contains(from) => self.on_answer(cx),
            // Announcements go to smaller processes only, so the sender must be greater.
            Message::Coordinator(id) if self.greater.contains(from) && id > self.id => {
                self.on_coordinator(Coordinator { process: from, id }, cx);
            }
            Message::Election | Message::Answer => {
                cx.accuse(from, "took itself for smaller or greater than it is");
            }
            Message::Coordinator(_) => cx.accuse(from, "bullied a greater process"),
            Message::Detector(message) => {
                let opinions = cx.below(|cx| self.detector.on_message(from, message, cx));
                opinions.into_iter().for_each(|opinion| self.on_opinion(opinion, cx));
            }
            other => self.on_announcement(from, other, cx),
        }
    }

    fn on_timer(&mut self, timer: Timer, cx: &mut Cx<'_, Self>) {
        match timer {
            Timer::Answer => self.announce(cx),
            Timer::Coordinator => self.start(cx),
            Timer::Detector(timer) => {
                let opinions = cx.below(|cx| self.detector.on_timer(timer, cx));
                opinions.into_iter().for_each(|opinion| self.on_opinion(opinion, cx));
            }
        }
    }
}

impl<const ROUND_TRIP: bool> Process<ROUND_TRIP> {
    /// This process noticed itself that the coordinator is missing. If it knows that all greater
    /// ones have crashed, it wins without asking.
    fn call(&mut self, cx: &mut Cx<'_, Self>) {
        // A process that takes part already will learn the result of that election.
        if self.phase == Phase::Idle {
            cx.output(Output::Undecided);
            match self.asked().is_empty() {
                true => self.announce(cx),
                false => self.ask(cx),
            }
        }
    }

    /// Starts because a smaller process asked, or because an earlier attempt brought no
    /// coordinator.
    fn start(&mut self, cx: &mut Cx<'_, Self>) {
        if self.phase == Phase::Idle {
            cx.output(Output::Undecided);
        }
        match self.greater.is_empty() {
            true => self.announce(cx),
            false => self.ask(cx),
        }
    }

    /// The processes to ask in an election: all greater ones but those taken for crashed.
    fn asked(&self) -> ProcessSet {
        self.greater.iter().filter(|process| !self.is_dead(*process)).collect()
    }

    /// Whether its application calls elections.
    pub(super) fn is_starter(&self) -> bool {
        self.options.is_starter
    }

    fn ask(&mut self, cx: &mut Cx<'_, Self>) {
        self.phase = Phase::WaitAnswer;
        for greater in self.asked().iter() {
            cx.send(greater, Message::Election);
        }
        cx.set_timer(Timer::Answer, self.timeout_ms);
        // Counted from the question, like T: an answer that is followed by a crash must not block
        // us.
        cx.set_timer(Timer::Coordinator, self.announcement.patience() * self.timeout_ms);
    }

    fn on_election(&mut self, from: ProcessId, cx: &mut Cx<'_, Self>) {
        cx.send(from, Message::Answer);
        if self.phase == Phase::Idle {
            self.start(cx);
        }
    }

    fn on_answer(&mut self, cx: &mut Cx<'_, Self>) {
        // Otherwise another answer came before, or the election is over.
        if self.phase == Phase::WaitAnswer {
            self.phase = Phase::WaitCoordinator;
            cx.cancel_timer(Timer::Answer);
        }
    }

    fn on_coordinator(&mut self, coordinator: Coordinator, cx: &mut Cx<'_, Self>) {
        let is_news = self.phase != Phase::Idle || self.coordinator != Some(coordinator);
        // A suspected coordinator is not accepted. If the suspicion is wrong, the detector will
        // correct it, and then this process calls a new election.
        if is_news && !self.detector.suspects(coordinator.process) {
            self.conclude(coordinator, cx);
        }
    }

    fn conclude(&mut self, coordinator: Coordinator, cx: &mut Cx<'_, Self>) {
        self.phase = Phase::Idle;
        self.coordinator = Some(coordinator);
        cx.cancel_timer(Timer::Answer);
        cx.cancel_timer(Timer::Coordinator);
        cx.output(Output::Elected(coordinator.id));
    }

    fn on_opinion(&mut self, opinion: Opinion, cx: &mut Cx<'_, Self>) {
        let coordinator = self.coordinator.map(|coordinator| coordinator.process);
        let calls = match opinion {
            Opinion::Suspect(process) => coordinator == Some(process),
            // A process greater than the coordinator may be up after all.
            Opinion::Restore(process) => self.greater.contains(process),
        };
        if calls {
            self.call(cx);
        }
    }

    /// Whether this process takes `process` for crashed, and trusts that opinion. Without a
    /// detector, a call for an election means that the last coordinator has crashed.
    fn is_dead(&self, process: ProcessId) -> bool {
        let is_last_coordinator =
            self.coordinator.is_some_and(|coordinator| coordinator.process == process);
        self.options.trusts_detection
            && match self.detector {
                Detector::None => is_last_coordinator,
                _ => self.detector.suspects(process),
            }
    }

    pub(super) fn group(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        let (ids, starters) = (unique_ids(setup)?, starters(setup)?);
        let detector = Detector::from_setup(setup, "none")?;
        let announcement = Announcement::from_setup(setup)?;
        // T = 2D + P, and a message is processed within a millisecond.
        let ways = if ROUND_TRIP { 2 } else { 1 };
        let timeout_ms = ways * detector::delay_ms(setup)? + 1;
        let options = Options {
            is_starter: false,
            starts_with_election: setup.choice("startup", &["quiet", "election"])? == "election",
            trusts_detection: setup.choice("trust_detection", &["no", "yes"])? == "yes",
        };
        let those = |is: &dyn Fn(u64) -> bool| -> ProcessSet {
            ProcessId::all(setup.n).filter(|p| is(ids[p.index()])).collect()
        };
        let process = |(me, &id): (ProcessId, &u64)| Process {
            id,
            greater: those(&|other| other > id),
            smaller: those(&|other| other < id),
            timeout_ms,
            phase: Phase::Idle,
            coordinator: None,
            announcement: announcement.clone(),
            detector: detector.clone(),
            options: Options { is_starter: starters.contains(me), ..options },
        };
        Ok(ProcessId::all(setup.n).zip(&ids).map(process).collect())
    }
}
