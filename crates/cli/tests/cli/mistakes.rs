//! What cannot be carried out is answered with exit code 2, and with what to do instead.

use crate::synod::{synod, with_words};

fn refused(line: &str, hint: &str) {
    let ran = synod(line);
    assert_eq!(ran.code, Some(2), "{line}: {}", ran.out);
    assert!(ran.error.contains(hint), "{line}: {}", ran.error);
    assert!(!ran.error.contains("panicked"), "{line}: {}", ran.error);
}

#[test]
fn unknown_names_are_answered_with_the_nearest() {
    for command in ["run", "show", "check", "sweep"] {
        refused(&format!("{command} ricart-agrawla"), "did you mean ricart-agrawala");
        refused(&format!("{command} xyzzy"), "synod list");
    }
    refused("show RAFT", "did you mean raft");
    refused("rum ricart-agrawala", "run");
    refused("list --family xyzzy", "mutual exclusion");
    refused("run central-server --property ME9", "ME1, ME2, ME3");
    refused("check central-server --property ME9", "ME1, ME2, ME3");
    refused("run ricart-agrawala --param speed=9", "it has: clocks");
    refused("sweep central-server --cost money", "messages per entry");
}

#[test]
fn groups_that_cannot_be_are_refused() {
    refused("run ricart-agrawala -n 0", "between 1 and");
    refused("run ricart-agrawala -n 99999999999", "between 1 and");
    refused("run central-server -n 1", "at least 2");
    refused("check ricart-agrawala -n 0", "between 1 and");
    refused("check ricart-agrawala -n 1000", "synod run");
    refused("check central-server -n 1", "at least 2");
    refused("sweep ricart-agrawala --n 0..4", "between 1 and");
    refused("sweep ricart-agrawala --n 9999", "takes too long");
    refused("sweep ricart-agrawala --n 5..2", "2..64");
    refused("sweep central-server --n 1", "at least 2");
}

#[test]
fn faults_that_cannot_be_are_refused() {
    refused("run ricart-agrawala --loss 1.5", "from 0 to 1");
    refused("run ricart-agrawala --duplicate often", "from 0 to 1");
    refused("run ricart-agrawala --crashes many", "whole number");
    refused("run ricart-agrawala --restart sometimes", "amnesia");
    refused("run ricart-agrawala --latency 5", "write 5ms");
    refused("run ricart-agrawala --within soon", "500ms");
    refused("run ricart-agrawala --link p0=5ms", "p0->p1=20ms");
    refused("run ricart-agrawala -n 3 --link p0->p3=5ms", "p0..p2");
    refused("run ricart-agrawala -n 3 --clock p7=+5ms", "p0..p2");
    refused("run ricart-agrawala --clock p1=fast", "100ppm");
    refused("run ricart-agrawala --fifo --order causal", "cannot be used with");
    refused("check ricart-agrawala --drops many", "whole number");
    refused("check ricart-agrawala --rounds often", "forever");
}

#[test]
fn numbers_that_cannot_be_are_refused() {
    refused("run ricart-agrawala --requests -1", "between 0 and");
    refused("run ricart-agrawala --loss -0.5", "from 0 to 1");
    refused("run ricart-agrawala --seeds 0", "at least 1");
    refused("run ricart-agrawala --seed -1", "--seed");
    refused("run ricart-agrawala --seeds 10 --seed 18446744073709551615", "smaller");
    refused("check ricart-agrawala --depth 0", "at least 1");
    refused("run ricart-agrawala --window 5..5", "100..250");
    refused("run ricart-agrawala --draw --window 0..999999999", "cannot be looked at");
}

#[test]
fn files_that_cannot_be_written_are_refused_before_anything_runs() {
    for flag in ["--trace", "--svg", "--shiviz", "--mermaid"] {
        let words = ["run", "ricart-agrawala", flag, "no/such/directory/x"];
        let ran = with_words(words);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{flag}");
        assert!(ran.error.contains("cannot write no/such/directory/x"), "{}", ran.error);
        let ran = with_words(["check", "ra-no-tie-break", flag, "no/such/directory/x"]);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{flag}");
    }
}

#[test]
fn what_cannot_go_together_is_refused() {
    refused("run central-server --mermaid -o json", "name a file");
    refused("run central-server --draw -o json", "leave one of them out");
    refused("run central-server --seeds 5 --draw", "cannot be used with");
    refused("run central-server -n 2000 --digest", "at most");
    refused("list --mutants --no-mutants", "cannot be used with");
    refused("run", "NAME");
    refused("", "Usage");
}

#[test]
fn a_report_that_cannot_be_written_is_refused_before_the_work() {
    // Millions of rounds would take minutes: the answer comes before them.
    let line = "slots experiment --rounds 100000000 --seeds 1 --html /nowhere/report.html";
    refused(line, "cannot write /nowhere/report.html");
}
