//! `synod run MUTANT` shows what the mutant breaks, in a run in which the sound algorithm holds.

use crate::synod::{synod, with_words};
use serde_json::Value;
use synod_core::Card;
use synod_core::card::Mutant;
use synod_protocols::entries;

/// Mutants that no short run refutes, each with the reason. The explorer refutes them.
const ONLY_EXPLORED: [(&str, &str); 6] = [
    ("token-unfair", "a process starves only while others ask again for ever"),
    ("slots-death-of-a-life", "six faults must come in their order, at one node after the other"),
    (
        "switchboard-late",
        "a cast must be under way at the end of a view that a pool has not entered",
    ),
    ("switchboard-untold", "a node must be added while the network is cut"),
    ("switchboard-founds-again", "the founder must crash, and its next life meet the others"),
    ("switchboard-partings-forgotten", "members must part and meet again between two views"),
];

fn holds(run: &Value, property: &str) -> Value {
    let verdicts = run["verdicts"].as_array().expect("there are verdicts");
    let verdict = verdicts.iter().find(|verdict| verdict["property"] == property);
    verdict.unwrap_or_else(|| panic!("{property} is not judged"))["holds"].clone()
}

/// The words of the flags on the card, as a shell reads them: what stands in quotes is one word.
fn flags(card: &Card) -> Vec<String> {
    let parts = card.fails_with.split('\'').enumerate();
    let words = parts.flat_map(|(place, part)| match place % 2 {
        0 => part.split_whitespace().map(str::to_owned).collect(),
        _ => vec![part.to_owned()],
    });
    words.collect()
}

/// Runs the sound algorithm like the mutant.
fn sound_run(of: &str, seed: &Value, breaks: &str, card: &Card) -> Value {
    let seed = seed.to_string();
    let mut words = vec!["run", of, "--seed", seed.as_str(), "--property", breaks, "-o", "json"];
    let flags = flags(card);
    words.extend(flags.iter().map(String::as_str));
    with_words(words).json()
}

#[test]
fn a_run_of_a_mutant_breaks_what_its_card_says_and_the_sound_algorithm_holds_there() {
    for card in entries().into_iter().map(|entry| entry.card) {
        let Some(Mutant { of, breaks, .. }) = card.mutant else { continue };
        let ran = synod(&format!("run {} -o json", card.name));
        let run = ran.json();
        if ONLY_EXPLORED.iter().any(|(name, _)| *name == card.name) {
            // An invariant of worlds on the abstract engine is not judged in a run.
            let verdicts = run["verdicts"].as_array().expect("there are verdicts");
            let broken =
                verdicts.iter().any(|told| told["property"] == breaks && told["holds"] == false);
            assert!(!broken, "{} may leave the list", card.name);
            continue;
        }
        assert_eq!(ran.code, Some(1), "{}: {}", card.name, ran.error);
        assert_eq!(holds(&run, breaks), false, "{} does not break {breaks}", card.name);
        // An invariant of the mutant may be one that the sound algorithm does not have.
        let sound = sound_run(of, &run["seed"], breaks, &card);
        assert_ne!(holds(&sound, breaks), false, "{of} breaks {breaks}, too: {}", card.fails_with);
    }
}

#[test]
fn flags_of_a_run_take_the_place_of_those_on_the_card() {
    let run = synod("run sync-consensus-f-rounds -n 4 --param f=1 -o json").json();
    assert_eq!((&run["n"], &run["requests"]), (&4.into(), &100.into()));
    let seeded = synod("run ra-no-tie-break --seed 5 -o json").json();
    assert_eq!(seeded["seed"], 5);
}

#[test]
fn a_counterexample_is_told_as_on_its_card() {
    for line in ["check ra-no-tie-break", "check central-server --counterexample 1"] {
        let ran = synod(line);
        let told = synod(&format!("{line} -o json")).json();
        let story = told["story"].as_str().expect("it has a story");
        let flat = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
        let story = story.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains(&story), "{}", ran.out);
    }
    assert!(synod("check central-server -n 2 -o json").json()["story"].is_null());
}
