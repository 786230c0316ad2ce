//! Scenarios: their language, their answers to mistakes, and that no text makes them panic.

mod again;
mod by_seed;
mod fuzz;
mod mistakes;

use synod_core::Algorithm;
use synod_protocols::mutex::mutants::{R0, R3Split};
use synod_protocols::mutex::{RicartAgrawala, TokenRing};
use synod_protocols::time::{Cristian, LamportClock};
use synod_sim::scenario::{ParseError, Played, Scenario};

/// Plays a text with one of a few algorithms.
fn play(text: &str) -> Result<Played, ParseError> {
    let scenario = Scenario::parse(text)?;
    let mut known = Vec::new();
    macro_rules! try_with {
        ($($algorithm:ty),*) => {
            $(if <$algorithm>::CARD.answers_to(scenario.algorithm()) {
                return scenario.play::<$algorithm>();
            }
            known.push(<$algorithm>::CARD.name);)*
        };
    }
    try_with!(RicartAgrawala, TokenRing, R0, R3Split, LamportClock, Cristian);
    Err(scenario.unknown_algorithm(known))
}

/// Plays a script that must be possible.
fn played(header: &str, script: &str) -> Played {
    play(&format!("{header}\n---\n{script}\n")).unwrap_or_else(|error| panic!("{error}"))
}

fn trace(header: &str, script: &str) -> String {
    played(header, script).trace.join("\n")
}

/// Whether the lines come in the trace, in this order.
fn tells(trace: &str, lines: &[&str]) {
    let mut rest = trace.lines();
    for line in lines {
        assert!(rest.any(|told| told == *line), "'{line}' is missing, or too early, in\n{trace}");
    }
}

const TWO: &str = "algorithm: ricart-agrawala\nprocesses: 2";
const THREE: &str = "algorithm: ricart-agrawala\nprocesses: 3";

#[test]
fn a_blessed_file_passes_and_keeps_its_comments() {
    let text = format!("# A story.\n{TWO} # two\n\n---\np0 requests # now\n\ndeliver all\n");
    let blessed = play(&text).expect("it can be played").blessed;
    assert!(blessed.starts_with(&format!("{text}----\np0 requests\n")), "{blessed}");
    let again = play(&blessed).expect("it can be played again");
    assert!(again.passed, "{:?}", again.differences);
    assert_eq!(again.blessed, blessed);
}

#[test]
fn a_changed_line_of_the_trace_is_one_difference_with_its_line() {
    let blessed = played(TWO, "p0 requests\ndeliver all").blessed;
    let changed = blessed.replace("p1 <- p0: Request(1@p0)", "p1 <- p0: Request(2@p0)");
    let played = play(&changed).expect("it can be played");
    assert!(!played.passed);
    let [difference] = played.differences.as_slice() else { panic!("{:?}", played.differences) };
    assert_eq!(difference.line, 9);
    assert_eq!(difference.expected.as_deref(), Some("p1 <- p0: Request(2@p0)"));
    assert_eq!(difference.actual.as_deref(), Some("p1 <- p0: Request(1@p0)"));
}

#[test]
fn a_file_without_a_trace_passes_if_its_expectations_are_true() {
    assert!(played(TWO, "p0 requests\nexpect p0 waits\ndeliver all\nexpect p0 enters").passed);
    let wrong =
        played(TWO, "p0 requests\nexpect p0 enters\nexpect nobody waits\nexpect 3 messages");
    let told: Vec<String> = wrong.unmet.iter().map(|unmet| unmet.message.clone()).collect();
    assert!(!wrong.passed && wrong.differences.is_empty());
    assert!(told[0].contains("the last that p0 said or heard is: requests"), "{told:?}");
    assert!(told[1].contains("waiting: p0"), "{told:?}");
    assert!(told[2].contains("1 messages were sent"), "{told:?}");
}

#[test]
fn lamport_and_vector_times_are_shown_if_the_header_says_so() {
    let header = format!("{TWO}\nshow: lamport vector");
    let trace = trace(&header, "p0 requests\ndeliver all");
    tells(
        &trace,
        &[
            "p0 requests  lamport 2  vector [2,0]",
            "  p0 -> p1: Request(1@p0)  lamport 3  vector [3,0]",
            "p1 <- p0: Request(1@p0)  lamport 4  vector [3,2]",
        ],
    );
}

#[test]
fn while_time_passes_messages_arrive_after_their_latency() {
    let header = format!("{THREE}\nlatency: 5ms\nlatency p0 -> p2: 2ms");
    let trace =
        trace(&header, "p0 requests\nwait 9ms\nexpect p0 waits\nwait 1ms\nexpect p0 enters");
    tells(&trace, &["at 2ms", "p2 <- p0: Request(1@p0)", "at 5ms", "p1 <- p0: Request(1@p0)"]);
    tells(&trace, &["at 7ms", "p0 <- p2: Reply { clock: 3 }", "at 10ms", "  p0 enters"]);
}

#[test]
fn without_a_latency_messages_wait_to_be_delivered_by_hand() {
    let trace = trace(TWO, "p0 requests\nwait 1s\nexpect 1 message\ndeliver all\nexpect p0 enters");
    tells(&trace, &["p0 requests", "at 1s", "p1 <- p0: Request(1@p0)"]);
}

#[test]
fn what_is_due_at_a_paused_process_waits_until_it_goes_on() {
    let header = format!("{TWO}\nlatency: 5ms");
    let trace = trace(&header, "p0 requests\npause p1\nwait 10ms\nresume p1\nwait 1ms");
    tells(&trace, &["p1 pauses", "at 10ms", "p1 resumes", "p1 <- p0: Request(1@p0)"]);
}

#[test]
fn a_message_that_was_delivered_by_hand_does_not_arrive_again_in_its_time() {
    let header = format!("{TWO}\nlatency: 5ms");
    let script = "p0 requests\ndeliver 1\nwait 1s\nexpect 2 messages\nexpect nothing in flight";
    let trace = trace(&header, script);
    assert_eq!(trace.matches("p1 <- p0").count(), 1, "{trace}");
}

#[test]
fn a_timer_runs_out_by_hand_or_in_its_time() {
    let header = "algorithm: ra-r3-split\nprocesses: 2";
    for script in
        ["p0 requests\nfire p0 SecondHalf", "p0 requests\nfire p0", "p0 requests\nwait 0ms"]
    {
        tells(
            &trace(header, script),
            &["p0 timer SecondHalf", "  p0 -> p1: Request { number: 1 }"],
        );
    }
}

#[test]
fn choices_can_be_fixed_and_come_from_the_seed_otherwise() {
    let header = "algorithm: ra-r0\nprocesses: 2";
    for number in 0..3 {
        let trace = trace(header, &format!("p0 requests choosing {number}"));
        tells(&trace, &[&format!("  p0 -> p1: Request {{ number: {} }}", number + 1)]);
    }
    let by_seed = |seed| trace(&format!("{header}\nseed: {seed}"), "p0 requests\np1 requests");
    assert_eq!(by_seed(1), by_seed(1));
    assert!((0..20).any(|seed| by_seed(seed) != by_seed(1)), "the seed does not matter");
}

#[test]
fn every_fault_is_told() {
    let script = "p0 requests\ndrop p0 -> p1\nduplicate p0 -> p2 Request\ndeliver p0 -> p2 #2\n\
                  p1 tells p2\ncrash p2\ndeliver all\nrestart p2 without disk\n\
                  partition p0 p1 | p2\np2 requests\nheal\ncut p1 -> p0\np1 tells p0\nmend p1 -> p0";
    let trace = trace(THREE, script);
    tells(
        &trace,
        &[
            "lost p0 -> p1: Request(1@p0)",
            "duplicated p0 -> p2: Request(1@p0)",
            "p2 <- p0: Request(1@p0)",
            "p1 -> p2: tell",
            "p2 crashes",
            "lost p0 -> p2: Request(1@p0) (nobody is there)",
            "lost p1 -> p2: tell (nobody is there)",
            "p2 restarts without its disk",
            "partition p0 p1 | p2",
            "  lost p2 -> p0: Request(1@p2) (the link is cut)",
            "heal",
            "cut p1 -> p0",
            "  lost p1 -> p0: tell (the link is cut)",
            "mend p1 -> p0",
            "violated ME2: p0 waits, and nothing can happen any more",
            "waiting: p0 p2",
        ],
    );
}

#[test]
fn liveness_is_open_while_a_process_may_still_be_answered() {
    let waits = "p0 requests\np1 requests\ndeliver all";
    tells(
        &trace(TWO, waits),
        &["waiting: p1", "holds: ME1 ME3 somebody-defers-nobody", "open: ME2"],
    );
    tells(&trace(TWO, "p0 requests"), &["in flight: p0 -> p1 Request(1@p0)", "open: ME2"]);
    tells(
        &trace(TWO, "p0 requests\ndeliver all\np0 leaves"),
        &["messages: 2 (Reply 1, Request 1)"],
    );
    let lost = "p0 requests\ndrop p0 -> p1\nexpect violated ME2\nexpect holds ME1";
    assert!(played(TWO, lost).passed);
}

#[test]
fn the_clocks_of_the_header_are_what_the_processes_see() {
    let header = "algorithm: cristian\nprocesses: 2\nlatency: 5ms\nclock p1: -3ms\n\
                  clock p0: +1s 100000ppm";
    let trace = trace(header, "p1 synchronises\nwait 10ms");
    tells(&trace, &["  p1 sees -3ms", "  p0 sees 1005500us", "  p1 sees 7ms"]);
}

#[test]
fn a_network_that_can_multicast_carries_a_request_once() {
    let header = format!("{THREE}\nmulticast: yes");
    tells(&trace(&header, "p0 requests\ndeliver all"), &["messages: 3 (Reply 2, Request 1)"]);
}
