//! A value as a tree, parsed from its `{:#?}` text, and the differences between two such trees.
//!
//! The `Debug` text is the form that people read and compare: sets print as `{p1, p5}` and stamps
//! as `3@p0`, where a serialiser would show bits and bytes.

use std::fmt::{Debug, Write};

/// A value with its parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    /// The field or key under which it stands; empty for an element of a list or set.
    pub name: String,
    /// The value. For one with parts, the text before them: `Some(`, `Log {`, `[`.
    pub value: String,
    /// The parts, in order.
    pub parts: Vec<Tree>,
    /// The difference from the value that it was compared with.
    pub change: Change,
}

/// The difference of a value from an earlier one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Change {
    /// Both are equal, or were not compared.
    #[default]
    None,
    /// Some of its parts differ.
    Inside,
    /// The earlier value, in one line.
    Was(String),
    /// The earlier value does not have this part.
    New,
    /// Only the earlier value has this part.
    Gone,
}

impl Tree {
    /// The tree of a value.
    pub fn of(value: &impl Debug) -> Tree {
        Tree::read(&format!("{value:#?}"))
    }

    /// Parses `{:#?}` text: each line is a value, the beginning of one with parts, or its end.
    fn read(text: &str) -> Tree {
        let mut open = vec![Tree::default()];
        for line in text.lines() {
            let line = line.trim_start();
            let line = line.strip_suffix(',').unwrap_or(line);
            let Some(rest) = line.strip_prefix(['}', ')', ']']) else {
                begin(&mut open, line);
                continue;
            };
            end(&mut open);
            // The key of a map may have parts, too; its value follows on the line that ends it.
            if let Some(value) = rest.strip_prefix(": ") {
                let key = open.last_mut().and_then(|parent| parent.parts.pop());
                let name = key.map(|key| key.in_a_line()).unwrap_or_default();
                begin_named(&mut open, name, value);
            }
        }
        while open.len() > 1 {
            end(&mut open);
        }
        open.pop().and_then(|mut all| all.parts.pop()).unwrap_or_default()
    }

    /// Marks the differences from the earlier value. Parts that only the earlier value has are
    /// added as [`Change::Gone`].
    pub fn compare(&mut self, before: &Tree) {
        if self == before {
            return;
        }
        let has_parts = !(self.parts.is_empty() && before.parts.is_empty());
        if self.value != before.value || !has_parts {
            self.change = Change::Was(before.in_a_line_without_name());
            return;
        }
        self.change = Change::Inside;
        let pairs = pairs(&before.parts, &self.parts);
        let mut parts = Vec::with_capacity(pairs.len());
        let mut new = std::mem::take(&mut self.parts).into_iter();
        for pair in pairs {
            match pair {
                (Some(old), true) => {
                    let mut part = new.next().expect("each new part is in one pair");
                    part.compare(&before.parts[old]);
                    parts.push(part);
                }
                (None, true) => {
                    let part = new.next().expect("each new part is in one pair");
                    parts.push(Tree { change: Change::New, ..part });
                }
                (Some(old), false) => {
                    parts.push(Tree { change: Change::Gone, ..before.parts[old].clone() });
                }
                (None, false) => unreachable!("a pair has a part"),
            }
        }
        self.parts = parts;
    }

    /// Whether it differs from what it was compared with.
    pub fn has_changed(&self) -> bool {
        self.change != Change::None
    }

    /// The value with its parts in one line, with its name.
    pub fn in_a_line(&self) -> String {
        let mut text = String::new();
        if !self.name.is_empty() {
            let _ = write!(text, "{}: ", self.name);
        }
        text + &self.in_a_line_without_name()
    }

    /// The same without the name.
    pub fn in_a_line_without_name(&self) -> String {
        let mut text = self.value.clone();
        if self.parts.is_empty() {
            return text;
        }
        let closer = closer(&self.value);
        let inner: Vec<String> = self.parts.iter().map(Tree::in_a_line).collect();
        let inner = inner.join(", ");
        let _ = match self.value.ends_with(" {") {
            true => write!(text, " {inner} {closer}"),
            false => write!(text, "{inner}{closer}"),
        };
        text
    }
}

/// The closing bracket of a value that begins like this.
fn closer(value: &str) -> &'static str {
    match value.chars().last() {
        Some('{') => "}",
        Some('(') => ")",
        Some('[') => "]",
        _ => "",
    }
}

fn begin(open: &mut Vec<Tree>, line: &str) {
    match split_name(line) {
        Some((name, value)) => begin_named(open, name.to_owned(), value),
        None => begin_named(open, String::new(), line),
    }
}

fn begin_named(open: &mut Vec<Tree>, name: String, value: &str) {
    let tree = Tree { name, value: value.to_owned(), ..Tree::default() };
    open.push(tree);
    if closer(value).is_empty() {
        end(open);
    }
}

/// The innermost open value is complete and becomes a part of its parent.
fn end(open: &mut Vec<Tree>) {
    if open.len() < 2 {
        return;
    }
    let Some(tree) = open.pop() else { return };
    // A `PhantomData` exists only for the compiler and is no part of the state.
    if !tree.value.starts_with("PhantomData<")
        && let Some(parent) = open.last_mut()
    {
        parent.parts.push(tree);
    }
}

/// `clock: 3` is a name and a value; in `"a: b"` and `f(a: b)` the colon is inside of a value.
fn split_name(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once(": ")?;
    let is_plain = !name.contains(['"', '\'', '{', '(', '[', '<']);
    let is_complete =
        name.matches(['(', '[', '{']).count() == name.matches([')', ']', '}']).count();
    (is_plain || is_complete && !name.contains(['"', '\''])).then_some((name, value))
}

/// Limit of compared pairs of parts; larger lists are compared index by index.
const PAIRS_AT_MOST: usize = 1_000_000;

/// Pairs old parts with new ones, in the order of display: the index of the old part, if the pair
/// has one, and whether it has a new part.
fn pairs(old: &[Tree], new: &[Tree]) -> Vec<(Option<usize>, bool)> {
    let is_same_place = |(old, new): (&Tree, &Tree)| old.name == new.name;
    let alike = old.len() == new.len() && old.iter().zip(new).all(is_same_place);
    if alike || old.len().saturating_mul(new.len()) > PAIRS_AT_MOST {
        let both = old.len().min(new.len());
        let common = (0..both).map(|place| (Some(place), true));
        let gone = (both..old.len()).map(|place| (Some(place), false));
        let added = (both..new.len()).map(|_| (None, true));
        return common.chain(gone).chain(added).collect();
    }
    let matches = |i: usize, j: usize| match new[j].name.is_empty() {
        true => old[i] == new[j],
        false => old[i].name == new[j].name,
    };
    // longest[i][j]: how many parts of old[i..] and new[j..] match, in order.
    let mut longest = vec![vec![0_u32; new.len() + 1]; old.len() + 1];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            longest[i][j] = match matches(i, j) {
                true => longest[i + 1][j + 1] + 1,
                false => longest[i + 1][j].max(longest[i][j + 1]),
            };
        }
    }
    let (mut i, mut j, mut found) = (0, 0, Vec::new());
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && matches(i, j) {
            found.push((Some(i), true));
            (i, j) = (i + 1, j + 1);
        } else if j == new.len() || (i < old.len() && longest[i + 1][j] >= longest[i][j + 1]) {
            found.push((Some(i), false));
            i += 1;
        } else {
            found.push((None, true));
            j += 1;
        }
    }
    found
}
