//! Pools of slots, explored one view at a time.

use synod_check::views::{self, Explored, Settings};
use synod_core::ProcessId;
use synod_protocols::slots::Slots;

/// Explores all that can happen to a pool whose members start together, however much goes wrong.
/// The explorer is compiled here, with optimisation in every profile.
pub fn explore_pool(
    members: &[(ProcessId, Slots)],
    settings: &Settings,
    progress: &mut dyn FnMut(&Explored),
) -> Explored {
    views::explore_views(members, settings, progress)
}
