//! What stands above the group: pools with their users, groups with their listeners, sessions.
//!
//! # Layout
//! - `pools`: claims and releases
//! - `sessions`: who uses items, and for how long after the last sign of life
//! - `waiting`: claims that wait
//! - `watchers`: clients that watch events

mod pools;
mod sessions;
mod waiting;
mod watchers;

pub(crate) use pools::PoolDesk;
pub(crate) use watchers::Watcher;

use crate::cell::{Above, Cell};
use crate::clock::NodeClock;
use sessions::SessionDesk;
use std::collections::{BTreeMap, HashMap, VecDeque};
use synod_client::api::{Event, SessionId};
use synod_core::ProcessId;
use synod_core::family::services::{Input, Output, Tag};
use synod_core::family::slots;
use synod_core::group::{Member, ViewId};
use synod_groups::group::GroupEngine;
use synod_groups::switchboard::{self, SwitchboardAlgorithm};
use waiting::WaitingClaim;

/// The process of the group: a switchboard on an engine.
pub(crate) type GroupProcess = SwitchboardAlgorithm;
/// The group, as this node takes part in it.
pub(crate) type GroupCell = Cell<GroupProcess, Board>;

impl crate::cell::State<GroupProcess, Board> {
    /// The engine, for hints of the links.
    pub(crate) fn engine_mut(&mut self) -> &mut GroupEngine<switchboard::Message> {
        &mut self.host.state_mut().engine
    }
}

/// A group, as this node sees it.
#[derive(Debug, Default)]
pub(crate) struct GroupDesk {
    pub(crate) name: String,
    /// The number of messages delivered here.
    pub(crate) delivered: u64,
}

/// What the process answered to the input of this step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Said {
    /// An answer of a pool.
    Pool(slots::SlotId, Option<slots::Token>),
    Refused(slots::Refusal),
    Stale,
    Unknown,
    Full,
}

/// What stands above the group.
#[derive(Debug, Default)]
pub(crate) struct Board {
    /// The names of all nodes, by number.
    pub(crate) names: BTreeMap<ProcessId, String>,
    pub(crate) view: Option<(ViewId, Vec<Member>)>,
    /// The number of views so far.
    pub(crate) views: u64,
    pub(crate) pools: BTreeMap<Tag, PoolDesk>,
    /// The tags of pools and groups, by name.
    pub(crate) pool_tags: HashMap<String, Tag>,
    pub(crate) group_tags: HashMap<String, Tag>,
    pub(crate) groups: BTreeMap<Tag, GroupDesk>,
    sessions: BTreeMap<SessionId, SessionDesk>,
    next_session: u64,
    watchers: Vec<Watcher>,
    /// The answer to the input of the present step.
    said: Option<Said>,
    /// The claims that wait.
    tickets: BTreeMap<(Tag, slots::Ticket), WaitingClaim>,
    next_ticket: u64,
    /// What the application asks for because of an output.
    asks: VecDeque<Input>,
    clock: NodeClock,
    /// Whether the node has left the group.
    pub(crate) has_left: bool,
}

impl Board {
    /// A board in a cluster of these nodes, before anything has happened.
    pub(crate) fn new(names: BTreeMap<ProcessId, String>, clock: NodeClock) -> Self {
        Board { names, clock, ..Board::default() }
    }

    /// The name of a node.
    pub(crate) fn name_of(&self, node: ProcessId) -> String {
        self.names.get(&node).cloned().unwrap_or_else(|| node.to_string())
    }

    /// The name of the present view.
    pub(crate) fn view_name(&self) -> String {
        match &self.view {
            None => "none".to_owned(),
            // The epoch counts views in its lower half, and lives of the cluster in its upper one.
            Some((view, _)) => {
                let (lives, number) = (view.epoch >> 32, view.epoch & 0xffff_ffff);
                let by = self.name_of(view.by.node);
                if lives == 0 { format!("{number}.{by}") } else { format!("{lives}.{number}.{by}") }
            }
        }
    }

    /// The answer to the input of this step.
    pub(crate) fn take_said(&mut self) -> Option<Said> {
        self.said.take()
    }

    fn on_pool(&mut self, tag: Tag, output: slots::Output) {
        match output {
            slots::Output::Claimed(slot, token) => self.said = Some(Said::Pool(slot, Some(token))),
            slots::Output::Released(slot) => self.said = Some(Said::Pool(slot, None)),
            slots::Output::Served { ticket, slot, token } => {
                self.on_served(tag, ticket, slot, token);
            }
            slots::Output::Unserved(ticket, why) => self.on_unserved(tag, ticket, why),
            slots::Output::Refused(why) => self.said = Some(Said::Refused(why)),
            slots::Output::Stale(_) => self.said = Some(Said::Stale),
            slots::Output::Settled { owned, absent, .. } => {
                self.tell_of(tag, |pool| Event::Settled { pool, owned, absent });
            }
            slots::Output::Alarm(slot) => {
                let Some(pool) = self.pools.get(&tag) else { return };
                let item = pool.spec.item(slot.0);
                self.tell_of(tag, |pool| Event::Alarm { pool, item });
            }
            slots::Output::Lost => self.lose(tag),
            slots::Output::Asks(_)
            | slots::Output::Got(_)
            | slots::Output::Unsettled
            | slots::Output::Void(_) => {}
        }
    }

    /// All claims at this node are void.
    pub(crate) fn end(&mut self) {
        let tags: Vec<Tag> = self.pools.keys().copied().collect();
        tags.into_iter().for_each(|tag| self.lose(tag));
    }

    /// The membership of this node in a pool is lost, and with it all claims.
    fn lose(&mut self, tag: Tag) {
        let Some(pool) = self.pools.get_mut(&tag) else { return };
        pool.end();
        self.sessions.values_mut().for_each(|session| session.lose(tag));
    }
}

impl Above<GroupProcess> for Board {
    fn on_output(&mut self, output: Output) {
        match output {
            Output::View(view, members) => {
                self.view = Some((view, members));
                self.views += 1;
                let members = self.view.iter().flat_map(|(_, members)| members);
                let members = members.map(|member| self.name_of(member.node)).collect();
                let view = self.view_name();
                self.tell_all(Event::View { view, members });
            }
            Output::Pool(tag, output) => self.on_pool(tag, output),
            Output::Heard(tag, from, body) => {
                let Some(group) = self.groups.get_mut(&tag) else { return };
                group.delivered += 1;
                let (group, from) = (group.name.clone(), self.name_of(from.node));
                self.tell(|| Event::Message { group, from, body }, tag);
            }
            Output::Unknown(_) => self.said = Some(Said::Unknown),
            Output::Full(_) => self.said = Some(Said::Full),
            Output::Closed(tag) => {
                self.lose(tag);
                self.forget_tickets(tag);
            }
            Output::Opened(_) => {}
            Output::Lost => {
                self.end();
                self.view = None;
                self.has_left = true;
            }
        }
    }

    fn next_input(&mut self) -> Option<Input> {
        self.asks.pop_front()
    }
}
