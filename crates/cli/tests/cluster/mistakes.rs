//! What cannot be done is answered with what to do instead.

use crate::up::{Ran, Up, scratch, synod};

fn ran(line: &str, directory: &std::path::Path) -> Ran {
    let mut command = synod();
    let output = command.args(line.split_whitespace()).env("SYNOD_DIR", directory).output();
    let output = output.expect("the command can be run");
    Ran {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).expect("it speaks UTF-8"),
        error: String::from_utf8(output.stderr).expect("it complains in UTF-8"),
    }
}

#[test]
fn without_a_cluster_each_command_says_how_to_start_one() {
    let nowhere = scratch();
    for line in [
        "status",
        "pool ls",
        "pool create ports --size 9",
        "pool claim ports",
        "pool run ports -- true",
        "pool check ports",
        "group cast chat hello",
        "member ls",
        "session ls",
        "chaos heal",
        "chaos kill n1",
    ] {
        let ran = ran(line, &nowhere).ended(69);
        assert!(ran.error.contains("synod up"), "{line}: {}", ran.error);
    }
    let json = ran("pool ls -o json", &nowhere).ended(69).json();
    assert_eq!(json["error"]["code"], "no-cluster");
    let socket = ran("status --socket /nowhere/api.sock", &nowhere).ended(69);
    assert!(socket.error.contains("/nowhere/api.sock"), "{}", socket.error);
}

#[test]
fn refusals_are_told_apart_and_say_what_to_do() {
    let up = Up::start("--nodes 3");
    up.json("pool create ports --range 20000-20089");
    let refused = |line: &str, code: i32, hint: &str| {
        let ran = up.run(line).ended(code);
        assert!(ran.error.contains(hint), "{line}: {}", ran.error);
    };
    refused("pool claim port", 2, "there is ports");
    refused("pool claim ports --node n9", 2, "it has n1, n2, n3");
    refused("pool claim ports --item 7", 2, "it has 20000 to 20089");
    refused("pool create ports --size 9", 2, "exists already, with other settings");
    refused("pool create 'a b' --size 9", 2, "letters, digits");
    refused("pool create x --range 9-7", 2, "FIRST-LAST");
    refused("pool create x", 2, "--range");
    refused("pool run ports --ttl 10ms -- true", 2, "at least 1s");
    refused("pool check nothing", 2, "there is ports");
    refused("pool show nothing", 2, "there is ports");
    refused("group cast nothing hello", 2, "there is none yet");
    refused("chaos cut n1 n2 n3", 2, "n1 n2 : n3");
    refused("chaos cut n1 n1 : n2", 2, "write it once");
    refused("chaos cut n7", 2, "it has n1, n2, n3");
    refused("chaos lose n1 many", 2, "10%");
    refused("chaos one-way n1 n1", 2, "name two nodes");
    refused("member forget n1", 2, "is the node that answers");
    refused("up --nodes 9", 2, "1..=7");
    refused("pool create capped --size 90 --cap 2", 0, "");
    refused("pool claim capped -n 3 --node n1", 73, "were claimed and given back again");
    assert_eq!(up.json("pool check capped")["used"], 0);
}

#[test]
fn a_node_with_wrong_settings_does_not_start_and_says_why() {
    let nowhere = scratch();
    let refused = |line: &str, hint: &str| {
        let ran = ran(line, &nowhere).ended(2);
        assert!(ran.error.contains(hint), "{line}: {}", ran.error);
    };
    let data = nowhere.display();
    refused("node", "SYNOD_NAME=n1");
    refused(&format!("node --name n1 --data {data}"), "--peer n1=127.0.0.1:7401");
    refused(&format!("node --name n1 --data {data} --peer n1"), "NAME=ADDRESS:PORT");
    refused(&format!("node --name n9 --data {data} --peer n1=127.0.0.1:7401"), "itself included");
    refused(&format!("node --name n1 --data {data} --peer n1=10.1.2.3:7401"), "--insecure");
    refused("node --config /nowhere.toml", "cannot read the settings in /nowhere.toml");
    let dist = concat!(env!("CARGO_MANIFEST_DIR"), "/../../dist/synod.toml");
    let checked = ran(&format!("node --config {dist} --check-config -o json"), &nowhere).ended(0);
    assert_eq!(checked.json()["node"], "n1");
}
