//! Breadth first through every state that a small world can reach.
//!
//! The result does not depend on the number of threads. Workers expand blocks of states against a
//! table that does not change meanwhile, and the main thread merges their findings in the order of
//! the states. So the first violation of each property is always one of the shortest, and always
//! the same.

use crate::circles::Edges;
use crate::expansion::{BLOCK, Found, Harvest, Place, Rules, Tally, fingerprint};
use crate::frontier::Frontier;
use crate::history::{History, Next, ReplayError, follow};
use crate::lasso;
use crate::memory::resident_bytes;
use crate::question::{
    Caller, Exploration, Judgement, Limits, Progress, Question, Refutation, Unfinished,
};
use crate::roots::{Root, roots};
use crate::successors::Successors;
use crate::visited::{Seen, Tree, Visited};
use std::ops::{ControlFlow, Range};
use synod_core::family::{AnyInput, Known as _};
use synod_core::{Algorithm, Boxed, SetupError};
use synod_sim::world::{Left, Translation, Waiting, World};

/// Explores every history of the question. Calls `progress` after every batch of states.
pub fn explore<A: Algorithm>(
    question: &Question,
    mut progress: impl FnMut(&Progress),
) -> Result<Exploration<A::Input>, SetupError> {
    let found = explore_boxed(&question.of::<A>(), &mut progress)?;
    Ok(found.map(A::Family::own_input))
}

/// The same for any algorithm: the setup of the question says which.
pub fn explore_boxed(
    question: &Question,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Exploration<AnyInput>, SetupError> {
    let mut watch = |now: &Progress| {
        progress(now);
        ControlFlow::Continue(())
    };
    explore_boxed_from(question, None, &mut watch).map_err(|error| match error {
        ReplayError::Setup(error) => error,
        ReplayError::Impossible { .. } | ReplayError::Trace(_) => {
            unreachable!("there is no prefix")
        }
    })
}

/// Explores every history of the question that begins with `prefix`: can it still fail from here?
/// The scope is about what follows the prefix: its budget of faults is whole at the end of the
/// prefix.
///
/// Calls `watch` after every batch of states. The exploration ends with [`Unfinished::Cancelled`]
/// as soon as `watch` returns [`ControlFlow::Break`]. Counterexamples are whole histories: they
/// begin with the prefix, or with a part of it.
pub fn explore_from<A: Algorithm>(
    question: &Question,
    prefix: Option<&History<A::Input>>,
    mut watch: impl FnMut(&Progress) -> ControlFlow<()>,
) -> Result<Exploration<A::Input>, ReplayError> {
    let prefix = prefix.cloned().map(|prefix| prefix.map(A::Family::any_input));
    let found = explore_boxed_from(&question.of::<A>(), prefix.as_ref(), &mut watch)?;
    Ok(found.map(A::Family::own_input))
}

/// The same for any algorithm: the setup of the question says which.
pub fn explore_boxed_from(
    question: &Question,
    prefix: Option<&History<AnyInput>>,
    watch: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
) -> Result<Exploration<AnyInput>, ReplayError> {
    search::<Boxed>(question, prefix, &mut Caller::new(&question.limits, watch))
}

/// The search. All that follows is compiled once for all algorithms.
fn search<A: Algorithm>(
    question: &Question,
    prefix: Option<&History<A::Input>>,
    caller: &mut Caller<'_>,
) -> Result<Exploration<A::Input>, ReplayError> {
    let mut search = Search::<A>::begin(question, prefix)?;
    let mut unfinished = search.run(&question.limits, caller);
    search.progress.table_bytes = search.known.bytes();
    unfinished = unfinished.or(caller.show(&search.progress));
    let mut verdicts = search.verdicts(question, prefix)?;
    if unfinished.is_none() {
        let has_circle = || search.edges.as_ref().is_some_and(Edges::form_a_circle);
        if search.leads_back && has_circle() {
            unfinished = lasso::judge::<A>(question, prefix, caller, &mut verdicts)?;
        }
        if unfinished.is_none() && search.crowded > 0 {
            unfinished = Some(Unfinished::Limit("messages on a link", search.crowded));
        }
    }
    Ok(Exploration { progress: search.progress, unfinished, verdicts })
}

struct Search<A: Algorithm> {
    known: Known<A>,
    /// The number of the first state of the next batch.
    base: usize,
    /// The first violation of each property.
    found: Vec<Found>,
    judged: Vec<&'static str>,
    rules: Rules,
    /// How many states were left out because a link was crowded.
    crowded: usize,
    /// Whether an edge leads to a state of an earlier level. Without such an edge there is no
    /// circle.
    leads_back: bool,
    /// The edges of all states, if liveness is judged.
    edges: Option<Edges>,
    progress: Progress,
    /// The state under expansion.
    here: World<A>,
    successors: Successors<A>,
    /// The memory of this program before the search, in bytes.
    resident_before: usize,
}

/// The visited states.
struct Known<A: Algorithm> {
    visited: Visited,
    tree: Tree,
    /// The states of the next level.
    frontier: Frontier<A>,
}

impl<A: Algorithm> Known<A> {
    /// The state under expansion leads to a state. If that is new, `wait` adds it to the next
    /// level.
    #[inline]
    fn meet(
        &mut self,
        (ordinal, print, left): (u32, u64, &Left),
        wait: impl FnOnce(&mut Frontier<A>),
    ) -> Seen {
        let seen = self.visited.add(print, left);
        if seen == Seen::New {
            self.tree.add_child(ordinal);
            wait(&mut self.frontier);
        }
        seen
    }

    fn bytes(&self) -> usize {
        self.visited.bytes() + self.tree.bytes()
    }
}

impl<A: Algorithm> Search<A> {
    fn begin(question: &Question, prefix: Option<&History<A::Input>>) -> Result<Self, ReplayError> {
        let judged = question.judged.ids::<A>(&question.setup);
        let normal = question.is_normal::<A>();
        let roots = roots::<A>(question, prefix)?;
        let here = roots[0].world.clone();
        let keeps_edges = judged.iter().any(|id| here.family().liveness.contains(id));
        let mut search = Search {
            known: Known {
                visited: Visited::default(),
                tree: Tree::default(),
                frontier: Frontier::default(),
            },
            base: 0,
            found: Vec::new(),
            judged,
            rules: Rules { normal, keeps_edges },
            crowded: 0,
            leads_back: false,
            edges: keeps_edges.then(Edges::default),
            progress: Progress::default(),
            successors: Successors::new(&here),
            here,
            resident_before: resident_bytes().unwrap_or(0),
        };
        for (number, Root { world, found, .. }) in roots.into_iter().enumerate() {
            for (steps, violation) in found {
                search.note(Found { place: Place::Prefix { root: number, steps }, violation });
            }
            // Equal roots are kept apart: they are few, and the tree counts them.
            search.known.visited.add(fingerprint(&world, normal), &world.left());
            search.known.tree.add_root();
            search.known.frontier.push(&world);
            search.progress.states += 1;
        }
        search.progress.unique = search.known.visited.len();
        Ok(search)
    }

    fn run(&mut self, limits: &Limits, caller: &mut Caller<'_>) -> Option<Unfinished> {
        while !self.known.frontier.is_empty() {
            if self.is_all_refuted() {
                return Some(Unfinished::AllRefuted);
            }
            if self.progress.depth >= limits.depth {
                return Some(Unfinished::Limit("depth", self.known.frontier.len()));
            }
            if let Some(end) = self.level(limits, caller) {
                return Some(end);
            }
        }
        // The last level has no states, so it is no step of any history.
        self.progress.depth = self.progress.depth.saturating_sub(1);
        None
    }

    /// Expands every state of a level.
    fn level(&mut self, limits: &Limits, caller: &mut Caller<'_>) -> Option<Unfinished> {
        let mut level = std::mem::take(&mut self.known.frontier);
        self.known.visited.begin_level();
        while let Some(batch) = level.pop_batch() {
            if limits.threads <= 1 || batch.len() <= BLOCK {
                self.expand(&batch);
            } else {
                self.expand_with(&batch, limits.threads);
            }
            self.base += batch.len();
            self.known.frontier.recycle(batch);
            self.progress.unique = self.known.visited.len();
            self.progress.table_bytes = self.known.bytes();
            self.progress.waiting = level.len() + self.known.frontier.len();
            let ended = caller.show(&self.progress);
            let limit = if self.known.visited.len() >= limits.states {
                Some("states")
            } else if self.memory(&level) >> 20 >= limits.memory_mib {
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

    /// The memory of the search, in bytes: the growth of the program, where the operating system
    /// reports it. Elsewhere, and at least, the tables and the waiting states.
    fn memory(&self, level: &Frontier<A>) -> usize {
        let grown = resident_bytes().unwrap_or(0).saturating_sub(self.resident_before);
        let edges = self.edges.as_ref().map_or(0, Edges::bytes);
        let waiting = level.bytes() + self.known.frontier.bytes();
        (self.known.bytes() + edges + waiting).max(grown)
    }

    /// Expands a batch of states on this thread.
    fn expand(&mut self, batch: &Waiting<A>) {
        let mut tally = self.rules.tally();
        for index in 0..batch.len() {
            batch.restore(index, &mut self.here);
            let (known, state) = (&mut self.known, (self.base + index, &self.here));
            self.rules.expand(
                state,
                &mut self.successors,
                &mut tally,
                |ordinal, print, left, next| {
                    known.meet((ordinal, print, left), |frontier| frontier.push(next))
                },
            );
            self.known.tree.end_state();
        }
        self.add(tally);
    }

    /// Expands a batch of states on several threads, block by block, and merges their successors in
    /// the order of the states.
    fn expand_with(&mut self, batch: &Waiting<A>, threads: usize) {
        let blocks: Vec<_> = (0..batch.len())
            .step_by(BLOCK)
            .map(|first| first..batch.len().min(first + BLOCK))
            .collect();
        let (rules, base, visited) = (self.rules, self.base, &self.known.visited);
        let here = &self.here;
        let work = |blocks: &[Range<usize>]| -> Vec<Harvest<A>> {
            let (mut here, mut successors) = (here.clone(), Successors::new(here));
            let mut harvest = |block: &Range<usize>| {
                let scratch = (&mut here, &mut successors);
                rules.harvest(block.clone(), batch, base, visited, scratch)
            };
            blocks.iter().map(&mut harvest).collect()
        };
        let share = blocks.len().div_ceil(threads);
        let harvests: Vec<Harvest<A>> = std::thread::scope(|scope| {
            let workers: Vec<_> =
                blocks.chunks(share).map(|blocks| scope.spawn(|| work(blocks))).collect();
            let harvest = |worker: std::thread::ScopedJoinHandle<'_, Vec<Harvest<A>>>| {
                worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            workers.into_iter().flat_map(harvest).collect()
        });
        for harvest in harvests {
            self.merge(harvest);
        }
    }

    fn merge(&mut self, harvest: Harvest<A>) {
        let mut origins = harvest.origins.iter().enumerate();
        let mut translation = Translation::default();
        for count in harvest.counts {
            for (index, (ordinal, print, left)) in origins.by_ref().take(count) {
                self.known.meet((*ordinal, *print, left), |frontier| {
                    frontier.push_from(&harvest.candidates, index, &mut translation);
                });
            }
            self.known.tree.end_state();
        }
        self.add(harvest.tally);
    }

    fn add(&mut self, tally: Tally) {
        self.progress.states += tally.states;
        self.crowded += tally.crowded;
        self.leads_back |= tally.leads_back;
        if let (Some(edges), Some(more)) = (&mut self.edges, tally.edges) {
            edges.append(more);
        }
        for found in tally.found {
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
    ) -> Result<Vec<Judgement<A::Input>>, ReplayError> {
        let verdict = |property: &&'static str| {
            let found = self.found.iter().find(|found| found.violation.property == *property);
            let refuted = match found {
                None => None,
                Some(Found { place, violation }) => {
                    let history = self.history_to(*place, question, prefix)?;
                    Some(Refutation { violation: violation.clone(), history })
                }
            };
            Ok(Judgement { property, refuted })
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
        let (root, mut ordinals) = self.known.tree.path(state);
        ordinals.extend(last);
        let steps = ordinals.into_iter().map(Next::Successor);
        Ok(follow::<A>(question, roots.swap_remove(root), steps, None)?)
    }
}
