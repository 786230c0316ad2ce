//! Errors in a scenario: the place, the reason, and a remedy.

use std::fmt;

/// An error in a scenario, with its line, its column and a remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ParseError {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
    /// The number of characters to underline.
    pub width: usize,
    /// The error and its remedy, in words.
    pub message: String,
    /// The line as it is written.
    pub source_line: String,
}

impl ParseError {
    /// An error in a line that comes from no file.
    pub fn of_line(line: &str, message: String) -> Self {
        let width = line.trim_end().chars().count();
        ParseError { line: 1, column: 1, width, message, source_line: line.to_owned() }
    }

    /// The same, after the name of the file: `V2.3a.txt:9:9: there is no p7; …`.
    pub fn in_file(&self, name: &str) -> String {
        format!("{name}:{self}")
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ParseError { line, column, width, message, source_line } = self;
        writeln!(f, "{line}:{column}: {message}")?;
        let number = line.to_string();
        let margin = " ".repeat(number.len());
        // Tabs stay tabs, so that the caret stands under the right column.
        let before: String =
            source_line.chars().take(column - 1).map(|c| if c == '\t' { c } else { ' ' }).collect();
        writeln!(f, "  {number} | {source_line}")?;
        write!(f, "  {margin} | {before}{}", "^".repeat((*width).max(1)))
    }
}

/// The known word that is most like the given one (the first of several), if any is much like it.
pub(super) fn nearest<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let slips = known.into_iter().map(|known| (distance(word, known), known));
    let (slips, known) = slips.min_by_key(|(slips, _)| *slips)?;
    let length = known.chars().count();
    (slips <= length / 3 + 1 && slips < length).then_some(known)
}

/// `; did you mean 'deliver'?`, or nothing.
pub(super) fn did_you_mean<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> String {
    nearest(word, known).map(|known| format!("; did you mean '{known}'?")).unwrap_or_default()
}

/// The edit distance: the number of letters to insert, delete or replace.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    // No known word is as long as 64 letters.
    for (i, from) in a.chars().take(64).enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let changed = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_the_one_with_the_fewest_slips() {
        let verbs = ["deliver", "drop", "duplicate", "heal"];
        assert_eq!(nearest("delivr", verbs), Some("deliver"));
        assert_eq!(nearest("hael", verbs), Some("heal"));
        assert_eq!(nearest("xyzzy", verbs), None);
        assert_eq!(nearest("", verbs), None);
    }

    #[test]
    fn an_error_points_at_the_word_it_means() {
        let error = ParseError {
            line: 9,
            column: 9,
            width: 2,
            message: "there is no p7".to_owned(),
            source_line: "deliver p7 -> p0".to_owned(),
        };
        let shown = error.in_file("V2.3a.txt");
        let wanted = "V2.3a.txt:9:9: there is no p7\n  9 | deliver p7 -> p0\n    |         ^^";
        assert_eq!(shown, wanted);
    }
}
