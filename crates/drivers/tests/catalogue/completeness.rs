//! Every algorithm of the catalogue has its tests, its scenarios and a complete card.

use std::collections::BTreeMap;
use std::path::Path;
use synod_core::Card;
use synod_protocols::{entries, find};

/// `suzuki-kasami` as Rust writes it: `SuzukiKasami`.
fn in_camel_case(name: &str) -> String {
    let capitalised = |word: &str| word[..1].to_uppercase() + &word[1..];
    name.split('-').map(capitalised).collect()
}

/// All text below a directory: tests, scenarios, expected traces; but for this file, which names
/// algorithms without testing them.
fn text_below(directory: &Path) -> String {
    let mut text = String::new();
    for entry in std::fs::read_dir(directory).expect("the directory of the tests is there") {
        let path = entry.expect("its entries can be read").path();
        if path.is_dir() {
            text.push_str(&text_below(&path));
        } else if !path.ends_with("completeness.rs") {
            text.push_str(&String::from_utf8_lossy(&std::fs::read(&path).expect("it is a file")));
        }
    }
    text
}

fn mentions(text: &str, name: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '-' && c != '_').any(|word| word == name)
}

/// The gaps of a card, in words.
fn gaps(card: &Card) -> Vec<&'static str> {
    let no_counterexample = card.mutant.is_some_and(|mutant| {
        !card.counterexamples.iter().any(|shown| shown.property == mutant.breaks)
    });
    let stranger = card.mutant.is_some_and(|mutant| find(mutant.of).is_none());
    let gaps = [
        (card.title.is_empty(), "title"),
        (card.source.author.is_empty() || card.source.year == 0, "source"),
        (card.idea.is_empty(), "idea"),
        (card.rules.is_empty() && card.mutant.is_none(), "rules"),
        (card.promises.is_empty() && card.mutant.is_none(), "promises"),
        (no_counterexample, "a counterexample for what it breaks"),
        (stranger, "an algorithm that it is a mutant of"),
    ];
    gaps.into_iter().filter(|(missing, _)| *missing).map(|(_, gap)| gap).collect()
}

#[test]
fn every_algorithm_has_a_test_or_a_scenario() {
    let tests = text_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../protocols/tests"));
    let sound = entries().into_iter().filter(|entry| entry.card.mutant.is_none());
    let untested = sound
        .map(|entry| entry.card.name)
        .filter(|name| !mentions(&tests, name) && !mentions(&tests, &in_camel_case(name)));
    let untested: Vec<_> = untested.collect();
    assert!(untested.is_empty(), "write a scenario or a test for {}", untested.join(", "));
}

#[test]
fn every_card_is_filled_in() {
    for entry in entries() {
        let gaps = gaps(&entry.card);
        assert!(gaps.is_empty(), "the card of {} lacks: {}", entry.card.name, gaps.join(", "));
    }
}

#[test]
fn no_two_algorithms_answer_to_the_same_name() {
    let mut owners = BTreeMap::new();
    for Card { name, aliases, .. } in entries().iter().map(|entry| entry.card) {
        for known_as in aliases.iter().copied().chain([name]) {
            let other = owners.insert(known_as, name);
            assert_eq!(other, None, "{name} and another both answer to '{known_as}'");
        }
    }
}

#[test]
fn a_name_within_a_longer_name_is_no_mention() {
    assert!(mentions("algorithm bully\n", "bully"));
    assert!(mentions("run::<mutex::SuzukiKasami>()", &in_camel_case("suzuki-kasami")));
    assert!(!mentions("bully-mutant bully_fast", "bully"));
}

#[test]
fn a_blank_card_lacks_everything() {
    assert_eq!(gaps(&Card::BLANK), ["title", "source", "idea", "rules", "promises"]);
}
