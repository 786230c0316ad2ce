//! What a cluster is for: claims on every side of a cut, and after a crash.

use crate::up::{Up, is_alive, scratch, wait_until};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// The story that docs/cluster.md tells.
fn story() -> Vec<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cluster.md");
    let page = std::fs::read_to_string(page).expect("the page is there");
    let story = page.split_once("## The story").expect("it tells a story").1;
    let story = story.split_once("\n## ").map_or(story, |(story, _)| story);
    let commands = story.lines().filter_map(|line| line.strip_prefix("$ "));
    commands.map(|line| line.split('#').next().unwrap_or(line).trim().to_owned()).collect()
}

#[test]
fn the_story_of_the_page_in_at_most_eight_commands() {
    let story = story();
    assert_eq!(story.first().map(String::as_str), Some("synod up"));
    assert!(story.len() <= 8, "{story:?}");
    let up = Up::start("");
    let mut claims = Vec::new();
    for line in &story[1..] {
        let answer = up.json(line);
        if line.contains("chaos cut") {
            up.wait_for_sides(2);
        } else if line.contains("chaos heal") {
            up.wait_for_sides(1);
        } else if line.contains("pool claim") {
            claims.push((answer["claims"][0]["item"].clone(), answer["mode"].clone()));
        } else if line.contains("pool check") {
            assert_eq!(answer["used"], claims.len());
            assert_eq!(answer["twice"], Value::Array(vec![]));
            assert_eq!(answer["not_asked"], Value::Array(vec![]));
        }
    }
    let modes: Vec<&Value> = claims.iter().map(|(_, mode)| mode).collect();
    assert_eq!(modes, ["partitioned", "partitioned"]);
    assert_ne!(claims[0].0, claims[1].0);
}

#[test]
fn both_sides_of_a_cut_serve_and_share_nothing_and_only_the_majority_changes_the_registry() {
    let up = Up::start("--nodes 3");
    up.json("pool create ports --range 20000-20299");
    up.json("chaos cut n1 : n2 n3");
    up.wait_for_sides(2);
    let mut users: BTreeMap<u64, u32> = BTreeMap::new();
    for node in ["n1", "n2", "n3"] {
        let answer = up.json(&format!("pool claim ports -n 5 --node {node}"));
        assert_eq!(answer["mode"], "partitioned");
        for claim in answer["claims"].as_array().expect("it is a list") {
            *users.entry(claim["item"].as_u64().expect("it is a number")).or_default() += 1;
        }
    }
    assert_eq!(users.len(), 15, "{users:?}");
    // Without a majority the pools go on, and the list of pools does not change.
    let refused = up.run("pool create other --size 5 --node n1").ended(69);
    assert!(refused.error.contains("no majority"), "{}", refused.error);
    up.json("pool create more --size 5 --node n2");
    up.json("chaos heal");
    up.wait_for_sides(1);
    assert_eq!(up.json("pool check ports")["used"], 15);
    let whole = up.wait_until("pool show ports", |pool| pool["absent"] == 0);
    assert_eq!(whole["owned"], 300);
}

#[test]
fn a_released_item_needs_its_token_and_is_given_back_once() {
    let up = Up::start("--nodes 3");
    up.json("pool create ports --size 90");
    let claimed = up.json("pool claim ports --label web --node n2");
    let (item, token) = (&claimed["claims"][0]["item"], &claimed["claims"][0]["token"]);
    let token = token.as_str().expect("a token is a text");
    let uses = up.json("pool show ports --uses");
    assert_eq!(uses["uses"][0]["holder"], "web");
    assert_eq!(uses["uses"][0]["node"], "n2");
    let wrong = up.run(&format!("pool release ports {item} --token 77.77")).ended(2);
    assert!(wrong.error.contains("the token is not that of the last claim"), "{}", wrong.error);
    up.json(&format!("pool release ports {item} --token {token}"));
    up.run(&format!("pool release ports {item} --token {token}")).ended(2);
    assert_eq!(up.json("pool check ports")["used"], 0);
}

#[test]
fn a_killed_node_stops_no_other_and_comes_back() {
    let up = Up::start("--nodes 3");
    up.json("pool create ports --size 300");
    up.json("chaos kill n3");
    let dead = up.run("pool claim ports --node n3").ended(69);
    assert!(dead.error.contains("n3"), "{}", dead.error);
    up.json("pool claim ports -n 10 --node n1");
    let status = up.run("status -o json").ended(3).json();
    assert_eq!(status["nodes"][2]["answers"], false);
    let check = up.run("pool check ports -o json").ended(3).json();
    assert_eq!(check["not_asked"][0]["node"], "n3");
    let again = up.run("chaos kill n3").ended(2);
    assert!(again.error.contains("synod chaos start n3"), "{}", again.error);
    up.json("chaos start n3");
    let status = up.wait_for_sides(1);
    assert_eq!(status["nodes"][2]["life"], 2);
    let twice = up.run("chaos start n3").ended(2);
    assert!(twice.error.contains("runs already"), "{}", twice.error);
    up.wait_until("pool claim ports --node n3", |answer| answer["claims"].is_array());
    assert_eq!(up.json("pool check ports")["used"], 11);
}

#[test]
fn claims_go_on_while_a_node_is_killed_and_started_again_and_no_item_is_used_twice() {
    let up = Up::start("--nodes 3");
    up.json("pool create ports --size 900");
    let is_over = AtomicBool::new(false);
    let claimed = std::thread::scope(|scope| {
        let claim = |node: &'static str| {
            let (up, is_over) = (&up, &is_over);
            scope.spawn(move || {
                let mut items = Vec::new();
                while !is_over.load(Ordering::Relaxed) {
                    let ran = up.run(&format!("pool claim ports --wait 1s --node {node} -o json"));
                    if ran.code == Some(0) {
                        items.push(ran.json()["claims"][0]["item"].as_u64());
                    }
                }
                items
            })
        };
        let claimants = ["n1", "n2"].map(claim);
        for _ in 0..2 {
            up.json("chaos kill n3");
            up.wait_until("status", |status| status["nodes"][0]["missing"][0] == "n3");
            up.json("chaos start n3");
            up.wait_for_sides(1);
        }
        is_over.store(true, Ordering::Relaxed);
        claimants.map(|claimant| claimant.join().expect("it does not panic"))
    });
    let [first, second] = claimed;
    assert!(!first.is_empty() && !second.is_empty());
    let all: BTreeSet<_> = first.iter().chain(&second).collect();
    assert_eq!(all.len(), first.len() + second.len());
    assert_eq!(up.json("pool check ports")["used"], all.len());
}

#[test]
fn faults_of_the_network_add_up_and_are_taken_back() {
    let up = Up::start("--nodes 3");
    up.json("pool create ports --size 90");
    up.json("chaos slow n1 20ms");
    up.json("chaos lose n2 5%");
    let faults = up.json("chaos one-way n1 n2");
    assert_eq!(faults["faults"]["n1"]["delay_ms"], 20);
    assert_eq!(faults["faults"]["n2"]["loss_permille"], 50);
    assert_eq!(faults["faults"]["n1"]["deaf"][0], "n2");
    // One direction is enough: two nodes are together only if each reaches the other.
    up.wait_until("status", |status| status["sides"].as_array().is_some_and(|s| s.len() == 2));
    let rest = up.json("chaos cut n3");
    assert_eq!(rest["faults"]["n1"]["deaf"], serde_json::json!(["n3"]));
    let healed = up.json("chaos heal");
    assert_eq!(healed["faults"], serde_json::json!({}));
    up.wait_for_sides(1);
    up.wait_until("pool show ports", |pool| pool["free"] == 90);
}

#[test]
fn a_stopped_node_is_waited_for_only_so_long_and_goes_on() {
    let up = Up::start("--nodes 3");
    up.json("pool create ports --size 90");
    up.json("chaos pause n2");
    up.run("pool claim ports --node n2 --timeout 300ms").ended(69);
    up.wait_until("status", |status| status["nodes"][0]["missing"][0] == "n2");
    up.json("pool claim ports");
    up.json("chaos resume n2");
    up.wait_for_sides(1);
}

#[test]
fn a_message_reaches_all_nodes() {
    let up = Up::start("--nodes 3");
    up.json("group create chat");
    let mut watch = up.command("group watch chat --for 60s -o json");
    let mut watch = watch.stdout(std::process::Stdio::piped()).spawn().expect("it can be run");
    let stdout = watch.stdout.take().expect("it is a pipe");
    // The watchers are there when the delivered messages are counted and printed.
    let lines = std::io::BufRead::lines(std::io::BufReader::new(stdout));
    let heard = std::thread::spawn(move || {
        let mut nodes = BTreeSet::new();
        for line in lines.map_while(Result::ok) {
            let event: Value = serde_json::from_str(&line).expect("it is JSON");
            if event["event"] == "message" {
                assert_eq!(event["text"], "hello all");
                nodes.insert(event["node"].as_str().expect("it is a name").to_owned());
            }
            if nodes.len() == 3 {
                break;
            }
        }
        nodes.len()
    });
    while !heard.is_finished() {
        up.json("group cast chat 'hello all' --safe");
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    assert_eq!(heard.join().expect("it does not panic"), 3);
    let _ = watch.kill();
    let _ = watch.wait();
}

#[test]
fn nodes_end_with_the_command_that_started_them() {
    for signal in ["-TERM", "-INT", "-KILL"] {
        let mut up = Up::start("--nodes 3");
        let pids = up.pids();
        assert_eq!(pids.len(), 3);
        let code = up.end(signal);
        assert_eq!(code, if signal == "-KILL" { None } else { Some(0) }, "{signal}");
        wait_until("the nodes end", || pids.iter().all(|pid| !is_alive(*pid)));
    }
}

#[test]
fn a_cluster_is_begun_anew_unless_it_is_kept() {
    let directory = scratch();
    let mut up = Up::start_in(&directory, "--nodes 3");
    up.json("pool create ports --size 90");
    let second = up.run("up --nodes 3").ended(2);
    assert!(second.error.contains("a cluster runs in"), "{}", second.error);
    assert_eq!(up.end("-TERM"), Some(0));
    let mut kept = Up::start_in(&directory, "--keep");
    kept.wait_until("pool ls", |pools| pools[0]["name"] == "ports");
    assert_eq!(kept.end("-TERM"), Some(0));
    let anew = Up::start_in(&directory, "--nodes 3");
    assert_eq!(anew.json("pool ls"), Value::Array(vec![]));
}

#[test]
fn a_node_that_leaves_hands_its_items_over() {
    let up = Up::start("--nodes 3");
    up.json("pool create ports --size 90");
    let which = up.run("member leave").ended(2);
    assert!(which.error.contains("--node n1"), "{}", which.error);
    up.json("member leave --node n3");
    up.wait_until("pool show ports", |pool| {
        pool["nodes"].as_array().is_some_and(|nodes| nodes.len() == 2) && pool["free"] == 90
    });
    let alive = up.run("member forget n1 --node n2").ended(2);
    assert!(alive.error.contains("is alive"), "{}", alive.error);
}
