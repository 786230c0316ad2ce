//! A cluster of `synod up`, in a directory of its own, and the commands that talk to it.

use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// The longest time that a test waits for anything: a machine that builds beside the tests is slow.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The result of a command.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) error: String,
}

impl Ran {
    /// Its answer, as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}\n{self:?}"))
    }

    /// The same command, which must have ended like this.
    pub(crate) fn ended(self, code: i32) -> Ran {
        assert_eq!(self.code, Some(code), "{self:?}");
        self
    }
}

/// An empty directory with a short path: sockets are in it.
pub(crate) fn scratch() -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let path = std::env::temp_dir().join(format!("synod-t{}-{number}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    path
}

/// The command itself, without settings of the user.
pub(crate) fn synod() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_synod"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("SYNOD_") {
            command.env_remove(name);
        }
    }
    command.env_remove("RUST_BACKTRACE").env("NO_COLOR", "1").stdin(Stdio::null());
    command
}

/// The words of a line; quotes keep spaces.
fn words(line: &str) -> Vec<String> {
    let parts = line.split('\'').enumerate().flat_map(|(index, part)| match index % 2 {
        0 => part.split_whitespace().map(str::to_owned).collect(),
        _ => vec![part.to_owned()],
    });
    parts.collect()
}

/// A cluster that runs. It ends with this value.
pub(crate) struct Up {
    pub(crate) directory: PathBuf,
    process: Child,
}

impl Up {
    /// Starts a cluster with these flags, and waits until it is ready.
    pub(crate) fn start(flags: &str) -> Up {
        Up::start_in(&scratch(), flags)
    }

    /// Starts a cluster in this directory.
    pub(crate) fn start_in(directory: &Path, flags: &str) -> Up {
        let mut command = synod();
        command.args(["up", "-o", "json", "--timeout", "60s"]).args(flags.split_whitespace());
        command.env("SYNOD_DIR", directory).stdout(Stdio::piped());
        let mut process = command.spawn().expect("the command can be run");
        let stdout = process.stdout.take().expect("it is a pipe");
        let mut line = String::new();
        let mut reader = BufReader::new(stdout);
        reader.read_line(&mut line).expect("it speaks UTF-8");
        let ready: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("'{line}'"));
        assert_eq!(ready["event"], "ready");
        // What it says later must find a reader.
        std::thread::spawn(move || reader.lines().map_while(Result::ok).for_each(drop));
        Up { directory: directory.to_owned(), process }
    }

    /// A command that talks to this cluster: `synod pool ls`.
    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = synod();
        let words = words(line);
        let words = words.iter().skip_while(|word| *word == "synod");
        command.args(words).env("SYNOD_DIR", &self.directory);
        command
    }

    /// Runs a command.
    pub(crate) fn run(&self, line: &str) -> Ran {
        let Output { status, stdout, stderr } =
            self.command(line).output().expect("the command can be run");
        Ran {
            code: status.code(),
            out: String::from_utf8(stdout).expect("it speaks UTF-8"),
            error: String::from_utf8(stderr).expect("it complains in UTF-8"),
        }
    }

    /// Runs a command that must succeed, and returns its JSON.
    pub(crate) fn json(&self, line: &str) -> Value {
        self.run(&format!("{} -o json", line)).ended(0).json()
    }

    /// Waits until the answer to a command is right. A command that fails is asked again, too.
    pub(crate) fn wait_until(&self, line: &str, is_right: impl Fn(&Value) -> bool) -> Value {
        let until = Instant::now() + PATIENCE;
        loop {
            let ran = self.run(&format!("{line} -o json"));
            if let Ok(answer) = serde_json::from_str(&ran.out)
                && is_right(&answer)
            {
                return answer;
            }
            assert!(Instant::now() < until, "{line}: {ran:?}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Waits until the nodes are on this number of sides, and all of them answer and know it.
    pub(crate) fn wait_for_sides(&self, sides: usize) -> Value {
        let mode = if sides == 1 { "whole" } else { "partitioned" };
        self.wait_until("status", |status| {
            let all = status["nodes"].as_array().is_some_and(|nodes| {
                nodes.iter().all(|node| node["answers"] == true && node["mode"] == mode)
            });
            all && status["sides"].as_array().map(Vec::len) == Some(sides)
        })
    }

    /// The processes of the nodes that live.
    pub(crate) fn pids(&self) -> Vec<u64> {
        let text = std::fs::read_to_string(self.directory.join("cluster.json"));
        let list: Value = serde_json::from_str(&text.expect("it is there")).expect("it is JSON");
        let nodes = list["nodes"].as_array().expect("it is a list");
        nodes.iter().filter_map(|node| node["pid"].as_u64()).collect()
    }

    /// Sends a signal to `synod up`, and waits until it ends.
    pub(crate) fn end(&mut self, signal: &str) -> Option<i32> {
        let sent = Command::new("kill").args([signal, &self.process.id().to_string()]).status();
        assert!(sent.expect("there is a command 'kill'").success());
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.process.try_wait().expect("it is our child") {
                return status.code();
            }
            assert!(Instant::now() < until, "'synod up' does not end");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Up {
    fn drop(&mut self) {
        // The nodes end with it: their standard input does.
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

/// Whether a process runs. One that waits to be collected by its parent does not.
pub(crate) fn is_alive(pid: u64) -> bool {
    let asked = Command::new("ps").args(["-o", "stat=", "-p", &pid.to_string()]).output();
    let state = String::from_utf8(asked.expect("there is a command 'ps'").stdout);
    let state = state.expect("it speaks ASCII");
    !state.trim().is_empty() && !state.trim().starts_with('Z')
}

/// Waits until a condition holds.
pub(crate) fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < until, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
