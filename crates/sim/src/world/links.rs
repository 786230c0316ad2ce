//! The state of the links.

use super::action::LinkChange;
use std::collections::BTreeSet;
use synod_core::ProcessId;

/// The links that do not work. None, in most worlds.
#[derive(Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Links {
    /// The part that each process is in; empty if there is no partition.
    part: Vec<u32>,
    cut: BTreeSet<(ProcessId, ProcessId)>,
}

impl Clone for Links {
    fn clone(&self) -> Self {
        Links { part: self.part.clone(), cut: self.cut.clone() }
    }

    // Explorers copy worlds all the time, and in most of them all links work.
    fn clone_from(&mut self, source: &Self) {
        if !(self.work() && source.work()) {
            *self = source.clone();
        }
    }
}

impl Links {
    #[inline]
    pub(crate) fn work(&self) -> bool {
        self.part.is_empty() && self.cut.is_empty()
    }

    #[inline]
    pub(crate) fn is_cut(&self, from: ProcessId, to: ProcessId) -> bool {
        let apart = !self.part.is_empty() && self.part[from.index()] != self.part[to.index()];
        apart || (!self.cut.is_empty() && self.cut.contains(&(from, to)))
    }

    pub(crate) fn change(&mut self, change: &LinkChange, n: usize) {
        match change {
            LinkChange::Partition(parts) => {
                // A process in no part gets a part of its own.
                self.part = (0..n).map(|index| (parts.len() + index) as u32).collect();
                for (number, part) in parts.iter().enumerate() {
                    for process in part {
                        self.part[process.index()] = number as u32;
                    }
                }
            }
            LinkChange::Cut { from, to } => {
                self.cut.insert((*from, *to));
            }
            LinkChange::Mend { from, to } => {
                self.cut.remove(&(*from, *to));
            }
            LinkChange::Heal => *self = Links::default(),
        }
    }
}

impl std::fmt::Display for LinkChange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            LinkChange::Partition(parts) => {
                let names = |part: &Vec<ProcessId>| {
                    part.iter().map(ProcessId::to_string).collect::<Vec<_>>().join(" ")
                };
                let parts: Vec<_> = parts.iter().map(names).collect();
                write!(f, "partition {}", parts.join(" | "))
            }
            LinkChange::Cut { from, to } => write!(f, "cut {from} -> {to}"),
            LinkChange::Mend { from, to } => write!(f, "mend {from} -> {to}"),
            LinkChange::Heal => f.write_str("heal"),
        }
    }
}
