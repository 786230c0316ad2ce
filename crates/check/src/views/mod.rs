//! A group service, explored one view at a time: any number of faults, in finitely many states.
//!
//! The general explorer steps through every interleaving of all views that exist at the same time.
//! But two views at the same time are independent: no step of one changes a member of the other.
//! Members of two views meet only in a third, after both sides have left their own. So this
//! explorer takes one view, from the moment when its members enter it to all its ends, before it
//! looks at another; and it explores a view once, for all states of the other nodes.
//!
//! Between two views there are only *parts*: members that left a view together and wait for their
//! next view. A *state* is a set of parts; nodes in none of them are dead. A *step* takes some
//! parts and starts some dead nodes, lets them enter a view, and puts the parts that may be left of
//! it in their place. The explorer tries all that the contract of [`synod_core::group`] allows: any
//! number of partitions, merges, certified deaths, crashes and restarts, in any order.
//!
//! # Why no history is left out
//! Take a history. Its views form a graph: an edge leads from a view to the next view of a part of
//! its members. What happens in a view depends on what its members brought along, and on nothing
//! else that happens at the same time. So the steps of a view can be done one after the other,
//! after all steps of the views that its members came from. That is a history of this explorer, and
//! each member goes through the same states in it.
//!
//! Properties of one view (members agree, members do not wait for ever) are judged inside that
//! view. A property of two views at the same moment (no slot has two owners) is judged in every
//! state, and in every view together with all parts that wait meanwhile. The explorer never looks
//! at two views of which neither is over. It need not, because it also judges the rule *kept*: at
//! the end of its view a member still has what it held at any moment of it. Suppose that members of
//! two views hold a slot at the same moment. An adversary may end one of the views just then; by
//! the rule, its member still has the slot, and the explorer does look at that part together with
//! the other view.
//!
//! Inside a view, members deliver the log as late as they may; see `within.rs`.
//!
//! # Why there are finitely many states
//! Services compare names of views and of lives, and nothing else ([`ViewByView`]). The last view
//! of a part is compared with the next one only, so all views that are over have one name. A life
//! that a member remembers is compared with the life in which that node is met: it is the same, or
//! it is not. So each remembered life is *present* or *past*.

mod members;
mod part;
mod within;

use foldhash::fast::FixedState;
use members::{Store, in_a_later_life};
use part::{NOW, Nodes, OVER, PRESENT, Parts, bit};
use std::collections::HashMap;
use std::rc::Rc;
use synod_core::group::{Cause, Change, Member, Part, View, ViewByView};
use synod_core::{ProcessId, ProcessSet};
use within::{Ends, Within};

/// The settings of an exploration.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Limit of the multicasts of a member that it has not delivered itself.
    pub window: usize,
    /// Limit of states; beyond it the explorer gives up.
    pub states: usize,
    /// Whether members forget between two views the members that did not come along, which every
    /// next view makes them forget ([`ViewByView::leave_behind`]). That leaves far fewer states.
    pub forgets: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { window: 4, states: usize::MAX, forgets: true }
    }
}

/// A property that does not hold, and where inside its view.
#[derive(Clone, Debug)]
pub struct Broken {
    /// The property, by name.
    pub property: &'static str,
    /// The member that violates it, and how.
    pub why: String,
    /// The messages that were delivered in the view before that.
    pub log: Vec<String>,
}

/// The outcome of an exploration, or its progress so far.
#[derive(Clone, Debug, Default)]
pub struct Explored {
    /// States: sets of parts between views.
    pub states: usize,
    /// Parts that differ.
    pub parts: usize,
    /// Views whose members entered in different states.
    pub views: usize,
    /// Moments inside these views.
    pub moments: usize,
    /// Steps from one state to another.
    pub steps: u64,
    /// The longest history needed to reach a state, in views.
    pub depth: usize,
    /// States that were not expanded: 0 if every state was explored.
    pub waiting: usize,
    /// The first property that does not hold, and the history that leads to it, view by view.
    pub broken: Option<(Broken, Vec<String>)>,
}

/// The caller sees the progress after every this many states.
const SHOWN_EVERY: usize = 1_000;

/// The members that enter a view, and the parts in which they come.
struct Input {
    entrants: Vec<Entrant>,
    came_with: Vec<Part>,
}

struct Entrant {
    member: Member,
    state: u32,
    /// The members of its last view, and those of whose deaths there it knows; empty if it is new.
    before: Vec<Member>,
    ended: Nodes,
    is_new: bool,
}

impl Entrant {
    /// A node that starts.
    fn new(node: ProcessId, incarnation: u32, state: u32) -> Self {
        let member = Member { node, incarnation };
        Entrant { member, state, before: Vec::new(), ended: 0, is_new: true }
    }
}

impl Input {
    /// The input for these members; `together` has those that are not new, part by part.
    fn new(mut entrants: Vec<Entrant>, together: &[ProcessSet]) -> Self {
        entrants.sort_by_key(|entrant| entrant.member);
        let new = entrants.iter().filter(|entrant| entrant.is_new);
        let alone = new.map(|entrant| Part {
            from: None,
            members: ProcessSet::from_iter([entrant.member.node]),
        });
        let parts = together.iter().map(|set| Part { from: Some(OVER), members: set.clone() });
        let mut came_with: Vec<Part> = parts.chain(alone).collect();
        came_with.sort_by_key(|part| part.members.first());
        Input { entrants, came_with }
    }

    /// The view as one of its members sees it.
    fn view_of(&self, entrant: &Entrant) -> View {
        let members: Vec<Member> = self.entrants.iter().map(|entrant| entrant.member).collect();
        let before = &entrant.before;
        let joined = self.entrants.iter().filter(|other| !before.contains(&other.member));
        let joined = joined.map(|other| Change {
            member: other.member,
            cause: if other.is_new { Cause::Join } else { Cause::Merge },
        });
        let lives_again = |gone: &Member| members.iter().any(|member| member.node == gone.node);
        let why = |gone: &Member| match entrant.ended & bit(gone.node) {
            0 if lives_again(gone) => Cause::Restart,
            0 => Cause::Partition,
            _ => Cause::Disconnect,
        };
        let left = before.iter().filter(|member| !members.contains(member));
        let left = left.map(|member| Change { member: *member, cause: why(member) });
        View {
            id: NOW,
            joined: joined.collect(),
            left: left.collect(),
            came_with: Some(self.came_with.clone()),
            members: members.clone(),
        }
    }
}

/// The next view: these parts enter it, and these nodes start in it.
type Next = (Vec<u32>, Nodes);

struct Explorer<'a, S: ViewByView> {
    settings: &'a Settings,
    watch: &'a mut dyn FnMut(&[&S]),
    /// The nodes.
    nodes: Vec<ProcessId>,
    /// Their states when they start in a later life than their first one.
    later: Vec<u32>,
    parts: Parts<S>,
    states: Store<Vec<u32>>,
    /// For each state, the state and the view from which it was first reached; the first has none.
    parents: Vec<(Option<u32>, Next)>,
    depths: Vec<usize>,
    views: HashMap<Next, Rc<Ends>, FixedState>,
    explored: Explored,
}

/// Explores every history of a group whose members start together. Calls `progress` repeatedly.
pub fn explore_views<S: ViewByView>(
    members: &[(ProcessId, S)],
    settings: &Settings,
    progress: impl FnMut(&Explored),
) -> Explored {
    watch_views(members, settings, progress, |_| {})
}

/// The same. Shows `watch` the members of every view at every moment, when all of them have
/// delivered the whole log.
pub fn watch_views<S: ViewByView>(
    members: &[(ProcessId, S)],
    settings: &Settings,
    mut progress: impl FnMut(&Explored),
    mut moment: impl FnMut(&[&S]),
) -> Explored {
    let mut parts = Parts::default();
    let mut start = |(node, state): &(ProcessId, S)| {
        let later = in_a_later_life(*node, state);
        (parts.members.add(*node, state.clone()), parts.members.add(*node, later))
    };
    let (first, later): (Vec<u32>, Vec<u32>) = members.iter().map(&mut start).unzip();
    let mut explorer = Explorer {
        settings,
        watch: &mut moment,
        nodes: members.iter().map(|(node, _)| *node).collect(),
        later,
        parts,
        states: Store::default(),
        parents: Vec::new(),
        depths: Vec::new(),
        views: HashMap::default(),
        explored: Explored::default(),
    };
    explorer.run(&first, &mut progress);
    explorer.explored
}

impl<S: ViewByView> Explorer<'_, S> {
    fn run(&mut self, first: &[u32], progress: &mut impl FnMut(&Explored)) {
        let all = self.nodes.iter().fold(0, |all, node| all | bit(*node));
        let ends = self.enter(&self.first_view(first), None, &(Vec::new(), all));
        self.reach(&ends, None, &(Vec::new(), all), &[]);
        let mut state = 0;
        while state < self.states.len() && self.explored.broken.is_none() {
            if self.states.len() > self.settings.states {
                break;
            }
            self.expand(state as u32, all);
            state += 1;
            if state.is_multiple_of(SHOWN_EVERY) {
                self.count(state);
                progress(&self.explored);
            }
        }
        self.count(state);
    }

    fn count(&mut self, done: usize) {
        self.explored.states = self.states.len();
        self.explored.waiting = self.states.len() - done;
        self.explored.parts = self.parts.len();
        // One more for the first view.
        self.explored.views = self.views.len() + 1;
    }

    /// All views that may come next.
    fn expand(&mut self, state: u32, all: Nodes) {
        let parts = self.states.get(state).clone();
        let alive = parts.iter().fold(0, |alive, part| alive | self.parts.nodes(*part));
        let dead = all & !alive;
        for chosen in 0..1usize << parts.len() {
            let (enter, rest): (Vec<_>, Vec<_>) =
                parts.iter().enumerate().partition(|(place, _)| chosen >> place & 1 == 1);
            let enter: Vec<u32> = enter.into_iter().map(|(_, part)| *part).collect();
            let rest: Vec<u32> = rest.into_iter().map(|(_, part)| *part).collect();
            let mut starts = dead;
            loop {
                if starts != 0 || !enter.is_empty() {
                    let next = (enter.clone(), starts);
                    let ends = self.ends(state, &next);
                    self.reach(&ends, Some(state), &next, &rest);
                }
                if starts == 0 || self.explored.broken.is_some() {
                    break;
                }
                starts = (starts - 1) & dead;
            }
        }
    }

    /// The ends of a view, explored when it is met for the first time.
    fn ends(&mut self, state: u32, next: &Next) -> Rc<Ends> {
        if let Some(ends) = self.views.get(next) {
            return ends.clone();
        }
        let input = self.input(next);
        let ends = self.enter(&input, Some(state), next);
        self.views.insert(next.clone(), ends.clone());
        ends
    }

    fn enter(&mut self, input: &Input, state: Option<u32>, next: &Next) -> Rc<Ends> {
        let ends = Within::enter(input, self.settings, &mut self.parts).explore(self.watch);
        self.explored.moments += ends.moments;
        if let Some(broken) = &ends.broken {
            self.breaks(broken.clone(), state, next);
        }
        Rc::new(ends)
    }

    fn breaks(&mut self, broken: Broken, state: Option<u32>, next: &Next) {
        if self.explored.broken.is_none() {
            self.explored.broken = Some((broken, self.history(state, next)));
        }
    }

    /// The states that a view leads to, while the others wait.
    fn reach(&mut self, ends: &Ends, state: Option<u32>, next: &Next, rest: &[u32]) {
        let kept = rest.iter().fold(0, |kept, part| kept | self.parts.keeps(*part));
        if kept & ends.reach != 0 {
            let why = "a member of the view holds what a member that waits elsewhere has";
            self.breaks(two_owners(why), state, next);
        }
        let entered = next.0.iter().fold(next.1, |nodes, part| nodes | self.parts.nodes(*part));
        for outcome in &ends.outcomes {
            let left = outcome.iter().fold(0, |left, part| left | self.parts.nodes(*part));
            let dead = entered & !left;
            let waiting = rest.iter().map(|part| self.parts.outdate(*part, dead));
            let mut parts: Vec<u32> = outcome.iter().copied().chain(waiting).collect();
            parts.sort_unstable();
            self.explored.steps += 1;
            self.add(parts, state, next);
        }
    }

    fn add(&mut self, parts: Vec<u32>, from: Option<u32>, next: &Next) {
        let mut kept = 0;
        let mut is_twice = false;
        for part in &parts {
            let keeps = self.parts.keeps(*part);
            is_twice |= kept & keeps != 0;
            kept |= keeps;
        }
        let (number, is_new) = self.states.add(parts);
        if is_new {
            self.parents.push((from, next.clone()));
            let depth = from.map_or(1, |from| self.depths[from as usize] + 1);
            self.depths.push(depth);
            self.explored.depth = self.explored.depth.max(depth);
            if is_twice {
                let none = (Vec::new(), 0);
                self.breaks(two_owners("two members that wait have it"), Some(number), &none);
            }
        }
    }

    /// All nodes start, in their first lives.
    fn first_view(&self, states: &[u32]) -> Input {
        let entrant = |(node, state): (&ProcessId, &u32)| Entrant::new(*node, 1, *state);
        Input::new(self.nodes.iter().zip(states).map(entrant).collect(), &[])
    }

    fn input(&self, (parts, starts): &Next) -> Input {
        let mut entrants = Vec::new();
        let mut together = Vec::new();
        for part in parts {
            let part = self.parts.get(*part);
            let nodes = part.states.iter().map(|state| self.parts.members.node(*state));
            together.push(nodes.clone().collect());
            entrants.extend(nodes.zip(&part.states).map(|(node, state)| Entrant {
                before: part.last.clone(),
                ended: part.ended,
                is_new: false,
                ..Entrant::new(node, PRESENT, *state)
            }));
        }
        let begin = self.nodes.iter().zip(&self.later);
        let begin = begin.filter(|(node, _)| starts & bit(**node) != 0);
        entrants.extend(begin.map(|(node, state)| Entrant::new(*node, PRESENT, *state)));
        Input::new(entrants, &together)
    }

    /// How a state was reached, a line for each view, and the view that came last.
    fn history(&mut self, state: Option<u32>, next: &Next) -> Vec<String> {
        let mut lines = Vec::new();
        let mut at = state;
        if !(next.0.is_empty() && next.1 == 0) {
            lines.push(self.line(next));
        }
        while let Some(state) = at {
            let parts = self.states.get(state);
            let parts: Vec<String> = parts.iter().map(|part| self.describe(*part)).collect();
            lines.push(format!("  left: {}", parts.join(" | ")));
            let (from, next) = self.parents[state as usize].clone();
            lines.push(self.line(&next));
            at = from;
        }
        lines.reverse();
        lines
    }

    fn describe(&self, part: u32) -> String {
        let part = self.parts.get(part);
        let name = |state: &u32| self.parts.members.node(*state).to_string();
        let names: Vec<String> = part.states.iter().map(name).collect();
        match part.ended {
            0 => names.join(" "),
            ended => format!("{} (knows dead: {})", names.join(" "), names_of(ended)),
        }
    }

    fn line(&self, (parts, starts): &Next) -> String {
        let parts = parts.iter().map(|part| self.describe(*part));
        let new = (*starts != 0).then(|| format!("new: {}", names_of(*starts)));
        let all: Vec<String> = parts.chain(new).collect();
        format!("a view of {}", all.join(" + "))
    }
}

fn names_of(nodes: Nodes) -> String {
    let names = ProcessId::all(64).filter(|node| nodes & bit(*node) != 0);
    names.map(|node| node.to_string()).collect::<Vec<_>>().join(" ")
}

fn two_owners(why: &str) -> Broken {
    Broken { property: "pi1-owned", why: why.to_owned(), log: Vec::new() }
}
