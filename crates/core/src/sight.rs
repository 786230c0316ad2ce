//! What pictures show of a process beside its events.

use crate::process::ProcessSet;

/// The longest label that a message gets by default, in characters.
pub const LABEL: usize = 24;

/// What a picture shows of a process from now on, until it changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sight {
    /// What the process has, in a few words: `owns s0-s3`. Empty: nothing worth a word.
    pub has: String,
    /// The parts into which the process has divided the group, if it stands for the network: see
    /// the abstract group engine. Empty: it does not.
    pub parts: Vec<ProcessSet>,
}

/// A label for a value that prints itself as `text`: the whole text if it is short; else the text
/// without the names of fields and of inner types; else the name of its `kind`.
pub fn short(text: &str, kind: &str) -> String {
    let text = text.replace(" { ", "{").replace(" }", "}");
    let is_short = |text: &String| text.chars().count() <= LABEL;
    if is_short(&text) {
        return text;
    }
    Some(bare(&text)).filter(is_short).unwrap_or_else(|| kind.to_owned())
}

/// `Data(2, 7)` of `Data(Numbered{number: 2, payload: 7})`.
fn bare(text: &str) -> String {
    let (mut bare, mut word, mut depth) = (String::new(), String::new(), 0);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let is_name = word.starts_with(char::is_alphabetic);
        match letter {
            _ if letter.is_alphanumeric() || letter == '_' => {
                word.push(letter);
                continue;
            }
            ':' if depth > 0 && is_name => {
                letters.next_if_eq(&' ');
            }
            '{' if !bare.is_empty() => bare.push('{'),
            _ => {
                bare.push_str(&word);
                bare.push(letter);
            }
        }
        depth += i32::from(letter == '{') - i32::from(letter == '}');
        word.clear();
    }
    (bare + &word).replace("({", "(").replace("})", ")")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_longer_text_loses_the_names_that_the_reader_can_do_without() {
        let data = "Data(Stamped { vector: [0, 1, 0], payload: 1 })";
        assert_eq!(short(data, "Data"), "Data([0, 1, 0], 1)");
        assert_eq!(short("Request { process: p1, number: 10 }", "Request"), "Request{p1, 10}");
        assert_eq!(bare("p1: Donate{to: p2, slots: [s1]} in v1.1"), "p1: {p2, [s1]} in v1.1");
    }

    #[test]
    fn a_short_text_is_its_own_label_and_a_long_one_is_called_by_its_kind() {
        assert_eq!(short("Reply { clock: 3 }", "Reply"), "Reply{clock: 3}");
        assert_eq!(short(&format!("Append({})", "x".repeat(LABEL)), "Append"), "Append");
        assert_eq!(short(&"x".repeat(LABEL), "X").len(), LABEL);
    }
}
