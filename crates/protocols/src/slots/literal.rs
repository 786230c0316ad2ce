//! View changes by the published rules.
//!
//! The slots of an unreachable member stay its own in the tables of the others. If a node starts
//! again, its slots go to the primary (hazard H4), and so do the slots of a dead member. A lone
//! member takes all slots (H5). Open cycles go on in the next view, without the members that are
//! gone, and messages of an old view count (H1).

use super::Slots;
use super::crossing::{companions, fresh};
use super::scheme::Scheme;
use super::table::Owner;
use synod_core::group::{Cause, Change, Session, View};
use synod_core::{ProcessId, ProcessSet};

impl Slots {
    /// Enters a new view by the published rules.
    pub(super) fn cross_literally(&mut self, view: &View, session: &mut Session<'_, Slots>) {
        self.found_if_first(view);
        let fresh = fresh(&self.estate, view);
        let gone: ProcessSet = view.left.iter().map(|change| change.member.node).collect();
        let came = companions(&self.estate, view);
        let estate = &mut self.estate;
        // A member that comes back with its slots comes back as another part.
        estate.ready = estate.ready.iter().filter(|node| came.contains(*node)).collect();
        estate.waiting = estate.waiting.iter().filter(|node| came.contains(*node)).collect();
        self.new = self.new.iter().filter(|node| came.contains(*node)).collect();
        let still = estate.primary.filter(|primary| estate.ready.contains(*primary));
        estate.primary = still.or_else(|| estate.ready.first());
        let died = |change: &&Change| {
            matches!(change.cause, Cause::Disconnect | Cause::Leave | Cause::Restart)
        };
        let died: Vec<ProcessId> =
            view.left.iter().filter(died).map(|change| change.member.node).collect();
        if let Some(primary) = estate.primary {
            for node in died.into_iter().chain(fresh.iter()) {
                estate.replace(Owner::Of(node), Owner::Of(primary));
            }
        }
        if let Scheme::Published(donation) = &mut self.scheme {
            donation.part_from(&gone, &mut self.estate, session);
        }
        self.enter(view);
        self.join_or_merge(&view.set(), fresh, session);
    }
}
