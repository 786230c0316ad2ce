//! The shape of files: clean ends of lines, a newline at the end, no giants.

use super::Finding;
use super::rust::numbered;
use super::tree::Tree;

/// The size limit of a file.
const BYTES: u64 = 1 << 20;

pub(super) fn lines_end_cleanly(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.texts("") {
        let dirty = numbered(text).filter(|(_, line)| line.ends_with(char::is_whitespace));
        findings.extend(dirty.map(|(line, _)| {
            Finding::new(path, line, "white space at the end of the line", "take it out")
        }));
        if text.contains('\r') {
            findings.push(Finding::new(path, 1, "carriage returns", "end lines with a newline"));
        }
        if !text.is_empty() && !text.ends_with('\n') {
            let last = text.lines().count();
            findings.push(Finding::new(path, last, "the last line does not end", "add a newline"));
        }
    }
    findings
}

pub(super) fn files_are_small(tree: &Tree) -> Vec<Finding> {
    let giants = tree.files.iter().filter(|file| file.bytes > BYTES);
    giants
        .map(|file| {
            let what = format!("{} bytes, more than {BYTES}", file.bytes);
            Finding::new(&file.path, 1, what, "make it when it is needed, or make it smaller")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::tree::File;
    use super::*;

    fn whats(text: &str) -> Vec<(usize, String)> {
        let found = lines_end_cleanly(&Tree::of(&[("a.md", text)]));
        found.into_iter().map(|finding| (finding.line, finding.what)).collect()
    }

    #[test]
    fn white_space_at_the_end_of_a_line_is_caught() {
        assert_eq!(whats("a\n\n"), []);
        assert_eq!(whats("a\nb \n"), [(2, "white space at the end of the line".to_owned())]);
    }

    #[test]
    fn a_file_that_does_not_end_with_a_newline_is_caught() {
        assert_eq!(whats("a\nb"), [(2, "the last line does not end".to_owned())]);
        assert_eq!(whats(""), []);
    }

    #[test]
    fn carriage_returns_are_caught() {
        assert_eq!(whats("a\r\n"), [(1, "carriage returns".to_owned())]);
    }

    #[test]
    fn a_giant_is_caught() {
        let of_size = |bytes| Tree {
            files: vec![File { path: "a.bin".to_owned(), bytes, text: None }],
            ..Tree::default()
        };
        assert_eq!(files_are_small(&of_size(BYTES)), []);
        assert_eq!(files_are_small(&of_size(BYTES + 1)).len(), 1);
    }
}
