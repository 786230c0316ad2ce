//! Breadth first through every state that a small world can reach.
//!
//! Deterministic whatever the number of threads: workers expand blocks of states against a table
//! that nobody changes meanwhile, and what they found is merged in the order of the states. Hence
//! the first violation of a property that is found is always one of the shortest, and always the
//! same one.

use crate::circles::Ways;
use crate::history::{History, ReplayError, Way, follow};
use crate::lasso;
use crate::memory::resident_bytes;
use crate::question::{
    Caller, Exploration, Limits, Progress, Question, Refutation, Unfinished, Verdict,
};
use crate::roots::{Root, roots};
use crate::successors::Successors;
use crate::visited::{Seen, Tree, Visited};
use std::ops::ControlFlow;
use std::sync::Mutex;
use synod_core::{Algorithm, Boxed, Family, SetupError, Violation};
use synod_sim::world::{KnownStates, World};

/// Explores every history of the question. Calls `progress` after every batch of states.
pub fn explore<A: Algorithm>(
    question: &Question,
    mut progress: impl FnMut(&Progress),
) -> Result<Exploration<A::Input>, SetupError> {
    explore_boxed::<A::Family>(&question.of::<A>(), &mut progress)
}

/// The same for any algorithm of the family: the setup of the question says which.
pub fn explore_boxed<F: Family>(
    question: &Question,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Exploration<F::Input>, SetupError> {
    let mut watch = |now: &Progress| {
        progress(now);
        ControlFlow::Continue(())
    };
    explore_boxed_from::<F>(question, None, &mut watch).map_err(|error| match error {
        ReplayError::Setup(error) => error,
        ReplayError::Impossible { .. } | ReplayError::Trace(_) => {
            unreachable!("there is no prefix")
        }
    })
}

/// Explores every history of the question that begins with `prefix`: can it still fail from here?
/// The scope is about what follows the prefix: its budget of faults is whole at the end of the prefix.
///
/// Calls `watch` after every batch of states. The exploration ends with [`Unfinished::Cancelled`] as
/// soon as `watch` returns [`ControlFlow::Break`]. Counterexamples are whole histories: they begin
/// with the prefix, or with a part of it.
pub fn explore_from<A: Algorithm>(
    question: &Question,
    prefix: Option<&History<A::Input>>,
    mut watch: impl FnMut(&Progress) -> ControlFlow<()>,
) -> Result<Exploration<A::Input>, ReplayError> {
    explore_boxed_from::<A::Family>(&question.of::<A>(), prefix, &mut watch)
}

/// The same for any algorithm of the family: the setup of the question says which.
pub fn explore_boxed_from<F: Family>(
    question: &Question,
    prefix: Option<&History<F::Input>>,
    watch: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
) -> Result<Exploration<F::Input>, ReplayError> {
    search::<Boxed<F>>(question, prefix, &mut Caller::new(&question.limits, watch))
}

/// The same, for one type: all that follows is compiled for each.
fn search<A: Algorithm>(
    question: &Question,
    prefix: Option<&History<A::Input>>,
    caller: &mut Caller<'_>,
) -> Result<Exploration<A::Input>, ReplayError> {
    let mut search = Search::<A>::begin(question, prefix)?;
    let mut unfinished = search.run(&question.limits, caller);
    search.progress.table_bytes = search.visited.bytes() + search.tree.bytes();
    unfinished = unfinished.or(caller.show(&search.progress));
    let mut verdicts = search.verdicts(question, prefix)?;
    if unfinished.is_none() {
        let leads_round = || search.ways.as_ref().is_some_and(Ways::lead_round);
        if search.leads_back && leads_round() {
            unfinished = lasso::judge::<A>(question, prefix, caller, &mut verdicts)?;
        }
        if unfinished.is_none() && search.crowded > 0 {
            unfinished = Some(Unfinished::Limit("messages on a link", search.crowded));
        }
    }
    Ok(Exploration { progress: search.progress, unfinished, verdicts })
}

/// A violation, and where it shows.
struct Found {
    place: Place,
    violation: Violation,
}

/// A place in the histories that were explored.
#[derive(Clone, Copy)]
enum Place {
    /// After so many steps of the history that leads to a root.
    Prefix { root: usize, steps: usize },
    /// In the state with this number.
    State(usize),
    /// In the successor `ordinal` of the state `parent`.
    Successor { parent: usize, ordinal: u32 },
}

/// How many states are expanded between two merges.
const BATCH: usize = 1 << 14;
/// How many states a worker takes at a time.
const BLOCK: usize = 1 << 8;

struct Search<A: Algorithm> {
    visited: Visited,
    tree: Tree,
    /// The states to be expanded next, in batches. Boxed: worlds are moved from list to list.
    frontier: Vec<Vec<Box<World<A>>>>,
    /// The states of the processes in them.
    known: KnownStates<A>,
    /// Worlds that are done with: new ones are written over them, to spare the allocator.
    spare: Mutex<Vec<Box<World<A>>>>,
    /// The number of the first state of the frontier.
    base: usize,
    found: Vec<Found>,
    judged: Vec<&'static str>,
    normal: bool,
    /// How many states were not looked at because a link was crowded.
    crowded: usize,
    /// Whether some step leads to a state no farther from the start.
    leads_back: bool,
    /// Where steps lead, if it is judged what comes in the end.
    ways: Option<Ways>,
    progress: Progress,
    /// What the process had in memory before the search.
    resident_before: usize,
}

/// What a worker found in one block.
struct Harvest<A: Algorithm> {
    successors: Vec<(u32, u64, Box<World<A>>)>,
    /// How many of them come from each state of the block.
    counts: Vec<u32>,
    found: Vec<Found>,
    states: u64,
    crowded: usize,
    /// Whether some step leads to a state no farther from the start: without one, no circle.
    leads_back: bool,
    ways: Option<Ways>,
}

impl<A: Algorithm> Search<A> {
    fn begin(question: &Question, prefix: Option<&History<A::Input>>) -> Result<Self, ReplayError> {
        let judged = question.judged.ids::<A>(&question.setup);
        let is_about_the_end = |id: &&'static str| A::Family::LIVENESS.contains(id);
        let mut search = Search {
            visited: Visited::default(),
            tree: Tree::default(),
            frontier: Vec::new(),
            known: KnownStates::default(),
            spare: Mutex::default(),
            base: 0,
            found: Vec::new(),
            normal: question.is_normal::<A>(),
            crowded: 0,
            leads_back: false,
            ways: judged.iter().any(is_about_the_end).then(Ways::default),
            judged,
            progress: Progress::default(),
            resident_before: resident_bytes().unwrap_or(0),
        };
        for (number, root) in roots::<A>(question, prefix)?.into_iter().enumerate() {
            let Root { world, found, .. } = root;
            for (steps, violation) in found {
                search.note(Found { place: Place::Prefix { root: number, steps }, violation });
            }
            // Equal roots are kept apart: they are few, and the way back counts them.
            search.visited.insert(print(&world, search.normal), &world.left());
            search.tree.add_root();
            search.add_to_frontier(Box::new(world));
            search.progress.states += 1;
        }
        search.progress.unique = search.visited.len();
        Ok(search)
    }

    fn run(&mut self, limits: &Limits, caller: &mut Caller<'_>) -> Option<Unfinished> {
        while !self.frontier.is_empty() {
            if self.is_all_refuted() {
                return Some(Unfinished::AllRefuted);
            }
            if self.progress.depth >= limits.depth {
                return Some(Unfinished::Limit("depth", self.waiting()));
            }
            if let Some(end) = self.level(limits, caller) {
                return Some(end);
            }
        }
        // The last level is empty: it is not a step of any history.
        self.progress.depth = self.progress.depth.saturating_sub(1);
        None
    }

    /// Expands every state of the frontier.
    fn level(&mut self, limits: &Limits, caller: &mut Caller<'_>) -> Option<Unfinished> {
        let frontier = std::mem::take(&mut self.frontier);
        self.visited.grow_old();
        self.known.clear();
        let mut left: usize = frontier.iter().map(Vec::len).sum();
        for batch in frontier {
            for harvest in self.expand(&batch, limits.threads) {
                self.merge(harvest);
            }
            self.base += batch.len();
            left -= batch.len();
            self.recycle(batch);
            self.progress.unique = self.visited.len();
            self.progress.table_bytes = self.visited.bytes() + self.tree.bytes();
            self.progress.waiting = left + self.waiting();
            let ended = caller.show(&self.progress);
            let limit = if self.visited.len() >= limits.states {
                Some("states")
            } else if self.memory() >> 20 >= limits.memory_mib {
                Some("memory")
            } else {
                None
            };
            let reached = limit.map(|limit| Unfinished::Limit(limit, self.progress.waiting));
            if let Some(unfinished) = reached.or(ended) {
                return Some(unfinished);
            }
        }
        self.progress.depth += 1;
        None
    }

    fn waiting(&self) -> usize {
        self.frontier.iter().map(Vec::len).sum()
    }

    fn add_to_frontier(&mut self, world: Box<World<A>>) {
        match self.frontier.last_mut() {
            Some(batch) if batch.len() < BATCH => batch.push(world),
            _ => self.frontier.push(vec![world]),
        }
    }

    fn recycle(&self, worlds: impl IntoIterator<Item = Box<World<A>>>) {
        self.spare.lock().expect("no worker panicked").extend(worlds);
    }

    /// Roughly how many bytes all this takes up: what the process has grown by, if the system tells; at least
    /// what can be counted here.
    fn memory(&self) -> usize {
        let grown = resident_bytes().unwrap_or(0).saturating_sub(self.resident_before);
        let some = self.frontier.first().and_then(|batch| batch.first());
        let world = some.map_or(0, |world| world.estimated_bytes());
        let spare = self.spare.lock().expect("no worker panicked").len();
        let counted = self.visited.bytes()
            + self.tree.bytes()
            + self.ways.as_ref().map_or(0, Ways::bytes)
            + (self.progress.waiting + spare) * world;
        counted.max(grown)
    }

    fn expand(&self, batch: &[Box<World<A>>], threads: usize) -> Vec<Harvest<A>> {
        let blocks: Vec<_> = batch.chunks(BLOCK).enumerate().collect();
        let work = |blocks: &[(usize, &[Box<World<A>>])]| -> Vec<Harvest<A>> {
            let mut successors = Successors::new(&batch[0]);
            let expand = |(number, block): &(usize, &[Box<World<A>>])| {
                self.expand_block(block, self.base + number * BLOCK, &mut successors)
            };
            blocks.iter().map(expand).collect()
        };
        if threads <= 1 || blocks.len() == 1 {
            return work(&blocks);
        }
        let share = blocks.len().div_ceil(threads);
        std::thread::scope(|scope| {
            let workers: Vec<_> =
                blocks.chunks(share).map(|blocks| scope.spawn(move || work(blocks))).collect();
            let harvest = |worker: std::thread::ScopedJoinHandle<'_, Vec<Harvest<A>>>| {
                worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            workers.into_iter().flat_map(harvest).collect()
        })
    }

    fn expand_block(
        &self,
        block: &[Box<World<A>>],
        base: usize,
        successors: &mut Successors<A>,
    ) -> Harvest<A> {
        let mut harvest = Harvest {
            successors: Vec::new(),
            counts: Vec::new(),
            found: Vec::new(),
            states: 0,
            crowded: 0,
            leads_back: false,
            ways: self.ways.is_some().then(Ways::default),
        };
        let mut steps = Vec::new();
        // Most successors that are not in the table yet are found several times in one block.
        let mut here = Visited::with_room(8 * BLOCK);
        let mut spare = self.some_spares();
        for (index, world) in block.iter().enumerate() {
            let parent = base + index;
            let before = harvest.successors.len();
            let left_here = world.left();
            let left_print = self.ways.as_ref().map(|_| left_here.print());
            steps.clear();
            let moves = successors.each(world, |ordinal, action, _, next| {
                if self.normal && is_crowded(next) {
                    harvest.crowded += 1;
                    return true;
                }
                harvest.states += 1;
                for violation in next.found() {
                    let violation = violation.clone();
                    harvest
                        .found
                        .push(Found { place: Place::Successor { parent, ordinal }, violation });
                }
                let print = print(next, self.normal);
                let left = next.left();
                let seen = self.visited.look_up(print, &left);
                harvest.leads_back |= seen == Seen::Before;
                let goes_wrong = || left != left_here || world.is_misfortune(action);
                if let Some(left_print) = left_print.filter(|_| !goes_wrong()) {
                    steps.push(print.wrapping_add(left_print));
                }
                if seen == Seen::Never && here.insert(print, &left) {
                    let mut world = spare.pop().unwrap_or_else(|| Box::new(next.clone()));
                    std::mem::swap(&mut *world, next);
                    harvest.successors.push((ordinal, print, world));
                }
                true
            });
            if !moves {
                let never = world.unfulfilled("nothing can happen any more");
                let found = |violation| Found { place: Place::State(parent), violation };
                harvest.found.extend(never.into_iter().map(found));
            }
            if let (Some(ways), Some(left_print)) = (&mut harvest.ways, left_print) {
                ways.add(print(world, self.normal).wrapping_add(left_print), &steps);
            }
            harvest.counts.push((harvest.successors.len() - before) as u32);
        }
        self.recycle(spare);
        harvest
    }

    /// About as many as a block needs.
    fn some_spares(&self) -> Vec<Box<World<A>>> {
        let mut spare = self.spare.lock().expect("no worker panicked");
        let keep = spare.len().saturating_sub(2 * BLOCK);
        spare.split_off(keep)
    }

    fn merge(&mut self, harvest: Harvest<A>) {
        self.progress.states += harvest.states;
        self.crowded += harvest.crowded;
        self.leads_back |= harvest.leads_back;
        if let (Some(ways), Some(more)) = (&mut self.ways, harvest.ways) {
            ways.append(more);
        }
        let mut successors = harvest.successors.into_iter();
        for count in harvest.counts {
            let mut children = 0;
            for (ordinal, print, mut world) in successors.by_ref().take(count as usize) {
                if self.visited.insert(print, &world.left()) {
                    self.tree.add_child(ordinal);
                    world.share_states(&mut self.known);
                    self.add_to_frontier(world);
                    children += 1;
                } else {
                    self.recycle([world]);
                }
            }
            self.tree.expanded(children);
        }
        for found in harvest.found {
            self.note(found);
        }
    }

    /// Keeps the first violation of each property that is judged.
    fn note(&mut self, found: Found) {
        let property = found.violation.property;
        let is_known = self.found.iter().any(|known| known.violation.property == property);
        if !is_known && self.judged.contains(&property) {
            self.found.push(found);
            self.progress.refuted += 1;
        }
    }

    fn is_all_refuted(&self) -> bool {
        let refuted =
            |id: &&'static str| self.found.iter().any(|found| found.violation.property == *id);
        !self.judged.is_empty() && self.judged.iter().all(refuted)
    }

    fn verdicts(
        &self,
        question: &Question,
        prefix: Option<&History<A::Input>>,
    ) -> Result<Vec<Verdict<A::Input>>, ReplayError> {
        let verdict = |property: &&'static str| {
            let found = self.found.iter().find(|found| found.violation.property == *property);
            let refuted = match found {
                None => None,
                Some(Found { place, violation }) => {
                    let history = self.history_to(*place, question, prefix)?;
                    Some(Refutation { violation: violation.clone(), history })
                }
            };
            Ok(Verdict { property, refuted })
        };
        self.judged.iter().map(verdict).collect()
    }

    fn history_to(
        &self,
        place: Place,
        question: &Question,
        prefix: Option<&History<A::Input>>,
    ) -> Result<History<A::Input>, ReplayError> {
        let mut roots = roots::<A>(question, prefix)?;
        let (state, last) = match place {
            Place::Prefix { root, steps } => {
                let mut history = roots.swap_remove(root).history;
                history.steps.truncate(steps);
                return Ok(history);
            }
            Place::State(state) => (state, None),
            Place::Successor { parent, ordinal } => (parent, Some(ordinal)),
        };
        let (root, mut ordinals) = self.tree.path(state);
        ordinals.extend(last);
        let ways = ordinals.into_iter().map(Way::Successor);
        Ok(follow::<A>(question, roots.swap_remove(root), ways, None)?)
    }
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
