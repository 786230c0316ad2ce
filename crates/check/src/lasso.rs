//! Liveness in endless histories: a *lasso* is a path to a fair circle on which a process waits.
//!
//! A protocol that never falls silent violates a liveness property if the graph of its states has a
//! *fair circle* on which a process waits for the property all the time. A circle is fair if every
//! action that is possible in all its states (a message can arrive, a timer can run out, a disk can
//! finish, the process inside can leave) is taken on one of its edges. This is weak fairness. It is
//! decided for each strongly connected component as a whole: if a component has a fair circle, then
//! a walk through the whole component is fair, too.
//!
//! No edge of a circle is a fault: a liveness property is a claim about what follows the last
//! fault.

use crate::expansion::is_crowded;
use crate::frontier::Frontier;
use crate::history::{History, Next, ReplayError, follow, replay};
use crate::question::{Caller, Judgement, Phase, Progress, Question, Refutation, Unfinished};
use crate::roots::{Root, roots};
use crate::successors::Successors;
use foldhash::quality::FixedState;
use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::hash::BuildHasher;
use synod_core::card::Order;
use synod_core::family::Pace;
use synod_core::{Algorithm, Family, Monitor, ProcessId, ProcessSet, Violation};
use synod_sim::world::{Action, Body, World};

/// The caller sees the progress after every this many states.
const SHOWN_AFTER: usize = 4096;

/// An action that fairness demands in the end: a delivery, a timer, a disk, an exit. As a hash.
pub(crate) type Duty = u64;

struct Edge {
    to: u32,
    /// The duty that the step does.
    done: Option<Duty>,
}

struct State {
    print: u64,
    parent: Option<(u32, u32)>,
    root: u32,
    edges: Vec<Edge>,
    /// The processes that wait for each liveness property, in the order of the family.
    waiting: SmallVec<[ProcessSet; 1]>,
    duties: BTreeSet<Duty>,
}

/// Judges the liveness properties that have no counterexample yet. Returns the limit that ended the
/// search too early; then no property was judged.
pub(crate) fn judge<A: Algorithm>(
    question: &Question,
    prefix: Option<&History<A::Input>>,
    caller: &mut Caller<'_>,
    verdicts: &mut [Judgement<A::Input>],
) -> Result<Option<Unfinished>, ReplayError> {
    let liveness = A::kit(&question.setup).family.liveness;
    let open = |verdict: &Judgement<A::Input>| {
        liveness.contains(&verdict.property) && verdict.refuted.is_none()
    };
    if !verdicts.iter().any(open) {
        return Ok(None);
    }
    let graph = match build::<A>(question, prefix, caller)? {
        Ok(graph) => graph,
        Err(unfinished) => return Ok(Some(unfinished)),
    };
    for verdict in verdicts.iter_mut().filter(|verdict| open(verdict)) {
        verdict.refuted = refute::<A>(question, prefix, &graph, verdict.property)?;
    }
    Ok(None)
}

/// The shortest history with a fair circle on which a process waits for the property.
fn refute<A: Algorithm>(
    question: &Question,
    prefix: Option<&History<A::Input>>,
    graph: &[State],
    property: &'static str,
) -> Result<Option<Refutation<A::Input>>, ReplayError> {
    let family = A::kit(&question.setup).family;
    let place = family.liveness.iter().position(|id| *id == property);
    let place = place.expect("it is a property about the end");
    let lasting = family.lasting.contains(&property);
    let mut best: Option<(usize, Circle)> = None;
    for at in ProcessId::all(question.scope.n) {
        let waits = |state: usize| graph[state].waiting[place].contains(at);
        for circle in fair_circles(graph, &waits, lasting, at) {
            let length = depth(graph, circle.begins) + circle.states.len();
            if best.as_ref().is_none_or(|(known, _)| length < *known) {
                best = Some((length, circle));
            }
        }
    }
    let Some((_, circle)) = best else { return Ok(None) };
    let (root, ordinals) = way_to(graph, circle.begins);
    let returns_to = Some(ordinals.len());
    let states = ordinals.into_iter().map(Next::Successor).chain(circle.states);
    let root = roots::<A>(question, prefix)?.swap_remove(root);
    let history = follow::<A>(question, root, states, returns_to)?;
    let at = circle.starves;
    let end = replay::<A>(question, &history, None).expect("it was followed just now").world;
    let complaint = end.monitor().complaint(property, at);
    let how_long = if lasting { "again and again" } else { "for ever" };
    let because = format!("{at} {complaint}, {how_long}: all goes round in a fair circle");
    let violation = Violation { property, at, because };
    Ok(Some(Refutation { violation, history }))
}

fn hash<T: std::hash::Hash>(value: &T) -> u64 {
    FixedState::with_seed(1).hash_one(value)
}

/// The duty that an action does. Where links deliver in order, a link has one duty, not each
/// message.
pub(crate) fn duty<A: Algorithm>(world: &World<A>, action: &Action<A::Input>) -> Option<Duty> {
    match action {
        Action::Deliver(slot) => {
            let envelope = world.flight().get(*slot)?;
            let link = (envelope.from, envelope.to);
            let tell = matches!(envelope.body, Body::Tell(_));
            Some(match world.order() {
                Order::Any => hash(&("message", link, &envelope.body)),
                Order::Fifo | Order::Causal => hash(&("link", link, tell)),
            })
        }
        Action::Fire { at, timer } => {
            let set = world.process(*at).timers().iter().find(|set| set.number == *timer)?;
            Some(hash(&("timer", at, &set.timer)))
        }
        // In an asynchronous world ticks are a budget, and need not come.
        Action::Tick if world.is_synchronous() => Some(hash(&"time")),
        Action::Sync(at) => Some(hash(&("disk", at))),
        Action::Input { at, input } if A::Family::pace(input) == Pace::Hold => {
            Some(hash(&("exit", at)))
        }
        _ => None,
    }
}

/// All duties in this state.
fn duties<A: Algorithm>(world: &World<A>) -> BTreeSet<Duty> {
    let mut actions = Vec::new();
    world.enabled(&mut actions);
    actions.iter().filter_map(|action| duty(world, action)).collect()
}

/// The graph of all states, under construction.
struct Graph<A: Algorithm> {
    normal: bool,
    states: Vec<State>,
    /// The number of each state, by its fingerprint.
    numbers: HashMap<u64, u32, FixedState>,
    frontier: Frontier<A>,
}

impl<A: Algorithm> Graph<A> {
    /// Adds a state that is reached from a root, by a successor of its parent. Returns its number.
    fn add(&mut self, world: &World<A>, print: u64, root: u32, parent: Option<(u32, u32)>) -> u32 {
        let waiting = world.family().liveness.iter().map(|id| world.monitor().waiting(id));
        let (waiting, edges, duties) = (waiting.collect(), Vec::new(), BTreeSet::new());
        self.states.push(State { print, parent, root, edges, waiting, duties });
        self.frontier.push(world);
        (self.states.len() - 1) as u32
    }

    /// Adds the edges of a state, and the states to which they lead.
    fn expand(&mut self, number: usize, world: &World<A>, successors: &mut Successors<A>) {
        let mut edges = Vec::new();
        successors.each(world, |ordinal, action, _, next| {
            if self.normal && is_crowded(next) {
                return true;
            }
            let done = duty(world, action);
            let print = next.whole_fingerprint(self.normal);
            let to = match self.numbers.get(&print) {
                Some(known) => *known,
                None => {
                    let (root, parent) = (self.states[number].root, (number as u32, ordinal));
                    let new = self.add(next, print, root, Some(parent));
                    self.numbers.insert(print, new);
                    new
                }
            };
            // The budget of faults is finite, so no circle contains a fault, and fairness demands
            // none.
            if !world.is_own_fault(action) {
                edges.push(Edge { to, done });
            }
            true
        });
        let state = &mut self.states[number];
        (state.edges, state.duties) = (edges, duties(world));
    }
}

/// The graph of all states; or the limit that ended its construction.
fn build<A: Algorithm>(
    question: &Question,
    prefix: Option<&History<A::Input>>,
    caller: &mut Caller<'_>,
) -> Result<Result<Vec<State>, Unfinished>, ReplayError> {
    let (numbers, frontier) = (HashMap::default(), Frontier::default());
    let normal = question.is_normal::<A>();
    let mut graph = Graph { normal, states: Vec::new(), numbers, frontier };
    let roots = roots::<A>(question, prefix)?;
    for (root, Root { world, .. }) in roots.iter().enumerate() {
        // Equal roots are kept apart: each has choices of its own.
        let print = world.whole_fingerprint(normal);
        let number = graph.add(world, print, root as u32, None);
        graph.numbers.insert(print, number);
    }
    let mut here = roots[0].world.clone();
    let mut successors = Successors::new(&here);
    let mut expanded = 0;
    while let Some(batch) = graph.frontier.pop_batch() {
        for index in 0..batch.len() {
            let (unique, waiting) =
                (graph.states.len(), graph.frontier.len() + batch.len() - index);
            if expanded % SHOWN_AFTER == 0 {
                let (phase, states) = (Phase::SeekingCircles, expanded as u64);
                let now = Progress { phase, states, unique, waiting, ..Progress::default() };
                if let Some(unfinished) = caller.show(&now) {
                    return Ok(Err(unfinished));
                }
            }
            if unique > question.limits.circle_states {
                let limit = "states searched for fair circles";
                return Ok(Err(Unfinished::Limit(limit, unique)));
            }
            batch.restore(index, &mut here);
            graph.expand(expanded, &here, &mut successors);
            expanded += 1;
        }
    }
    Ok(Ok(graph.states))
}

fn way_to(graph: &[State], state: usize) -> (usize, Vec<u32>) {
    let mut ordinals = Vec::new();
    let mut at = state;
    while let Some((parent, ordinal)) = graph[at].parent {
        ordinals.push(ordinal);
        at = parent as usize;
    }
    ordinals.reverse();
    (graph[at].root as usize, ordinals)
}

fn depth(graph: &[State], state: usize) -> usize {
    way_to(graph, state).1.len()
}

/// A fair circle.
struct Circle {
    /// The process that waits.
    starves: ProcessId,
    begins: usize,
    /// The states of one round, after the first.
    states: Vec<Next>,
}

/// One circle for each fair component of the states in which `at` waits. A lasting property demands
/// that in the end no process waits ever again; then for each fair component with a state in which
/// it waits.
fn fair_circles(
    graph: &[State],
    waits: &dyn Fn(usize) -> bool,
    lasting: bool,
    at: ProcessId,
) -> Vec<Circle> {
    let mut circles = Vec::new();
    for component in components(graph, &|state| lasting || waits(state)) {
        let inside: BTreeSet<usize> = component.into_iter().collect();
        let Some(begins) = inside.iter().copied().find(|state| waits(*state)) else { continue };
        let mut edges = inside.iter().flat_map(|state| &graph[*state].edges);
        let has_circle = edges.any(|edge| inside.contains(&(edge.to as usize)))
            && (inside.len() > 1 || has_loop(graph, begins));
        if has_circle && is_fair(graph, &inside) {
            circles.push(walk(graph, &inside, begins, at));
        }
    }
    circles
}

fn has_loop(graph: &[State], state: usize) -> bool {
    graph[state].edges.iter().any(|edge| edge.to as usize == state)
}

/// Whether every duty that is due in all states of the component is done on one of its edges.
fn is_fair(graph: &[State], inside: &BTreeSet<usize>) -> bool {
    let always = always_due(graph, inside);
    let done: BTreeSet<Duty> =
        edges_inside(graph, inside).filter_map(|(_, edge)| edge.done).collect();
    always.is_subset(&done)
}

fn always_due(graph: &[State], inside: &BTreeSet<usize>) -> BTreeSet<Duty> {
    let mut states = inside.iter().map(|state| &graph[*state].duties);
    let first = states.next().cloned().unwrap_or_default();
    states.fold(first, |all, duties| all.intersection(duties).copied().collect())
}

fn edges_inside<'g>(
    graph: &'g [State],
    inside: &'g BTreeSet<usize>,
) -> impl Iterator<Item = (usize, &'g Edge)> {
    inside
        .iter()
        .flat_map(|state| graph[*state].edges.iter().map(move |edge| (*state, edge)))
        .filter(|(_, edge)| inside.contains(&(edge.to as usize)))
}

/// A walk through the component that returns to its first state and leaves no duty open.
fn walk(graph: &[State], inside: &BTreeSet<usize>, begins: usize, starves: ProcessId) -> Circle {
    let (mut at, mut states) = (begins, Vec::new());
    let mut open = graph[begins].duties.clone();
    let take = |edge: &Edge, open: &mut BTreeSet<Duty>, states: &mut Vec<Next>| {
        states.push(Next::State(graph[edge.to as usize].print, edge.done));
        open.retain(|duty| {
            Some(*duty) != edge.done && graph[edge.to as usize].duties.contains(duty)
        });
        edge.to as usize
    };
    while !open.is_empty() {
        // To the nearest edge that does an open duty, or leads to a state without it.
        let settles = |edge: &Edge| {
            let is_done = edge.done.is_some_and(|done| open.contains(&done));
            is_done || !open.is_subset(&graph[edge.to as usize].duties)
        };
        for edge in shortest(graph, inside, at, &settles) {
            at = take(edge, &mut open, &mut states);
        }
    }
    if at != begins || states.is_empty() {
        for edge in shortest(graph, inside, at, &|edge| edge.to as usize == begins) {
            at = take(edge, &mut open, &mut states);
        }
    }
    assert_eq!(at, begins, "a component leads back to each of its states");
    Circle { starves, begins, states }
}

/// The shortest walk inside a component whose last edge is wanted.
fn shortest<'g>(
    graph: &'g [State],
    inside: &BTreeSet<usize>,
    from: usize,
    wanted: &dyn Fn(&Edge) -> bool,
) -> Vec<&'g Edge> {
    let mut came: BTreeMap<usize, (usize, &Edge)> = BTreeMap::new();
    let mut queue = VecDeque::from([from]);
    while let Some(state) = queue.pop_front() {
        for edge in graph[state].edges.iter().filter(|edge| inside.contains(&(edge.to as usize))) {
            if wanted(edge) {
                let mut walk = vec![edge];
                let mut at = state;
                while at != from {
                    let (before, edge) = came[&at];
                    walk.push(edge);
                    at = before;
                }
                walk.reverse();
                return walk;
            }
            let to = edge.to as usize;
            if to != from && !came.contains_key(&to) {
                came.insert(to, (state, edge));
                queue.push_back(to);
            }
        }
    }
    unreachable!("a component leads from each of its states to each of its edges")
}

/// The strongly connected components of the states that count (Tarjan 1972, without recursion).
fn components(graph: &[State], counts: &dyn Fn(usize) -> bool) -> Vec<Vec<usize>> {
    let mut tarjan = Tarjan {
        number: vec![0; graph.len()],
        low: vec![0; graph.len()],
        on_stack: vec![false; graph.len()],
        stack: Vec::new(),
        next: 1,
        found: Vec::new(),
    };
    for state in 0..graph.len() {
        if tarjan.number[state] == 0 && counts(state) {
            tarjan.visit(graph, counts, state);
        }
    }
    tarjan.found
}

struct Tarjan {
    number: Vec<u32>,
    low: Vec<u32>,
    on_stack: Vec<bool>,
    stack: Vec<usize>,
    next: u32,
    found: Vec<Vec<usize>>,
}

impl Tarjan {
    fn enter(&mut self, state: usize) {
        self.number[state] = self.next;
        self.low[state] = self.next;
        self.next += 1;
        self.stack.push(state);
        self.on_stack[state] = true;
    }

    fn visit(&mut self, graph: &[State], counts: &dyn Fn(usize) -> bool, root: usize) {
        self.enter(root);
        let mut calls = vec![(root, 0)];
        while let Some((state, edge)) = calls.last_mut() {
            let state = *state;
            let next = graph[state].edges.get(*edge).map(|edge| edge.to as usize);
            *edge += 1;
            match next {
                Some(to) if !counts(to) => {}
                Some(to) if self.number[to] == 0 => {
                    self.enter(to);
                    calls.push((to, 0));
                }
                Some(to) if self.on_stack[to] => {
                    self.low[state] = self.low[state].min(self.number[to]);
                }
                Some(_) => {}
                None => {
                    calls.pop();
                    if let Some((caller, _)) = calls.last() {
                        self.low[*caller] = self.low[*caller].min(self.low[state]);
                    }
                    self.leave(state);
                }
            }
        }
    }

    /// If the state is the first of its component, the component is the stack from this state on.
    fn leave(&mut self, state: usize) {
        if self.low[state] != self.number[state] {
            return;
        }
        let begin = self.stack.iter().rposition(|other| *other == state).expect("it is there");
        let component = self.stack.split_off(begin);
        for member in &component {
            self.on_stack[*member] = false;
        }
        self.found.push(component);
    }
}
