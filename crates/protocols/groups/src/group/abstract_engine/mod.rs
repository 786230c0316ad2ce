//! An idealised group service for explorers: it takes every step that the contract allows, and no
//! other.
//!
//! A service that holds on this engine, in every state, holds on every engine that keeps the
//! contract of [`synod_core::group`]. So the proof does not depend on one implementation.
//!
//! Process p0 is the *oracle*: it is no member, and stands for the group service as a whole. All
//! other processes are members, and their part of the engine does next to nothing. A multicast
//! travels to the oracle in a message that may take any time; an event that the oracle sends goes
//! on to the service. The oracle has a timer for each open move, and chooses the details when the
//! timer runs out:
//!
//! - **Pass**: a member gets its next event. So every member may be any number of events behind the
//!   others.
//! - **Partition**: some of a view's members go on by themselves. The others stay in the old view,
//!   and may even multicast in it, until they **settle**: they get a view of their own, too.
//! - **Merge**: members of two or more views get a view together, each group from where it is.
//! - **Die**: a process dies, and the rest of its view is told so. **Crash**: a node fails, and for
//!   the others this looks like a partition. **Restart**: it begins anew, alone or in some view.
//!
//! When some members go on from a view, the adversary chooses which of the ordered messages they
//! still deliver in its regular configuration, and which of the rest in the transitional one. The
//! contract limits its choice: these members deliver the same messages, among them their own
//! multicasts and every message that any member delivered as safe. A multicast that has not reached
//! the oracle yet is ordered in a later view, and bears the name of the view in which it was
//! multicast.
//!
//! - Assumes: that no process of the world crashes (the oracle does that), and links that lose
//!   nothing. Members are p1, p2, …; so a group of `n` processes has `n − 1` members.
//! - Guarantees: G1 to G5. The parameters limit the number of faults.
//! - Cost: one message for each multicast, and one for each event of a member; the latter arrive at
//!   once.
//! - State: the messages of a view that a member of it has yet to deliver, at most [`WINDOW`] of
//!   each member for each view in which it multicast; and the events that each member has yet to
//!   get.
//! - Left out, although the contract may be read to allow it: a message of a member that is no
//!   longer in the view, delivered in a later one.
//!
//! `lazy.rs` explores the same histories in fewer states; `docs/lazy-groups.md` argues why it may.

mod component;
mod lazy;
mod member;
mod moves;
mod oracle;
mod phase;
mod rule;
mod settings;

pub use lazy::Waiting;
pub use rule::RULE;
pub use settings::{OWN_FAULTS, PARAMETERS, Passing, Settings};

use member::Stub;
use oracle::Oracle;
use serde::{Deserialize, Serialize};
use std::fmt;
use synod_core::card::{OwnFaults, Parameter};
use synod_core::group::{Ask, Capabilities, Engine, Event, Level, Member, ViewId};
use synod_core::reductions::{FaultBudgets, Fleeting};
use synod_core::{Cx, ProcessId, ProcessSet, Protocol, Reductions, Setup, SetupError, Wire};

/// The oracle. All other processes are members.
pub const ORACLE: ProcessId = ProcessId(0);

/// How many multicasts of a member may be under way in a view; the engine refuses more. A small
/// number keeps explorations small.
pub const WINDOW: usize = 4;

/// One process of the idealised group service.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Abstract<M> {
    /// The group service as a whole.
    Oracle(Oracle<M>),
    /// A member.
    Member(Stub),
}

/// Messages between the oracle and a member. No network carries them: both are parts of one model.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message<M> {
    /// To the oracle: multicast this.
    Cast {
        /// The sender of the multicast.
        sender: Member,
        /// The view in which it was multicast.
        sent_in: ViewId,
        /// The delivery level.
        level: Level,
        /// The message itself.
        message: M,
        /// Whether the message may be under way for any time.
        late: bool,
    },
    /// To the oracle: this member leaves.
    Leave(Member),
    /// From the oracle: this is the next event.
    Tell(Event<M>),
    /// From a lazy oracle, after an event: did the member multicast?
    Ask,
    /// To the oracle: my multicasts, if any, are on their way.
    Done,
    /// From a lazy oracle to itself: pass on the events that are certain.
    Certain,
}

impl<M: Wire> Wire for Message<M> {
    fn kind(&self) -> &'static str {
        match self {
            Message::Cast { message, .. } => message.kind(),
            Message::Leave(_) => "Leave",
            Message::Tell(Event::Deliver(delivery)) => delivery.message.kind(),
            Message::Tell(Event::View(_)) => "View",
            Message::Tell(Event::Transitional(_)) => "Transitional",
            Message::Tell(_) => "Lost",
            Message::Ask => "Ask",
            Message::Done => "Done",
            Message::Certain => "Certain",
        }
    }

    fn label(&self) -> String {
        match self {
            Message::Cast { message, .. } => message.label(),
            Message::Tell(Event::Deliver(delivery)) => {
                format!("{}: {}", delivery.sender, delivery.message.label())
            }
            Message::Tell(Event::View(_) | Event::Transitional(_)) => format!("{self:?}"),
            _ => self.kind().to_owned(),
        }
    }
}

impl<M> Message<M> {
    /// The oracle decides when an event is passed on, so no further delay comes between it and the
    /// member.
    fn is_urgent(&self) -> bool {
        match self {
            Message::Tell(_) | Message::Ask | Message::Done | Message::Certain => true,
            Message::Cast { late, .. } => !late,
            Message::Leave(_) => false,
        }
    }
}

/// As short as possible: these messages are the story of a counterexample.
impl<M: fmt::Debug> fmt::Debug for Message<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Message::Cast { sent_in, message, .. } => write!(f, "{message:?} in {sent_in}"),
            Message::Leave(member) => write!(f, "Leave({member})"),
            Message::Tell(Event::View(view)) => {
                write!(f, "View {}:", view.id)?;
                view.members.iter().try_for_each(|member| write!(f, " {member}"))
            }
            Message::Tell(Event::Transitional(with)) => {
                write!(f, "Transitional:")?;
                with.iter().try_for_each(|member| write!(f, " {member}"))
            }
            Message::Tell(Event::Deliver(delivery)) => {
                write!(f, "{}: {:?} in {}", delivery.sender, delivery.message, delivery.sent_in)
            }
            Message::Tell(event) => event.fmt(f),
            Message::Ask => f.write_str("Ask"),
            Message::Done => f.write_str("Done"),
            Message::Certain => f.write_str("Certain"),
        }
    }
}

/// A move of the adversary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Move {
    /// Some members of a view go on by themselves.
    Partition,
    /// Members of several views get a view together.
    Merge,
    /// A process dies, and that is certified.
    Die,
    /// A node crashes.
    Crash,
    /// A node starts for the first time.
    Start,
    /// A dead node starts again, alone or in some view.
    Restart,
    /// A dead node starts again, in some view.
    Rejoin,
    /// The members left behind in a view get one of their own.
    Settle,
    /// One more of the views that a merge unites ends. (Lazy oracles only.)
    Gather,
    /// A member gets its next event.
    Pass,
    /// A member's next multicast gets its place. (Lazy oracles only: other oracles order a
    /// multicast when it arrives.)
    Order,
    /// The members get all their events, and none of them multicasts. (Lazy oracles only.)
    Rest,
}

impl Move {
    /// In the order in which the oracle sets their timers.
    const ALL: [Move; 12] = [
        Move::Partition,
        Move::Merge,
        Move::Die,
        Move::Crash,
        Move::Start,
        Move::Restart,
        Move::Rejoin,
        Move::Settle,
        Move::Gather,
        Move::Pass,
        Move::Order,
        Move::Rest,
    ];

    /// The fault of that name.
    fn named(word: &str) -> Option<Move> {
        Some(match word {
            "partition" => Move::Partition,
            "merge" => Move::Merge,
            "die" => Move::Die,
            "crash" => Move::Crash,
            "restart" => Move::Restart,
            "rejoin" => Move::Rejoin,
            _ => return None,
        })
    }

    /// Whether the move may come and need not.
    pub fn is_fault(&self) -> bool {
        !matches!(self, Move::Settle | Move::Gather | Move::Pass | Move::Order | Move::Rest)
    }

    /// In a simulation: milliseconds from the moment at which the move becomes possible.
    fn after_ms(self) -> u64 {
        match self {
            Move::Gather | Move::Pass | Move::Order | Move::Rest => 1,
            Move::Settle => 7,
            Move::Start | Move::Restart | Move::Rejoin => 20,
            Move::Partition => 100,
            Move::Merge => 150,
            Move::Die => 230,
            Move::Crash => 310,
        }
    }
}

impl<M> Abstract<M> {
    /// Remaining fault budget, per kind.
    fn faults_left(&self) -> FaultBudgets {
        match self {
            Abstract::Oracle(oracle) => oracle.settings.left.each(),
            Abstract::Member(_) => [0; 8],
        }
    }
}

impl<M: Fleeting> Protocol for Abstract<M> {
    type Input = Ask<M>;
    type Output = Event<M>;
    type Message = Message<M>;
    type Timer = Move;

    const REDUCTIONS: Reductions<Self> = Reductions {
        is_urgent: Some(Message::is_urgent),
        is_fault: Some(Move::is_fault),
        faults_left: Some(Self::faults_left),
        thorough: settings::THOROUGH,
        ..Reductions::NONE
    };

    fn on_start(&mut self, cx: &mut Cx<'_, Self>) {
        if let Abstract::Oracle(oracle) = self {
            oracle.start(cx);
        }
    }

    fn on_input(&mut self, ask: Ask<M>, cx: &mut Cx<'_, Self>) {
        match (self, ask) {
            (Abstract::Member(stub), ask) => stub.on_ask(ask, cx),
            // The oracle is no member, so it has no room for a multicast.
            (Abstract::Oracle(_), Ask::Multicast { message, .. }) => {
                cx.output(Event::Refused(message));
            }
            (Abstract::Oracle(_), Ask::Leave) => {}
        }
    }

    fn on_message(&mut self, from: ProcessId, message: Message<M>, cx: &mut Cx<'_, Self>) {
        match (self, message) {
            (Abstract::Oracle(oracle), message) => oracle.on_message(from, message, cx),
            (Abstract::Member(stub), Message::Tell(event)) if from == ORACLE => {
                stub.on_event(event, cx);
            }
            (Abstract::Member(_), Message::Ask) if from == ORACLE => cx.send(ORACLE, Message::Done),
            (Abstract::Member(_), _) => cx.accuse(from, "speaks to a member"),
        }
    }

    fn on_timer(&mut self, next: Move, cx: &mut Cx<'_, Self>) {
        if let Abstract::Oracle(oracle) = self {
            oracle.on_move(next, cx);
        }
    }
}

impl<M: Fleeting> Engine<M> for Abstract<M> {
    fn capabilities(&self) -> Capabilities {
        let safe = match self {
            Abstract::Oracle(oracle) => oracle.settings().safe,
            Abstract::Member(stub) => stub.safe,
        };
        Capabilities { safe, partitionable: true, came_with: true, longest_message: usize::MAX }
    }

    fn room(&self) -> usize {
        match self {
            Abstract::Oracle(_) => 0,
            Abstract::Member(stub) => stub.room(),
        }
    }

    const PARAMETERS: &'static [Parameter] = &PARAMETERS;

    const OWN_FAULTS: Option<OwnFaults> = Some(OWN_FAULTS);

    /// The oracle first, then the members.
    fn engines(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        let settings = Settings::from_setup(setup)?;
        let member = Abstract::Member(Stub::new(&settings));
        let members = std::iter::repeat_n(member, setup.n - 1);
        let oracle = Abstract::Oracle(Oracle::new(setup.n - 1, settings));
        Ok(std::iter::once(oracle).chain(members).collect())
    }

    fn nodes(setup: &Setup) -> Result<ProcessSet, SetupError> {
        Ok(ProcessSet::all_but(setup.n, ORACLE))
    }

    fn takes_part(&self) -> bool {
        matches!(self, Abstract::Member(_))
    }

    fn parts(&self) -> Vec<ProcessSet> {
        match self {
            Abstract::Oracle(oracle) => oracle.views(),
            Abstract::Member(_) => Vec::new(),
        }
    }

    /// The oracle moves only while a member has yet to get an event.
    fn is_restless(&self) -> bool {
        false
    }
}
