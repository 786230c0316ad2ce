//! Which crate may use which, and that protocols see nothing of the world.

use super::Finding;
use super::rust::{code, line_of, numbered};
use super::tree::{Dependency, Package, Tree};

/// The crates of the workspace that one of them may use, and that its tests may use beside.
struct Layer {
    package: &'static str,
    directory: &'static str,
    may_use: &'static [&'static str],
    tests_may_use: &'static [&'static str],
}

/// From the bottom to the top. A crate that is not listed may use all others, and no listed crate
/// uses it.
const LAYERS: &[Layer] = &[
    Layer { package: "synod-core", directory: "crates/core", may_use: &[], tests_may_use: &[] },
    Layer {
        package: "synod-basics",
        directory: "crates/protocols/basics",
        may_use: &["synod-core"],
        tests_may_use: &[],
    },
    Layer {
        package: "synod-groups",
        directory: "crates/protocols/groups",
        may_use: &["synod-core"],
        tests_may_use: &[],
    },
    Layer {
        package: "synod-agreement",
        directory: "crates/protocols/agreement",
        may_use: &["synod-basics", "synod-core"],
        tests_may_use: &[],
    },
    Layer {
        package: "synod-logs",
        directory: "crates/protocols/logs",
        may_use: &["synod-agreement", "synod-core"],
        tests_may_use: &[],
    },
    Layer {
        package: "synod-protocols",
        directory: "crates/protocols",
        may_use: &["synod-agreement", "synod-basics", "synod-core", "synod-groups", "synod-logs"],
        tests_may_use: &["synod-sim", "synod-check"],
    },
    Layer {
        package: "synod-sim",
        directory: "crates/sim",
        may_use: &["synod-core"],
        tests_may_use: &["synod-protocols"],
    },
    Layer {
        package: "synod-check",
        directory: "crates/check",
        may_use: &["synod-core", "synod-sim"],
        tests_may_use: &["synod-protocols", "synod-drivers"],
    },
    Layer {
        package: "synod-drivers",
        directory: "crates/drivers",
        may_use: &["synod-core", "synod-sim", "synod-check"],
        tests_may_use: &["synod-protocols"],
    },
    Layer {
        package: "synod-draw",
        directory: "crates/draw",
        may_use: &["synod-core", "synod-sim"],
        tests_may_use: &["synod-protocols", "synod-drivers"],
    },
    Layer {
        package: "synod-experiment",
        directory: "crates/experiment",
        may_use: &["synod-check", "synod-core", "synod-draw", "synod-protocols", "synod-sim"],
        tests_may_use: &[],
    },
    Layer { package: "synod-wal", directory: "crates/wal", may_use: &[], tests_may_use: &[] },
    Layer { package: "synod-client", directory: "crates/client", may_use: &[], tests_may_use: &[] },
    Layer {
        package: "synod-node",
        directory: "crates/node",
        may_use: &["synod-client", "synod-core", "synod-groups", "synod-logs", "synod-wal"],
        tests_may_use: &[],
    },
    Layer {
        package: "synod-net",
        directory: "crates/net",
        may_use: &["synod-core", "synod-sim", "synod-wal"],
        tests_may_use: &["synod-protocols"],
    },
];

/// The directory of the catalogue and its parts.
const PROTOCOLS: &str = "crates/protocols";

/// What protocols may use from outside: libraries without clock, socket, thread or randomness.
const PURE_LIBRARIES: &[&str] =
    &["ed25519-dalek", "postcard", "serde", "sha2", "smallvec", "thiserror"];

/// The parts of the standard library through which the world shows.
const WORLDLY: &[&str] = &["env", "fs", "io", "net", "process", "thread", "time"];

pub(super) fn layers_use_only_what_lies_below(tree: &Tree) -> Vec<Finding> {
    let members: Vec<&str> = tree.packages.iter().map(|package| package.name.as_str()).collect();
    let mut findings = Vec::new();
    for (layer, package) in layers(tree) {
        let allowed = |used: &Dependency| {
            let name = used.name.as_str();
            layer.may_use.contains(&name)
                || used.for_tests_only && layer.tests_may_use.contains(&name)
        };
        let of_ours = |used: &&Dependency| members.contains(&used.name.as_str());
        for used in package.dependencies.iter().filter(of_ours).filter(|used| !allowed(used)) {
            let what = format!("{} uses {}", layer.package, used.name);
            let remedy = match layer.may_use {
                [] => "it may use no crate of the workspace".to_owned(),
                may_use => format!("of the workspace it may use only {}", may_use.join(" and ")),
            };
            findings.push(in_manifest(tree, layer, &used.name, what, remedy));
        }
    }
    findings
}

pub(super) fn protocols_use_only_pure_libraries(tree: &Tree) -> Vec<Finding> {
    let members: Vec<&str> = tree.packages.iter().map(|package| package.name.as_str()).collect();
    let mut findings = Vec::new();
    for (layer, package) in layers(tree).filter(|(layer, _)| layer.directory.starts_with(PROTOCOLS))
    {
        for used in package.dependencies.iter().filter(|used| !used.for_tests_only) {
            let name = used.name.as_str();
            if !members.contains(&name) && !PURE_LIBRARIES.contains(&name) {
                let what = format!("the protocols use {name}");
                let remedy = "do without it; if it knows neither clock, socket, thread nor \
                              randomness, add it to PURE_LIBRARIES in xtask/src/tidy/architecture.rs";
                findings.push(in_manifest(tree, layer, name, what, remedy.to_owned()));
            }
        }
    }
    findings
}

fn layers(tree: &Tree) -> impl Iterator<Item = (&'static Layer, &Package)> {
    tree.packages.iter().filter_map(|package| {
        Some((LAYERS.iter().find(|layer| layer.package == package.name)?, package))
    })
}

/// A finding at the line of the manifest that names `dependency`.
fn in_manifest(tree: &Tree, layer: &Layer, name: &str, what: String, remedy: String) -> Finding {
    let path = format!("{}/Cargo.toml", layer.directory);
    let text = tree.text(&path).unwrap_or_default();
    let line = numbered(text).find(|(_, line)| line.starts_with(name)).map_or(1, |(line, _)| line);
    Finding::new(&path, line, what, remedy)
}

/// Whether a file is a source of the catalogue or of one of its parts.
pub(super) fn is_protocol(path: &str) -> bool {
    path.strip_prefix(PROTOCOLS)
        .and_then(|inside| inside.split_once("/src/"))
        .is_some_and(|(part, _)| part.matches('/').count() <= 1)
}

pub(super) fn protocols_are_pure(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let protocols = tree.texts(".rs").filter(|(path, _)| is_protocol(path));
    for (path, text) in protocols {
        for (line, module) in standard_modules(&code(text)) {
            if WORLDLY.contains(&module.as_str()) {
                let what = format!("std::{module} in a protocol");
                findings.push(Finding::new(path, line, what, "say what you want to the `Cx`"));
            }
        }
    }
    findings
}

/// The modules of the standard library that the code names, with their lines; `use std::{…}`
/// names several.
fn standard_modules(code: &str) -> Vec<(usize, String)> {
    let mut modules = Vec::new();
    for (at, root) in code.match_indices("std::") {
        let after = &code[at + root.len()..];
        if let Some(group) = after.strip_prefix('{') {
            let line = line_of(code, at);
            modules.extend(heads_of_group(group).into_iter().map(|head| (line, head)));
        } else {
            modules.push((line_of(code, at), head(after)));
        }
    }
    modules
}

/// The first name of each item of a `use` group, up to its closing brace.
fn heads_of_group(group: &str) -> Vec<String> {
    let mut heads = vec![head(group)];
    let mut depth = 0_usize;
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => heads.push(head(&group[at + 1..])),
            _ => {}
        }
    }
    heads
}

fn head(path: &str) -> String {
    path.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

pub(super) fn the_core_forbids_unsafe_code(tree: &Tree) -> Vec<Finding> {
    let roots = LAYERS.iter().map(|layer| format!("{}/src/lib.rs", layer.directory));
    let unguarded = roots.filter(|path| {
        tree.text(path).is_some_and(|text| !code(text).contains("#![forbid(unsafe_code)]"))
    });
    let what = "unsafe code is not forbidden";
    unguarded.map(|path| Finding::new(&path, 1, what, "add #![forbid(unsafe_code)]")).collect()
}

pub(super) fn every_crate_has_the_lints(tree: &Tree) -> Vec<Finding> {
    let crates = tree.texts("/Cargo.toml").filter(|(_, text)| text.contains("[package]"));
    let without = crates.filter(|(_, text)| !text.contains("[lints]\nworkspace = true"));
    let remedy = "add `[lints]` with `workspace = true`";
    without
        .map(|(path, _)| Finding::new(path, 1, "the crate lives without the lints", remedy))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A workspace of the given manifests: name, what it uses, what its tests use.
    fn workspace(packages: &[(&str, &[&str], &[&str])]) -> Tree {
        let uses = |names: &[&str], for_tests_only| {
            let dependency = |name: &&str| Dependency { name: (*name).to_owned(), for_tests_only };
            names.iter().map(dependency).collect::<Vec<_>>()
        };
        let package = |(name, code, tests): &(&str, &[&str], &[&str])| Package {
            name: (*name).to_owned(),
            dependencies: [uses(code, false), uses(tests, true)].concat(),
        };
        Tree { files: Vec::new(), packages: packages.iter().map(package).collect() }
    }

    fn whats(findings: Vec<Finding>) -> Vec<String> {
        findings.into_iter().map(|finding| finding.what).collect()
    }

    #[test]
    fn a_layer_that_uses_the_one_above_is_caught() {
        let tree = workspace(&[
            ("synod-core", &["synod-sim", "serde"], &[]),
            ("synod-protocols", &["synod-core", "synod-sim"], &[]),
            ("synod-sim", &["synod-core", "synod-protocols"], &["synod-check"]),
            ("synod-check", &["synod-core", "synod-sim"], &["synod-protocols"]),
        ]);
        assert_eq!(
            whats(layers_use_only_what_lies_below(&tree)),
            [
                "synod-core uses synod-sim",
                "synod-protocols uses synod-sim",
                "synod-sim uses synod-protocols",
                "synod-sim uses synod-check",
            ]
        );
    }

    #[test]
    fn tests_of_the_protocols_may_use_simulator_and_explorer() {
        let tree = workspace(&[
            ("synod-core", &[], &[]),
            ("synod-sim", &["synod-core"], &[]),
            ("synod-check", &["synod-core", "synod-sim"], &[]),
            ("synod-protocols", &["synod-core"], &["synod-sim", "synod-check"]),
        ]);
        assert_eq!(layers_use_only_what_lies_below(&tree), []);
    }

    #[test]
    fn a_finding_points_at_the_line_of_the_manifest() {
        let mut tree = workspace(&[("synod-core", &["synod-sim"], &[]), ("synod-sim", &[], &[])]);
        let manifest = "[dependencies]\nserde = \"1\"\nsynod-sim.workspace = true\n";
        tree.files = Tree::of(&[("crates/core/Cargo.toml", manifest)]).files;
        assert_eq!(layers_use_only_what_lies_below(&tree)[0].line, 3);
    }

    #[test]
    fn a_protocol_library_that_could_see_the_world_is_caught() {
        let tree = workspace(&[("synod-basics", &["serde", "tokio", "rand"], &["proptest"])]);
        let said = whats(protocols_use_only_pure_libraries(&tree));
        assert_eq!(said, ["the protocols use tokio", "the protocols use rand"]);
    }

    #[test]
    fn clocks_sockets_and_threads_are_caught_in_protocols_only() {
        let text = "// std::net is not code here.\nuse std::time::Instant;\n\
                    use std::{collections::BTreeMap, net::{IpAddr, UdpSocket}, thread};\n";
        let path = "crates/protocols/basics/src/mutex/a.rs";
        let tree = Tree::of(&[
            (path, text),
            ("crates/protocols/tests/mutex/main.rs", text),
            ("crates/sim/src/a.rs", text),
        ]);
        let found = protocols_are_pure(&tree);
        assert!(found.iter().all(|finding| finding.path == path));
        assert_eq!(found.iter().map(|finding| finding.line).collect::<Vec<_>>(), [2, 3, 3]);
        assert_eq!(found[1].what, "std::net in a protocol");
    }

    #[test]
    fn a_core_crate_that_allows_unsafe_code_is_caught() {
        let tree = Tree::of(&[
            ("crates/core/src/lib.rs", "//! #![forbid(unsafe_code)]\n"),
            ("crates/sim/src/lib.rs", "#![forbid(unsafe_code)]\n"),
        ]);
        let found = the_core_forbids_unsafe_code(&tree);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].path, "crates/core/src/lib.rs");
    }

    #[test]
    fn a_crate_without_the_lints_is_caught() {
        let tree = Tree::of(&[
            ("Cargo.toml", "[workspace]\n"),
            ("crates/a/Cargo.toml", "[package]\n"),
            ("crates/b/Cargo.toml", "[package]\n[lints]\nworkspace = true\n"),
        ]);
        let found = every_crate_has_the_lints(&tree);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].path, "crates/a/Cargo.toml");
    }
}
