//! Files stay short. (Functions too: that is clippy's `too_many_lines`.)

use super::Finding;
use super::architecture::is_protocol;
use super::rust::{code, without_items, without_tests};
use super::tree::Tree;

/// Lines of code in a file that teaches one algorithm: without blank lines, comments, tests and
/// the card. A card is documentation that happens to be data: it may be as long as it must.
const PROTOCOL: usize = 250;

/// Lines in any other source file.
const FILE: usize = 500;

pub(super) fn protocols_are_short(tree: &Tree) -> Vec<Finding> {
    let lengths = sources(tree).filter(|(path, _)| is_protocol(path));
    let lengths = lengths.map(|(path, text)| (path, lines_of_code(text)));
    let long = lengths.filter(|(_, length)| *length > PROTOCOL);
    long.map(|(path, length)| {
        let what = format!("{length} lines of code, more than {PROTOCOL}");
        let remedy = "one file is one lesson: make a directory with a file for each idea";
        Finding::new(path, 1, what, remedy)
    })
    .collect()
}

pub(super) fn files_are_short(tree: &Tree) -> Vec<Finding> {
    let lengths = sources(tree).filter(|(path, _)| !is_protocol(path));
    let lengths = lengths.map(|(path, text)| (path, text.lines().count()));
    let long = lengths.filter(|(_, length)| *length > FILE);
    long.map(|(path, length)| {
        let what = format!("{length} lines, more than {FILE}");
        Finding::new(path, FILE + 1, what, "split the file along its ideas")
    })
    .collect()
}

/// Rust files, but for those in `tests` directories.
fn sources(tree: &Tree) -> impl Iterator<Item = (&str, &str)> {
    tree.texts(".rs").filter(|(path, _)| !path.split('/').any(|part| part == "tests"))
}

fn lines_of_code(text: &str) -> usize {
    let code = without_items(&without_tests(&code(text)), "const CARD: Card = Card {");
    code.lines().filter(|line| !line.trim().is_empty()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_blank_lines_tests_and_the_card_do_not_count_as_code() {
        let text = "//! Doc.\n\nfn a() {\n    // Why.\n}\n\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\n\
                    const CARD: Card = Card {\n    name: \"c\",\n};\n";
        assert_eq!(lines_of_code(text), 2);
    }

    #[test]
    fn a_protocol_with_one_line_of_code_too_many_is_caught() {
        let path = "crates/protocols/basics/src/mutex/long.rs";
        let just = format!("//! Doc.\n{}", "a();\n".repeat(PROTOCOL));
        let over = format!("{just}a();\n");
        assert_eq!(protocols_are_short(&Tree::of(&[(path, &just)])), []);
        let found = protocols_are_short(&Tree::of(&[(path, &over)]));
        assert_eq!(found[0].what, "251 lines of code, more than 250");
    }

    #[test]
    fn a_file_with_one_line_too_many_is_caught_unless_it_is_a_test() {
        let over = "//\n".repeat(FILE + 1);
        let tree = Tree::of(&[("crates/a/src/b.rs", &over), ("crates/a/tests/b.rs", &over)]);
        let found = files_are_short(&tree);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].path.as_str(), found[0].line), ("crates/a/src/b.rs", FILE + 1));
    }
}
