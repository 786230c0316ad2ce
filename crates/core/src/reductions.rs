//! Hints for explorers: what an exploration may leave out, and why that changes no verdict.
//!
//! A protocol needs none of this to be explored: [`Reductions::NONE`] is the default, and only
//! costs time. A protocol that states a hint states a fact about itself, and a wrong fact hides
//! violations. So each hint has its argument here, `synod check --full` explores without them, and
//! a test (`tests/explore/full.rs` of the explorer) compares the verdicts of both for every
//! algorithm of the catalogue, and shows that a wrong hint of each kind is noticed.
//!
//! # What a model stands for
//!
//! Some processes are no processes of a real system: the oracle of an idealised group service
//! *stands for* the whole service. Three hints say what such a model means. They hold in a full
//! exploration, too.
//!
//! - [`Reductions::is_urgent`]: the message arrives within the step that sends it. No network
//!   carries it; sender and receiver are two parts of one idealised object. All drivers keep to it.
//! - [`Reductions::is_fault`]: the timer stands for a fault. It may run out and need not, like a
//!   crash. So no process waits for it: a world in which only such timers are set stands still.
//! - [`Reductions::faults_left`]: the remaining fault budget of such a process, per kind.
//!
//! # What explorers leave out
//!
//! Two worlds are *alike* if the same steps can follow in both, for ever, and each step is judged
//! the same in both. An exploration that looks at one of two alike worlds reaches the verdicts of
//! one that looks at both. Each hint below names alike worlds.
//!
//! 1. *Ignored messages* ([`Reductions::ignores`]). The receiver takes in the message without a
//!    change of its state and without an effect, now and after any other event. So a world with the
//!    message under way and the world without it are alike: follow any history of the first and
//!    skip the delivery. (A loss, a copy and a delay of the message are skipped in the same way.) A
//!    process that crashes and restarts may have forgotten why it ignores the message. So explorers
//!    keep such messages where a process restarts.
//! 2. *Numbers made small* ([`Reductions::normalise`]). The algorithm uses certain numbers in no
//!    way but ones that commute with a map of its choice, for instance: compares them, and adds
//!    one. Then a world and its image under the map are alike. Without this an endless history
//!    never returns to a state, and no fair circle is ever found.
//! 3. *Smaller budgets* ([`Reductions::faults_left`] again, and the budgets of the scope). Two
//!    worlds differ in nothing but their budgets, and the second has at least as much left of each
//!    kind. Every history of the first is one of the second. So the first need not be looked at
//!    once the second was. Therefore budgets are not hashed with the state, nor are timers that
//!    stand for faults.
//! 4. *Retracted steps* ([`retract`]). The step itself says that it came to nothing: every history
//!    that follows it can follow the world before it. So the world after it need not be looked at.
//! 5. *Deliveries without effect* ([`Fleeting`]) and *late delivery*, in an idealised group service
//!    whose parameters ask for them. [`Reductions::thorough`] names the settings without. The
//!    argument is `docs/lazy-groups.md`.
//!
//! Explorers leave out more steps on their own account; their own documentation says which.

use crate::cx::Cx;
use crate::process::ProcessId;
use crate::protocol::{Protocol, Wire};

/// Remaining fault budget, per kind.
pub type FaultBudgets = [u8; 8];

/// Whether a process ignores a message from this sender.
pub type Ignores<P> = fn(&P, ProcessId, &<P as Protocol>::Message) -> bool;

/// Makes numbers small in all states and messages. Returns false if the algorithm, with this setup,
/// does not.
pub type Normalise<P> = fn(&mut [&mut P], &mut [&mut <P as Protocol>::Message]) -> bool;

/// The hints of a protocol to explorers. The module says what each hint promises.
pub struct Reductions<P: Protocol> {
    /// Whether the message arrives before any other event, as if sender and receiver took one step
    /// together. No message of a real network is urgent.
    pub is_urgent: Option<fn(&P::Message) -> bool>,
    /// Whether the timer stands for a fault, which may come and need not. (In an idealised group
    /// service: the network falls apart.)
    pub is_fault: Option<fn(&P::Timer) -> bool>,
    /// Remaining fault budget of the service that this process stands for, per kind. The state must
    /// not hash it, because explorers compare budgets themselves.
    pub faults_left: Option<fn(&P) -> FaultBudgets>,
    /// Whether this process ignores the message for good, at any later time and after any other
    /// events, unless it crashes: a vote for an election that is over.
    pub ignores: Option<Ignores<P>>,
    /// Makes numbers small that matter only relative to each other; every later step stays
    /// possible. Returns whether the algorithm does this at all, which must not depend on the
    /// states.
    pub normalise: Option<Normalise<P>>,
    /// Parameters that turn off the algorithm's own omissions, with the values that do so.
    pub thorough: &'static [(&'static str, &'static str)],
}

impl<P: Protocol> Copy for Reductions<P> {}

impl<P: Protocol> Clone for Reductions<P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P: Protocol> std::fmt::Debug for Reductions<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

impl<P: Protocol> Reductions<P> {
    /// No hint: explorers leave nothing out.
    pub const NONE: Self = Reductions {
        is_urgent: None,
        is_fault: None,
        faults_left: None,
        ignores: None,
        normalise: None,
        thorough: &[],
    };

    /// Whether the message arrives within the step that sends it.
    #[inline]
    pub fn is_urgent(&self, message: &P::Message) -> bool {
        self.is_urgent.is_some_and(|is_urgent| is_urgent(message))
    }

    /// Whether the timer stands for a fault.
    #[inline]
    pub fn is_fault(&self, timer: &P::Timer) -> bool {
        self.is_fault.is_some_and(|is_fault| is_fault(timer))
    }

    /// Remaining fault budget of the service that this process stands for, per kind.
    #[inline]
    pub fn faults_left(&self, process: &P) -> FaultBudgets {
        self.faults_left.map_or([0; 8], |faults_left| faults_left(process))
    }

    /// Whether this process ignores the message for good.
    #[inline]
    pub fn ignores(&self, process: &P, from: ProcessId, message: &P::Message) -> bool {
        self.ignores.is_some_and(|ignores| ignores(process, from, message))
    }

    /// Makes numbers small; false if the algorithm does not.
    pub fn normalise(&self, states: &mut [&mut P], messages: &mut [&mut P::Message]) -> bool {
        self.normalise.is_some_and(|normalise| normalise(states, messages))
    }

    /// The names of the hints that this protocol states.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<P> {
        let all = [
            ("is_urgent", self.is_urgent.is_some()),
            ("is_fault", self.is_fault.is_some()),
            ("faults_left", self.faults_left.is_some()),
            ("ignores", self.ignores.is_some()),
            ("normalise", self.normalise.is_some()),
            ("thorough", !self.thorough.is_empty()),
        ];
        all.into_iter().filter(|(_, is_there)| *is_there).map(|(name, _)| name)
    }
}

/// Says that this step came to nothing: every step that can follow it can follow without it. An
/// explorer passes over it; for other drivers it is a step like any other. It is for adversaries
/// that learn only by trying whether a move leads anywhere.
pub fn retract<P: Protocol>(cx: &mut Cx<'_, P>) {
    cx.retract();
}

/// A multicast of a service in a group, and for how long it matters. An idealised group service
/// asks this, if its parameters let it leave deliveries out. By default every delivery matters.
pub trait Fleeting: Wire {
    /// Whether the service remembers views, and lives in them, that are older than the last view of
    /// its engine. Then the idealised service uses no name of a view or a life again.
    const REMEMBERS_VIEWS: bool = false;

    /// Whether a member ignores the message if it delivers it between two views, in a transitional
    /// configuration. Then the idealised service need not try whether a member delivers it there.
    fn is_void_between_views(&self) -> bool {
        false
    }

    /// Whether all consequences of the message end with the view in which it is delivered. Then the
    /// idealised service need not deliver it when the view ends.
    fn ends_with_its_view(&self) -> bool {
        false
    }
}
