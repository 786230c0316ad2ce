//! `synod slots prove`: a small pool in which every fault may come any number of times.

use crate::output::{self, BAD, BOLD, DIM, GOOD, Output};
use crate::parse;
use crate::progress::Progress;
use crate::words::grouped;
use anyhow::{Context, Result, ensure};
use clap::{Args, ValueEnum};
use serde::Serialize;
use synod_check::Question;
use synod_check::views::{Explored, Settings};
use synod_core::Verdict;
use synod_core::card::Scope;
use synod_core::{ProcessId, ProcessSet};
use synod_experiment::explore_pool;
use synod_protocols::slots::Slots;
use synod_protocols::slots::mutants::DeathOfALife;

const EXAMPLES: &str = "\
Examples:
  synod slots prove                           three members, one slot: about half a minute
  synod slots prove --nodes 2 --slots 4       two members, four slots: at once
  synod slots prove --rules death-of-a-life   a rule that is wrong, and the views that show it

The pool is explored one view at a time: all orders of all messages inside a view, all ways in
which a view can end, and every next view, in any number. Partitions, merges, certified deaths, crashes and
restarts need no budget. Members claim nothing; slots move because some members are short of them.
docs/slots.md says why no history is left out.";

/// Larger pools take too long.
const MOST_NODES: u64 = 5;
const MOST_SLOTS: u64 = 64;

/// The explored rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Rules {
    /// Members offer slots beforehand, and others take them
    Offers,
    /// A member that runs short asks, and all others answer
    Repaired,
    /// The published rules, which do not hold
    Paper,
    /// Offers, but the death of one life is taken for the death of its node
    DeathOfALife,
}

/// Explore a small pool without a fault budget: any number of partitions, deaths and restarts
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Prove {
    /// The number of members
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = parse::positive)]
    nodes: u64,
    /// The number of slots; the first member owns them all at first
    #[arg(long, value_name = "SLOTS", default_value_t = 1, value_parser = parse::positive)]
    slots: u64,
    /// The rules
    #[arg(long, value_enum, default_value_t = Rules::Offers)]
    rules: Rules,
    /// Give up after this many states between views
    #[arg(long, value_name = "STATES", value_parser = parse::positive)]
    states: Option<u64>,
}

/// The answer, for programs.
#[derive(Serialize)]
struct Answer {
    nodes: u64,
    slots: u64,
    rules: String,
    holds: Verdict,
    states: usize,
    waiting: usize,
    parts: usize,
    views: usize,
    moments: usize,
    depth: usize,
    seconds: f64,
    broken: Option<Refutation>,
}

#[derive(Serialize)]
struct Refutation {
    property: &'static str,
    why: String,
    history: Vec<String>,
    delivered: Vec<String>,
}

impl Prove {
    /// Explores, and prints the result.
    pub(crate) fn perform(self, output: &Output) -> Result<Verdict> {
        ensure!(self.nodes >= 2, "a pool is shared by at least two members: --nodes 2");
        ensure!(self.nodes <= MOST_NODES, "more than {MOST_NODES} members take too long");
        ensure!(self.slots <= MOST_SLOTS, "more than {MOST_SLOTS} slots take too long");
        let members = self.members()?;
        let settings = Settings {
            states: self.states.map_or(usize::MAX, |states| states as usize),
            // What members may forget between two views depends on rules that hold.
            forgets: matches!(self.rules, Rules::Offers | Rules::Repaired),
            ..Settings::default()
        };
        let mut progress = Progress::unknown("states");
        let explored = explore_pool(&members, &settings, &mut |so_far| {
            progress
                .at(so_far.states as u64, || format!("{} wait", grouped(so_far.waiting as u64)));
        });
        let answer = self.answer(explored, progress.finish());
        output.answer(&answer, || answer.text())?;
        Ok(answer.holds)
    }

    fn members(&self) -> Result<Vec<(ProcessId, Slots)>> {
        let nodes: ProcessSet = (1..=self.nodes as u32).map(ProcessId).collect();
        let rules = match self.rules {
            Rules::Offers | Rules::DeathOfALife => "offers",
            Rules::Repaired => "repaired",
            Rules::Paper => "paper",
        };
        let (slots, owned) = (self.slots.to_string(), format!("p1:{}", self.slots));
        let mut setup = Question::new(Scope::of(self.nodes as usize)).setup;
        let pool = [("rules", rules), ("slots", &slots), ("owned", &owned)];
        for (name, value) in pool.into_iter().chain([("low", "1"), ("stock", "1")]) {
            setup = setup.with(name, value);
        }
        let member = |node| {
            let member =
                Slots::from_setup(node, &nodes, &setup).context("the pool does not fit")?;
            let is_mutant = self.rules == Rules::DeathOfALife;
            Ok((node, if is_mutant { DeathOfALife::mutate(member) } else { member }))
        };
        nodes.iter().map(member).collect()
    }

    fn answer(&self, explored: Explored, seconds: f64) -> Answer {
        let rules = self.rules.to_possible_value().map(|value| value.get_name().to_owned());
        let broken = explored.broken.map(|(broken, history)| Refutation {
            property: broken.property,
            why: broken.why,
            history,
            delivered: broken.log,
        });
        Answer {
            nodes: self.nodes,
            slots: self.slots,
            rules: rules.unwrap_or_default(),
            holds: match (&broken, explored.waiting) {
                (Some(_), _) => Verdict::Violated,
                (None, 0) => Verdict::Holds,
                (None, _) => Verdict::Undecided,
            },
            states: explored.states,
            waiting: explored.waiting,
            parts: explored.parts,
            views: explored.views,
            moments: explored.moments,
            depth: explored.depth,
            seconds,
            broken,
        }
    }
}

/// The judged properties, in words.
const JUDGED: [(&str, &str); 6] = [
    ("pi1-owned", "no slot has two owners, on whichever sides of a partition"),
    ("pi2-equal", "members that have delivered as much agree on who owns what"),
    ("pool", "a member can use what is its own, and nothing else"),
    ("kept", "no member loses by the end of a view what it may use"),
    ("frozen", "no slot is ever claimed by two parts of the group"),
    ("settles", "in every view all members serve claims in the end, if the view lasts"),
];

impl Answer {
    fn text(&self) -> String {
        let count = |number: usize| grouped(number as u64);
        let (members, slots) = (self.nodes, self.slots);
        let mut text = format!("{BOLD}SLOTS, rules={}: ", self.rules);
        text += &format!(
            "{members} members, {slots} {}{BOLD:#}\n\n",
            if slots == 1 { "slot" } else { "slots" }
        );
        for (property, statement) in JUDGED {
            let broken = self.broken.as_ref().is_some_and(|broken| broken.property == property);
            let verdict = match (broken, self.holds) {
                (true, _) => Verdict::Violated,
                (false, Verdict::Holds) => Verdict::Holds,
                // The search ended at the first violation, or too early.
                (false, _) => Verdict::Undecided,
            };
            let style = match verdict {
                Verdict::Violated => BAD,
                Verdict::Holds => GOOD,
                Verdict::Undecided => DIM,
            };
            let sign = output::sign(verdict);
            text += &format!("{style}{sign}{style:#} {property:<10} {statement}\n");
        }
        if let Some(broken) = &self.broken {
            text += &format!("\n{BAD}{}{BAD:#}: {}\n", broken.property, broken.why);
            broken.history.iter().for_each(|line| text += &format!("  {line}\n"));
            if !broken.delivered.is_empty() {
                text += "  delivered in the last view:\n";
                broken.delivered.iter().for_each(|line| text += &format!("    {line}\n"));
            }
        }
        if self.holds == Verdict::Undecided {
            let waiting = count(self.waiting);
            text += &format!("\nnot decided: {waiting} states wait; a larger --states goes on\n");
        }
        let (states, parts, views) = (count(self.states), count(self.parts), count(self.views));
        text += &format!(
            "\n{DIM}{states} states between views, of {parts} different parts; {views} views with {} \
             moments; up to {} views in a row; {:.1} s{DIM:#}\n",
            count(self.moments),
            self.depth,
            self.seconds,
        );
        text
    }
}
