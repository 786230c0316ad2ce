//! The parts of a scenario's text: header, script, and the trace after the rule.

use super::error::ParseError;

/// The line between the header and the script.
pub(super) const BEGIN: &str = "---";
/// The line between the script and the expected trace.
pub(super) const RULE: &str = "----";

/// A word and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) line: usize,
    pub(super) column: usize,
}

/// A line of the header: `name: value`.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) name: Vec<Word>,
    pub(super) value: Vec<Word>,
}

impl Entry {
    pub(super) fn name(&self) -> String {
        join(&self.name)
    }

    pub(super) fn value(&self) -> String {
        join(&self.value)
    }

    /// The word that an error about the value points at.
    pub(super) fn value_at(&self) -> &Word {
        self.value.first().unwrap_or(&self.name[0])
    }
}

/// The words with one space between them.
pub(super) fn join(words: &[Word]) -> String {
    let words: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    words.join(" ")
}

/// The text with one space between its words.
pub(super) fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The parts of the text. Lines of the script have at least one word.
#[derive(Clone, Debug)]
pub(super) struct Parts {
    pub(super) header: Vec<Entry>,
    pub(super) script: Vec<Vec<Word>>,
    /// The number of the rule's line, if there is a rule.
    pub(super) rule: Option<usize>,
}

/// Takes the text apart.
pub(super) fn split(text: &str) -> Result<Parts, ParseError> {
    let mut parts = Parts { header: Vec::new(), script: Vec::new(), rule: None };
    let mut in_header = true;
    for (number, line) in (1..).zip(text.lines()) {
        let line_end = line.trim_end();
        if line_end == RULE && !in_header {
            parts.rule = Some(number);
            break;
        }
        let words = words(line, number);
        match words.first() {
            None => {}
            Some(_) if line_end == BEGIN && in_header => in_header = false,
            Some(first) if in_header => parts.header.push(entry(text, line, first)?),
            Some(_) => parts.script.push(words),
        }
    }
    if in_header {
        let last = text.lines().count().max(1);
        let message = format!("the header has no end; write {BEGIN} between header and script");
        return Err(error_in(text, last, 1, 1, message));
    }
    Ok(parts)
}

fn entry(text: &str, line: &str, first: &Word) -> Result<Entry, ParseError> {
    let number = first.line;
    let content = without_comment(line);
    let Some((name, _)) = content.split_once(':') else {
        let message = "a line of the header is written name: value, for instance processes: 3";
        return Err(error_at(text, first, message.to_owned()));
    };
    let names = words(name, number);
    if names.is_empty() {
        return Err(error_at(text, first, "a name is missing before the colon".to_owned()));
    }
    let colon = name.chars().count() + 1;
    let mut value = words(&content[name.len() + 1..], number);
    for word in &mut value {
        word.column += colon;
    }
    match value.is_empty() {
        true => Err(error_at(text, first, format!("{} has no value", join(&names)))),
        false => Ok(Entry { name: names, value }),
    }
}

/// The words of a line, without its comment.
pub(super) fn words(line: &str, number: usize) -> Vec<Word> {
    let mut found: Vec<Word> = Vec::new();
    let mut in_word = false;
    for (index, c) in without_comment(line).chars().enumerate() {
        if c.is_whitespace() {
            in_word = false;
        } else if in_word {
            found.last_mut().expect("the word has begun").text.push(c);
        } else {
            in_word = true;
            found.push(Word { text: c.to_string(), line: number, column: index + 1 });
        }
    }
    found
}

/// A comment goes from a `#` at the beginning of a word to the end of the line; but `#2` is the
/// second of several messages.
fn without_comment(line: &str) -> &str {
    let begins = |(index, _): &(usize, &str)| {
        let (before, after) = line.split_at(*index);
        let of_a_word = before.is_empty() || before.ends_with(char::is_whitespace);
        let numbered = after[1..].starts_with(|c: char| c.is_ascii_digit());
        before.trim().is_empty() || (of_a_word && !numbered)
    };
    match line.match_indices('#').find(begins) {
        Some((index, _)) => &line[..index],
        None => line,
    }
}

/// An error about one word.
pub(super) fn error_at(text: &str, word: &Word, message: String) -> ParseError {
    error_in(text, word.line, word.column, word.text.chars().count(), message)
}

/// An error anywhere.
pub(super) fn error_in(
    text: &str,
    line: usize,
    column: usize,
    width: usize,
    message: String,
) -> ParseError {
    let source_line = text.lines().nth(line - 1).unwrap_or_default().to_owned();
    ParseError { line, column, width, message, source_line }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(line: &str) -> Vec<String> {
        words(line, 1).into_iter().map(|word| word.text).collect()
    }

    #[test]
    fn a_comment_is_left_out_but_the_number_of_a_message_is_not() {
        assert_eq!(texts("p0 requests  # the first"), ["p0", "requests"]);
        assert_eq!(texts("deliver p0 -> p1 #2 # late"), ["deliver", "p0", "->", "p1", "#2"]);
        assert!(texts("#2 comments begin here").is_empty());
        assert!(texts("  #").is_empty());
    }

    #[test]
    fn every_word_knows_its_column() {
        let parts = split("clocks: 0 é 6\n---\n  tick\n").expect("it is well written");
        let columns: Vec<usize> = parts.header[0].value.iter().map(|word| word.column).collect();
        assert_eq!(columns, [9, 11, 13]);
        assert_eq!((parts.script[0][0].line, parts.script[0][0].column), (3, 3));
    }
}
