//! Views as the published rules see them.
//!
//! What a member that cannot be reached owns stays its own in the table of the others. If a node
//! starts again, all it had goes to the primary (hazard H4), and so does what a dead member had.
//! Whoever is alone takes all slots (H5). Open cycles go on in the next view, without those who are
//! gone, and messages of an old view count (H1).

use super::Slots;
use super::crossing::{companions, fresh};
use super::scheme::Scheme;
use super::table::Owner;
use synod_core::group::{Cause, Change, Session, View};
use synod_core::{ProcessId, ProcessSet};

impl Slots {
    /// A new view, to the letter.
    pub(super) fn cross_literally(&mut self, view: &View, session: &mut Session<'_, Slots>) {
        self.found_if_first(view);
        let fresh = fresh(&self.estate, view);
        let gone: ProcessSet = view.left.iter().map(|change| change.member.node).collect();
        let came = companions(&self.estate, view);
        let estate = &mut self.estate;
        // Whoever comes back with what it had, comes back as another part.
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
