//! `synod run`: one run.

use crate::synod::{has_keys, json, synod};
use serde_json::Value;

#[test]
fn a_run_is_told_with_verdicts_messages_and_costs() {
    let run = json("run ricart-agrawala -n 5 --requests 100 --seed 42");
    has_keys(&run, &["algorithm", "n", "seed", "events", "verdicts", "messages", "costs"]);
    assert_eq!(
        (&run["algorithm"], &run["n"], &run["seed"]),
        (&"ricart-agrawala".into(), &5.into(), &42.into())
    );
    assert!(run["events"].as_u64() > Some(800));
    for verdict in run["verdicts"].as_array().expect("it is an array") {
        has_keys(verdict, &["property", "holds", "event"]);
        assert_eq!((verdict["holds"].as_bool(), verdict["event"].as_u64()), (Some(true), None));
    }
    assert_eq!(run["messages"]["total"], 800);
    assert_eq!(run["messages"]["by_type"]["Request"], 400);
    let cost = &run["costs"][0];
    assert_eq!((&cost["name"], &cost["measured"]), (&"messages per entry".into(), &8.0.into()));
    assert_eq!(cost["expected"], 8.0);
}

#[test]
fn a_formula_that_gives_a_range_is_told_as_a_range() {
    let run = json("run suzuki-kasami -n 5 --requests 50");
    let cost = &run["costs"][0]["expected"];
    assert!(cost["min"].is_number() && cost.get("max").is_some(), "{cost}");
}

#[test]
fn a_violation_names_the_first_event_that_shows_it() {
    let line = "run ra-no-tie-break -n 3 --requests 30 --load saturated";
    let run = json(line);
    let verdict = &run["verdicts"][0];
    assert_eq!((&verdict["property"], &verdict["holds"]), (&"ME1".into(), &false.into()));
    let event = verdict["event"].as_u64().expect("there is such an event");
    assert!(event < run["events"].as_u64().expect("it is a number"));
    let told = synod(line);
    assert_eq!(told.code, Some(1));
    assert!(told.out.contains(&format!("violated at event {event}")), "{}", told.out);
}

#[test]
fn the_same_seed_gives_the_same_words_and_another_seed_another_run() {
    let line = "run maekawa-sanders -n 7 --requests 60 --digest --seed";
    for form in ["", " -o json"] {
        let said = |seed: u64| synod(&format!("{line} {seed}{form}")).out;
        assert_eq!(said(7), said(7));
        assert_ne!(said(7), said(8));
    }
    let digest = |seed: u64| json(&format!("{line} {seed}"))["digest"].clone();
    assert_eq!(digest(7), digest(7));
    assert_ne!(digest(7), digest(8));
}

#[test]
fn requests_are_the_total_of_all_who_take_part() {
    for requests in [0, 1, 7, 10] {
        let run = json(&format!("run central-server -n 4 --requests {requests}"));
        assert_eq!(run["operations"], requests);
    }
}

#[test]
fn hops_are_measured_where_every_message_takes_the_same_time() {
    let line = "run central-server -n 4 --requests 30 --load sequential --latency 1ms";
    let run = json(line);
    let costs = run["costs"].as_array().expect("it is an array");
    let hops = costs.iter().find(|cost| cost["name"] == "entry, in hops").expect("it is measured");
    assert_eq!((&hops["measured"], &hops["expected"]), (&2.0.into(), &2.0.into()));
}

#[test]
fn lost_messages_keep_a_process_waiting() {
    let run = synod("run ricart-agrawala -n 3 --requests 9 --loss 1 -o json");
    assert_eq!(run.code, Some(1));
    let run = run.json();
    assert!(run["lost"].as_u64() > Some(0));
    let verdicts = run["verdicts"].as_array().expect("it is an array");
    let liveness = verdicts.iter().find(|verdict| verdict["property"] == "ME2");
    assert_eq!(liveness.map(|verdict| &verdict["holds"]), Some(&false.into()));
}

#[test]
fn a_run_that_was_cut_off_does_not_decide_on_its_end() {
    let line = "run ricart-agrawala -n 3 --requests 1000 --max-steps 500";
    let told = json(line);
    assert_eq!(told["ended"], "cut");
    let of = |id: &str| {
        let mut verdicts = told["verdicts"].as_array().expect("it is an array").iter();
        verdicts.find(|verdict| verdict["property"] == id).expect("it is judged").clone()
    };
    assert_eq!((&of("ME1")["holds"], &of("ME2")["holds"]), (&true.into(), &Value::Null));
    assert_eq!(of("ME2")["because"], "the run was cut off, and this is about its end");
    let ran = synod(line);
    assert_eq!(ran.code, Some(3));
    assert!(ran.out.contains("✓  ME1") && ran.out.contains("?  ME2"), "{}", ran.out);
    assert_eq!(synod(&format!("{line} --property ME1")).code, Some(0), "that was judged");
}

#[test]
fn only_the_properties_that_are_asked_for_are_judged() {
    let ids = |line: &str| -> Vec<String> {
        let run = json(line);
        let verdicts = run["verdicts"].as_array().expect("it is an array").clone();
        verdicts.iter().map(|v| v["property"].as_str().expect("a word").to_owned()).collect()
    };
    assert_eq!(ids("run central-server --property me1"), ["ME1"]);
    assert_eq!(ids("run central-server --all-properties"), ["ME1", "ME2", "ME3"]);
    assert_eq!(ids("run central-server"), ["ME1", "ME2"]);
}

#[test]
fn what_cannot_be_judged_in_a_large_group_is_not_said_to_hold() {
    let line = "run ricart-agrawala -n 65 --requests 5";
    let run = json(line);
    assert_eq!(run["not_judged"], serde_json::json!(["ME3"]));
    let verdicts = run["verdicts"].as_array().expect("it is an array");
    let order = verdicts.iter().find(|verdict| verdict["property"] == "ME3");
    assert_eq!(order.map(|verdict| &verdict["holds"]), Some(&Value::Null));
    assert_eq!(synod(line).code, Some(3));
    assert_eq!(synod(&format!("{line} --property ME1")).code, Some(0));
}

#[test]
fn faults_of_every_kind_can_be_asked_for() {
    let faults = [
        "--crashes 2 --restart disk --within 200ms",
        "--crashes 1 --restart amnesia",
        "--pauses 3",
        "--partitions 2",
        "--one-way-cuts 2 --duplicate 0.1 --reorder 0.2",
        "--fifo --multicast --link p0->p1=20ms --clock p1=+5ms,100ppm",
        "--order causal --tells 0.5 --think exp:5ms --hold 1ms",
    ];
    for fault in faults {
        let run = synod(&format!("run vector-clock -n 4 --requests 40 {fault} -o json"));
        assert!(matches!(run.code, Some(0 | 1)), "{fault}: {}", run.error);
        assert_eq!(run.json()["n"], 4);
    }
}

#[test]
fn a_run_can_be_watched_in_the_terminal() {
    let run = synod("run central-server -n 3 --requests 4 --draw");
    assert_eq!(run.code, Some(0));
    assert!(run.out.contains("▶") && run.out.contains("requests"), "{}", run.out);
}

#[test]
fn a_pool_is_used_in_a_usual_run_and_a_refused_claim_is_over_at_once() {
    let run = json("run slots -n 4 --requests 20");
    assert_eq!((&run["operations"], &run["ended"]), (&20.into(), &"quiet".into()));
    // Half of the claims find no free slot; they do not make the others look slow.
    let run = json("run slots -n 3 --requests 60 --load saturated --param slots=6");
    assert!(run["operations"].as_u64().is_some_and(|count| (1..60).contains(&count)), "{run}");
    assert_eq!(run["entry_us"]["max"], 0);
}

#[test]
fn a_run_in_which_nothing_was_fulfilled_says_so_at_the_top() {
    let told = synod("run slots -n 3 --requests 6 --param cap=0").out;
    let said = told.find("Nothing was fulfilled: no claim came of 6 requests.");
    assert!(said.is_some_and(|at| at < told.find("pi1 safe").expect("it is judged")), "{told}");
    let told = synod("run slots -n 3 --requests 6").out;
    assert!(!told.contains("Nothing was fulfilled"), "{told}");
}
