//! Breadth first through every state that a small world can reach.
//!
//! Deterministic whatever the number of threads: workers expand blocks of states against a table
//! that nobody changes meanwhile, and what they found is merged in the order of the states. Hence
//! the first violation of a property that is found is always one of the shortest, and always the
//! same one.

use crate::circles::Ways;
use crate::history::{Way, follow};
use crate::lasso;
use crate::memory::resident_bytes;
use crate::question::{Exploration, Limits, Progress, Question, Refutation, Unfinished, Verdict};
use crate::successors::{Choices, Successors};
use crate::visited::{Seen, Tree, Visited};
use std::sync::Mutex;
use std::time::Instant;
use synod_core::card::Scope;
use synod_core::{Algorithm, Boxed, Family, SetupError, Violation};
use synod_sim::world::{FaultsLeft, KnownStates, Plan, World};

/// Explores. Calls `progress` now and then.
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
    search::<Boxed<F>>(question, progress)
}

/// The same, for one type: all that follows is compiled for each.
fn search<A: Algorithm>(
    question: &Question,
    mut progress: &mut dyn FnMut(&Progress),
) -> Result<Exploration<A::Input>, SetupError> {
    let mut search = Search::<A>::begin(question)?;
    let mut unfinished = search.run(&question.limits, &mut progress);
    search.progress.table_bytes = search.visited.bytes() + search.tree.bytes();
    progress(&search.progress);
    let mut verdicts = search.verdicts(question)?;
    if unfinished.is_none() {
        let leads_round = || search.ways.as_ref().is_some_and(Ways::lead_round);
        if search.leads_back && leads_round() {
            let began = search.began;
            unfinished = lasso::judge::<A>(question, began, &mut verdicts, &mut progress)?;
        }
        if unfinished.is_none() && search.crowded > 0 {
            unfinished = Some(Unfinished::Limit("messages on a link", search.crowded));
        }
    }
    Ok(Exploration { progress: search.progress, unfinished, verdicts })
}

/// A violation, and where: in the successor number `ordinal` of state number `parent`, or, if
/// there is none, in that state itself.
struct Found {
    parent: usize,
    ordinal: Option<u32>,
    violation: Violation,
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
    began: Instant,
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
    fn begin(question: &Question) -> Result<Self, SetupError> {
        let plan = question.lean_plan::<A>();
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
            began: Instant::now(),
        };
        for (parent, (_, world)) in roots::<A>(&plan, &question.scope)?.into_iter().enumerate() {
            for violation in world.found() {
                let violation = violation.clone();
                search.found.push(Found { parent, ordinal: None, violation });
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

    fn run(&mut self, limits: &Limits, progress: &mut impl FnMut(&Progress)) -> Option<Unfinished> {
        while !self.frontier.is_empty() {
            if self.is_all_refuted() {
                return Some(Unfinished::AllRefuted);
            }
            if self.progress.depth >= limits.depth {
                return Some(Unfinished::Limit("depth", self.waiting()));
            }
            if let Some(limit) = self.level(limits, progress) {
                return Some(limit);
            }
        }
        // The last level is empty: it is not a step of any history.
        self.progress.depth = self.progress.depth.saturating_sub(1);
        None
    }

    /// Expands every state of the frontier.
    fn level(
        &mut self,
        limits: &Limits,
        progress: &mut impl FnMut(&Progress),
    ) -> Option<Unfinished> {
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
            progress(&self.progress);
            let limit = if self.visited.len() >= limits.states {
                Some("states")
            } else if self.memory() >> 20 >= limits.memory_mib {
                Some("memory")
            } else if limits.is_late(self.began) {
                Some("time")
            } else {
                None
            };
            if let Some(limit) = limit {
                return Some(Unfinished::Limit(limit, self.progress.waiting));
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
                    harvest.found.push(Found { parent, ordinal: Some(ordinal), violation });
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
                let found = |violation| Found { parent, ordinal: None, violation };
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
            let known = self.found.iter().any(|f| f.violation.property == found.violation.property);
            if !known && self.judged.contains(&found.violation.property) {
                self.found.push(found);
            }
        }
    }

    fn is_all_refuted(&self) -> bool {
        let refuted =
            |id: &&'static str| self.found.iter().any(|found| found.violation.property == *id);
        !self.judged.is_empty() && self.judged.iter().all(refuted)
    }

    fn verdicts(&self, question: &Question) -> Result<Vec<Verdict<A::Input>>, SetupError> {
        let verdict = |property: &&'static str| {
            let found = self.found.iter().find(|found| found.violation.property == *property);
            let refuted = match found {
                None => None,
                Some(found) => {
                    let (root, mut ordinals) = self.tree.path(found.parent);
                    ordinals.extend(found.ordinal);
                    let ways = ordinals.into_iter().map(Way::Successor);
                    let history = follow::<A>(question, root, ways, None)?;
                    Some(Refutation { violation: found.violation.clone(), history })
                }
            };
            Ok(Verdict { property, refuted })
        };
        self.judged.iter().map(verdict).collect()
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

/// The choices made while the processes started, and the world then.
pub(crate) type Root<A> = (Vec<u32>, World<A>);

/// The world just started, once for each way in which it may choose.
pub(crate) fn roots<A: Algorithm>(plan: &Plan, scope: &Scope) -> Result<Vec<Root<A>>, SetupError> {
    let mut roots = Vec::new();
    let mut choices = Choices::default();
    loop {
        let mut world = World::new(plan)?;
        world.faults = FaultsLeft::from(scope);
        world.start(&mut choices);
        world.keep_fingerprint();
        roots.push((choices.script().to_vec(), world));
        if !choices.advance() {
            return Ok(roots);
        }
    }
}
