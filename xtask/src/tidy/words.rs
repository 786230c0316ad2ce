//! Words that have no place in the repository.

use super::Finding;
use super::rust::{code, numbered};
use super::tree::Tree;

/// What is finished before it lands. Spelt in two halves, so that this file keeps its own rule.
const LEFTOVERS: &[(&str, &str)] = &[
    (concat!("todo", "!("), "write what is missing"),
    (concat!("unimplemented", "!("), "write what is missing"),
    (concat!("dbg", "!("), "take it out"),
    (concat!("#[", "ignore"), "make the test fast, or take it out"),
];

/// The same, in comments and in files of any kind.
const PROMISES: &[&str] = &[concat!("FIX", "ME"), concat!("XX", "X")];

/// Places that exist on one machine only.
const MACHINES: &[&str] = &[concat!("/wo", "rk/"), concat!("/tmp/", "bash")];

pub(super) fn nothing_is_left_over(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.texts(".rs") {
        for (line, content) in numbered(&code(text)) {
            let found = LEFTOVERS.iter().filter(|(leftover, _)| content.contains(leftover));
            findings.extend(found.map(|(leftover, remedy)| {
                Finding::new(path, line, format!("{leftover} is left over"), *remedy)
            }));
        }
    }
    findings.extend(occurrences(tree, |line| {
        let word = PROMISES.iter().find(|word| has_word(line, word))?;
        Some((format!("{word} is a promise"), "keep it now, or take it out"))
    }));
    findings
}

pub(super) fn no_machine_is_named(tree: &Tree) -> Vec<Finding> {
    occurrences(tree, |line| {
        let place = MACHINES.iter().find(|place| line.contains(**place))?;
        Some((format!("{place} exists on one machine only"), "use a path from the root"))
    })
}

/// What `judge` has to say about each line of each text.
fn occurrences(
    tree: &Tree,
    judge: impl Fn(&str) -> Option<(String, &'static str)>,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.texts("") {
        findings.extend(numbered(text).filter_map(|(line, content)| {
            judge(content).map(|(what, remedy)| Finding::new(path, line, what, remedy))
        }));
    }
    findings
}

fn has_word(line: &str, word: &str) -> bool {
    line.split(|c: char| !c.is_alphanumeric()).any(|part| part == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_leftover_is_caught_in_code_and_forgiven_in_words() {
        for (leftover, remedy) in LEFTOVERS {
            let text = format!("// {leftover}\nlet said = \"{leftover}\";\n{leftover}\n");
            let found = nothing_is_left_over(&Tree::of(&[("a.rs", &text)]));
            assert_eq!(found.len(), 1, "{leftover}");
            assert_eq!((found[0].line, found[0].remedy.as_str()), (3, *remedy));
        }
    }

    #[test]
    fn each_promise_is_caught_everywhere_as_a_whole_word() {
        for word in PROMISES {
            let text = format!("a{word}\n# {word}: later\n");
            let found = nothing_is_left_over(&Tree::of(&[("a.toml", &text)]));
            assert_eq!(found.len(), 1, "{word}");
            assert_eq!(found[0].line, 2);
        }
    }

    #[test]
    fn each_place_on_one_machine_is_caught() {
        for place in MACHINES {
            let found = no_machine_is_named(&Tree::of(&[("a.md", &format!("see {place}x\n"))]));
            assert_eq!(found.len(), 1, "{place}");
        }
    }
}
