//! Every mistake is answered with its place and with a right line.

use super::{THREE, play};

fn mistake(text: &str) -> String {
    match play(text) {
        Ok(played) => panic!("it can be played:\n{}", played.blessed),
        Err(error) => error.in_file("a.txt"),
    }
}

/// The script after the header of three lines, so that it begins in line 4.
fn in_script(script: &str) -> String {
    mistake(&format!("{THREE}\n---\n{script}\n"))
}

fn answers(actual: &str, place: &str, parts: &[&str]) {
    assert!(actual.starts_with(&format!("a.txt:{place}: ")), "not at {place}: {actual}");
    for part in parts {
        assert!(actual.contains(part), "'{part}' is missing in\n{actual}");
    }
}

#[test]
fn an_unknown_process_is_pointed_at() {
    let error = in_script("deliver p7 -> p0");
    let wanted = "a.txt:4:9: there is no p7; the processes are p0..p2\n  \
                  4 | deliver p7 -> p0\n    |         ^^";
    assert_eq!(error, wanted);
}

#[test]
fn a_line_that_is_not_understood_is_answered_with_what_would_be() {
    answers(&in_script("delivr all"), "4:1", &["'delivr' is no command", "'deliver'?"]);
    answers(&in_script("xyzzy"), "4:1", &["a line begins with a process or with deliver, drop"]);
    answers(
        &in_script("p0 request"),
        "4:4",
        &["it may: requests, leaves, tells p1", "'requests'?"],
    );
    answers(&in_script("p0"), "4:3", &["what does p0 do? It may: requests, leaves"]);
    answers(&in_script("p0 tells p0"), "4:10", &["p0 cannot tell itself"]);
    answers(&in_script("deliver p0 p1"), "4:12", &["write: deliver p0 -> p1 Request"]);
    answers(&in_script("deliver p0 ->"), "4:14", &["a process is missing; write: deliver"]);
    answers(&in_script("deliver p0 -> p1 #0"), "4:18", &["the oldest is #1"]);
    answers(&in_script("heal now"), "4:6", &["'now' is not expected here; write: heal"]);
    answers(&in_script("wait long"), "4:6", &["'long' is no time; write 10ms"]);
    answers(&in_script("partition p0 p1"), "4:16", &["two parts or more"]);
    answers(&in_script("partition p0 |"), "4:15", &["none of them empty"]);
    answers(&in_script("partition p0 | p0"), "4:16", &["p0 is named twice"]);
    answers(&in_script("restart p0 maybe"), "4:12", &["restart p1 without disk"]);
    answers(&in_script("expect rain"), "4:8", &["write: expect p1 enters"]);
    answers(&in_script("expect holds ME9"), "4:14", &["there is no property ME9", "ME1, ME2, ME3"]);
}

#[test]
fn what_is_not_possible_now_is_answered_with_what_is() {
    answers(
        &in_script("p0 requests\np0 requests"),
        "5:1",
        &["'p0 requests' is not possible now: p0 waits for the answer", "p0 may ask nothing now"],
    );
    answers(&in_script("p0 leaves"), "4:1", &["not possible now; p0 may: requests"]);
    answers(&in_script("crash p0\np0 requests"), "5:1", &["p0 has crashed"]);
    answers(
        &in_script("p0 requests\ndeliver p1 -> p0 Reply"),
        "5:1",
        &[
            "no Reply is on its way p1 -> p0",
            "on their way: p0 -> p1 Request(1@p0), p0 -> p2 Request(1@p0)",
        ],
    );
    answers(&in_script("deliver p1 -> p0"), "4:1", &["no message is on", "nothing is on its way"]);
    answers(&in_script("p0 requests\ndrop p0 -> p1 #2"), "5:1", &["no message #2"]);
    answers(&in_script("deliver 1"), "4:1", &["after 0 of 1 nothing can be delivered"]);
    answers(&in_script("restart p0"), "4:1", &["p0 has not crashed"]);
    answers(&in_script("resume p0"), "4:1", &["p0 is not paused"]);
    answers(&in_script("sync p0"), "4:1", &["p0 has nothing to write"]);
    answers(&in_script("fire p0 Retry"), "4:1", &["p0 has set no timer"]);
    answers(&in_script("p0 requests\npause p1\ndeliver p0 -> p1"), "6:1", &["resume p1 first"]);
    answers(&in_script("p0 requests choosing 1"), "4:22", &["nothing is left to be chosen"]);
    answers(&in_script("p0 requests choosing x"), "4:22", &["a choice is a number"]);
}

#[test]
fn a_choice_out_of_range_and_an_unknown_timer_are_pointed_at() {
    let r0 = "algorithm: ra-r0\nprocesses: 2\n---\np0 requests choosing 99";
    answers(&mistake(r0), "4:22", &["a number from 0 to"]);
    let split = "algorithm: ra-r3-split\nprocesses: 2\n---\np0 requests\nfire p0 Third";
    answers(&mistake(split), "5:1", &["p0 has no timer Third; p0 has set: SecondHalf"]);
}

#[test]
fn a_network_with_an_order_does_not_let_messages_overtake() {
    let text = "algorithm: lamport-clock\nprocesses: 2\norder: fifo\n---\np0 sends p1\np0 sends p1\n\
                deliver p0 -> p1 #2";
    answers(&mistake(text), "7:1", &["fifo order", "another message must arrive before it"]);
}

#[test]
fn what_never_ends_is_cut_with_advice() {
    let text = "algorithm: token-ring\nprocesses: 3\n---\ndeliver all";
    answers(&mistake(text), "4:1", &["this never ends", "deliver 20", "on their way: p"]);
}

#[test]
fn a_header_that_makes_no_sense_is_answered_line_by_line() {
    let with = |line: &str| mistake(&format!("{THREE}\n{line}\n---\n"));
    answers(&with("latency: fast"), "3:10", &["'fast' is not a delay; write 5ms"]);
    answers(&with("latency p0 -> p9: 5ms"), "3:15", &["there is no p9"]);
    answers(&with("order: some"), "3:8", &["any, fifo or causal"]);
    answers(&with("multicast: maybe"), "3:12", &["yes or no"]);
    answers(&with("seed: red"), "3:7", &["a seed is a number"]);
    answers(&with("clock p1: 5"), "3:11", &["+5ms 100ppm"]);
    answers(&with("show: all"), "3:7", &["lamport and vector"]);
    answers(&with("clocks: 1 2"), "3:9", &["2 numbers for 3 processes"]);
    answers(&with("clocks: 0 0 99999999999999999999"), "3:9", &["not a whole number"]);
    answers(&with("clokcs: 1 2 3"), "3:1", &["no parameter 'clokcs'", "'clocks'?"]);
    answers(&with("processes: 4"), "3:1", &["said twice; first in line 2"]);
    answers(&with("order"), "3:1", &["name: value"]);
    answers(&with("order: # none"), "3:1", &["order has no value"]);
}

#[test]
fn a_file_without_what_every_file_needs_is_told_what_is_missing() {
    answers(&mistake(""), "1:1", &["the header has no end; write ---"]);
    answers(&mistake("---\n"), "1:1", &["does not say algorithm", "ricart-agrawala"]);
    answers(&mistake("algorithm: x\n---\n"), "1:1", &["does not say processes"]);
    answers(&mistake("algorithm: x\nprocesses: 0\n---\n"), "2:12", &["between 1 and 100"]);
    let misspelt = "algorithm: ricart-agarwala\nprocesses: 2\n---\n";
    answers(&mistake(misspelt), "1:12", &["did you mean 'ricart-agrawala'?"]);
    let unknown = "algorithm: zab\nprocesses: 2\n---\n";
    answers(&mistake(unknown), "1:12", &["there are: ricart-agrawala, token-ring, ra-r0"]);
    let small = "algorithm: cristian\nprocesses: 1\n---\n";
    answers(&mistake(small), "2:12", &["cristian needs at least 2 processes"]);
}
