//! The plan of a world, and the properties judged in it.

use synod_core::card::{Order, Rounds, Timing};
use synod_core::{Algorithm, Clock, Kit, ProcessId, Setup};

/// The plan of a world.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The number of processes, and the algorithm's parameters.
    pub setup: Setup,
    /// The number of requests of each application: one entry per process, or one for all.
    pub rounds: Vec<Rounds>,
    /// The order of delivery that the network keeps.
    pub order: Order,
    /// Whether the network carries a multicast once for all receivers.
    pub multicast: bool,
    /// The timing assumptions of an explorer. A simulator has its own time.
    pub timing: Timing,
    /// Whether the world removes state that no process can notice, provided that no crashed process
    /// restarts: messages that their receivers will ignore ([`Reductions::ignores`]), messages to
    /// crashed processes, and the disks of crashed processes. The explorer then has fewer states to
    /// visit.
    ///
    /// [`Reductions::ignores`]: synod_core::Reductions::ignores
    pub lean: bool,
    /// Whether explorers make no reductions: every disk may be slow, every step counts, and worlds
    /// with different fault budgets are different worlds. See [`synod_core::reductions`].
    pub full: bool,
    /// The clocks of the processes. Empty: all perfect.
    pub clocks: Vec<Clock>,
    /// The properties to be judged, by id, and whether the algorithm's own invariants are too.
    pub judged: Judged,
}

/// Which properties are judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judged {
    /// The promises of the card, the essential properties of the family, the property that a
    /// mutant breaks, and the invariants.
    Promised,
    /// All properties that the family defines for such an algorithm, and the invariants.
    All,
    /// These, by id or by the name of an invariant.
    Only(Vec<String>),
}

impl Judged {
    /// Whether a property of the family is judged for this algorithm, set up like this.
    pub fn property<A: Algorithm>(&self, setup: &Setup, id: &str) -> bool {
        self.property_of(&A::kit(setup), setup, id)
    }

    fn property_of<A: Algorithm>(&self, kit: &Kit<A>, setup: &Setup, id: &str) -> bool {
        match self {
            Judged::All => !kit.family.special.contains(&id) || kit.card.speaks_of(id),
            Judged::Promised => {
                kit.family.essential.contains(&id)
                    || kit.card.promises_with(setup).contains(&id)
                    || kit.card.mutant.is_some_and(|mutant| mutant.breaks == id)
            }
            Judged::Only(ids) => ids.iter().any(|only| only.eq_ignore_ascii_case(id)),
        }
    }

    /// Whether an invariant of the algorithm is judged.
    pub fn invariant(&self, name: &str) -> bool {
        match self {
            Judged::All | Judged::Promised => true,
            Judged::Only(ids) => ids.iter().any(|only| only.eq_ignore_ascii_case(name)),
        }
    }

    /// The ids of all judged properties, in the family's order, invariants last.
    pub fn ids<A: Algorithm>(&self, setup: &Setup) -> Vec<&'static str> {
        let kit = A::kit(setup);
        let properties = kit.family.properties.iter().map(|property| property.id);
        let invariants = kit.invariants.iter().map(|invariant| invariant.name);
        properties
            .filter(|id| self.property_of(&kit, setup, id))
            .chain(invariants.filter(|name| self.invariant(name)))
            .collect()
    }
}

impl Plan {
    /// `n` processes that ask `rounds` times each, over reliable links that reorder.
    pub fn new(n: usize, rounds: Rounds) -> Self {
        Plan {
            setup: Setup::new(n),
            rounds: vec![rounds],
            order: Order::Any,
            multicast: false,
            timing: Timing::Asynchronous,
            lean: false,
            full: false,
            clocks: Vec::new(),
            judged: Judged::Promised,
        }
    }

    /// The number of requests of the application at a process.
    pub fn rounds_of(&self, at: ProcessId) -> Rounds {
        let last = self.rounds.last().copied().unwrap_or(Rounds::Times(0));
        self.rounds.get(at.index()).copied().unwrap_or(last)
    }
}
