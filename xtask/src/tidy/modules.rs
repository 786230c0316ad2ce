//! No dead files: every source file is a module of its crate.

use super::Finding;
use super::rust::code;
use super::tree::Tree;

pub(super) fn every_file_is_a_module(tree: &Tree) -> Vec<Finding> {
    let files = tree.texts(".rs").filter_map(|(path, _)| Some((path, home(path)?)));
    let dead = files.filter(|(_, home)| {
        let parents = home.parents.iter().filter_map(|parent| tree.text(parent));
        !parents.into_iter().any(|parent| declares(parent, home.module))
    });
    dead.map(|(path, home)| {
        let remedy =
            format!("declare `mod {};` in {}, or take it out", home.module, home.parents[0]);
        Finding::new(path, 1, "the file belongs to no module", remedy)
    })
    .collect()
}

/// The place where a module must be declared.
struct Home<'a> {
    module: &'a str,
    parents: Vec<String>,
}

/// The home of a file below `src`; none for the roots of crates and for other files.
fn home(path: &str) -> Option<Home<'_>> {
    let below = path.find("src/")? + "src/".len();
    let (source, inner) = path.split_at(below);
    let mut parts: Vec<&str> = inner.strip_suffix(".rs")?.split('/').collect();
    if parts.last() == Some(&"mod") {
        parts.pop();
    }
    let module = parts.pop()?;
    match parts[..] {
        ["bin", ..] => None,
        [] if module == "lib" || module == "main" => None,
        [] => Some(Home {
            module,
            parents: vec![format!("{source}lib.rs"), format!("{source}main.rs")],
        }),
        _ => {
            let parent = parts.join("/");
            let parents = vec![format!("{source}{parent}/mod.rs"), format!("{source}{parent}.rs")];
            Some(Home { module, parents })
        }
    }
}

fn declares(parent: &str, module: &str) -> bool {
    let declaration = format!("mod {module};");
    code(parent).lines().any(|line| {
        let line = line.trim();
        line == declaration || line.ends_with(&format!(" {declaration}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dead(files: &[(&str, &str)]) -> Vec<String> {
        every_file_is_a_module(&Tree::of(files)).into_iter().map(|found| found.path).collect()
    }

    #[test]
    fn a_file_that_no_module_declares_is_caught() {
        let files = [
            ("crates/a/src/lib.rs", "pub mod b;\n// mod dead;\n"),
            ("crates/a/src/b/mod.rs", "pub(crate) mod c;\n"),
            ("crates/a/src/b/c.rs", "mod d;\n"),
            ("crates/a/src/b/c/d.rs", ""),
            ("crates/a/src/dead.rs", ""),
            ("crates/a/src/b/dead.rs", ""),
        ];
        assert_eq!(dead(&files), ["crates/a/src/dead.rs", "crates/a/src/b/dead.rs"]);
    }

    #[test]
    fn roots_binaries_and_tests_need_no_declaration() {
        let files = [
            ("xtask/src/main.rs", "mod tidy;\n"),
            ("xtask/src/tidy.rs", ""),
            ("crates/a/src/bin/b.rs", ""),
            ("crates/a/tests/c.rs", ""),
        ];
        assert_eq!(dead(&files), Vec::<String>::new());
    }
}
