//! All keys, event by event.

use super::configuration::Call;
use super::object::Object;
use super::{Broken, Model, Verdict};
use std::collections::BTreeMap;

/// How much is kept for one key if nobody says otherwise: configurations, and answers in them.
pub const USUAL_LIMIT: usize = 20_000;

/// Is told what happens, and judges every answer.
///
/// Operations have names that the caller chooses. No two that are open may have the same; the name of
/// an operation that is over can be used again, and the number of the client is a good one. Two
/// checkers that leave the same possibilities are equal.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Checker<M: Model> {
    limit: usize,
    /// Which key each open operation is about.
    open: BTreeMap<u64, M::Key>,
    /// The objects about which there is something to know.
    objects: BTreeMap<M::Key, Track<M>>,
}

/// What is known about one object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Track<M: Model> {
    Kept(Object<M>),
    /// There were too many possibilities, or it is broken already.
    Lost,
}

impl<M: Model> Default for Checker<M> {
    fn default() -> Self {
        Checker::new(USUAL_LIMIT)
    }
}

impl<M: Model> Checker<M> {
    /// Nothing has happened yet. No more than `limit` configurations, and answers in them, are kept
    /// for a key.
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

    /// The same, and it is known what it will be answered.
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

    /// An operation is answered, and is over. A key about which the verdict is not `Linearizable` is
    /// not judged any more: all further answers are `Unknown`.
    ///
    /// # Panics
    /// If none of this name is open; see [`Checker::is_open`].
    pub fn answer(&mut self, id: u64, answer: &M::Answer) -> Verdict<Box<Broken<M>>> {
        let key = self.close(id);
        let limit = self.limit;
        let Some(Track::Kept(object)) = self.objects.get_mut(&key) else {
            return Verdict::Unknown;
        };
        let verdict = object.answer(id, answer, limit);
        if verdict != Verdict::Linearizable {
            self.objects.insert(key, Track::Lost);
        } else if object.is_new() {
            self.objects.remove(&key);
        }
        verdict
    }

    /// Nobody waits for the answer any more: the operation may take effect at any time later, or
    /// never.
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

    /// What an open operation might be answered now, in order; or nothing, if there is too much to
    /// tell.
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

    /// The state of an object about which everything is known but when its abandoned operations
    /// take effect: the state, and those operations.
    pub(super) fn settled(&self, key: &M::Key) -> Option<(M::State, Vec<M::Operation>)> {
        match self.objects.get(key) {
            None => Some((M::State::default(), Vec::new())),
            Some(Track::Kept(object)) => {
                object.only().map(|only| (only.state.clone(), only.pending().to_vec()))
            }
            Some(Track::Lost) => None,
        }
    }

    /// How many keys are not judged any more.
    pub fn given_up(&self) -> usize {
        self.objects.values().filter(|track| matches!(track, Track::Lost)).count()
    }

    fn close(&mut self, id: u64) -> M::Key {
        self.open.remove(&id).unwrap_or_else(|| panic!("operation {id} is not open"))
    }
}
