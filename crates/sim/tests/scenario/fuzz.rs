//! No text makes the reader or the player panic.

use super::play;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

const FILES: &[&str] = &[
    include_str!("../../../protocols/tests/scenarios/ricart-agrawala/V2.3a.txt"),
    "algorithm: ra-r0\nprocesses: 3\nlatency: 1ms..5ms\nseed: 7\n---\np0 requests choosing 1\np1 requests\n\
     wait 20ms\ncrash p2\nrestart p2\np2 tells p1\nexpect p0 waits\n",
    "algorithm: ra-r3-split\nprocesses: 2\norder: fifo\n---\np0 requests\nfire p0 SecondHalf\npause p1\n\
     resume p1\npartition p0 | p1\nheal\nduplicate p0 -> p1 Request\ndeliver p0 -> p1 #2\n",
    "algorithm: token-ring\nprocesses: 3\nring: p0 p2 p1\nlatency: 5ms\n---\np1 requests\ndeliver 2\n\
     cut p0 -> p2\nwait 10ms\nmend p0 -> p2\ntick\n",
    "algorithm: lamport-clock\nprocesses: 3\norder: causal\nshow: lamport vector\n---\np0 acts\n\
     p0 sends p1\ndeliver p0 -> p1\np1 sends p2\ndeliver all\n",
    "algorithm: cristian\nprocesses: 3\nclock p1: -5ms 100ppm\nlatency p0 -> p1: 3ms\nmin_us: 5\n\
     attempts: 2\n---\np1 synchronises\nwait 10ms\ndeliver all\nexpect holds T5\n",
];

const WORDS: &[&str] = &[
    "p0",
    "p1",
    "p2",
    "p9",
    "->",
    "|",
    "requests",
    "leaves",
    "acts",
    "sends",
    "tells",
    "deliver",
    "drop",
    "duplicate",
    "all",
    "5",
    "0",
    "-1",
    "18446744073709551615",
    "Request",
    "Reply",
    "tell",
    "#1",
    "#2",
    "crash",
    "restart",
    "without",
    "disk",
    "pause",
    "resume",
    "partition",
    "cut",
    "mend",
    "heal",
    "fire",
    "SecondHalf",
    "sync",
    "wait",
    "10ms",
    "1s",
    "86400s",
    "tick",
    "expect",
    "is",
    "in",
    "waits",
    "nobody",
    "nothing",
    "flight",
    "violated",
    "holds",
    "ME1",
    "choosing",
    "---",
    "----",
    "#",
    ":",
    "seed:",
    "clocks:",
    "processes:",
    "algorithm:",
    "order:",
    "fifo",
    "latency:",
    "clock",
    "é",
    "\t",
    "synchronises",
    "threshold_us:",
    "attempts:",
];

/// One change of a file: a line taken out, doubled, moved, or with one word changed or added.
#[derive(Clone, Debug)]
enum Edit {
    Remove(usize),
    Double(usize, usize),
    Change(usize, usize, usize),
    Add(usize, usize, usize),
}

fn edit() -> impl Strategy<Value = Edit> {
    let line = || 0..40usize;
    prop_oneof![
        line().prop_map(Edit::Remove),
        (line(), line()).prop_map(|(from, to)| Edit::Double(from, to)),
        (line(), 0..6usize, 0..WORDS.len()).prop_map(|(l, w, with)| Edit::Change(l, w, with)),
        (line(), 0..6usize, 0..WORDS.len()).prop_map(|(l, w, with)| Edit::Add(l, w, with)),
    ]
}

fn apply(text: &str, edits: &[Edit]) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for edit in edits {
        let count = lines.len().max(1);
        match *edit {
            Edit::Remove(line) if line < lines.len() => drop(lines.remove(line)),
            Edit::Double(from, to) if from < lines.len() => {
                lines.insert(to % count, lines[from].clone());
            }
            Edit::Change(line, word, with) if line < lines.len() => {
                let mut words: Vec<&str> = lines[line].split(' ').collect();
                let place = word % words.len();
                words[place] = WORDS[with];
                lines[line] = words.join(" ");
            }
            Edit::Add(line, word, with) if line < lines.len() => {
                let mut words: Vec<&str> = lines[line].split(' ').collect();
                words.insert(word % (words.len() + 1), WORDS[with]);
                lines[line] = words.join(" ");
            }
            _ => {}
        }
    }
    lines.join("\n")
}

/// Plays, and prints the result: an error must be printable too.
fn survive(text: &str) {
    match play(text) {
        Ok(played) => {
            let again = play(&played.blessed).expect("what was played once can be played again");
            assert_eq!(again.differences, []);
        }
        Err(error) => assert!(error.in_file("a.txt").contains(&error.message)),
    }
}

#[test]
fn the_files_that_are_edited_can_be_played() {
    for text in FILES {
        play(text).unwrap_or_else(|error| panic!("{error}"));
    }
}

proptest! {
    // The same cases in every run: developers ignore a test that fails now and then.
    #![proptest_config(ProptestConfig {
        cases: 2_000,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn no_edit_of_a_file_makes_anything_panic(
        file in 0..FILES.len(),
        edits in prop::collection::vec(edit(), 1..8),
    ) {
        survive(&apply(FILES[file], &edits));
    }

    #[test]
    fn no_script_of_known_words_makes_anything_panic(
        file in 0..FILES.len(),
        lines in prop::collection::vec(prop::collection::vec(0..WORDS.len(), 1..7), 1..12),
    ) {
        let header = FILES[file].split("---").next().unwrap_or_default();
        let lines = lines.iter().map(|line| {
            line.iter().map(|word| WORDS[*word]).collect::<Vec<_>>().join(" ")
        });
        survive(&format!("{header}---\n{}", lines.collect::<Vec<_>>().join("\n")));
    }

    #[test]
    fn no_garbage_makes_anything_panic(text in "\\PC{0,80}", more in "[ -~\\n]{0,200}") {
        survive(&text);
        survive(&more);
        survive(&format!("algorithm: {text}\nprocesses: 3\n---\n{more}"));
        survive(&format!("algorithm: ra-r0\nprocesses: 3\n{more}\n---\n{text}"));
    }
}
