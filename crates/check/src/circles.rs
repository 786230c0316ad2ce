//! The edges between visited states, and whether they form a circle.
//!
//! Most worlds end after finitely many steps on every path. The graph of their states has no
//! circle, so no process waits for ever on one, and the explorer skips the search for fair circles
//! ([`crate::lasso`]). That search walks through all states once more; the test here sorts their
//! fingerprints.
//!
//! A liveness property is a claim about histories with finitely many faults. So edges of faults are
//! left out.

/// The edges of each state, in the order in which the states were expanded. States are
/// fingerprints.
#[derive(Debug, Default)]
pub(crate) struct Edges {
    states: Vec<u64>,
    /// The number of edges of each state.
    counts: Vec<u32>,
    /// Where the edges lead, state after state.
    targets: Vec<u64>,
}

impl Edges {
    /// Adds the edges of a state.
    pub(crate) fn add(&mut self, state: u64, targets: &[u64]) {
        self.states.push(state);
        self.counts.push(targets.len() as u32);
        self.targets.extend(targets);
    }

    /// Adds the edges of the states that were expanded next.
    pub(crate) fn append(&mut self, mut other: Edges) {
        self.states.append(&mut other.states);
        self.counts.append(&mut other.counts);
        self.targets.append(&mut other.targets);
    }

    pub(crate) fn bytes(&self) -> usize {
        self.states.capacity() * 8 + self.counts.capacity() * 4 + self.targets.capacity() * 8
    }

    /// Whether a walk along the edges can return to a state. States that were never expanded have
    /// no edges: no walk goes on from them.
    pub(crate) fn form_a_circle(&self) -> bool {
        let mut index: Vec<(u64, u32)> =
            self.states.iter().enumerate().map(|(place, state)| (*state, place as u32)).collect();
        index.sort_unstable();
        let place_of = |state: u64| {
            let place = index.binary_search_by_key(&state, |(known, _)| *known).ok()?;
            Some(index[place].1 as usize)
        };
        let mut first = Vec::with_capacity(self.states.len());
        let mut next = 0;
        for count in &self.counts {
            first.push(next);
            next += *count as usize;
        }
        let targets = |state: usize| &self.targets[first[state]..][..self.counts[state] as usize];
        // A state to which no edge leads is on no circle. Take it away with its edges, and repeat.
        let mut led_to = vec![0u32; self.states.len()];
        for place in self.targets.iter().filter_map(|state| place_of(*state)) {
            led_to[place] += 1;
        }
        let mut free: Vec<usize> = (0..led_to.len()).filter(|state| led_to[*state] == 0).collect();
        let mut taken = 0;
        while let Some(state) = free.pop() {
            taken += 1;
            for place in targets(state).iter().filter_map(|state| place_of(*state)) {
                led_to[place] -= 1;
                if led_to[place] == 0 {
                    free.push(place);
                }
            }
        }
        taken < self.states.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges(all: &[(u64, &[u64])]) -> Edges {
        let mut edges = Edges::default();
        all.iter().for_each(|(state, targets)| edges.add(*state, targets));
        edges
    }

    #[test]
    fn states_that_are_met_again_on_another_way_are_no_circle() {
        assert!(!edges(&[(1, &[2, 3]), (2, &[4]), (3, &[2, 4]), (4, &[])]).form_a_circle());
    }

    #[test]
    fn a_circle_is_seen_wherever_it_begins_and_however_short_it_is() {
        assert!(edges(&[(1, &[2]), (2, &[3]), (3, &[2])]).form_a_circle());
        assert!(edges(&[(1, &[2]), (2, &[2])]).form_a_circle());
        assert!(edges(&[(3, &[1]), (1, &[2]), (2, &[3])]).form_a_circle());
    }

    #[test]
    fn a_state_that_was_never_expanded_has_no_edges() {
        assert!(!edges(&[(1, &[7]), (2, &[7])]).form_a_circle());
    }
}
