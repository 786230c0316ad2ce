//! Where two traces differ.

/// A place where the expected and the actual trace differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The line of the file, from 1, at which the expected line stands, or before which the actual
    /// line is missing.
    pub line: usize,
    /// The line that is expected. None if the actual one is one too many.
    pub expected: Option<String>,
    /// The line that came. None if none came.
    pub actual: Option<String>,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (&self.expected, &self.actual) {
            (Some(expected), Some(actual)) => {
                write!(f, "line {}:\n  expected: {expected}\n  actual:   {actual}", self.line)
            }
            (Some(expected), None) => {
                write!(f, "line {}: this does not happen:\n  expected: {expected}", self.line)
            }
            (None, Some(actual)) => {
                write!(f, "line {}: this happens before it:\n  actual:   {actual}", self.line)
            }
            (None, None) => Ok(()),
        }
    }
}

/// Above this many pairs of lines the traces are compared line by line.
const PAIRS_AT_MOST: usize = 4_000_000;

/// A smallest set of differences between the expected lines, from line `first` of the file on, and
/// the actual ones.
pub(super) fn differences(first: usize, expected: &[&str], actual: &[String]) -> Vec<Difference> {
    let same = expected.iter().zip(actual).take_while(|(wanted, came)| *wanted == came).count();
    let (wanted, came) = (&expected[same..], &actual[same..]);
    let mut found = Vec::new();
    let (mut i, mut j) = (0, 0);
    let common = common(wanted, came);
    for (next_i, next_j) in common.into_iter().chain([(wanted.len(), came.len())]) {
        while i < next_i || j < next_j {
            let line = first + same + i;
            let expected = (i < next_i).then(|| wanted[i].to_owned());
            let actual = (j < next_j).then(|| came[j].clone());
            found.push(Difference { line, expected, actual });
            i = (i + 1).min(next_i);
            j = (j + 1).min(next_j);
        }
        (i, j) = (next_i + 1, next_j + 1);
    }
    found
}

/// The places of the longest common sequence of lines.
fn common(a: &[&str], b: &[String]) -> Vec<(usize, usize)> {
    if a.len().saturating_mul(b.len()) > PAIRS_AT_MOST {
        return (0..a.len().min(b.len())).filter(|&k| a[k] == b[k]).map(|k| (k, k)).collect();
    }
    // length[i][j]: how long it is for a[i..] and b[j..].
    let mut length = vec![vec![0u32; b.len() + 1]; a.len() + 1];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            length[i][j] = match a[i] == b[j] {
                true => length[i + 1][j + 1] + 1,
                false => length[i + 1][j].max(length[i][j + 1]),
            };
        }
    }
    let (mut i, mut j, mut places) = (0, 0, Vec::new());
    while i < a.len() && j < b.len() {
        if a[i] == b[j] {
            places.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if length[i + 1][j] >= length[i][j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(expected: &[&str], actual: &[&str]) -> Vec<(usize, Option<String>, Option<String>)> {
        let actual: Vec<String> = actual.iter().map(|line| (*line).to_owned()).collect();
        let found = differences(10, expected, &actual);
        found.into_iter().map(|d| (d.line, d.expected, d.actual)).collect()
    }

    fn some(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn equal_traces_do_not_differ() {
        assert_eq!(of(&["a", "b"], &["a", "b"]), []);
        assert_eq!(of(&[], &[]), []);
    }

    #[test]
    fn one_line_more_or_less_is_one_difference() {
        assert_eq!(of(&["a", "c"], &["a", "b", "c"]), [(11, None, some("b"))]);
        assert_eq!(of(&["a", "b", "c"], &["a", "c"]), [(11, some("b"), None)]);
        assert_eq!(of(&["a"], &["a", "b"]), [(11, None, some("b"))]);
    }

    #[test]
    fn a_changed_line_shows_both_sides() {
        assert_eq!(of(&["a", "b", "c"], &["a", "x", "c"]), [(11, some("b"), some("x"))]);
    }
}
