//! Expanding states: what one state leads to, and what many workers find at the same time.

use crate::circles::Ways;
use crate::successors::Successors;
use crate::visited::{Seen, Visited};
use std::ops::Range;
use synod_core::{Algorithm, Violation};
use synod_sim::world::{Left, Waiting, World};

/// How many states a worker takes at a time.
pub(crate) const BLOCK: usize = 1 << 8;

/// A violation, and where it shows.
pub(crate) struct Found {
    pub(crate) place: Place,
    pub(crate) violation: Violation,
}

/// A place in the histories that were explored.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    /// After so many steps of the history that leads to a root.
    Prefix { root: usize, steps: usize },
    /// In the state with this number.
    State(usize),
    /// In the successor `ordinal` of the state `parent`.
    Successor { parent: usize, ordinal: u32 },
}

/// How states are expanded.
#[derive(Clone, Copy)]
pub(crate) struct Rules {
    /// Whether states are compared after numbers were made small: see [`Question::is_normal`].
    pub(crate) normal: bool,
    /// Whether it is kept where steps lead.
    pub(crate) keeps_ways: bool,
}

/// What expanding some states brought to light, beside the states they lead to.
pub(crate) struct Tally {
    pub(crate) found: Vec<Found>,
    pub(crate) states: u64,
    pub(crate) crowded: usize,
    pub(crate) leads_back: bool,
    pub(crate) ways: Option<Ways>,
    /// Where steps lead from one state.
    pub(crate) steps: Vec<u64>,
}

impl Rules {
    pub(crate) fn tally(self) -> Tally {
        Tally {
            found: Vec::new(),
            states: 0,
            crowded: 0,
            leads_back: false,
            ways: self.keeps_ways.then(Ways::default),
            steps: Vec::new(),
        }
    }

    /// Expands one state: tells `meet` each successor with its number, its fingerprint and what may still go
    /// wrong there, and learns from it whether that was known.
    pub(crate) fn expand<A: Algorithm>(
        self,
        (parent, world): (usize, &World<A>),
        successors: &mut Successors<A>,
        tally: &mut Tally,
        mut meet: impl FnMut(u32, u64, &Left, &World<A>) -> Seen,
    ) {
        let left_here = world.left();
        let left_print = self.keeps_ways.then(|| left_here.print());
        tally.steps.clear();
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
            let print = print(next, self.normal);
            let left = next.left();
            tally.leads_back |= meet(ordinal, print, &left, next) == Seen::Before;
            let goes_wrong = || left != left_here || world.is_misfortune(action);
            if let Some(left_print) = left_print.filter(|_| !goes_wrong()) {
                tally.steps.push(print.wrapping_add(left_print));
            }
            true
        });
        if !moves {
            let never = world.unfulfilled("nothing can happen any more");
            let found = |violation| Found { place: Place::State(parent), violation };
            tally.found.extend(never.into_iter().map(found));
        }
        if let (Some(ways), Some(left_print)) = (&mut tally.ways, left_print) {
            ways.add(print(world, self.normal).wrapping_add(left_print), &tally.steps);
        }
    }

    /// Expands a block of states beside other workers. The table does not change meanwhile; what may be new
    /// is kept until it is merged.
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
            ways_there: Vec::new(),
            counts: Vec::new(),
        };
        // Most successors that are not in the table yet are found several times in one block.
        let mut met = Visited::with_room(8 * BLOCK);
        for index in block {
            batch.restore(index, here);
            let before = harvest.candidates.len();
            let (candidates, ways_there) = (&mut harvest.candidates, &mut harvest.ways_there);
            let meet = |ordinal, print, left: &Left, next: &World<A>| {
                let seen = visited.look_up(print, left);
                if seen == Seen::Never && met.add(print, left) == Seen::Never {
                    candidates.push(next);
                    ways_there.push((ordinal, print));
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
    /// States that may be new.
    pub(crate) candidates: Waiting<A>,
    /// The number of the successor that leads to each of them, and its fingerprint.
    pub(crate) ways_there: Vec<(u32, u64)>,
    /// How many of them come from each state of the block.
    pub(crate) counts: Vec<usize>,
}

/// Where numbers are made small again, so many messages may be on a link at the same time: a sender
/// that never waits for this receiver would otherwise fill the link without end. What is found
/// within this bound happens without it, too.
const MESSAGES_ON_A_LINK: usize = 2;

/// Whether a link carries more than [`MESSAGES_ON_A_LINK`].
pub(crate) fn is_crowded<A: Algorithm>(world: &World<A>) -> bool {
    let links = || world.flight().iter().map(|(_, envelope)| (envelope.from, envelope.to));
    links().any(|link| links().filter(|other| *other == link).count() > MESSAGES_ON_A_LINK)
}

pub(crate) fn print<A: Algorithm>(world: &World<A>, normal: bool) -> u64 {
    if normal { world.normal_fingerprint() } else { world.fingerprint() }
}
