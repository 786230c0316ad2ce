//! The Byzantine generals with oral messages, OM(f) (Lamport, Shostak, Pease, 1982).
//!
//! A commander gives an order, and its lieutenants are to obey the same one, though some of them,
//! or the commander itself, are traitors. So each lieutenant passes the order that it received on
//! to the others; in the next round each passes on the claims of the others; and so on, for f + 1
//! rounds. In the end each general has a tree of claims, "p2 says that p1 says that the order is
//! …", and takes the majority at each node, from the leaves to the root.
//!
//! - Assumes: synchronous rounds, reliable links; a receiver knows the sender of a message, but
//!   messages are not signed; at most f traitors among N > 3f. A message that does not come counts
//!   as no order, ⊥.
//! - Guarantees: termination; agreement; obedience (a loyal commander is obeyed by all loyal ones).
//!   Not with N <= 3f, under any rule for ties. If generals believe the commander on a tie, not
//!   with any N, because a traitor can tell each lieutenant another order: see the card.
//! - Cost: f + 1 rounds; M(N, f) = (N − 1)(1 + M(N − 1, f − 1)) messages, M(N, 0) = N − 1: 9 for
//!   (4, 1), 156 for (7, 2), 3609 for (10, 3).
//! - State: one value for each path of at most f + 1 different processes, O(N^f).
//!
//! In OM(m) a lieutenant is the commander of an OM(m − 1) among the others. Here all these runs are
//! one: a claim carries the path on which it came, the commander first, and `p2:p0:7` reads "p2
//! says that p0 says 7".
//!
//! Sources: L. Lamport, R. Shostak, M. Pease: The Byzantine generals problem. ACM TOPLAS 4(3),
//! 1982. The tree: A. Bar-Noy, D. Dolev, C. Dwork, H. R. Strong: Shifting gears: changing
//! algorithms on the fly to expedite Byzantine agreement. PODC 1987.

mod card;

use super::rounds::{RoundBased, RoundOver};
use super::vote::{all_differ, more_than_half};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use synod_core::byzantine::Corruptible;
use synod_core::family::consensus::{Input, Output, Value};
use synod_core::{Cx, ProcessId, Protocol, Setup, SetupError, Wire};

pub use card::{OralGenerals, TIE};

/// The path of a claim: the commander first, its last sender last.
pub type Path = Vec<ProcessId>;

/// A claim about the order.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Claim {
    /// Its path from the commander.
    pub path: Path,
    /// The order; `None` if there is none.
    pub value: Option<Value>,
}

impl Wire for Claim {
    fn kind(&self) -> &'static str {
        if self.path.len() < 2 { "Order" } else { "Claim" }
    }
}

impl fmt::Debug for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path.iter().rev().try_for_each(|process| write!(f, "{process}:"))?;
        match self.value {
            Some(value) => write!(f, "{value}"),
            None => f.write_str("⊥"),
        }
    }
}

/// The rule for a node without a majority.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Tie {
    /// Believe that no order was given.
    Default,
    /// Believe the commander of this (part of the) run.
    Commander,
}

/// One general.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct OralMessages {
    f: usize,
    /// The largest number of messages that one process sends to another in a round.
    at_most: usize,
    commander: ProcessId,
    tie: Tie,
    round: u32,
    /// The claims that we received, by path; at the commander also its own order. A missing entry
    /// stands for no order.
    claims: BTreeMap<Path, Value>,
}

impl Protocol for OralMessages {
    type Input = Input;
    type Output = Output;
    type Message = Claim;
    type Timer = RoundOver;

    /// The commander gives its order, in the first round. The proposals of others do not matter.
    fn on_input(&mut self, Input::Propose(value): Input, cx: &mut Cx<'_, Self>) {
        if cx.me() == self.commander && self.round == 1 {
            self.claims.insert(vec![cx.me()], value);
            cx.multicast(Claim { path: vec![cx.me()], value: Some(value) });
        }
    }

    fn on_message(&mut self, from: ProcessId, claim: Claim, cx: &mut Cx<'_, Self>) {
        let Claim { path, value } = claim;
        if let Err(why) = self.fits(from, &path, cx) {
            return cx.accuse(from, why);
        }
        if self.claims.contains_key(&path) {
            return cx.accuse(from, "says two things about one");
        }
        if let Some(value) = value {
            self.claims.insert(path, value);
        }
    }

    fn on_timer(&mut self, RoundOver(round): RoundOver, cx: &mut Cx<'_, Self>) {
        if round < self.rounds() {
            self.relay(round as usize, cx);
            self.round = round + 1;
        } else {
            let order = self.believed(&mut vec![self.commander], cx);
            cx.output(Output::Decided(order.into()));
        }
    }
}

impl OralMessages {
    /// The generals of a group in which this one commands.
    pub fn generals(setup: &Setup, commander: ProcessId) -> Result<Vec<Self>, SetupError> {
        let f = faults(setup)?;
        let tie = match setup.choice(TIE.name, &["default", "commander"])? {
            "default" => Tie::Default,
            _ => Tie::Commander,
        };
        // The last round has the most messages: one for each path from the commander over f − 1
        // others.
        let others = setup.n.saturating_sub(3);
        let at_most = (0..f.saturating_sub(1)).map(|used| others - used).product();
        let claims = BTreeMap::new();
        let general = OralMessages { f, at_most, commander, tie, round: 1, claims };
        Ok(vec![general; setup.n])
    }

    /// Checks that an honest process `from` can have sent a claim with this path in this round.
    fn fits(&self, from: ProcessId, path: &Path, cx: &Cx<'_, Self>) -> Result<(), &'static str> {
        if path.len() != self.round as usize || path.first() != Some(&self.commander) {
            return Err("says something that does not belong to this round");
        }
        if path.last() != Some(&from) {
            return Err("speaks for somebody else");
        }
        let is_other = |process: &ProcessId| cx.is_member(*process) && *process != cx.me();
        if !path.iter().all(is_other) || !all_differ(path) {
            return Err("says something that cannot have come this way");
        }
        Ok(())
    }

    /// Passes all claims of this round on to the others.
    fn relay(&self, round: usize, cx: &mut Cx<'_, Self>) {
        for mut path in self.paths(round, cx) {
            let value = self.claims.get(&path).copied();
            path.push(cx.me());
            let to = cx.others().filter(|other| !path.contains(other)).collect();
            cx.multicast_to(to, Claim { path, value });
        }
    }

    /// All paths of this length on which a claim may come to us.
    fn paths(&self, length: usize, cx: &Cx<'_, Self>) -> Vec<Path> {
        let mut paths: Vec<Path> = Vec::new();
        if cx.me() != self.commander {
            paths.push(vec![self.commander]);
        }
        for _ in 1..length {
            let longer = |path: Path| {
                let next: Vec<ProcessId> = next(&path, cx).collect();
                next.into_iter().map(move |process| [path.as_slice(), &[process]].concat())
            };
            paths = paths.into_iter().flat_map(longer).collect();
        }
        paths
    }

    /// The order that we believe the last process of the path to have sent: the majority of its
    /// claim to us, and of those that the others report from it.
    fn believed(&self, path: &mut Path, cx: &Cx<'_, Self>) -> Option<Value> {
        let told = self.claims.get(path).copied();
        if path.len() > self.f || path.contains(&cx.me()) {
            return told;
        }
        let mut votes = vec![told];
        for process in next(path, cx).collect::<Vec<_>>() {
            path.push(process);
            votes.push(self.believed(path, cx));
            path.pop();
        }
        more_than_half(&votes).unwrap_or(match self.tie {
            Tie::Default => None,
            Tie::Commander => told,
        })
    }
}

/// The processes that may follow on a path that leads to us.
fn next<'p>(
    path: &'p Path,
    cx: &Cx<'_, OralMessages>,
) -> impl Iterator<Item = ProcessId> + use<'p> {
    cx.others().filter(|process| !path.contains(process))
}

/// M(N, f): the number of messages.
pub fn messages(n: usize, f: usize) -> usize {
    let others = n.saturating_sub(1);
    match f {
        0 => others,
        _ => others.saturating_mul(1 + messages(others, f - 1)),
    }
}

/// The same over a network that carries a multicast once for all receivers.
pub fn multicasts(n: usize, f: usize) -> usize {
    match (n, f) {
        (0 | 1, _) => 0,
        (_, 0) => 1,
        _ => (n - 1).saturating_mul(multicasts(n - 1, f - 1)).saturating_add(1),
    }
}

/// The most messages that a run may take.
const MOST: usize = 1_000_000;

/// The number of faults, checked: there must be enough processes for paths of that length, and the
/// messages must not exceed a million.
pub fn faults(setup: &Setup) -> Result<usize, SetupError> {
    let f = super::rounds::faults(setup, setup.n.saturating_sub(1) / 3, setup.n.saturating_sub(2))?;
    match messages(setup.n, f) {
        few if few <= MOST => Ok(f),
        many => Err(setup.bad("f", format!("that would take {many} messages"))),
    }
}

impl RoundBased for OralMessages {
    fn rounds(&self) -> u32 {
        self.f as u32 + 1
    }

    fn at_most(&self) -> usize {
        self.at_most
    }

    fn faults(&self) -> usize {
        self.f
    }

    fn takes_part(&self, me: ProcessId) -> bool {
        me == self.commander
    }
}

/// Lies about the order.
impl Corruptible for OralMessages {
    fn lie(&self, claim: &Claim, value: Value) -> Option<Claim> {
        Some(Claim { path: claim.path.clone(), value: Some(value) })
    }
}
