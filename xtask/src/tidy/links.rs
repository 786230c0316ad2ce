//! Links between the documents lead somewhere.

use super::Finding;
use super::rust::numbered;
use super::tree::Tree;

pub(super) fn links_resolve(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.texts(".md") {
        for (line, target) in links(text) {
            if let Some(what) = trouble(tree, path, target) {
                findings.push(Finding::new(path, line, what, "correct the link"));
            }
        }
    }
    findings
}

/// What is wrong with a link from the document `path`, if anything is.
fn trouble(tree: &Tree, path: &str, target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (file, heading) = target.split_once('#').unwrap_or((target, ""));
    let destination = if file.is_empty() { path.to_owned() } else { resolve(path, file) };
    let exists = |entry: &str| {
        entry == destination
            || entry.starts_with(&format!("{}/", destination.trim_end_matches('/')))
    };
    if !tree.files.iter().any(|file| exists(&file.path)) {
        return Some(format!("the link leads to {destination}, which is not there"));
    }
    let document = tree.text(&destination).filter(|_| destination.ends_with(".md"))?;
    let known = heading.is_empty() || headings(document).any(|known| known == heading);
    (!known).then(|| format!("{destination} has no heading #{heading}"))
}

/// The path from the root, of a path that is written in the document `from`.
fn resolve(from: &str, to: &str) -> String {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in to.split('/') {
        match part {
            "." | "" => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name),
        }
    }
    parts.join("/")
}

/// The lines of a document outside its code blocks.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut in_code = false;
    numbered(text).filter(move |(_, line)| {
        let fence = line.trim_start().starts_with("```");
        in_code ^= fence;
        !in_code && !fence
    })
}

/// The targets of all links, `[text](target)` and `[name]: target`, with their lines.
fn links(text: &str) -> Vec<(usize, &str)> {
    let mut links = Vec::new();
    for (number, line) in prose(text) {
        let outside_code = line.split('`').step_by(2);
        for piece in outside_code.flat_map(|piece| piece.split("](").skip(1)) {
            links.extend(piece.split([')', ' ']).next().map(|target| (number, target)));
        }
        // A link may have code as its text: [`name`](target).
        let after_code = line.split("`](").skip(1).filter_map(|piece| piece.split(')').next());
        links.extend(after_code.map(|target| (number, target)));
        if let Some((_, target)) = line.strip_prefix('[').and_then(|rest| rest.split_once("]: ")) {
            links.push((number, target.trim()));
        }
    }
    links.dedup();
    links
}

/// The names under which the headings of a document can be linked to.
fn headings(text: &str) -> impl Iterator<Item = String> {
    prose(text).filter(|(_, line)| line.starts_with('#')).map(|(_, line)| {
        let title = line.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
        title.chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_')).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whats(path: &str, text: &str) -> Vec<String> {
        let tree = Tree::of(&[(path, text), ("docs/b.md", "# Two words, so\n"), ("c.rs", "")]);
        links_resolve(&tree).into_iter().map(|finding| finding.what).collect()
    }

    #[test]
    fn a_link_to_a_missing_file_is_caught() {
        let missing = ["the link leads to docs/gone.md, which is not there"];
        assert_eq!(whats("docs/a.md", "See [it](gone.md).\n"), missing);
        assert_eq!(whats("docs/a.md", "See [`it`](gone.md).\n"), missing);
        assert_eq!(whats("a.md", "[it]: docs/gone.md\n"), missing);
    }

    #[test]
    fn a_link_to_a_missing_heading_is_caught() {
        assert_eq!(whats("a.md", "[it](docs/b.md#three)\n"), ["docs/b.md has no heading #three"]);
        assert_eq!(whats("a.md", "[it](#here)\n"), ["a.md has no heading #here"]);
    }

    #[test]
    fn links_that_lead_somewhere_are_fine() {
        let text =
            "[a](docs/b.md#two-words-so) [b](docs) [`c`](./c.rs)\n[d](https://example.org/e)\n";
        assert_eq!(whats("a.md", text), Vec::<String>::new());
        assert_eq!(whats("docs/a.md", "[c](../c.rs)\n"), Vec::<String>::new());
    }

    #[test]
    fn what_stands_in_code_is_no_link() {
        assert_eq!(whats("a.md", "```\n[x](gone.md)\n```\n`[x](gone.md)`\n"), Vec::<String>::new());
    }
}
