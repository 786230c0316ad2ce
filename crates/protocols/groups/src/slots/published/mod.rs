//! The published rules, where they differ from the rules that hold.
//!
//! [`Rules`] answers one question for each difference. The rest of SLOTS asks these questions and
//! never looks at the rule set itself. The code that only the published rules run is here, in
//! [`donation`] (how slots move) and in `view_change`. The hazards H1 to H6 are those of
//! `docs/slots.md`; steps are those of the argument in the [module header](super).

pub mod donation;
mod view_change;

pub use donation::{O2O3, PublishedDonation};

use super::merge::claims;
use super::message::Status;
use super::ranges::Ranges;
use super::settings::Rules;
use super::state::MemberState;
use super::table::{Owner, Table};
use synod_core::ProcessId;

/// Each question names a rule that holds, and says what the published rules do instead.
impl Rules {
    /// Whether these are not the published rules.
    fn hold(self) -> bool {
        self != Rules::Paper
    }

    /// Step 2. As published, a message of an old view counts (H1).
    #[inline]
    pub(super) fn void_messages_of_other_views(self) -> bool {
        self.hold()
    }

    /// The end of a view ends its cycles, and a member waits for the next view. As published,
    /// members notice the end of a view only when the next one comes, and cycles go on.
    pub(super) fn end_views(self) -> bool {
        self.hold()
    }

    /// Steps 4 and 5. As published, unreachable members keep their slots in the tables of the
    /// others, and the primary inherits from dead and restarted nodes without conditions (H2, H4).
    pub(super) fn make_slots_of_others_absent(self) -> bool {
        self.hold()
    }

    /// Step 6. As published, a slot that no part claims keeps the owner that a member remembers
    /// (H6).
    pub(super) fn make_unclaimed_slots_absent(self) -> bool {
        self.hold()
    }

    /// Step 7. As published, the first member of a group owns all slots, even if it is alone (H5).
    pub(super) fn begin_with_absent_slots(self) -> bool {
        self.hold()
    }

    /// Step 7. As published, a new view never gives absent slots an owner.
    pub(super) fn give_out_absent_slots(self) -> bool {
        self.hold()
    }

    /// A leaving member gives its slots away first. As published, it just leaves, and the primary
    /// inherits.
    pub(super) fn hand_over_before_leaving(self) -> bool {
        self.hold()
    }
}

/// H5: the first member owns all slots.
pub(super) fn own_all(first: ProcessId, state: &mut MemberState) {
    state.own_nothing();
    let all = Ranges::span(0, state.settings.slots);
    state.give(&all, Owner::Of(first));
}

/// The table of a part may name owners outside the part. The part does not speak for them.
pub(super) fn leave_out_others(status: &mut Status) {
    let others = |(owner, _)| match owner {
        Owner::Of(member) if status.ready.contains(member) => None,
        other => Some(other),
    };
    let others: Vec<Owner> = status.table.counts().filter_map(others).collect();
    for owner in others {
        status.table.replace(owner, Owner::Absent);
    }
}

/// H6: writes the claims of all parts over a member's own table.
pub(super) fn overwritten(mut table: Table, statuses: &[Status]) -> Table {
    for (range, owner) in statuses.iter().flat_map(claims) {
        table.give_range(range, owner);
    }
    table
}
