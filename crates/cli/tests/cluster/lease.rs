//! `synod pool run`: a command ends before the right to its item does.

use crate::up::{PATIENCE, Up, is_alive, wait_until};
use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::Instant;

/// A command that writes its process id into a file, and goes on for ever.
struct Endless {
    keeper: Child,
    file: PathBuf,
}

impl Endless {
    fn start(up: &Up, ttl: &str) -> Endless {
        let file = up.directory.join("child.pid");
        let script = format!("echo $$ > {}; while :; do sleep 0.1; done", file.display());
        let mut command = up.command(&format!("pool run ports --node n1 --ttl {ttl} --"));
        let keeper = command.args(["sh", "-c", &script]).spawn().expect("it can be run");
        let endless = Endless { keeper, file };
        wait_until("the command runs", || endless.pid().is_some());
        endless
    }

    fn pid(&self) -> Option<u64> {
        std::fs::read_to_string(&self.file).ok()?.trim().parse().ok()
    }

    fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args([signal, &self.keeper.id().to_string()]).status();
        assert!(sent.expect("there is a command 'kill'").success());
    }

    /// Waits until the command is dead.
    fn must_die(&self) {
        let pid = self.pid().expect("it runs");
        wait_until("the command is dead", || !is_alive(pid));
    }

    fn code(&mut self) -> Option<i32> {
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            if let Some(status) = self.keeper.try_wait().expect("it is our child") {
                return status.code();
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        panic!("it does not end");
    }
}

impl Drop for Endless {
    fn drop(&mut self) {
        self.signal_if_alive();
    }
}

impl Endless {
    fn signal_if_alive(&mut self) {
        if matches!(self.keeper.try_wait(), Ok(None)) {
            let _ = self.keeper.kill();
            let _ = self.keeper.wait();
        }
    }
}

fn cluster() -> Up {
    let up = Up::start("--nodes 3");
    up.json("pool create ports --range 20000-20089");
    up
}

#[test]
fn the_command_gets_its_item_and_its_exit_code_is_passed_on() {
    let up = cluster();
    let mut command = up.command("pool run ports -- sh -c");
    command.args(["echo $SYNOD_POOL $SYNOD_SLOT $SYNOD_FENCE $0; exit 7", "{slot}"]);
    let ran = command.output().expect("it can be run");
    assert_eq!(ran.status.code(), Some(7));
    let out = String::from_utf8(ran.stdout).expect("it speaks UTF-8");
    let words: Vec<&str> = out.split_whitespace().collect();
    let [pool, slot, fence, argument] = words[..] else { panic!("{out}") };
    assert_eq!((pool, slot), ("ports", argument));
    assert!((20_000..20_090).contains(&slot.parse::<u64>().expect("it is a number")));
    assert!(fence.contains('.'), "{fence}");
    // The item is given back with the end of the command.
    assert_eq!(up.json("pool check ports")["used"], 0);
    assert_eq!(up.json("session ls"), serde_json::Value::Array(vec![]));
    up.run("pool run ports -- /nowhere/at/all").ended(127);
}

#[test]
fn a_signal_is_passed_on() {
    let up = cluster();
    let mut endless = Endless::start(&up, "10s");
    assert_eq!(up.json("pool show ports --uses")["used"], 1);
    endless.signal("-TERM");
    assert_eq!(endless.code(), Some(128 + 15));
    endless.must_die();
    assert_eq!(up.json("pool check ports")["used"], 0);
}

#[test]
fn the_command_is_dead_before_its_node_is_silent_for_the_ttl() {
    let up = cluster();
    let mut endless = Endless::start(&up, "2s");
    up.json("chaos pause n1");
    assert_eq!(endless.code(), Some(74));
    endless.must_die();
    up.json("chaos resume n1");
    up.wait_for_sides(1);
}

#[test]
fn the_command_ends_although_its_keeper_is_stopped_or_killed() {
    let up = cluster();
    let mut stopped = Endless::start(&up, "2s");
    stopped.signal("-STOP");
    // Only the guard can end it now: its item is in use until the session is over.
    stopped.must_die();
    stopped.signal("-CONT");
    assert_eq!(stopped.code(), Some(74));
    drop(stopped);
    std::fs::remove_file(up.directory.join("child.pid")).expect("it is there");
    let killed = Endless::start(&up, "2s");
    killed.signal("-KILL");
    killed.must_die();
    up.wait_until("pool check ports", |check| check["used"] == 0);
}

#[test]
fn a_command_without_an_item_does_not_run() {
    let up = cluster();
    up.json("pool create one --size 1");
    let item = up.json("pool claim one")["claims"][0]["item"].clone();
    assert_eq!(item, 0);
    let refused = up.run("pool run one --wait 100ms -- echo ran").ended(73);
    assert_eq!(refused.out, "");
    assert!(refused.error.contains("pool 'one' is exhausted"), "{}", refused.error);
}
