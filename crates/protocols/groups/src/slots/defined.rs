//! A pool that a registry defines: its settings, its nodes, and its founder.
//!
//! The list of nodes may grow while the pool is used. Absent slots return only when every node of
//! the list is accounted for (step 7 of the argument in the [module header](super)). So all members
//! of a view must have the same list, and the service above sees to that:
//! [`switchboard`](crate::switchboard).

use super::offers::Offers;
use super::ranges::Ranges;
use super::scheme::Scheme;
use super::settings::{
    Death, LOW_BY_DEFAULT, MIN_BY_DEFAULT, Rules, Settings, Surplus, Unreachable, Waiting,
};
use super::state::MemberState;
use super::table::{Owner, SLOTS_AT_MOST};
use super::waiting::QUEUE_BY_DEFAULT;
use super::{Slots, Timer};
use synod_core::family::services::PoolSettings;
use synod_core::group::{Level, Session};
use synod_core::{ProcessId, ProcessSet};

impl Slots {
    /// The member at `me` of a pool with these settings. `nodes` are all nodes that may be members.
    pub fn from_settings(me: ProcessId, nodes: ProcessSet, pool: &PoolSettings) -> Self {
        let settings = Settings {
            rules: Rules::Offers,
            slots: pool.slots.min(SLOTS_AT_MOST),
            low: LOW_BY_DEFAULT,
            min: MIN_BY_DEFAULT,
            cap: pool.cap,
            cooldown_ms: pool.cooldown_ms,
            queue: QUEUE_BY_DEFAULT,
            level: Level::Agreed,
            configured: nodes,
            reserved: Vec::new(),
            founded: false,
            death: Death::OfALife,
            surplus: Surplus::LetGo,
            waiting: Waiting::InTurn,
            unreachable: Unreachable::Absent,
        };
        Slots {
            state: MemberState::new(me, settings),
            scheme: Scheme::Offers(Offers::with_stock(pool.stock)),
            merging: None,
            new: ProcessSet::EMPTY,
            operator_commands: Vec::new(),
            leaving: false,
            beginning: None,
        }
    }

    /// This member has founded the pool: before its first view it is initialised, and owns all
    /// slots. In that view it is a part of its own, and the others are new.
    pub(crate) fn found(&mut self) {
        let state = &mut self.state;
        state.ready.insert(state.me);
        state.primary = Some(state.me);
        let all = Ranges::span(0, state.settings.slots);
        state.give(&all, Owner::Of(state.me));
    }

    /// From the next view on, slots return when these nodes are accounted for.
    pub(crate) fn set_nodes(&mut self, nodes: &ProcessSet) {
        let places = nodes.iter().last().map_or(0, |last| last.index() + 1);
        let reported = &mut self.state.reported_free.0;
        if reported.len() < places {
            reported.resize(places, None);
        }
        self.state.settings.configured.clone_from(nodes);
    }

    /// The same from now on. All members of the view call this at one place of the order.
    pub(crate) fn on_nodes(&mut self, nodes: &ProcessSet, session: &mut Session<'_, Slots>) {
        self.set_nodes(nodes);
        if self.state.is_settled() {
            self.reclaim();
            self.tell_of_new_owners(session);
        }
    }

    /// Whether multicasts wait for room.
    pub(crate) fn waits_for_room(&self) -> bool {
        self.state.has_unsent()
    }

    /// The timers that may be set, but for those of claims that wait: these run out in vain.
    pub(crate) const TIMERS: &'static [Timer] = &[Timer::Cool, Timer::Again];
}
