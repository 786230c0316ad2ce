//! Whether there is any circle among the states that were seen.
//!
//! Most worlds come to an end whatever happens. Where they do, nobody waits for ever in a circle, and it
//! need not be searched for. What is claimed of the end is claimed of histories in which nothing goes wrong any
//! more, so steps that go wrong are left out.

/// Which states lead where, in the order in which they were expanded.
#[derive(Debug, Default)]
pub(crate) struct Ways {
    states: Vec<u64>,
    /// How many steps of `steps` belong to each.
    counts: Vec<u32>,
    steps: Vec<u64>,
}

impl Ways {
    /// This state leads to these.
    pub(crate) fn add(&mut self, state: u64, steps: &[u64]) {
        self.states.push(state);
        self.counts.push(steps.len() as u32);
        self.steps.extend(steps);
    }

    pub(crate) fn append(&mut self, mut other: Ways) {
        self.states.append(&mut other.states);
        self.counts.append(&mut other.counts);
        self.steps.append(&mut other.steps);
    }

    pub(crate) fn bytes(&self) -> usize {
        self.states.capacity() * 8 + self.counts.capacity() * 4 + self.steps.capacity() * 8
    }

    /// Whether one can come back to where one was. What leads to states that were never added is passed
    /// over.
    pub(crate) fn lead_round(&self) -> bool {
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
        let steps = |state: usize| &self.steps[first[state]..][..self.counts[state] as usize];
        // Whatever nothing leads to is on no circle; take it away, and look again.
        let mut led_to = vec![0u32; self.states.len()];
        for place in self.steps.iter().filter_map(|state| place_of(*state)) {
            led_to[place] += 1;
        }
        let mut free: Vec<usize> = (0..led_to.len()).filter(|state| led_to[*state] == 0).collect();
        let mut taken = 0;
        while let Some(state) = free.pop() {
            taken += 1;
            for place in steps(state).iter().filter_map(|state| place_of(*state)) {
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

    fn ways(all: &[(u64, &[u64])]) -> Ways {
        let mut ways = Ways::default();
        all.iter().for_each(|(state, steps)| ways.add(*state, steps));
        ways
    }

    #[test]
    fn states_that_are_met_again_on_another_way_are_no_circle() {
        assert!(!ways(&[(1, &[2, 3]), (2, &[4]), (3, &[2, 4]), (4, &[])]).lead_round());
    }

    #[test]
    fn a_circle_is_seen_wherever_it_begins_and_however_short_it_is() {
        assert!(ways(&[(1, &[2]), (2, &[3]), (3, &[2])]).lead_round());
        assert!(ways(&[(1, &[2]), (2, &[2])]).lead_round());
        assert!(ways(&[(3, &[1]), (1, &[2]), (2, &[3])]).lead_round());
    }

    #[test]
    fn what_was_never_expanded_leads_nowhere() {
        assert!(!ways(&[(1, &[7]), (2, &[7])]).lead_round());
    }
}
