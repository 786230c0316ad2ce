//! Sessions: who uses items, and for how long after the last sign of life.

use super::{Board, GroupProcess};
use crate::cell::Stepping;
use std::collections::BTreeSet;
use synod_client::api::{Failure, SessionId, SessionStatus};
use synod_core::family::services::{Input, Tag};
use synod_core::family::slots::{self, SlotId};

/// Sessions at one node, at most.
const MOST_SESSIONS: usize = 100_000;
/// The shortest and the longest TTL, in milliseconds.
const TTL_MS: std::ops::RangeInclusive<u64> = 100..=24 * 3_600_000;

/// A session.
#[derive(Debug)]
pub(crate) struct SessionDesk {
    label: String,
    ttl_ms: u64,
    /// The session ends then, unless there is a sign of life before.
    ends_us: u64,
    /// The items that it uses.
    pub(super) items: BTreeSet<(Tag, SlotId)>,
}

impl SessionDesk {
    /// A pool is gone, or this membership in it. If the session used an item of it, the session is
    /// over: so its user learns it with the next sign of life.
    pub(super) fn lose(&mut self, tag: Tag) {
        let before = self.items.len();
        self.items.retain(|(of, _)| *of != tag);
        if self.items.len() < before {
            self.ends_us = 0;
        }
    }
}

impl Board {
    /// Whether a TTL can be promised.
    pub(crate) fn check_ttl(ttl_ms: u64) -> Result<(), Failure> {
        match TTL_MS.contains(&ttl_ms) {
            true => Ok(()),
            false => Err(Failure::Bad(format!(
                "a TTL of {ttl_ms} ms makes no sense: it is from {} ms to {} hours",
                TTL_MS.start(),
                TTL_MS.end() / 3_600_000
            ))),
        }
    }

    /// Opens a session.
    pub(crate) fn open_session(
        &mut self,
        ttl_ms: u64,
        label: String,
        now_us: u64,
    ) -> Result<SessionId, Failure> {
        if self.sessions.len() >= MOST_SESSIONS {
            return Err(Failure::Full(format!("it has {MOST_SESSIONS} sessions")));
        }
        if label.len() > 256 {
            return Err(Failure::Bad("a label has at most 256 bytes".into()));
        }
        self.next_session += 1;
        let session = SessionId(self.next_session);
        let ends_us = now_us.saturating_add(ttl_ms * 1_000);
        self.sessions
            .insert(session, SessionDesk { label, ttl_ms, ends_us, items: BTreeSet::new() });
        Ok(session)
    }

    /// A sign of life.
    pub(crate) fn keep_alive(&mut self, session: SessionId, now_us: u64) -> Result<(), Failure> {
        let session = self.sessions.get_mut(&session).ok_or(Failure::NoSession)?;
        if session.ends_us <= now_us {
            return Err(Failure::NoSession);
        }
        session.ends_us = now_us.saturating_add(session.ttl_ms * 1_000);
        Ok(())
    }

    /// Whether the session may claim.
    pub(super) fn check_session(&self, session: SessionId, now_us: u64) -> Result<(), Failure> {
        match self.sessions.get(&session) {
            Some(session) if session.ends_us > now_us => Ok(()),
            _ => Err(Failure::NoSession),
        }
    }

    pub(super) fn session_uses(&mut self, session: SessionId, tag: Tag, slot: SlotId) {
        if let Some(session) = self.sessions.get_mut(&session) {
            session.items.insert((tag, slot));
        }
    }

    pub(super) fn session_returns(&mut self, session: SessionId, tag: Tag, slot: SlotId) {
        if let Some(session) = self.sessions.get_mut(&session) {
            session.items.remove(&(tag, slot));
        }
    }

    /// The number of sessions.
    pub(crate) fn session_count(&self) -> usize {
        self.sessions.len()
    }

    /// The sessions, for operators.
    pub(crate) fn session_list(&self, now_us: u64) -> Vec<SessionStatus> {
        let status = |(session, desk): (&SessionId, &SessionDesk)| SessionStatus {
            session: *session,
            label: desk.label.clone(),
            ttl_ms: desk.ttl_ms,
            left_ms: desk.ends_us.saturating_sub(now_us) / 1_000,
            items: desk.items.len(),
        };
        self.sessions.iter().map(status).collect()
    }

    /// The sessions whose time is over.
    fn ended(&self, now_us: u64) -> Vec<SessionId> {
        let ended = self.sessions.iter().filter(|(_, desk)| desk.ends_us <= now_us);
        ended.map(|(session, _)| *session).collect()
    }
}

impl Stepping<'_, GroupProcess, Board> {
    /// Ends a session, and gives its items back.
    pub(crate) fn close_session(&mut self, session: SessionId) -> Result<(), Failure> {
        let desk = self.state.above.sessions.remove(&session).ok_or(Failure::NoSession)?;
        for (tag, slot) in desk.items {
            let pool = self.state.above.pools.get_mut(&tag);
            let used = pool.and_then(|pool| pool.uses.remove(&slot));
            if let Some(used) = used {
                self.input(Input::Pool(tag, slots::Input::Release(slot, used.token)));
                self.state.above.take_said();
            }
        }
        Ok(())
    }

    /// Ends the sessions whose time is over.
    pub(crate) fn end_sessions(&mut self, now_us: u64) {
        for session in self.state.above.ended(now_us) {
            // It was there a moment ago, and the lock is held.
            let _ = self.close_session(session);
        }
    }
}
