//! The facts about an algorithm as a whole, without its type.

use super::{Boxed, BoxedMessage, BoxedTimer};
use crate::algorithm::{Algorithm, Invariant, Kit, Replay, Snapshot, System};
use crate::card::{Card, Size};
use crate::family::{self, Family};
use crate::process::ProcessId;
use crate::reductions::{FaultBudgets, Ignores, Normalise, Reductions};
use crate::setup::{Setup, SetupError};
use std::any::Any;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

/// The associated functions of an [`Algorithm`]: those without a process at hand, or about all of
/// them.
pub(super) trait ErasedAlgorithm<F: Family>: Send + Sync {
    fn kit(&self, setup: &Setup) -> Kit<Boxed<F>>;
    fn invariants(&self) -> Vec<Invariant<Boxed<F>>>;
    fn assemble(&self, setup: &Setup) -> Result<Vec<Boxed<F>>, SetupError>;
    fn read_message(&self, bytes: &[u8]) -> Option<BoxedMessage>;
    fn has_costs(&self, setup: &Setup) -> bool;
    fn is_restless(&self, processes: &[Boxed<F>]) -> bool;
    fn size(&self, processes: &[Boxed<F>]) -> Size;
    fn read_state(&self, bytes: &[u8]) -> Option<Boxed<F>>;
}

/// The algorithm of a group, for drivers that learn it only at run time.
#[derive(Clone, Copy)]
pub struct Which {
    card: &'static Card,
    family: &'static str,
    algorithm: &'static (dyn Any + Send + Sync),
}

struct Erased<F: Family>(&'static dyn ErasedAlgorithm<F>);

impl Which {
    /// This algorithm. All that a box of it needs is compiled where this is called, so a catalogue
    /// does it once, and drivers are given the answer.
    pub const fn of<A: Algorithm>() -> Self {
        struct At<A>(PhantomData<A>);
        impl<A: Algorithm> At<A> {
            const CARD: &'static Card = &A::CARD;
            const ALGORITHM: &'static Erased<A::Family> = &Erased(&Typed::<A>(PhantomData));
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

    fn is_in<F: Family>(&self) -> bool {
        self.algorithm.is::<Erased<F>>()
    }

    /// Does what the visitor does with the family of this algorithm. None if the family is not one
    /// of [`family`](crate::family).
    pub fn visit_family<V: VisitFamily>(&self, visitor: V) -> Option<V::Answer> {
        macro_rules! the_one_of {
            ($($family:ident),+ $(,)?) => {
                $(if self.is_in::<family::$family>() {
                    return Some(visitor.visit::<family::$family>());
                })+
            };
        }
        the_one_of!(
            Allocation,
            ClockSync,
            Commitment,
            Consensus,
            Detection,
            Election,
            GeneralizedConsensus,
            GroupMulticast,
            GroupService,
            Lockstep,
            LogicalTime,
            Mutex,
            Replication,
            SharedTable,
        );
        None
    }

    /// # Panics
    /// If the setup does not name its algorithm, or one of another family. The caller that makes a
    /// group of boxes must name it by [`Setup::of`].
    pub(super) fn algorithm<F: Family>(setup: &Setup) -> &'static dyn ErasedAlgorithm<F> {
        let which = setup.which.expect("it was said which algorithm it is");
        which.algorithm.downcast_ref::<Erased<F>>().expect("it is one of this family").0
    }
}

/// A driver for any algorithm of a family, and so compiled once for each.
pub trait VisitFamily {
    /// What comes of it.
    type Answer;
    /// Does it.
    fn visit<F: Family>(self) -> Self::Answer;
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

impl<A: Algorithm> ErasedAlgorithm<A::Family> for Typed<A> {
    fn kit(&self, setup: &Setup) -> Kit<Boxed<A::Family>> {
        let Kit { card, replay, invariants, reductions: _ } = A::kit(setup);
        let replay: Option<Replay<Boxed<A::Family>>> =
            replay.map(|_| Boxed::replay as Replay<Boxed<A::Family>>);
        let invariants = boxed_invariants::<A>(&invariants);
        Kit { card, replay, invariants, reductions: boxed_reductions::<A>() }
    }

    fn invariants(&self) -> Vec<Invariant<Boxed<A::Family>>> {
        boxed_invariants::<A>(A::invariants())
    }

    fn assemble(&self, setup: &Setup) -> Result<Vec<Boxed<A::Family>>, SetupError> {
        Ok(A::assemble(setup)?.into_iter().map(Boxed::new).collect())
    }

    fn read_message(&self, bytes: &[u8]) -> Option<BoxedMessage> {
        postcard::from_bytes::<A::Message>(bytes).ok().map(BoxedMessage::new)
    }

    fn has_costs(&self, setup: &Setup) -> bool {
        A::has_costs(setup)
    }

    fn is_restless(&self, processes: &[Boxed<A::Family>]) -> bool {
        A::is_restless(&open::<A>(processes))
    }

    fn size(&self, processes: &[Boxed<A::Family>]) -> Size {
        A::size(&open::<A>(processes))
    }

    fn read_state(&self, bytes: &[u8]) -> Option<Boxed<A::Family>> {
        postcard::from_bytes::<A>(bytes).ok().map(Boxed::new)
    }
}

fn open<A: Algorithm>(processes: &[Boxed<A::Family>]) -> Vec<A> {
    processes.iter().map(|process| process.open::<A>().clone()).collect()
}

/// A world of boxes, as the algorithm inside sees it.
struct Opened<'a, F: Family>(&'a dyn System<Boxed<F>>);

impl<A: Algorithm> System<A> for Opened<'_, A::Family> {
    fn size(&self) -> usize {
        self.0.size()
    }

    fn process(&self, at: ProcessId) -> &A {
        self.0.process(at).open()
    }

    fn each_message<'s>(&'s self, show: &mut dyn FnMut(ProcessId, ProcessId, &'s A::Message)) {
        self.0.each_message(&mut |from, to, message| show(from, to, message.open()));
    }

    fn print(&self, at: ProcessId) -> Option<u64> {
        self.0.print(at)
    }
}

/// The same invariants, over boxes. `Invariant::holds` is a plain function, which cannot capture an
/// index; so each place has a function of its own.
fn boxed_invariants<A: Algorithm>(invariants: &[Invariant<A>]) -> Vec<Invariant<Boxed<A::Family>>> {
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

fn holds<A: Algorithm, const PLACE: usize>(snapshot: &Snapshot<'_, Boxed<A::Family>>) -> bool {
    (A::invariants()[PLACE].holds)(&Snapshot::new(&Opened(snapshot.system), snapshot.notes))
}

/// The same hints, about the boxes.
fn boxed_reductions<A: Algorithm>() -> Reductions<Boxed<A::Family>> {
    let of = A::REDUCTIONS;
    Reductions {
        is_urgent: of.is_urgent.map(|_| is_urgent::<A> as fn(&BoxedMessage) -> bool),
        is_fault: of.is_fault.map(|_| is_fault::<A> as fn(&BoxedTimer) -> bool),
        faults_left: of
            .faults_left
            .map(|_| faults_left::<A> as fn(&Boxed<A::Family>) -> FaultBudgets),
        ignores: of.ignores.map(|_| ignores::<A> as Ignores<Boxed<A::Family>>),
        normalise: of.normalise.map(|_| normalise::<A> as Normalise<Boxed<A::Family>>),
        thorough: of.thorough,
    }
}

fn is_urgent<A: Algorithm>(message: &BoxedMessage) -> bool {
    A::REDUCTIONS.is_urgent(message.open())
}

fn is_fault<A: Algorithm>(timer: &BoxedTimer) -> bool {
    A::REDUCTIONS.is_fault(timer.open())
}

fn faults_left<A: Algorithm>(process: &Boxed<A::Family>) -> FaultBudgets {
    A::REDUCTIONS.faults_left(process.open())
}

fn ignores<A: Algorithm>(
    process: &Boxed<A::Family>,
    from: ProcessId,
    message: &BoxedMessage,
) -> bool {
    A::REDUCTIONS.ignores(process.open(), from, message.open())
}

fn normalise<A: Algorithm>(
    states: &mut [&mut Boxed<A::Family>],
    sent: &mut [&mut BoxedMessage],
) -> bool {
    let mut messages: Vec<A::Message> =
        sent.iter().map(|message| message.open::<A::Message>().clone()).collect();
    let mut states: Vec<&mut A> = states.iter_mut().map(|state| state.open_mut()).collect();
    let does = A::REDUCTIONS.normalise(&mut states, &mut messages.iter_mut().collect::<Vec<_>>());
    for (place, message) in sent.iter_mut().zip(messages) {
        **place = BoxedMessage::new(message);
    }
    does
}
