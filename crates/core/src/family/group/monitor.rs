//! Judges what members were told against the contract.

use super::{GroupService, INTEGRITY, Input, Output, VIEWS};
use crate::family::{Moment, Monitor, Violation};
use crate::group::{Event, Member, ViewId};
use crate::process::ProcessId;
use crate::setup::Setup;
use std::collections::BTreeMap;

/// Remembers what every member was told, as far as it still matters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Historian {
    /// The view that each process is in.
    views: Vec<Option<ViewId>>,
    /// The members of every view that was told.
    members: BTreeMap<ViewId, Vec<Member>>,
}

impl Monitor for Historian {
    type Family = GroupService;
    type Tag = ();

    fn new(setup: &Setup, _judged: &dyn Fn(&str) -> bool) -> Self {
        Historian { views: vec![None; setup.n], members: BTreeMap::new() }
    }

    fn on_input(&mut self, _: ProcessId, _: &Input, _: Moment<'_>, _: &mut Vec<Violation>) {}

    fn on_output(
        &mut self,
        at: ProcessId,
        output: &Output,
        _: Moment<'_>,
        found: &mut Vec<Violation>,
    ) {
        match output {
            Event::View(view) => {
                let known = self.members.entry(view.id).or_insert_with(|| view.members.clone());
                if *known != view.members || !view.contains(at) {
                    let because = format!("{at} is told that {} is {:?}", view.id, view.members);
                    found.push(Violation { property: VIEWS, at, because });
                }
                self.views[at.index()] = Some(view.id);
            }
            Event::Deliver(_) if self.views[at.index()].is_none() => {
                let because = format!("{at} delivers something before it is in any view");
                found.push(Violation { property: INTEGRITY, at, because });
            }
            _ => {}
        }
    }
}
