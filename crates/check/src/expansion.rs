//! Expanding states: the successors of one state, and what a worker finds in a block of states.

use crate::circles::Edges;
use crate::successors::Successors;
use crate::visited::{Seen, Visited};
use std::ops::Range;
use synod_core::{Algorithm, Violation};
use synod_sim::world::{Left, Waiting, World};

/// How many states a worker takes at a time.
pub(crate) const BLOCK: usize = 1 << 8;

/// A violation, and the place in a history that shows it.
pub(crate) struct Found {
    pub(crate) place: Place,
    pub(crate) violation: Violation,
}

/// A place in the histories that were explored.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    /// After this number of steps of the history that leads to a root.
    Prefix { root: usize, steps: usize },
    /// In the state with this number, counted in the order of discovery.
    State(usize),
    /// In the successor `ordinal` of the state `parent`.
    Successor { parent: usize, ordinal: u32 },
}

/// How states are expanded.
#[derive(Clone, Copy)]
pub(crate) struct Rules {
    /// Whether states are compared after numbers were made small: see [`Question::is_normal`].
    pub(crate) normal: bool,
    /// Whether edges are kept: liveness is judged.
    pub(crate) keeps_edges: bool,
}

/// What the expansion of some states brought to light, beside their successors.
pub(crate) struct Tally {
    pub(crate) found: Vec<Found>,
    /// How many successors there were, known or new.
    pub(crate) states: u64,
    /// How many successors were left out: see [`is_crowded`].
    pub(crate) crowded: usize,
    /// Whether a successor was visited at an earlier level.
    pub(crate) leads_back: bool,
    pub(crate) edges: Option<Edges>,
    /// Where the edges of the state under expansion lead.
    targets: Vec<u64>,
}

impl Rules {
    pub(crate) fn tally(self) -> Tally {
        Tally {
            found: Vec::new(),
            states: 0,
            crowded: 0,
            leads_back: false,
            edges: self.keeps_edges.then(Edges::default),
            targets: Vec::new(),
        }
    }

    /// Expands one state. Hands each successor to `meet`, with its number, its fingerprint and its
    /// remaining fault budget; `meet` returns what was known of it.
    pub(crate) fn expand<A: Algorithm>(
        self,
        (parent, world): (usize, &World<A>),
        successors: &mut Successors<A>,
        tally: &mut Tally,
        mut meet: impl FnMut(u32, u64, &Left, &World<A>) -> Seen,
    ) {
        let left_here = world.left();
        let left_print = self.keeps_edges.then(|| left_here.print());
        tally.targets.clear();
        let moves = successors.each(world, |ordinal, action, _, next| {
            if self.normal && is_crowded(next) {
                tally.crowded += 1;
                return true;
            }
            tally.states += 1;
            for violation in next.found() {
                let (place, violation) = (Place::Successor { parent, ordinal }, violation.clone());
                tally.found.push(Found { place, violation });
            }
            let print = fingerprint(next, self.normal);
            let left = next.left();
            tally.leads_back |= meet(ordinal, print, &left, next) == Seen::EarlierLevel;
            let is_fault = || left != left_here || world.is_own_fault(action);
            if let Some(left_print) = left_print.filter(|_| !is_fault()) {
                tally.targets.push(print.wrapping_add(left_print));
            }
            true
        });
        if !moves {
            let never = world.unfulfilled("nothing can happen any more");
            let found = |violation| Found { place: Place::State(parent), violation };
            tally.found.extend(never.into_iter().map(found));
        }
        if let (Some(edges), Some(left_print)) = (&mut tally.edges, left_print) {
            let state = fingerprint(world, self.normal).wrapping_add(left_print);
            edges.add(state, &tally.targets);
        }
    }

    /// Expands a block of states while other workers expand other blocks. The table of visited
    /// states does not change meanwhile. Successors that are not in it wait in the harvest for the
    /// merge.
    pub(crate) fn harvest<A: Algorithm>(
        self,
        block: Range<usize>,
        batch: &Waiting<A>,
        base: usize,
        visited: &Visited,
        (here, successors): (&mut World<A>, &mut Successors<A>),
    ) -> Harvest<A> {
        let mut harvest = Harvest {
            tally: self.tally(),
            candidates: Waiting::default(),
            origins: Vec::new(),
            counts: Vec::new(),
        };
        // Most successors that are not in the table yet are reached several times within one block.
        let mut met = Visited::with_room(8 * BLOCK);
        for index in block {
            batch.restore(index, here);
            let before = harvest.candidates.len();
            let (candidates, origins) = (&mut harvest.candidates, &mut harvest.origins);
            let meet = |ordinal, print, left: &Left, next: &World<A>| {
                let seen = visited.look_up(print, left);
                if seen == Seen::New && met.add(print, left) == Seen::New {
                    candidates.push(next);
                    origins.push((ordinal, print, *left));
                }
                seen
            };
            self.expand((base + index, here), successors, &mut harvest.tally, meet);
            harvest.counts.push(harvest.candidates.len() - before);
        }
        harvest
    }
}

/// What a worker found in one block.
pub(crate) struct Harvest<A: Algorithm> {
    pub(crate) tally: Tally,
    /// Successors that are new, unless another block has them, too.
    pub(crate) candidates: Waiting<A>,
    /// The number of each candidate among the successors of its parent, its fingerprint and its
    /// remaining fault budget.
    pub(crate) origins: Vec<(u32, u64, Left)>,
    /// How many candidates each state of the block has.
    pub(crate) counts: Vec<usize>,
}

/// The number of messages that a link may carry at the same time, where numbers are made small. A
/// sender that never waits for this receiver would otherwise fill the link without end. Every
/// history within this bound is also one without it.
const MESSAGES_ON_A_LINK: usize = 2;

/// Whether a link carries more than [`MESSAGES_ON_A_LINK`].
pub(crate) fn is_crowded<A: Algorithm>(world: &World<A>) -> bool {
    let links = || world.flight().iter().map(|(_, envelope)| (envelope.from, envelope.to));
    links().any(|link| links().filter(|other| *other == link).count() > MESSAGES_ON_A_LINK)
}

/// The fingerprint by which states are compared.
pub(crate) fn fingerprint<A: Algorithm>(world: &World<A>, normal: bool) -> u64 {
    if normal { world.normal_fingerprint() } else { world.fingerprint() }
}
