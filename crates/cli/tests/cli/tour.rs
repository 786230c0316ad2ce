//! The guided first minute.

use crate::synod::{json, synod};

#[test]
fn the_tour_shows_a_run_a_proof_a_counterexample_a_formula_real_sockets_and_a_paper_refuted() {
    let tour = synod("tour");
    assert_eq!(tour.code, Some(0), "{}", tour.error);
    for shown in [
        "█",
        "holds in every reachable state",
        "VIOLATION of ME1 at p1: p1 enters while p0 is inside",
        "messages per entry: 2(N - 1)",
        "bytes a message",
        "VIOLATION of pi1-owned",
    ] {
        assert!(tour.out.contains(shown), "the tour does not show {shown}");
    }
}

#[test]
fn one_stop_of_the_tour_is_one_command() {
    let stop = synod("tour --stop 3");
    assert_eq!(stop.code, Some(0), "{}", stop.error);
    assert!(stop.out.contains("$ synod check ra-no-tie-break"));
    assert!(!stop.out.contains("$ synod run"));
    assert_eq!(synod("tour --stop 7").code, Some(2));
}

#[test]
fn programs_are_told_what_the_stops_are() {
    let stops = json("tour");
    let commands: Vec<_> =
        stops.as_array().expect("a list").iter().map(|s| &s["command"]).collect();
    assert_eq!(commands.len(), 6);
    assert!(
        commands.iter().all(|command| command.as_str().is_some_and(|c| c.starts_with("synod ")))
    );
}
