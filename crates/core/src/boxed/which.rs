//! The facts about an algorithm as a whole, without its type.

use super::{Boxed, BoxedMessage, BoxedTimer};
use crate::algorithm::{Algorithm, Invariant, Kit, Replay, Snapshot, System};
use crate::card::{Card, Rounds, Size};
use crate::family::any::{AnyApplication, AnyMonitor};
use crate::family::{AnyInput, Facts, Family, Known};
use crate::process::ProcessId;
use crate::reductions::{FaultBudgets, Ignores, Normalise, Reductions};
use crate::setup::{Setup, SetupError};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

/// The associated functions of an [`Algorithm`]: those without a process at hand, or about all of
/// them.
pub(crate) trait ErasedAlgorithm: Send + Sync {
    fn kit(&self, setup: &Setup) -> Kit<Boxed>;
    fn invariants(&self) -> Vec<Invariant<Boxed>>;
    fn assemble(&self, setup: &Setup) -> Result<Vec<Boxed>, SetupError>;
    fn read_message(&self, bytes: &[u8]) -> Option<BoxedMessage>;
    fn has_costs(&self, setup: &Setup) -> bool;
    fn is_restless(&self, processes: &[Boxed]) -> bool;
    fn size(&self, processes: &[Boxed]) -> Size;
    fn read_state(&self, bytes: &[u8]) -> Option<Boxed>;
    fn application(&self, me: ProcessId, setup: &Setup, rounds: Rounds) -> AnyApplication;
    fn monitor(&self, setup: &Setup, judged: &dyn Fn(&str) -> bool) -> AnyMonitor;
}

/// The algorithm of a group, for drivers that learn it only at run time.
#[derive(Clone, Copy)]
pub struct Which {
    card: &'static Card,
    family: &'static str,
    algorithm: &'static dyn ErasedAlgorithm,
}

impl Which {
    /// This algorithm. All that a box of it needs is compiled where this is called, so a catalogue
    /// does it once, and drivers are given the answer.
    pub const fn of<A: Algorithm>() -> Self {
        struct At<A>(PhantomData<A>);
        impl<A: Algorithm> At<A> {
            const CARD: &'static Card = &A::CARD;
            const ALGORITHM: &'static dyn ErasedAlgorithm = &Typed::<A>(PhantomData);
        }
        let family = <A::Family as Family>::NAME;
        Which { card: At::<A>::CARD, family, algorithm: At::<A>::ALGORITHM }
    }

    /// Its card.
    pub fn card(&self) -> &'static Card {
        self.card
    }

    /// The name of its family.
    pub fn family(&self) -> &'static str {
        self.family
    }

    /// # Panics
    /// If the setup does not name its algorithm. The caller that makes a group of boxes must name
    /// it by [`Setup::of`].
    pub(crate) fn algorithm(setup: &Setup) -> &'static dyn ErasedAlgorithm {
        setup.which.expect("a group of boxes names its algorithm").algorithm
    }
}

impl PartialEq for Which {
    fn eq(&self, other: &Self) -> bool {
        self.card.name == other.card.name
    }
}

impl Eq for Which {}

impl Hash for Which {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.card.name.hash(hasher);
    }
}

impl fmt::Debug for Which {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.card.name)
    }
}

pub(super) struct Typed<A>(pub(super) PhantomData<fn() -> A>);

impl<A: Algorithm> ErasedAlgorithm for Typed<A> {
    fn kit(&self, setup: &Setup) -> Kit<Boxed> {
        let kit = A::kit(setup);
        Kit {
            card: kit.card,
            family: Facts::of::<A::Family>(input_from_words::<A::Family>),
            replay: kit.replay.map(|_| Boxed::replay as Replay<Boxed>),
            invariants: boxed_invariants::<A>(&kit.invariants),
            culprit: culprit::<A>,
            reductions: boxed_reductions::<A>(),
        }
    }

    fn invariants(&self) -> Vec<Invariant<Boxed>> {
        boxed_invariants::<A>(A::invariants())
    }

    fn assemble(&self, setup: &Setup) -> Result<Vec<Boxed>, SetupError> {
        Ok(A::assemble(setup)?.into_iter().map(Boxed::new).collect())
    }

    fn read_message(&self, bytes: &[u8]) -> Option<BoxedMessage> {
        postcard::from_bytes::<A::Message>(bytes).ok().map(BoxedMessage::new)
    }

    fn has_costs(&self, setup: &Setup) -> bool {
        A::has_costs(setup)
    }

    fn is_restless(&self, processes: &[Boxed]) -> bool {
        A::is_restless(&open::<A>(processes))
    }

    fn size(&self, processes: &[Boxed]) -> Size {
        A::size(&open::<A>(processes))
    }

    fn read_state(&self, bytes: &[u8]) -> Option<Boxed> {
        postcard::from_bytes::<A>(bytes).ok().map(Boxed::new)
    }

    fn application(&self, me: ProcessId, setup: &Setup, rounds: Rounds) -> AnyApplication {
        A::Family::any_application(me, setup, rounds)
    }

    fn monitor(&self, setup: &Setup, judged: &dyn Fn(&str) -> bool) -> AnyMonitor {
        A::Family::any_monitor(setup, judged)
    }
}

fn input_from_words<F: Known>(words: &[&str]) -> Option<AnyInput> {
    F::input_from_words(words).map(F::any_input)
}

fn open<A: Algorithm>(processes: &[Boxed]) -> Vec<A> {
    processes.iter().map(|process| process.open::<A>().clone()).collect()
}

/// A world of boxes, as the algorithm inside sees it.
struct Opened<'a>(&'a dyn System<Boxed>);

impl<A: Algorithm> System<A> for Opened<'_> {
    fn size(&self) -> usize {
        self.0.size()
    }

    fn process(&self, at: ProcessId) -> &A {
        self.0.process(at).open()
    }

    fn each_message<'s>(&'s self, show: &mut dyn FnMut(ProcessId, ProcessId, &'s A::Message)) {
        self.0.each_message(&mut |from, to, message| show(from, to, message.open()));
    }

    fn print(&self, at: ProcessId) -> u64 {
        self.0.print(at)
    }
}

/// The same invariants, over boxes. `Invariant::holds` is a plain function, which cannot capture an
/// index; so each place has a function of its own.
fn boxed_invariants<A: Algorithm>(invariants: &[Invariant<A>]) -> Vec<Invariant<Boxed>> {
    let holds = [holds::<A, 0>, holds::<A, 1>, holds::<A, 2>, holds::<A, 3>, holds::<A, 4>];
    assert!(invariants.len() <= holds.len(), "{} has too many invariants", A::CARD.name);
    let is_in_place = |(one, other): (&Invariant<A>, &Invariant<A>)| one.name == other.name;
    let in_place = invariants.iter().zip(A::invariants()).all(is_in_place);
    assert!(in_place, "{}: only the last invariants may be left out", A::CARD.name);
    let boxed = |(of, holds): (&Invariant<A>, _)| Invariant {
        name: of.name,
        statement: of.statement,
        holds,
    };
    invariants.iter().zip(holds).map(boxed).collect()
}

fn holds<A: Algorithm, const PLACE: usize>(snapshot: &Snapshot<'_, Boxed>) -> bool {
    (A::invariants()[PLACE].holds)(&Snapshot::new(&Opened(snapshot.system), snapshot.notes))
}

fn culprit<A: Algorithm>(invariant: &str, snapshot: &Snapshot<'_, Boxed>) -> Option<String> {
    A::culprit(invariant, &Snapshot::new(&Opened(snapshot.system), snapshot.notes))
}

/// The same hints, about the boxes.
fn boxed_reductions<A: Algorithm>() -> Reductions<Boxed> {
    let of = A::REDUCTIONS;
    Reductions {
        is_urgent: of.is_urgent.map(|_| is_urgent::<A> as fn(&BoxedMessage) -> bool),
        is_fault: of.is_fault.map(|_| is_fault::<A> as fn(&BoxedTimer) -> bool),
        faults_left: of.faults_left.map(|_| faults_left::<A> as fn(&Boxed) -> FaultBudgets),
        ignores: of.ignores.map(|_| ignores::<A> as Ignores<Boxed>),
        normalise: of.normalise.map(|_| normalise::<A> as Normalise<Boxed>),
        thorough: of.thorough,
    }
}

fn is_urgent<A: Algorithm>(message: &BoxedMessage) -> bool {
    A::REDUCTIONS.is_urgent(message.open())
}

fn is_fault<A: Algorithm>(timer: &BoxedTimer) -> bool {
    A::REDUCTIONS.is_fault(timer.open())
}

fn faults_left<A: Algorithm>(process: &Boxed) -> FaultBudgets {
    A::REDUCTIONS.faults_left(process.open())
}

fn ignores<A: Algorithm>(process: &Boxed, from: ProcessId, message: &BoxedMessage) -> bool {
    A::REDUCTIONS.ignores(process.open(), from, message.open())
}

fn normalise<A: Algorithm>(states: &mut [&mut Boxed], sent: &mut [&mut BoxedMessage]) -> bool {
    let mut messages: Vec<A::Message> =
        sent.iter().map(|message| message.open::<A::Message>().clone()).collect();
    let mut states: Vec<&mut A> = states.iter_mut().map(|state| state.open_mut()).collect();
    let does = A::REDUCTIONS.normalise(&mut states, &mut messages.iter_mut().collect::<Vec<_>>());
    for (place, message) in sent.iter_mut().zip(messages) {
        **place = BoxedMessage::new(message);
    }
    does
}
