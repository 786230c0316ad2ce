//! The checker of all keys, event by event.

use super::configuration::Call;
use super::object::Object;
use super::{Broken, Finding, Model};
use std::collections::BTreeMap;

/// The default bound for one key, in configurations and answers remembered in them.
pub const USUAL_LIMIT: usize = 20_000;

/// Takes in events as they happen, and judges every answer.
///
/// The caller chooses names for operations. No two open operations may have the same name; the name
/// of a finished one may be used again, so the number of its client is a good choice. Two checkers
/// that leave the same possibilities are equal.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Checker<M: Model> {
    limit: usize,
    /// The key of each open operation.
    open: BTreeMap<u64, M::Key>,
    /// The objects that are not in their initial state, or have open operations.
    objects: BTreeMap<M::Key, Track<M>>,
}

/// The possibilities of one object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Track<M: Model> {
    Kept(Object<M>),
    /// There were too many possibilities, or the object is broken already.
    Lost,
}

impl<M: Model> Default for Checker<M> {
    fn default() -> Self {
        Checker::new(USUAL_LIMIT)
    }
}

impl<M: Model> Checker<M> {
    /// A checker before the first event. It keeps at most `limit` configurations, and answers in
    /// them, for a key.
    pub fn new(limit: usize) -> Self {
        Checker { limit, open: BTreeMap::new(), objects: BTreeMap::new() }
    }

    /// The object of this key begins in another state than the default.
    pub fn begin_with(&mut self, key: M::Key, state: M::State) {
        self.objects.insert(key, Track::Kept(Object::new(state)));
    }

    /// Whether an operation of this name is open.
    pub fn is_open(&self, id: u64) -> bool {
        self.open.contains_key(&id)
    }

    /// An operation begins.
    ///
    /// # Panics
    /// If one of this name is open.
    pub fn invoke(&mut self, id: u64, operation: M::Operation) {
        self.invoke_foreseen(id, operation, None);
    }

    /// The same, with an answer known in advance.
    pub(super) fn invoke_foreseen(
        &mut self,
        id: u64,
        operation: M::Operation,
        foreseen: Option<M::Answer>,
    ) {
        let key = M::key(&operation);
        assert!(!self.is_open(id), "operation {id} is open and cannot begin again");
        self.open.insert(id, key.clone());
        let new = || Track::Kept(Object::new(M::State::default()));
        if let Track::Kept(object) = self.objects.entry(key).or_insert_with(new) {
            object.invoke(Call { id, operation, foreseen });
        }
    }

    /// An operation is answered, and is over. After a verdict other than `Linearizable` the checker
    /// gives up the key: all further answers about it are `Unknown`.
    ///
    /// # Panics
    /// If none of this name is open; see [`Checker::is_open`].
    pub fn answer(&mut self, id: u64, answer: &M::Answer) -> Finding<Box<Broken<M>>> {
        let key = self.close(id);
        let limit = self.limit;
        let Some(Track::Kept(object)) = self.objects.get_mut(&key) else {
            return Finding::Unknown;
        };
        let verdict = object.answer(id, answer, limit);
        if verdict != Finding::Linearizable {
            self.objects.insert(key, Track::Lost);
        } else if object.is_new() {
            // No future can tell it from a new object, so checkers with equal futures are equal.
            self.objects.remove(&key);
        }
        verdict
    }

    /// The client gives up waiting: the operation may take effect at any time later, or never.
    ///
    /// # Panics
    /// If none of this name is open.
    pub fn abandon(&mut self, id: u64) {
        let key = self.close(id);
        if let Some(Track::Kept(object)) = self.objects.get_mut(&key) {
            object.abandon(id);
            if object.is_new() {
                self.objects.remove(&key);
            }
        }
    }

    /// The answers that an open operation might get now, in order; none if there are too many
    /// possibilities.
    ///
    /// # Panics
    /// If none of this name is open.
    pub fn possible(&self, id: u64) -> Option<Vec<M::Answer>> {
        let key = self.open.get(&id).unwrap_or_else(|| panic!("operation {id} is not open"));
        match self.objects.get(key)? {
            Track::Kept(object) => {
                Some(object.possible(id, self.limit).ok()?.into_iter().collect())
            }
            Track::Lost => None,
        }
    }

    /// The state of an object whose only uncertainty is when its abandoned operations take effect:
    /// the state, and those operations.
    pub(super) fn settled(&self, key: &M::Key) -> Option<(M::State, Vec<M::Operation>)> {
        match self.objects.get(key) {
            None => Some((M::State::default(), Vec::new())),
            Some(Track::Kept(object)) => {
                object.only().map(|only| (only.state.clone(), only.pending().to_vec()))
            }
            Some(Track::Lost) => None,
        }
    }

    /// The number of keys that are no longer judged.
    pub fn given_up(&self) -> usize {
        self.objects.values().filter(|track| matches!(track, Track::Lost)).count()
    }

    fn close(&mut self, id: u64) -> M::Key {
        self.open.remove(&id).unwrap_or_else(|| panic!("operation {id} is not open"))
    }
}
