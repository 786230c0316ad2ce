//! The project's own rules, as a test.
//!
//! A rule is a small function from the [`Tree`] to its [`Finding`]s. Each lives in the file
//! named after its subject, together with a test that shows it catching an offender.

mod architecture;
mod documents;
mod length;
mod links;
mod modules;
mod prose;
mod rewrap;
mod rust;
mod seeds;
mod shape;
mod tree;
mod words;

use anyhow::{Context, Result, bail};
use std::fmt;
use std::fs;
use std::path::Path;
use tree::Tree;

/// One place that breaks a rule, and how to repair it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    path: String,
    line: usize,
    what: String,
    remedy: String,
}

impl Finding {
    fn new(path: &str, line: usize, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Finding { path: path.to_owned(), line, what: what.into(), remedy: remedy.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}; {}", self.path, self.line, self.what, self.remedy)
    }
}

type Rule = fn(&Tree) -> Vec<Finding>;

const RULES: &[Rule] = &[
    architecture::layers_use_only_what_lies_below,
    architecture::protocols_use_only_pure_libraries,
    architecture::protocols_are_pure,
    architecture::the_core_forbids_unsafe_code,
    architecture::every_crate_has_the_lints,
    documents::the_documents_exist,
    documents::the_architecture_is_short,
    length::protocols_are_short,
    length::files_are_short,
    links::links_resolve,
    modules::every_file_is_a_module,
    prose::vague_words_grow_fewer,
    prose::wide_comments_grow_fewer,
    seeds::every_section_is_indexed,
    shape::lines_end_cleanly,
    shape::files_are_small,
    words::nothing_is_left_over,
    words::no_machine_is_named,
];

/// Applies every rule to the repository at `root`.
pub(crate) fn run(root: &Path) -> Result<()> {
    let tree = Tree::read(root)?;
    let findings = findings(&tree);
    if findings.is_empty() {
        println!("tidy: {} files keep {} rules", tree.files.len(), RULES.len());
        prose::notes(&tree).iter().for_each(|note| println!("tidy: {note}"));
        return Ok(());
    }
    for finding in &findings {
        println!("{finding}");
    }
    match findings.len() {
        1 => bail!("one place is untidy"),
        several => bail!("{several} places are untidy"),
    }
}

/// Prints where vague words and wide comments stand, by directory; with a directory, each place.
pub(crate) fn report_words(root: &Path, directory: Option<&str>) -> Result<()> {
    print!("{}", prose::report(&Tree::read(root)?, directory));
    Ok(())
}

/// Breaks the comments of the repository at `root` that are wider than code.
pub(crate) fn rewrap_comments(root: &Path) -> Result<()> {
    let tree = Tree::read(root)?;
    let width = prose::width(&tree);
    for (path, text) in tree.texts(".rs") {
        let narrow = rewrap::rewrap(text, width);
        if narrow != text {
            fs::write(root.join(path), narrow).with_context(|| format!("writing {path}"))?;
            println!("{path}");
        }
    }
    Ok(())
}

fn findings(tree: &Tree) -> Vec<Finding> {
    let mut findings: Vec<Finding> = RULES.iter().flat_map(|rule| rule(tree)).collect();
    findings.sort();
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_says_where_what_and_what_to_do() {
        let finding = Finding::new("a.rs", 3, "too long", "split it");
        assert_eq!(finding.to_string(), "a.rs:3: too long; split it");
    }

    #[test]
    fn findings_of_all_rules_come_in_the_order_of_the_files() {
        let tree = Tree::of(&[("b.md", "[gone](gone.md)\n"), ("a.md", "trailing \n")]);
        let paths: Vec<_> = findings(&tree).into_iter().map(|finding| finding.path).collect();
        assert!(paths.is_sorted());
        assert!(paths.contains(&"a.md".to_owned()) && paths.contains(&"b.md".to_owned()));
    }
}
