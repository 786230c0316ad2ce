//! View changes by the published rules.
//!
//! The slots of an unreachable member stay its own in the tables of the others. If a node starts
//! again, its slots go to the primary (hazard H4), and so do the slots of a dead member. A lone
//! member takes all slots (H5). Open cycles go on in the next view, without the members that are
//! gone, and messages of an old view count (H1). The authors' program clears open cycles; what is
//! under way is still answered, and counts.

use super::super::Slots;
use super::super::scheme::Scheme;
use super::super::table::Owner;
use super::super::view_change::{companions, fresh};
use synod_core::group::{Cause, Change, Session, View};
use synod_core::{ProcessId, ProcessSet};

impl Slots {
    /// Enters a new view by the published rules.
    pub(in super::super) fn change_view_as_published(
        &mut self,
        view: &View,
        session: &mut Session<'_, Slots>,
    ) {
        self.own_initial_slots(view);
        let fresh = fresh(&self.state, view);
        let gone: ProcessSet = view.left.iter().map(|change| change.member.node).collect();
        let came = companions(&self.state, view);
        let state = &mut self.state;
        // A member that comes back with its slots comes back as another part.
        state.ready = state.ready.iter().filter(|node| came.contains(*node)).collect();
        state.waiting = state.waiting.iter().filter(|node| came.contains(*node)).collect();
        self.new = self.new.iter().filter(|node| came.contains(*node)).collect();
        let still = state.primary.filter(|primary| state.ready.contains(*primary));
        state.primary = still.or_else(|| state.ready.first());
        let died = |change: &&Change| {
            matches!(change.cause, Cause::Disconnect | Cause::Leave | Cause::Restart)
        };
        let died: Vec<ProcessId> =
            view.left.iter().filter(died).map(|change| change.member.node).collect();
        if let Some(primary) = state.primary {
            for node in died.into_iter().chain(fresh.iter()) {
                state.replace(Owner::Of(node), Owner::Of(primary));
            }
        }
        if let Scheme::Published(donation) = &mut self.scheme {
            donation.change_members(&gone, &mut self.state, session);
        }
        self.enter(view);
        self.join_or_merge(&view.set(), fresh, session);
    }
}
