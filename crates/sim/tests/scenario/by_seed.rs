//! Scripts that go on by the seed, and hands that interfere.

use crate::{THREE, TWO, play, played, trace};

/// The lines of the trace that are no summary.
fn events(header: &str, script: &str) -> Vec<String> {
    let told = played(header, script).trace;
    told.into_iter().take_while(|line| !line.starts_with("messages: ")).collect()
}

#[test]
fn a_run_is_the_same_however_it_is_divided() {
    let header = format!("{THREE}\nseed: 11");
    let whole = trace(&header, "run 30");
    assert_eq!(trace(&header, "run 10\nrun 1\nrun 19"), whole);
    assert_ne!(trace(&format!("{THREE}\nseed: 12"), "run 30"), whole);
}

#[test]
fn a_run_ends_when_everybody_has_asked_as_often_as_the_header_says() {
    let told = trace(&format!("{THREE}\nrounds: 2"), "run\nexpect nobody waits\nexpect holds ME2");
    assert_eq!(told.lines().filter(|line| line.ends_with(" leaves")).count(), 6, "{told}");
    let error = play(&format!("{THREE}\n---\nrun\n")).expect_err("they ask for ever");
    assert!(error.message.contains("rounds: 3"), "{error}");
    let error = play(&format!("{THREE}\nrounds: 1\n---\nrun 1000\n")).expect_err("too much");
    assert!(error.message.contains("nothing is left to happen"), "{error}");
}

#[test]
fn a_run_for_a_time_ends_at_that_time() {
    let told = trace(&format!("{TWO}\nseed: 2"), "run 50ms\np0 tells p1");
    assert!(told.contains("\nat 50ms\np0 -> p1: tell\n"), "{told}");
}

#[test]
fn what_a_hand_left_on_its_way_arrives_by_itself_once_the_run_goes_on() {
    let header = format!("{TWO}\nthink: 1s");
    let told = trace(&header, "p0 requests\nwait 1s\nexpect p0 waits\nrun 20ms\nexpect p0 enters");
    assert!(told.contains("p1 <- p0: Request(1@p0)"), "{told}");
}

#[test]
fn a_hand_between_two_runs_is_part_of_the_run() {
    let header = format!("{THREE}\nseed: 4");
    let told = events(&header, "run 12\ncrash p0\nrun 1");
    let (before, after) = (events(&header, "run 12"), events(&header, "run 14"));
    assert_eq!(told[..before.len()], before);
    assert_eq!(told[before.len()], "p0 crashes");
    assert!(after[before.len()..].iter().any(|line| line == "p0 leaves"), "{after:?}");
    assert!(!told[before.len() + 1..].iter().any(|line| line.starts_with("p0 ")), "{told:?}");
}

/// The reply takes the place of the request that a hand delivered early; it must not inherit its
/// time.
#[test]
fn what_was_due_of_a_message_delivered_by_hand_is_forgotten() {
    let header = format!("{TWO}\nlatency: 5ms");
    let script = "p0 requests\nwait 4ms\ndeliver p0 -> p1 Request\nwait 2ms\nexpect p0 waits\n\
                  wait 2999us\nexpect p0 waits\nwait 1us\nexpect p0 enters";
    let played = played(&header, script);
    assert_eq!(played.unmet, [], "{:?}", played.trace);
}

#[test]
fn what_is_due_at_a_paused_process_happens_when_it_goes_on() {
    let header = format!("{TWO}\nlatency: 5ms");
    let script = "p0 requests\npause p1\nwait 20ms\nexpect p0 waits\nresume p1\nwait 5ms\n\
                  expect p0 enters";
    let played = played(&header, script);
    assert_eq!(played.unmet, [], "{:?}", played.trace);
}

/// The copy of an old message is due after a newer one, which must not overtake it.
#[test]
fn a_copy_made_by_hand_keeps_the_order_of_its_link() {
    let header = format!("{TWO}\norder: fifo\nlatency: 5ms");
    let script = "p0 tells p1\nwait 1ms\np0 requests\nwait 1ms\nduplicate p0 -> p1 tell\nwait 1s";
    let told = events(&header, script);
    let arrived: Vec<&str> =
        told.iter().filter(|line| line.starts_with("p1 <- p0")).map(|l| &l[10..]).collect();
    assert_eq!(arrived, ["tell", "tell", "Request(2@p0)"], "{told:?}");
}

#[test]
fn what_is_wrong_with_a_run_is_explained() {
    for (script, hint) in [("run x", "run 20"), ("run 5 6", "run 20"), ("run -1", "run 20")] {
        let error = play(&format!("{TWO}\n---\n{script}\n")).expect_err(script);
        assert!(error.message.contains(hint), "{error}");
    }
    for (line, hint) in [
        ("rounds: many", "rounds: 3"),
        ("load: heavy", "saturated"),
        ("loss: 2", "from 0 to 1"),
        ("think: long", "write 5ms"),
    ] {
        let error = play(&format!("{TWO}\n{line}\n---\nrun\n")).expect_err(line);
        assert!(error.message.contains(hint), "{error}");
    }
}

#[test]
fn loss_and_load_are_as_the_header_says() {
    let lost = trace(&format!("{TWO}\nloss: 1"), "run 2");
    assert!(lost.contains("lost p"), "{lost}");
    let header = format!("{THREE}\nrounds: 3\nload: saturated\nlatency: 1ms\nhold: 1ms");
    let busy = trace(&header, "run");
    assert!(busy.starts_with("p") && !busy.starts_with("at"), "they ask at once: {busy}");
}
