//! Few marks on a ring such that every distance lies between two of them: a difference cover.
//!
//! Up to a certain size the smallest is searched for. Above it one is constructed from a ruler by
//! Wichmann, which has about `1.23 √N` marks; `√N` is the least that is possible.

/// The smallest marks on a ring of `n` places between which every distance occurs; among those of
/// one size, the first in lexicographic order.
pub(super) fn smallest_cover(n: usize) -> Vec<usize> {
    let fewest = (1..).find(|k| k * (k - 1) + 1 >= n).expect("squares grow without bound");
    (fewest..=n.max(1))
        .find_map(|k| Search::new(n).find(k))
        .expect("a ring with a mark at every place shows every distance")
}

/// A backtracking search for marks on a ring.
struct Search {
    n: usize,
    marks: Vec<usize>,
    /// How often each distance occurs. On a ring, `d` forwards is `n − d` backwards.
    seen: Vec<usize>,
    unseen: usize,
}

impl Search {
    fn new(n: usize) -> Search {
        let mut search = Search { n, marks: vec![], seen: vec![0; n / 2 + 1], unseen: n / 2 + 1 };
        // Distance 1 must occur somewhere, so we may turn the ring until it occurs at 0.
        search.mark(0);
        if n > 1 {
            search.mark(1);
        }
        search
    }

    fn find(mut self, k: usize) -> Option<Vec<usize>> {
        let left = k.checked_sub(self.marks.len())?;
        self.extend(left).then_some(self.marks)
    }

    fn extend(&mut self, left: usize) -> bool {
        let new_pairs = self.marks.len() * left + left * left.saturating_sub(1) / 2;
        // Each new pair of marks shows one distance, so this branch cannot show all that are
        // missing.
        if self.unseen > new_pairs {
            return false;
        }
        if self.unseen == 0 && left == 0 {
            return true;
        }
        let next = self.marks.last().map_or(0, |last| last + 1);
        for place in next..self.n {
            self.mark(place);
            if self.extend(left - 1) {
                return true;
            }
            self.unmark();
        }
        false
    }

    fn distance(&self, from: usize, to: usize) -> usize {
        let way = to - from;
        way.min(self.n - way)
    }

    fn mark(&mut self, place: usize) {
        self.marks.push(place);
        for index in 0..self.marks.len() {
            let distance = self.distance(self.marks[index], place);
            self.unseen -= usize::from(self.seen[distance] == 0);
            self.seen[distance] += 1;
        }
    }

    fn unmark(&mut self) {
        let Some(&place) = self.marks.last() else { return };
        for index in 0..self.marks.len() {
            let distance = self.distance(self.marks[index], place);
            self.seen[distance] -= 1;
            self.unseen += usize::from(self.seen[distance] == 0);
        }
        self.marks.pop();
    }
}

/// The fewest marks of a Wichmann ruler that is at least half as long as the ring: on a ruler that
/// measures every length up to `n / 2`, every distance of the ring of `n` occurs.
///
/// B. Wichmann: A note on restricted difference bases. J. London Math. Soc. 38, 1963.
pub(super) fn wichmann_cover(n: usize) -> Vec<usize> {
    let rulers = (0..=n.isqrt()).map(|r| {
        let s = (0..).find(|s| 4 * r * (r + s + 2) + 3 * (s + 1) >= n / 2);
        wichmann_ruler(r, s.expect("a ruler grows with every segment"))
    });
    let shortest = rulers.min_by_key(Vec::len).expect("there is at least the ruler with r = 0");
    let mut marks: Vec<_> = shortest.into_iter().map(|mark| mark % n).collect();
    marks.sort_unstable();
    marks.dedup();
    marks
}

/// Wichmann's ruler: segments of length 1 (`r` times), `r+1`, `2r+1` (`r` times), `4r+3` (`s`
/// times), `2r+2` (`r+1` times), 1 (`r` times).
fn wichmann_ruler(r: usize, s: usize) -> Vec<usize> {
    let segments = [(r, 1), (1, r + 1), (r, 2 * r + 1), (s, 4 * r + 3), (r + 1, 2 * r + 2), (r, 1)];
    let lengths = segments.into_iter().flat_map(|(times, length)| vec![length; times]);
    let marks = lengths.scan(0, |end, length| {
        *end += length;
        Some(*end)
    });
    std::iter::once(0).chain(marks).collect()
}
