//! The documents that a newcomer reads.

use super::Finding;
use super::tree::Tree;

const DOCUMENTS: &[&str] = &["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"];

/// Lines in ARCHITECTURE.md: it is read in one go.
const ARCHITECTURE: usize = 300;

pub(super) fn the_documents_exist(tree: &Tree) -> Vec<Finding> {
    let missing = DOCUMENTS.iter().filter(|path| tree.text(path).is_none());
    missing.map(|path| Finding::new(path, 1, "there is no such file", "write it")).collect()
}

pub(super) fn the_architecture_is_short(tree: &Tree) -> Vec<Finding> {
    let path = "ARCHITECTURE.md";
    let length = tree.text(path).map_or(0, |text| text.lines().count());
    if length <= ARCHITECTURE {
        return Vec::new();
    }
    let what = format!("{length} lines, more than {ARCHITECTURE}");
    vec![Finding::new(path, ARCHITECTURE + 1, what, "move the details next to the code")]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_document_is_caught() {
        let tree = Tree::of(&[("README.md", "# R\n"), ("ARCHITECTURE.md", "# A\n")]);
        let found = the_documents_exist(&tree);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].path, "CONTRIBUTING.md");
    }

    #[test]
    fn an_architecture_that_nobody_reads_in_one_go_is_caught() {
        let of_length = |lines| Tree::of(&[("ARCHITECTURE.md", &"a\n".repeat(lines))]);
        assert_eq!(the_architecture_is_short(&of_length(ARCHITECTURE)), []);
        assert_eq!(the_architecture_is_short(&of_length(ARCHITECTURE + 1)).len(), 1);
    }
}
