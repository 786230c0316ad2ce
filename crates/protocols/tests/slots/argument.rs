//! The argument for one owner: `docs/slots.md`, the header of the module and the code number its
//! steps alike.

use std::fs;
use std::path::{Path, PathBuf};

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("groups/src/slots")
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The numbered steps of the argument in full: their titles.
fn steps_of_the_page() -> Vec<String> {
    let page = text(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/slots.md"));
    let argument = page.split("## Why no slot has two owners").nth(1).expect("the page has it");
    let argument = argument.split("\n## ").next().expect("it has a beginning");
    let title = |line: &str| Some(line.split_once(". **")?.1.split_once("**")?.0.to_owned());
    let numbered = argument.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit()));
    numbered.filter_map(title).collect()
}

/// The sources of SLOTS, each as one line.
fn sources(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("the sources are there");
    let paths = entries.map(|entry| entry.expect("it can be read").path());
    let read = |path: PathBuf| if path.is_dir() { sources(&path) } else { vec![text(&path)] };
    paths.flat_map(read).collect()
}

#[test]
fn the_header_of_the_module_has_the_steps_of_the_page() {
    let steps = steps_of_the_page();
    assert_eq!(steps.len(), 7, "{steps:?}");
    let header = text(&source().join("mod.rs"));
    for (number, step) in (1..).zip(&steps) {
        assert!(header.contains(&format!("//! {number}. {step}\n")), "{number}. {step}");
    }
}

#[test]
fn the_code_refers_to_every_step_and_to_no_other() {
    let number = |words: &str| words.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok();
    let all = sources(&source()).concat().to_lowercase();
    let mentioned =
        all.match_indices("step ").filter_map(|(at, step)| number(&all[at + step.len()..]));
    let mut mentioned: Vec<u32> = mentioned.collect();
    mentioned.sort_unstable();
    mentioned.dedup();
    assert_eq!(mentioned, [1, 2, 3, 4, 5, 6, 7]);
}
