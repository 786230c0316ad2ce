//! A configuration: one possible state of the object, with the fate of every unfinished operation.

use super::Model;

/// An operation that was called and not yet answered.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Call<M: Model> {
    pub(super) id: u64,
    pub(super) operation: M::Operation,
    /// Its answer, if that is known in advance.
    pub(super) foreseen: Option<M::Answer>,
}

impl<M: Model> Call<M> {
    fn may_be_answered(&self, answer: &M::Answer) -> bool {
        self.foreseen.as_ref().is_none_or(|foreseen| foreseen == answer)
    }
}

/// The fate of a called operation.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Fate<A> {
    /// It has not changed the state. It may have taken effect without changing it, with one of
    /// these answers, in order.
    Open(Vec<A>),
    /// It has changed the state, with this answer.
    Taken(A),
}

/// One possible state of the object and fate of its operations.
///
/// The state comes first: sorted configurations are sorted by state.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Configuration<M: Model> {
    pub(super) state: M::State,
    /// The fate of each call, in the order of the calls.
    fates: Vec<Fate<M::Answer>>,
    /// Abandoned operations that have not taken effect, in order.
    pending: Vec<M::Operation>,
}

/// The new state and the answer of an operation in a state.
fn outcome<M: Model>(state: &M::State, operation: &M::Operation) -> (M::State, M::Answer) {
    let mut state = state.clone();
    let answer = M::apply(&mut state, operation);
    (state, answer)
}

impl<M: Model> Configuration<M> {
    /// An object in this state, without operations.
    pub(super) fn new(state: M::State) -> Self {
        Configuration { state, fates: Vec::new(), pending: Vec::new() }
    }

    /// Its approximate size: one, and one for each answer that it remembers.
    pub(super) fn weight(&self) -> usize {
        let remembered = self.fates.iter().map(|fate| match fate {
            Fate::Open(answers) => answers.len(),
            Fate::Taken(_) => 1,
        });
        1 + self.pending.len() + remembered.sum::<usize>()
    }

    /// Whether no operation is open or pending: only a state is left.
    pub(super) fn is_quiet(&self) -> bool {
        self.fates.is_empty() && self.pending.is_empty()
    }

    pub(super) fn fate(&self, index: usize) -> &Fate<M::Answer> {
        &self.fates[index]
    }

    pub(super) fn pending(&self) -> &[M::Operation] {
        &self.pending
    }

    /// A call begins; it is at this place among the calls from now on.
    pub(super) fn begin(&mut self, index: usize, call: &Call<M>) {
        self.fates.insert(index, Fate::Open(Vec::new()));
        self.look(index, call);
    }

    /// A call is over, with the answer that it had here.
    pub(super) fn end(&mut self, index: usize) {
        self.fates.remove(index);
    }

    /// The client gives up waiting. A call that has not taken effect may do so at any time.
    pub(super) fn abandon(&mut self, index: usize, operation: &M::Operation) {
        let fate = self.fates.remove(index);
        if matches!(fate, Fate::Open(_)) && !M::is_read(operation) {
            let place = self.pending.partition_point(|other| other < operation);
            self.pending.insert(place, operation.clone());
        }
    }

    /// The call takes effect and changes the state; none if it cannot.
    pub(super) fn take(&self, index: usize, calls: &[Call<M>]) -> Option<Self> {
        let call = &calls[index];
        if matches!(self.fates[index], Fate::Taken(_)) || M::is_read(&call.operation) {
            return None;
        }
        let (state, answer) = outcome::<M>(&self.state, &call.operation);
        // A call that leaves the state needs no branch: `look` has remembered its answer.
        if state == self.state || !call.may_be_answered(&answer) {
            return None;
        }
        let mut next = self.clone();
        next.fates[index] = Fate::Taken(answer.clone());
        next.slip_in_before(&call.operation, (&state, &answer), calls);
        next.arrive(state, calls);
        Some(next)
    }

    /// The same for an abandoned operation.
    pub(super) fn spend(&self, index: usize, calls: &[Call<M>]) -> Option<Self> {
        let operation = &self.pending[index];
        let (state, answer) = outcome::<M>(&self.state, operation);
        if state == self.state {
            return None;
        }
        let mut next = self.clone();
        next.slip_in_before(operation, (&state, &answer), calls);
        next.pending.remove(index);
        next.arrive(state, calls);
        Some(next)
    }

    /// An open blind call may have been done just before this operation, if that makes no
    /// difference to its outcome. Then any number of blind calls may: only the last one counts.
    /// (Other calls may not: of two that delete the same value, one would be answered that the key
    /// was absent.)
    fn slip_in_before(
        &mut self,
        operation: &M::Operation,
        outcome_without: (&M::State, &M::Answer),
        calls: &[Call<M>],
    ) {
        for (call, fate) in calls.iter().zip(&mut self.fates) {
            let Fate::Open(answers) = fate else { continue };
            if !M::is_blind(&call.operation) {
                continue;
            }
            let (between, answer) = outcome::<M>(&self.state, &call.operation);
            let (state, after) = outcome::<M>(&between, operation);
            if (&state, &after) == outcome_without {
                remember(answers, answer, call);
            }
        }
    }

    fn arrive(&mut self, state: M::State, calls: &[Call<M>]) {
        self.state = state;
        for (index, call) in calls.iter().enumerate() {
            self.look(index, call);
        }
    }

    /// If the call would not change the state, it may take effect right now: its answer is
    /// remembered.
    fn look(&mut self, index: usize, call: &Call<M>) {
        if let Fate::Open(answers) = &mut self.fates[index] {
            let (state, answer) = outcome::<M>(&self.state, &call.operation);
            if state == self.state {
                remember(answers, answer, call);
            }
        }
    }

    /// Whether every future of the other one is a future of this one, too, because they are in the
    /// same state and this one has at least as many possibilities.
    pub(super) fn covers(&self, other: &Self) -> bool {
        self.state == other.state
            && self.fates.iter().zip(&other.fates).all(|fates| match fates {
                (Fate::Open(mine), Fate::Open(theirs)) => is_within(theirs, mine),
                (Fate::Open(mine), Fate::Taken(answer)) => mine.binary_search(answer).is_ok(),
                (Fate::Taken(mine), Fate::Taken(theirs)) => mine == theirs,
                (Fate::Taken(_), Fate::Open(_)) => false,
            })
            && is_within(&other.pending, &self.pending)
    }

    /// The same, but this one may let operations take effect first. Tries at most `steps` steps.
    pub(super) fn leads_to(&self, other: &Self, calls: &[Call<M>], steps: &mut usize) -> bool {
        let possible = self.fates.iter().zip(&other.fates).all(|fates| match fates {
            (Fate::Taken(mine), Fate::Taken(theirs)) => mine == theirs,
            (Fate::Taken(_), Fate::Open(_)) => false,
            (Fate::Open(_), _) => true,
        });
        if !possible || !is_within(&other.pending, &self.pending) || *steps == 0 {
            return false;
        }
        *steps -= 1;
        // A call that is taken there must be taken here, too. An open one need not be.
        let taken_there =
            (0..calls.len()).filter(|index| matches!(other.fates[*index], Fate::Taken(_)));
        self.covers(other)
            || taken_there
                .filter_map(|index| self.take(index, calls))
                .chain(self.spendable().filter_map(|index| self.spend(index, calls)))
                .any(|next| next.leads_to(other, calls, steps))
    }

    /// The places of abandoned operations that differ.
    pub(super) fn spendable(&self) -> impl Iterator<Item = usize> + '_ {
        // Equal operations lead to equal configurations, so the first of them suffices.
        let differs =
            |index: &usize| *index == 0 || self.pending[index - 1] != self.pending[*index];
        (0..self.pending.len()).filter(differs)
    }
}

/// Keeps an answer, in order and once, unless another answer is known in advance.
fn remember<M: Model>(answers: &mut Vec<M::Answer>, answer: M::Answer, call: &Call<M>) {
    if let Err(place) = answers.binary_search(&answer)
        && call.may_be_answered(&answer)
    {
        answers.insert(place, answer);
    }
}

/// Whether a sorted list is a part of another one, with repetitions.
fn is_within<T: Ord>(part: &[T], whole: &[T]) -> bool {
    let mut whole = whole.iter();
    part.iter().all(|wanted| whole.any(|item| item == wanted))
}
