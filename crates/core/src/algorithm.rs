//! A protocol with a name: the entries of the catalogue.

use crate::card::{Card, Size};
use crate::durable::{BadRecord, Record};
use crate::family::{Facts, Family, Known};
use crate::process::ProcessId;
use crate::protocol::Protocol;
use crate::reductions::Reductions;
use crate::setup::{Setup, SetupError};
use crate::sight::Sight;
use foldhash::quality::FixedState;
use std::any::Any;
use std::cell::{OnceCell, RefCell, RefMut};
use std::hash::{BuildHasher, Hash};
use std::rc::Rc;

/// The function by which a durable algorithm takes a record back in.
pub type Replay<P> = fn(&mut P, &Record) -> Result<(), BadRecord>;

/// A protocol with a name, a family and a card. Drivers need no more than this.
pub trait Algorithm:
    Protocol<Input = <Self::Family as Family>::Input, Output = <Self::Family as Family>::Output>
{
    /// Its family, which fixes its inputs and outputs, its workload and its properties.
    type Family: Known;

    /// Its card.
    const CARD: Card;

    /// How it survives a crash; `Some(durable::replay)` for a [`Durable`](crate::Durable) protocol.
    const REPLAY: Option<Replay<Self>> = None;

    /// The processes of a group, before they start. `setup` already fits the card.
    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError>;

    /// The processes of a group, after a check against the card.
    fn processes(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        setup.fits(&Self::kit(setup).card)?;
        Self::assemble(setup)
    }

    /// The facts that drivers need for this setup.
    fn kit(_setup: &Setup) -> Kit<Self> {
        Kit::whole()
    }

    /// Whether the application at this process makes requests. (A server does not.)
    fn takes_part(&self, _me: ProcessId) -> bool {
        true
    }

    /// What pictures show of this process beside its events: by default, nothing.
    fn sight(&self) -> Sight {
        Sight::default()
    }

    /// Whether this group goes on sending although no application asks.
    fn is_restless(_processes: &[Self]) -> bool {
        Self::CARD.restless
    }

    /// The sizes in its cost formulas.
    fn size(processes: &[Self]) -> Size {
        Size { n: processes.len(), k: processes.len() }
    }

    /// Whether a timer begins a round of the algorithm, so that messages are counted for each.
    fn begins_round(_timer: &Self::Timer) -> bool {
        false
    }

    /// Whether the formulas on its card are about a group that is set up so. (Some are only about
    /// the usual layer below.)
    fn has_costs(_setup: &Setup) -> bool {
        true
    }

    /// Invariants over the states of all processes, beyond the family's properties.
    fn invariants() -> &'static [Invariant<Self>] {
        &[]
    }

    /// What breaks an invariant in this snapshot, in words: "slot s1 has two owners: p1 and p2".
    /// None: the statement of the invariant says enough.
    fn culprit(_invariant: &str, _snapshot: &Snapshot<'_, Self>) -> Option<String> {
        None
    }

    /// The application at this process sends a message to another. An algorithm with a logical
    /// clock advances it and gives the message its time, so that the order of events is known.
    fn stamp(&mut self) -> u64 {
        0
    }

    /// A message of another application arrives, with the stamp that its process gave it.
    fn witness(&mut self, _stamp: u64) {}
}

/// The facts about an algorithm that drivers need.
#[derive(Clone, Debug)]
pub struct Kit<P: Protocol> {
    /// Its card.
    pub card: Card,
    /// The facts about its family.
    pub family: Facts<P::Input>,
    /// How it survives a crash, if it does.
    pub replay: Option<Replay<P>>,
    /// Its invariants.
    pub invariants: Vec<Invariant<P>>,
    /// What breaks one of them.
    pub culprit: Culprit<P>,
    /// What explorers may leave out.
    pub reductions: Reductions<P>,
}

impl<A: Algorithm> Kit<A> {
    /// Everything about the algorithm, with all its invariants.
    pub fn whole() -> Self {
        Kit {
            card: A::CARD,
            family: Facts::of::<A::Family>(A::Family::input_from_words),
            replay: A::REPLAY,
            invariants: A::invariants().to_vec(),
            culprit: A::culprit,
            reductions: A::REDUCTIONS,
        }
    }
}

/// A view of a whole system. Drivers implement it, so that invariants need no copy of it.
pub trait System<P: Protocol> {
    /// The number of processes.
    fn size(&self) -> usize;
    /// The state of one process.
    fn process(&self, at: ProcessId) -> &P;
    /// Shows every message under way: from, to, message.
    fn each_message<'s>(&'s self, show: &mut dyn FnMut(ProcessId, ProcessId, &'s P::Message));
    /// Tells the states of one process apart. The driver that gives notes vouches for it: for as
    /// long as the notes last, equal numbers mean equal states.
    fn print(&self, at: ProcessId) -> u64;
}

/// A view of the whole system at one moment, which no process can have.
pub struct Snapshot<'a, P: Protocol> {
    pub(crate) system: &'a dyn System<P>,
    pub(crate) notes: &'a Notes,
}

/// Cached results of invariants: about a snapshot, about a part that many snapshots share, or about
/// the earlier moments of a history.
#[derive(Debug, Default)]
pub struct Notes {
    /// About this snapshot.
    once: OnceCell<Box<dyn Any>>,
    /// About the history so far.
    memory: RefCell<Option<Box<dyn Any>>>,
    /// Whether the snapshots are successive moments of one history.
    is_one_history: bool,
    /// About parts; the hash of the question is the index.
    parts: RefCell<Vec<Option<Note>>>,
}

#[derive(Clone, Debug)]
struct Note {
    asked: u64,
    answer: Rc<dyn Any>,
}

/// The number of cached results about parts.
const PARTS: usize = 1 << 15;

impl Notes {
    /// Notes for a driver that follows one history: invariants remember its earlier moments.
    pub fn of_one_history() -> Self {
        Notes { is_one_history: true, ..Notes::default() }
    }

    /// Begins another snapshot. Results about parts stay valid.
    pub fn next(&mut self) {
        self.once = OnceCell::new();
        if !self.is_one_history {
            self.memory.take();
        }
    }
}

/// A driver that copies itself begins another history. Its notes are only a cache.
impl Clone for Notes {
    fn clone(&self) -> Self {
        Notes { is_one_history: self.is_one_history, ..Notes::default() }
    }
}

impl<'a, P: Protocol> Snapshot<'a, P> {
    /// A view of this system. The notes belong to this moment.
    pub fn new(system: &'a dyn System<P>, notes: &'a Notes) -> Self {
        Snapshot { system, notes }
    }

    /// Computes a result once for all invariants that are judged at this moment. All callers must
    /// ask the same question.
    pub fn once<T: 'static>(&self, find_out: impl FnOnce() -> T) -> &'a T {
        let note = self.notes.once.get_or_init(|| Box::new(find_out()));
        note.downcast_ref().expect("invariants of one algorithm ask for the same thing")
    }

    /// The memory of the invariants of this algorithm, empty at first. If the driver follows one
    /// history, it holds what they have written down at earlier moments. An invariant must give the
    /// same answer with an empty memory; it only gives it quicker if it need not look at everything
    /// again.
    pub fn memory<T: Default + 'static>(&self) -> RefMut<'a, T> {
        RefMut::map(self.notes.memory.borrow_mut(), |memory| {
            let memory = memory.get_or_insert_with(|| Box::<T>::default());
            memory.downcast_mut().expect("invariants of one algorithm have one memory")
        })
    }

    /// Computes a result about the state of one process and `about`, unless it is cached. The
    /// result must depend on these two only, and all callers must ask the same question.
    pub fn recall<T: 'static>(
        &self,
        at: ProcessId,
        about: impl Hash,
        find_out: impl FnOnce() -> T,
    ) -> Rc<T> {
        let asked = FixedState::with_seed(self.system.print(at)).hash_one((at, about));
        let place = asked as usize % PARTS;
        let known = match self.notes.parts.borrow().get(place) {
            Some(Some(note)) if note.asked == asked => Some(Rc::clone(&note.answer)),
            _ => None,
        };
        if let Some(answer) = known {
            return answer.downcast().expect("invariants of one algorithm ask for the same thing");
        }
        let answer = Rc::new(find_out());
        let mut parts = self.notes.parts.borrow_mut();
        parts.resize(PARTS, None);
        parts[place] = Some(Note { asked, answer: Rc::clone(&answer) as Rc<dyn Any> });
        answer
    }

    /// The number of processes.
    pub fn size(&self) -> usize {
        self.system.size()
    }

    /// The state of each process, in order.
    pub fn processes(&self) -> impl ExactSizeIterator<Item = &'a P> + use<'a, P> {
        let system = self.system;
        (0..system.size()).map(|index| system.process(ProcessId(index as u32)))
    }

    /// Every message under way: from, to, message.
    pub fn in_flight(&self) -> Vec<(ProcessId, ProcessId, &'a P::Message)> {
        let mut messages = Vec::new();
        self.system.each_message(&mut |from, to, message| messages.push((from, to, message)));
        messages
    }
}

/// What breaks the invariant of this name in a snapshot, in words.
pub type Culprit<P> = fn(&str, &Snapshot<'_, P>) -> Option<String>;

/// A condition on every snapshot.
#[derive(Debug)]
pub struct Invariant<P: Protocol> {
    /// Its name, used like a property's id: `one-token`.
    pub name: &'static str,
    /// The condition, in words.
    pub statement: &'static str,
    /// Whether it holds.
    pub holds: fn(&Snapshot<'_, P>) -> bool,
}

impl<P: Protocol> Copy for Invariant<P> {}

impl<P: Protocol> Clone for Invariant<P> {
    fn clone(&self) -> Self {
        *self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cx::Cx;
    use crate::protocol::Never;
    use serde::{Deserialize, Serialize};

    #[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    struct Idle;

    impl Protocol for Idle {
        type Input = Never;
        type Output = Never;
        type Message = Never;
        type Timer = Never;

        fn on_input(&mut self, input: Never, _cx: &mut Cx<'_, Self>) {
            match input {}
        }

        fn on_message(&mut self, _from: ProcessId, message: Never, _cx: &mut Cx<'_, Self>) {
            match message {}
        }
    }

    /// One process, and the fingerprint of its state.
    struct Alone(Idle, u64);

    impl System<Idle> for Alone {
        fn size(&self) -> usize {
            1
        }

        fn process(&self, _at: ProcessId) -> &Idle {
            &self.0
        }

        fn each_message<'s>(&'s self, _show: &mut dyn FnMut(ProcessId, ProcessId, &'s Never)) {}

        fn print(&self, _at: ProcessId) -> u64 {
            self.1
        }
    }

    #[test]
    fn a_memory_lasts_as_long_as_the_history() {
        let looks = |mut notes: Notes| {
            let mut look = || {
                notes.next();
                let snapshot = Snapshot::<Idle>::new(&Alone(Idle, 0), &notes);
                *snapshot.memory::<u32>() += 1;
                *snapshot.memory::<u32>() += 1;
                *snapshot.memory::<u32>()
            };
            [look(), look()]
        };
        assert_eq!(looks(Notes::of_one_history()), [2, 4]);
        assert_eq!(looks(Notes::default()), [2, 2], "the next snapshot may be of another history");
    }

    #[test]
    fn what_was_found_out_is_remembered_of_the_same_state_and_the_same_question_only() {
        let mut notes = Notes::default();
        let mut ask = |print: u64, about: &str, answer: u32| {
            notes.next();
            let system = Alone(Idle, print);
            *Snapshot::new(&system, &notes).recall(ProcessId(0), about, || answer)
        };
        assert_eq!(ask(1, "left", 10), 10);
        assert_eq!(ask(1, "left", 11), 10, "it was asked before");
        assert_eq!(ask(1, "right", 12), 12);
        assert_eq!(ask(2, "left", 13), 13);
        assert_eq!(ask(1, "left", 16), 10);
    }
}
