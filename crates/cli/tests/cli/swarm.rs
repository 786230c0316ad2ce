//! `synod run --seeds`: one run for each of many seeds.

use crate::synod::{has_keys, json, synod, with_words};

const BROKEN: &str = "run ra-no-tie-break -n 3 --requests 12 --latency 1ms..3ms --seeds 120";

#[test]
fn a_swarm_tells_which_seeds_fail_and_how_to_see_them() {
    let ran = synod(&format!("{BROKEN} -o json"));
    assert_eq!(ran.code, Some(1));
    let told = ran.json();
    has_keys(&told, &["algorithm", "n", "seeds", "failing"]);
    assert_eq!(told["seeds"], 120);
    let failing = told["failing"].as_array().expect("it is an array");
    assert!(!failing.is_empty() && failing.len() < 120, "{} fail", failing.len());
    for one in failing {
        has_keys(one, &["seed", "property", "command"]);
    }
}

#[test]
fn the_command_of_a_failing_seed_makes_it_fail_again() {
    let line = "run ra-no-tie-break -n 3 --requests 12 --seeds 60 --link p0->p1=9ms --fifo -o json";
    let told = synod(line).json();
    let failing = told["failing"].as_array().expect("it is an array");
    let one = failing.last().expect("some seed fails");
    let command = one["command"].as_str().expect("it is a command line");
    assert!(command.contains("'p0->p1=9ms'") && !command.contains("--seeds"), "{command}");
    let words = command.replace('\'', "");
    let again = with_words(words.split_whitespace().skip(1).chain(["-o", "json"]));
    assert_eq!(again.code, Some(1), "{}", again.error);
    let again = again.json();
    let verdicts = again["verdicts"].as_array().expect("it is an array");
    let same = verdicts.iter().find(|verdict| verdict["property"] == one["property"]);
    assert_eq!(same.map(|verdict| &verdict["holds"]), Some(&false.into()));
}

#[test]
fn runs_that_are_cut_off_do_not_decide_on_their_end() {
    let line = "run ricart-agrawala -n 3 --requests 30 --seeds 5 --max-steps 20";
    let told = json(line);
    assert_eq!((&told["cut"], &told["failed"]), (&5.into(), &0.into()));
    assert_eq!((&told["undecided"]["ME1"], &told["undecided"]["ME2"]), (&0.into(), &5.into()));
    let ran = synod(line);
    assert_eq!(ran.code, Some(3));
    assert!(ran.out.contains("not decided in 5 runs"), "{}", ran.out);
    assert!(told["costs"][0]["agrees"].is_null(), "operations under way count too: {told}");
}

#[test]
fn the_number_of_threads_changes_nothing() {
    for form in ["", " -o json"] {
        let on = |threads: u32| synod(&format!("{BROKEN} --threads {threads}{form}")).out;
        assert_eq!(on(1), on(2));
        assert_eq!(on(1), on(5));
    }
}

#[test]
fn a_swarm_of_sound_runs_holds_and_agrees_with_the_formula() {
    let told = json("run ricart-agrawala -n 4 --requests 8 --seeds 50 --seed 1000");
    assert_eq!((&told["failed"], &told["seed"]), (&0.into(), &1000.into()));
    assert_eq!(told["violations"]["ME1"], 0);
    assert_eq!((&told["costs"][0]["min"], &told["costs"][0]["max"]), (&6.0.into(), &6.0.into()));
}
