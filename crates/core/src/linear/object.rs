//! All possible configurations of one object.

use super::configuration::{Call, Configuration, Fate};
use super::{Broken, Finding, Model};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// With more configurations than this, those that others lead to are not looked for: it takes too
/// long.
const COMPARED: usize = 64;
/// The bound on steps for each pair.
const STEPS: usize = 64;

/// All possible configurations of one object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Object<M: Model> {
    /// The operations that are open, by their names.
    calls: Vec<Call<M>>,
    /// Sorted; none is covered by another.
    configurations: Vec<Configuration<M>>,
}

/// There are more possibilities than the limit.
#[derive(Clone, Copy, Debug)]
pub(super) struct TooMany;

/// The configurations still to be extended, and those extended already.
struct Search<M: Model> {
    seen: BTreeMap<M::State, Vec<Configuration<M>>>,
    queue: VecDeque<Configuration<M>>,
    room: usize,
}

impl<M: Model> Search<M> {
    fn new(limit: usize) -> Self {
        Search { seen: BTreeMap::new(), queue: VecDeque::new(), room: limit }
    }

    /// Adds one, unless another that was added covers it.
    fn add(&mut self, configuration: Configuration<M>) -> Result<(), TooMany> {
        let alike = self.seen.entry(configuration.state.clone()).or_default();
        if !alike.iter().any(|other| other.covers(&configuration)) {
            self.room = self.room.checked_sub(configuration.weight()).ok_or(TooMany)?;
            alike.push(configuration.clone());
            self.queue.push_back(configuration);
        }
        Ok(())
    }

    /// Adds every successor of one by one operation other than the call at `index`.
    fn extend(
        &mut self,
        configuration: &Configuration<M>,
        index: usize,
        calls: &[Call<M>],
    ) -> Result<(), TooMany> {
        for other in (0..calls.len()).filter(|other| *other != index) {
            configuration.take(other, calls).map_or(Ok(()), |next| self.add(next))?;
        }
        for abandoned in configuration.spendable() {
            configuration.spend(abandoned, calls).map_or(Ok(()), |next| self.add(next))?;
        }
        Ok(())
    }
}

impl<M: Model> Object<M> {
    /// An object in this state.
    pub(super) fn new(state: M::State) -> Self {
        Object { calls: Vec::new(), configurations: vec![Configuration::new(state)] }
    }

    /// Whether no future can tell this object from a new one.
    pub(super) fn is_new(&self) -> bool {
        self.only().is_some_and(|only| only.is_quiet() && only.state == M::State::default())
    }

    /// The only configuration, if no call is open and there is just one.
    pub(super) fn only(&self) -> Option<&Configuration<M>> {
        match &self.configurations[..] {
            [only] if self.calls.is_empty() => Some(only),
            _ => None,
        }
    }

    fn place(&self, id: u64) -> Result<usize, usize> {
        self.calls.binary_search_by_key(&id, |call| call.id)
    }

    /// The place of a call that is open.
    fn open(&self, id: u64) -> usize {
        self.place(id).expect("only open calls are routed here")
    }

    /// An operation is called.
    pub(super) fn invoke(&mut self, call: Call<M>) {
        let index = self.place(call.id).expect_err("no two open calls have the same name");
        for configuration in &mut self.configurations {
            configuration.begin(index, &call);
        }
        self.calls.insert(index, call);
    }

    /// The client gives up waiting.
    pub(super) fn abandon(&mut self, id: u64) {
        let index = self.open(id);
        let call = self.calls.remove(index);
        for configuration in &mut self.configurations {
            configuration.abandon(index, &call.operation);
        }
        self.normalise();
    }

    /// The call is answered. After any verdict but `Linearizable` the object must not be used.
    pub(super) fn answer(
        &mut self,
        id: u64,
        answer: &M::Answer,
        limit: usize,
    ) -> Finding<Box<Broken<M>>> {
        let index = self.open(id);
        let Ok(found) = self.explained(index, answer, limit) else {
            return Finding::Unknown;
        };
        if found.is_empty() {
            let operation = self.calls[index].operation.clone();
            let possible = self.possible(id, limit).unwrap_or_default();
            return Finding::Broken(Box::new(Broken {
                id,
                operation,
                answer: answer.clone(),
                possible: possible.into_iter().collect(),
            }));
        }
        self.calls.remove(index);
        self.configurations = found;
        self.normalise();
        Finding::Linearizable
    }

    /// The configurations in which the call took effect with this answer, without the call.
    fn explained(
        &self,
        index: usize,
        answer: &M::Answer,
        limit: usize,
    ) -> Result<Vec<Configuration<M>>, TooMany> {
        let mut found = Vec::new();
        let mut search = Search::new(limit);
        for configuration in &self.configurations {
            match configuration.fate(index) {
                Fate::Taken(taken) if taken == answer => found.push(configuration.clone()),
                Fate::Taken(_) => {}
                Fate::Open(_) => search.add(configuration.clone())?,
            }
        }
        let is_read = M::is_read(&self.calls[index].operation);
        while let Some(configuration) = search.queue.pop_front() {
            if may_have(&configuration, index, answer) {
                found.push(configuration.clone());
                // A read leaves the state as it is, so all other operations can still take effect
                // later: "just in time".
                if is_read {
                    continue;
                }
            }
            let taken = configuration.take(index, &self.calls);
            found.extend(taken.filter(|taken| may_have(taken, index, answer)));
            search.extend(&configuration, index, &self.calls)?;
        }
        for configuration in &mut found {
            configuration.end(index);
        }
        Ok(found)
    }

    /// Every answer that an open call might get now.
    pub(super) fn possible(&self, id: u64, limit: usize) -> Result<BTreeSet<M::Answer>, TooMany> {
        let index = self.open(id);
        let mut answers = BTreeSet::new();
        let mut search = Search::new(limit);
        for configuration in &self.configurations {
            search.add(configuration.clone())?;
        }
        while let Some(configuration) = search.queue.pop_front() {
            for next in [configuration.take(index, &self.calls), Some(configuration.clone())] {
                match next.as_ref().map(|next| next.fate(index)) {
                    Some(Fate::Taken(answer)) => drop(answers.insert(answer.clone())),
                    Some(Fate::Open(seen)) => answers.extend(seen.iter().cloned()),
                    None => {}
                }
            }
            search.extend(&configuration, index, &self.calls)?;
        }
        Ok(answers)
    }

    /// Drops every configuration that another one makes superfluous, and sorts the others. The
    /// result does not depend on the order in which they were found: "makes superfluous" is a
    /// partial order, and its first elements are left.
    fn normalise(&mut self) {
        self.configurations.sort_unstable();
        self.configurations.dedup();
        self.keep_unless(|one, other| one.covers(other));
        if self.configurations.len() <= COMPARED {
            let calls = std::mem::take(&mut self.calls);
            // Each pair has a budget of its own, so that the result does not depend on the order of
            // pairs.
            self.keep_unless(|one, other| one.leads_to(other, &calls, &mut { STEPS }));
            self.calls = calls;
        }
    }

    fn keep_unless(
        &mut self,
        makes_superfluous: impl Fn(&Configuration<M>, &Configuration<M>) -> bool,
    ) {
        if self.configurations.len() < 2 {
            return;
        }
        let all = &self.configurations;
        let is_left = |index: &usize| {
            !(0..all.len())
                .any(|other| other != *index && makes_superfluous(&all[other], &all[*index]))
        };
        self.configurations =
            (0..all.len()).filter(is_left).map(|index| all[index].clone()).collect();
    }
}

/// Whether the call may have taken effect here with this answer.
fn may_have<M: Model>(configuration: &Configuration<M>, index: usize, answer: &M::Answer) -> bool {
    match configuration.fate(index) {
        Fate::Open(answers) => answers.binary_search(answer).is_ok(),
        Fate::Taken(taken) => taken == answer,
    }
}
