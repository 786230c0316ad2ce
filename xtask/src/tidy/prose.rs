//! English that is read once: comments fit the page, and their sentences have nouns.
//!
//! A vague word is a pronoun where the reader needs a noun ("whoever asks", where "the candidate
//! asks" is meant). A sentence may need one; a page full of them has to be read three times. So
//! these words are not forbidden but counted, and the allowed count only goes down.

use super::Finding;
use super::rust::numbered;
use super::tree::Tree;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Vague words allowed in 1,000 lines of comments. Lower it when `tidy` says so; never raise it.
const VAGUE: usize = 2;

/// Comment lines allowed to be wider than rustfmt's `max_width`. Lower it when `tidy` says so.
const WIDE: usize = 0;

/// Each stands where a noun would say more. Phrases match across the ends of lines.
const WORDS: &[&str] = &[
    "any more",
    "anybody",
    "anyone",
    "everybody",
    "everyone",
    "nobody",
    "so many",
    "somebody",
    "someone",
    "something",
    "that there is",
    "thing",
    "things",
    "what is",
    "whatever",
    "whichever",
    "whoever",
];

const HERE: &str = "xtask/src/tidy/prose.rs";

/// rustfmt's own default, for a repository that does not say.
const WIDTH: usize = 100;

pub(super) fn vague_words_grow_fewer(tree: &Tree) -> Vec<Finding> {
    let total = Counts::of(tree).total();
    match total.vague_in_1000() {
        found if found > VAGUE => {
            let what = format!(
                "{found} vague words in 1,000 lines of comments ({} in {}), more than {VAGUE}",
                total.vague, total.lines
            );
            let remedy = "name the subject: `cargo xtask tidy --words DIRECTORY` lists the places";
            vec![Finding::new(HERE, 1, what, remedy)]
        }
        _ => Vec::new(),
    }
}

/// Every wide line is a finding, once there are more of them than the limit allows.
pub(super) fn wide_comments_grow_fewer(tree: &Tree) -> Vec<Finding> {
    let width = width(tree);
    let wide = comments(tree).flat_map(|(path, comment)| {
        let lines: Vec<usize> = comment.wide(width).collect();
        lines.into_iter().map(move |line| {
            let what = format!("the comment is wider than {width} columns");
            Finding::new(path, line, what, "run `cargo xtask fix comments`")
        })
    });
    let wide: Vec<Finding> = wide.collect();
    if wide.len() > WIDE { wide } else { Vec::new() }
}

/// Asks for lower limits, now that the text is better than they demand.
pub(super) fn notes(tree: &Tree) -> Vec<String> {
    let total = Counts::of(tree).total();
    let limits = [("VAGUE", VAGUE, total.vague_in_1000()), ("WIDE", WIDE, total.wide)];
    limits.into_iter().filter_map(|(name, limit, found)| note(name, limit, found)).collect()
}

fn note(name: &str, limit: usize, found: usize) -> Option<String> {
    (found < limit).then(|| format!("lower {name} in {HERE} from {limit} to {found}"))
}

/// The counts of each directory and the total, to show a writer where the work is. With a
/// directory: also each place in it.
pub(super) fn report(tree: &Tree, directory: Option<&str>) -> String {
    let within = directory.unwrap_or("");
    let mut report = String::new();
    if directory.is_some() {
        for (path, comment) in comments(tree).filter(|(path, _)| path.starts_with(within)) {
            for (line, word) in comment.vague() {
                let _ = writeln!(report, "{path}:{line}: `{word}`");
            }
            for line in comment.wide(width(tree)) {
                let _ = writeln!(report, "{path}:{line}: too wide");
            }
        }
    }
    let counts = Counts::of(tree);
    let _ = writeln!(report, "per 1,000   vague   lines    wide  directory");
    for (name, count) in counts.0.iter().filter(|(name, _)| name.starts_with(within)) {
        let _ = writeln!(report, "{}  {name}", count.columns());
    }
    let _ = writeln!(report, "{}  in all", counts.total().columns());
    report
}

/// One run of comment lines, read as one text.
struct Comment<'a> {
    /// The number of the first line.
    first: usize,
    lines: Vec<&'a str>,
}

impl Comment<'_> {
    /// The vague words, each with its line. The words of all lines are one sequence: a phrase that
    /// continues on the next line counts, too.
    fn vague(&self) -> Vec<(usize, &'static str)> {
        let spoken: Vec<(usize, String)> = (self.first..)
            .zip(&self.lines)
            .flat_map(|(number, line)| words(line).map(move |word| (number, word)))
            .collect();
        let starts_with = |rest: &[(usize, String)], phrase: &str| {
            let mut rest = rest.iter().map(|(_, word)| word.as_str());
            phrase.split(' ').all(|word| rest.next() == Some(word))
        };
        let mut found = Vec::new();
        for at in 0..spoken.len() {
            let phrases = WORDS.iter().filter(|phrase| starts_with(&spoken[at..], phrase));
            found.extend(phrases.map(|phrase| (spoken[at].0, *phrase)));
        }
        found
    }

    /// The lines that are too wide and could be broken. A single long word, such as an address,
    /// cannot.
    fn wide(&self, width: usize) -> impl Iterator<Item = usize> {
        let wide = (self.first..).zip(&self.lines).filter(move |(_, line)| {
            line.chars().count() > width && line.split_whitespace().count() > 2
        });
        wide.map(|(number, _)| number)
    }
}

fn words(line: &str) -> impl Iterator<Item = String> {
    let parts = line.split(|c: char| !c.is_alphanumeric() && c != '_');
    parts.filter(|part| !part.is_empty()).map(str::to_lowercase)
}

/// The comments of all Rust files, each with the path of its file.
fn comments(tree: &Tree) -> impl Iterator<Item = (&str, Comment<'_>)> {
    tree.texts(".rs")
        .flat_map(|(path, text)| comments_in(text).into_iter().map(move |comment| (path, comment)))
}

fn comments_in(text: &str) -> Vec<Comment<'_>> {
    let mut comments: Vec<Comment<'_>> = Vec::new();
    let lines = numbered(text).filter(|(_, line)| line.trim_start().starts_with("//"));
    for (number, line) in lines {
        match comments.last_mut() {
            Some(comment) if comment.first + comment.lines.len() == number => {
                comment.lines.push(line);
            }
            _ => comments.push(Comment { first: number, lines: vec![line] }),
        }
    }
    comments
}

/// The width that rustfmt is told to keep for code.
pub(super) fn width(tree: &Tree) -> usize {
    let settings = tree.text("rustfmt.toml").unwrap_or("").lines();
    let mut values = settings.filter_map(|line| {
        let (key, value) = line.split_once('=')?;
        (key.trim() == "max_width").then(|| value.trim().parse().ok())?
    });
    values.next().unwrap_or(WIDTH)
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Count {
    lines: usize,
    vague: usize,
    wide: usize,
}

impl Count {
    fn add(&mut self, other: Count) {
        self.lines += other.lines;
        self.vague += other.vague;
        self.wide += other.wide;
    }

    /// Rounded up, so that the limit is never undercut by a fraction.
    fn vague_in_1000(self) -> usize {
        (self.vague * 1000).div_ceil(self.lines.max(1))
    }

    fn columns(self) -> String {
        format!("{:9} {:7} {:7} {:7}", self.vague_in_1000(), self.vague, self.lines, self.wide)
    }
}

/// The counts by directory.
struct Counts(BTreeMap<String, Count>);

impl Counts {
    fn of(tree: &Tree) -> Counts {
        let width = width(tree);
        let mut counts: BTreeMap<String, Count> = BTreeMap::new();
        for (path, comment) in comments(tree) {
            let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
            counts.entry(format!("{directory}/")).or_default().add(Count {
                lines: comment.lines.len(),
                vague: comment.vague().len(),
                wide: comment.wide(width).count(),
            });
        }
        Counts(counts)
    }

    fn total(&self) -> Count {
        let mut total = Count::default();
        self.0.values().for_each(|count| total.add(*count));
        total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree_of(text: &str) -> Tree {
        Tree::of(&[("crates/a/src/b.rs", text)])
    }

    fn found_in(text: &str) -> Vec<(usize, &'static str)> {
        comments_in(text).iter().flat_map(Comment::vague).collect()
    }

    #[test]
    fn each_vague_word_is_found_in_every_kind_of_comment() {
        for word in WORDS {
            for mark in ["///", "//!", "//", "    ///"] {
                let found = found_in(&format!("{mark} And {word}, too.\n"));
                assert_eq!(found, [(1, *word)], "{mark}");
            }
        }
    }

    #[test]
    fn a_phrase_is_found_across_the_end_of_a_line_and_at_the_start_of_a_sentence() {
        assert_eq!(found_in("/// It says what\n/// is known.\n"), [(1, "what is")]);
        assert_eq!(found_in("/// Nobody knows.\n"), [(1, "nobody")]);
        assert_eq!(found_in("/// Says what\nf();\n/// is known.\n"), []);
    }

    #[test]
    fn code_and_parts_of_words_are_not_counted() {
        assert_eq!(found_in("let something = \"whoever\";\n/// anything, somebody_else\n"), []);
    }

    #[test]
    fn one_vague_word_more_than_the_limit_is_caught() {
        let text = |vague| {
            let clear = "/// The leader asks.\n".repeat(1000 - vague);
            tree_of(&format!("{}{clear}", "/// Whoever asks.\n".repeat(vague)))
        };
        assert_eq!(vague_words_grow_fewer(&text(VAGUE)), []);
        let found = vague_words_grow_fewer(&text(VAGUE + 1));
        assert_eq!(found.len(), 1);
        assert!(found[0].what.starts_with(&format!("{} vague words", VAGUE + 1)), "{}", found[0]);
    }

    #[test]
    fn one_wide_comment_more_than_the_limit_is_caught() {
        let wide = format!("/// {}\n", "word ".repeat(25).trim_end());
        assert_eq!(wide_comments_grow_fewer(&tree_of(&wide.repeat(WIDE))), []);
        let found = wide_comments_grow_fewer(&tree_of(&wide.repeat(WIDE + 1)));
        assert_eq!(found.len(), WIDE + 1);
        assert_eq!(found[WIDE].line, WIDE + 1);
        assert_eq!(found[WIDE].what, "the comment is wider than 100 columns");
    }

    #[test]
    fn the_width_is_the_one_that_rustfmt_keeps_and_counts_characters() {
        let wide = |width, line: &str| {
            let settings = format!("max_width = {width}\n");
            let files = [("a.rs", line), ("rustfmt.toml", settings.as_str())];
            Counts::of(&Tree::of(&files)).total().wide
        };
        assert_eq!(wide(20, "/// aaaa bbbb cccc d\n"), 0);
        assert_eq!(wide(20, "/// aaaa bbbb cccc dd\n"), 1);
        assert_eq!(wide(20, "/// ääää ββββ cccc →\n"), 0);
        assert_eq!(wide(21, "/// aaaa bbbb cccc dd\n"), 0);
    }

    #[test]
    fn a_word_that_cannot_be_broken_is_not_too_wide() {
        let address = format!("/// <https://{}>\n", "a".repeat(WIDTH));
        assert_eq!(Counts::of(&tree_of(&address)).total().wide, 0);
    }

    #[test]
    fn a_text_that_is_better_than_a_limit_asks_for_a_lower_one() {
        let asked = note("VAGUE", 30, 29).expect("29 is less than 30");
        assert_eq!(asked, "lower VAGUE in xtask/src/tidy/prose.rs from 30 to 29");
        assert_eq!(note("VAGUE", 30, 30), None);
    }

    #[test]
    fn the_report_counts_by_directory_and_lists_the_places_of_one() {
        let files = [("a/b.rs", "/// Whoever.\n/// It.\n"), ("a/c/d.rs", "//! Nobody.\n")];
        let report = |within| report(&Tree::of(&files), within);
        let all = report(None);
        assert!(all.contains("      500       1       2       0  a/\n"), "{all}");
        assert!(all.contains("     1000       1       1       0  a/c/\n"), "{all}");
        assert!(all.ends_with("      667       2       3       0  in all\n"), "{all}");
        let one = report(Some("a/c"));
        assert!(one.starts_with("a/c/d.rs:1: `nobody`\n") && !one.contains("a/b.rs"), "{one}");
    }
}
