//! Clients that watch events. A client that is too slow misses events, and is told how many; it
//! never holds the node up.

use super::Board;
use synod_client::api::Event;
use synod_core::family::services::Tag;
use tokio::sync::mpsc;

/// Clients that watch at one node, at most.
const MOST_WATCHERS: usize = 1_000;

/// A client that watches.
#[derive(Debug)]
pub(crate) struct Watcher {
    /// The pool or group; none: views alone.
    pub(crate) tag: Option<Tag>,
    pub(crate) events: mpsc::Sender<Event>,
    /// The number of events that found no room since the last that did.
    pub(crate) missed: u64,
}

impl Watcher {
    /// Hands an event over. Returns whether the client still watches.
    fn tell(&mut self, event: Event) -> bool {
        if self.missed > 0 && self.events.try_send(Event::Missed(self.missed)).is_ok() {
            self.missed = 0;
        }
        match self.events.try_send(event) {
            Ok(()) => true,
            Err(mpsc::error::TrySendError::Full(_)) => {
                self.missed += 1;
                true
            }
            Err(mpsc::error::TrySendError::Closed(_)) => false,
        }
    }
}

impl Board {
    /// Adds a client. Returns false if there are too many.
    pub(crate) fn watch(&mut self, watcher: Watcher) -> bool {
        self.watchers.retain(|watcher| !watcher.events.is_closed());
        let has_room = self.watchers.len() < MOST_WATCHERS;
        if has_room {
            self.watchers.push(watcher);
        }
        has_room
    }

    /// Tells the clients that watch this pool or group.
    pub(super) fn tell(&mut self, event: impl FnOnce() -> Event, tag: Tag) {
        if self.watchers.iter().any(|watcher| watcher.tag == Some(tag)) {
            let event = event();
            self.watchers
                .retain_mut(|watcher| watcher.tag != Some(tag) || watcher.tell(event.clone()));
        }
    }

    /// Tells the clients that watch this pool, which the event names.
    pub(super) fn tell_of(&mut self, tag: Tag, event: impl FnOnce(String) -> Event) {
        if !self.watchers.is_empty()
            && let Some(pool) = self.pools.get(&tag)
        {
            let pool = pool.name.clone();
            self.tell(|| event(pool), tag);
        }
    }

    /// Tells all clients.
    pub(super) fn tell_all(&mut self, event: Event) {
        self.watchers.retain_mut(|watcher| watcher.tell(event.clone()));
    }
}
