//! Breaks comments that are wider than code. rustfmt leaves comments alone, so this does it.
//!
//! Only a paragraph that has a wide line is filled anew, so that a repair touches no other text.
//! Code, tables, headings and link targets keep their lines.

/// The text with every wide paragraph of its comments filled anew.
pub(super) fn rewrap(text: &str, width: usize) -> String {
    let mut lines = Vec::new();
    let mut paragraph = Paragraph::default();
    let mut in_code = false;
    for line in text.lines() {
        let comment = Line::parse(line);
        let is_fence = comment.as_ref().is_some_and(|comment| comment.body.starts_with("```"));
        match comment {
            Some(comment) if !in_code && !is_fence && !comment.stays() => {
                if !paragraph.takes(&comment) {
                    lines.append(&mut paragraph.finish(width));
                }
                paragraph.push(line, &comment);
            }
            other => {
                lines.append(&mut paragraph.finish(width));
                lines.push(line.to_owned());
                in_code = other.is_some() && (in_code != is_fence);
            }
        }
    }
    lines.append(&mut paragraph.finish(width));
    lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect()
}

/// One comment line, in its parts.
struct Line<'a> {
    /// The indentation and the mark.
    prefix: &'a str,
    /// The white space before the text, without the one blank after the mark.
    indent: usize,
    /// The length of the marker, if the line begins an item of a list.
    marker: usize,
    body: &'a str,
}

impl<'a> Line<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let from = line.len() - line.trim_start().len();
        let mark = ["///", "//!", "//"].into_iter().find(|mark| line[from..].starts_with(mark))?;
        let (prefix, rest) = line.split_at(from + mark.len());
        let body = rest.trim_start();
        let indent = (rest.len() - body.len()).saturating_sub(1);
        let marker = body.split(' ').next().filter(|word| is_marker(word));
        Some(Line { prefix, indent, marker: marker.map_or(0, |marker| marker.len() + 1), body })
    }

    /// Whether the line is no running text: blank, a heading, a table, a link target, or code.
    fn stays(&self) -> bool {
        let is_target = self.body.starts_with('[') && self.body.contains("]: ");
        self.body.is_empty() || self.body.starts_with(['#', '|']) || is_target || self.indent >= 4
    }
}

/// Whether a word at the beginning of a line begins an item of a list. A year does not.
fn is_marker(word: &str) -> bool {
    let number = word.strip_suffix('.').unwrap_or("");
    let is_number = (1..=2).contains(&number.len()) && number.bytes().all(|b| b.is_ascii_digit());
    ["-", "*", "+"].contains(&word) || is_number
}

/// Lines of a comment that are filled together.
#[derive(Default)]
struct Paragraph<'a> {
    prefix: &'a str,
    /// The indentation of the first line, and that of the others.
    indents: (usize, usize),
    lines: Vec<&'a str>,
    words: Vec<&'a str>,
}

impl<'a> Paragraph<'a> {
    fn takes(&self, line: &Line<'_>) -> bool {
        self.lines.is_empty() || (self.prefix == line.prefix && line.marker == 0)
    }

    fn push(&mut self, line: &'a str, parts: &Line<'a>) {
        if self.lines.is_empty() {
            self.prefix = parts.prefix;
            self.indents = (parts.indent, parts.indent + parts.marker);
        }
        self.lines.push(line);
        self.words.extend(parts.body.split_whitespace());
    }

    /// The lines of the paragraph, which is empty afterwards.
    fn finish(&mut self, width: usize) -> Vec<String> {
        let Paragraph { lines, .. } = self;
        let done = match lines.iter().any(|line| line.chars().count() > width) {
            true => self.filled(width),
            false => lines.iter().map(|line| (*line).to_owned()).collect(),
        };
        *self = Paragraph::default();
        done
    }

    fn filled(&self, width: usize) -> Vec<String> {
        let start = |indent| format!("{}{}", self.prefix, " ".repeat(indent));
        let (mut lines, mut line) = (Vec::new(), start(self.indents.0));
        let mut is_empty = true;
        for (at, word) in self.words.iter().enumerate() {
            // A word that looks like a marker must not begin a line: it moves with the one before.
            let pair = self.words.get(at + 1).filter(|next| is_marker(next) && !is_empty);
            let needed = word.chars().count() + pair.map_or(0, |next| 1 + next.chars().count());
            if !is_empty && line.chars().count() + 1 + needed > width {
                lines.push(std::mem::replace(&mut line, start(self.indents.1)));
            }
            line.push(' ');
            line.push_str(word);
            is_empty = false;
        }
        lines.push(line);
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wide_paragraph_is_filled_and_its_neighbours_stay_as_they_are() {
        let text = "/// aa bb\n/// cc\n///\n/// aaaa bbbb cccc dddd\n/// ee\nf();\n";
        let filled = "/// aa bb\n/// cc\n///\n/// aaaa bbbb cccc\n/// dddd ee\nf();\n";
        assert_eq!(rewrap(text, 20), filled);
        assert_eq!(rewrap(filled, 20), filled);
    }

    #[test]
    fn items_of_a_list_keep_their_indentation() {
        let text = "//! - aaaa bbbb cccc\n//!   dddd\n//! 1. aaaa bbbb ccccc\n";
        let filled = "//! - aaaa bbbb\n//!   cccc dddd\n//! 1. aaaa bbbb\n//!    ccccc\n";
        assert_eq!(rewrap(text, 18), filled);
    }

    #[test]
    fn comments_of_different_kinds_and_indentations_are_not_joined() {
        let text = "//! aaaa bbbb cccc\n\n/// aaaa\n    // bbbb cccc\n";
        assert_eq!(
            rewrap(text, 15),
            "//! aaaa bbbb\n//! cccc\n\n/// aaaa\n    // bbbb\n    // cccc\n"
        );
    }

    #[test]
    fn code_tables_headings_and_link_targets_keep_their_lines() {
        for text in [
            "/// ```\n/// aaaa bbbb cccc\n/// ```\n",
            "///     aaaa bbbb cccc\n",
            "/// | aaaa | bbbb |\n",
            "/// # aaaa bbbb cccc\n",
            "/// [`aaaa`]: bbbb::cccc\n",
            "let text = \"/// aaaa bbbb\";\n",
        ] {
            assert_eq!(rewrap(text, 12), text);
        }
    }

    #[test]
    fn text_after_code_is_filled_again() {
        let text = "/// ```\n/// a\n/// ```\n/// aaaa bbbb cccc\n";
        assert_eq!(rewrap(text, 13), "/// ```\n/// a\n/// ```\n/// aaaa bbbb\n/// cccc\n");
    }

    #[test]
    fn a_minus_does_not_become_a_list_at_the_beginning_of_a_line() {
        assert_eq!(rewrap("/// aaaa bbbb - cccc\n", 14), "/// aaaa\n/// bbbb -\n/// cccc\n");
        assert_eq!(
            rewrap("/// aaaa 12(3),\n/// 1982. Bbbb\n", 14),
            "/// aaaa\n/// 12(3),\n/// 1982. Bbbb\n"
        );
    }
}
