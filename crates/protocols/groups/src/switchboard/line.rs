//! The line of one pool: the pool, and what it asks for, under its tag.

use super::mutants::Variant;
use super::{Message, Switchboard};
use crate::slots::{self, Slots};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use synod_core::family::services::{Output, PoolSettings, Tag};
use synod_core::group::{Act, Service, Session};
use synod_core::{ProcessId, ProcessSet};

/// A timer of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Timer {
    /// The service.
    pub tag: Tag,
    /// Its timer.
    pub timer: slots::Timer,
}

/// The session of a pool during one step.
pub(super) type LineSession<'a> = Session<'a, Slots>;

/// An open pool.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Line {
    pool: Slots,
    /// Whether the pool has handed over its slots, because the node leaves.
    has_left: bool,
    /// Whether the line is in the queue for room.
    queues: bool,
}

impl Line {
    pub(super) fn new(me: ProcessId, nodes: ProcessSet, settings: &PoolSettings) -> Self {
        let pool = Slots::from_settings(me, nodes, settings);
        Line { pool, has_left: false, queues: false }
    }

    /// The pool at this node.
    pub fn pool(&self) -> &Slots {
        &self.pool
    }

    pub(super) fn pool_mut(&mut self) -> &mut Slots {
        &mut self.pool
    }

    pub(super) fn has_left(&self) -> bool {
        self.has_left
    }

    /// The membership is lost.
    pub(super) fn begin_anew(&mut self, session: &mut LineSession<'_>) {
        self.has_left = false;
        self.pool.on_lost(session);
    }

    /// Cancels every timer that may be set.
    pub(super) fn cancel_timers(session: &mut LineSession<'_>) {
        Slots::TIMERS.iter().for_each(|timer| session.cancel_timer(*timer));
    }

    /// The queue for room begins anew, or has come to this line.
    pub(super) fn leave_queue(&mut self) {
        self.queues = false;
    }

    /// Whether the line has to be put into the queue for room; it counts as queued from now on.
    pub(super) fn begins_to_queue(&mut self) -> bool {
        self.pool.waits_for_room() && !std::mem::replace(&mut self.queues, true)
    }

    /// Takes a step of the pool, and asks the engine for all that the pool asks for. `room` is the
    /// number of multicasts that the pool may make.
    pub(super) fn step<V: Variant>(
        &mut self,
        tag: Tag,
        room: usize,
        session: &mut Session<'_, Switchboard<V>>,
        step: impl FnOnce(&mut Line, &mut LineSession<'_>),
    ) {
        let mut acts = VecDeque::new();
        let below = &mut Session::new(session.me(), session.can(), room, &mut acts);
        step(self, below);
        for act in acts {
            match act {
                Act::Multicast(level, message) => {
                    let sent = session.multicast(level, Message::Pool(tag, message));
                    sent.expect("the pool saw no more room than there is");
                }
                Act::Notify(notice) => session.notify(Output::Pool(tag, notice)),
                Act::SetTimer(timer, after_ms) => session.set_timer(Timer { tag, timer }, after_ms),
                Act::CancelTimer(timer) => session.cancel_timer(Timer { tag, timer }),
                Act::Leave => self.has_left = true,
            }
        }
    }
}
