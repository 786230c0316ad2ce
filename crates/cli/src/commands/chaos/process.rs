//! Faults of processes.

use crate::cluster::directory::{List, Place};
use crate::cluster::reach::{Cluster, Reach};
use crate::cluster::trouble::Trouble;
use crate::output::{GOOD, Output};
use anyhow::{Context, Result, bail};
use clap::Args;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::time::Duration;

/// The time for `synod up` to start a node.
const PATIENCE: Duration = Duration::from_secs(5);

/// A node of a cluster of `synod up`.
#[derive(Args)]
pub(super) struct Which {
    /// Its name
    name: String,
    #[command(flatten)]
    reach: Reach,
}

impl Which {
    /// `synod chaos kill`.
    pub(super) fn kill(self, output: &Output) -> Result<ExitCode> {
        self.signal(Signal::KILL, "is killed", output)
    }

    /// `synod chaos pause`.
    pub(super) fn pause(self, output: &Output) -> Result<ExitCode> {
        self.signal(Signal::STOP, "is stopped, until 'synod chaos resume'", output)
    }

    /// `synod chaos resume`.
    pub(super) fn resume(self, output: &Output) -> Result<ExitCode> {
        self.signal(Signal::CONT, "goes on", output)
    }

    /// `synod chaos start`.
    pub(super) fn start(self, output: &Output) -> Result<ExitCode> {
        let cluster = self.reach.cluster()?;
        let (_, list) = cluster.of_up()?;
        let place = place(list, &self.name, &cluster)?;
        let answer = ask_up(list, &format!("start {}\n", place.name)).with_context(|| {
            "'synod up' does not answer, and the nodes end with it: start the cluster again, with \
             'synod up --keep'"
        })?;
        match answer.trim().split_once(' ') {
            Some(("ok", pid)) => {
                let pid: u32 = pid.parse().context("'synod up' answers with a number")?;
                output.answer(&json!({ "node": place.name, "pid": pid }), || {
                    format!("{GOOD}✓{GOOD:#} {} is started, as process {pid}\n", place.name)
                })?;
                Ok(ExitCode::SUCCESS)
            }
            Some(("error", why)) => bail!("{why}"),
            _ => bail!("'synod up' gives an answer that is none: '{}'", answer.trim()),
        }
    }

    fn signal(self, signal: Signal, done: &str, output: &Output) -> Result<ExitCode> {
        let cluster = self.reach.cluster()?;
        let (_, list) = cluster.of_up()?;
        let place = place(list, &self.name, &cluster)?;
        let hint = || format!("{0} is not running. Start it: synod chaos start {0}", place.name);
        let pid = place.pid.filter(|pid| !has_ended(*pid)).with_context(hint)?;
        let process = i32::try_from(pid).ok().and_then(Pid::from_raw).with_context(hint)?;
        kill_process(process, signal).with_context(hint)?;
        output.answer(&json!({ "node": place.name, "pid": pid }), || {
            format!("{GOOD}✓{GOOD:#} {} {done}\n", place.name)
        })?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Whether a process has ended, although `synod up` has not noticed it yet: a signal to it would
/// succeed, and do nothing.
fn has_ended(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name of the program stands in brackets, and its state behind them.
    let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    matches!(state, Some('Z' | 'X'))
}

fn place<'l>(list: &'l List, name: &str, cluster: &Cluster) -> Result<&'l Place, Trouble> {
    cluster.target(name)?;
    list.nodes
        .iter()
        .find(|place| place.name == name)
        .ok_or_else(|| Trouble::NoNode { name: name.to_owned(), known: list.names() })
}

/// Asks `synod up`, and reads its answer of one line.
fn ask_up(list: &List, request: &str) -> Result<String> {
    let mut stream = UnixStream::connect(&list.control)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.write_all(request.as_bytes())?;
    let mut answer = String::new();
    BufReader::new(stream).read_line(&mut answer)?;
    Ok(answer)
}
