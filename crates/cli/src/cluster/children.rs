//! Nodes as child processes. Each has a pipe as its standard input and stops when the pipe ends: so
//! no node outlives the process that started it, however that process ends.

use super::directory::{List, Place};
use anyhow::{Context, Result};
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// The end of a log that is shown when a node dies.
const SHOWN: u64 = 600;
/// A node that stops has this time.
const STOPPING: Duration = Duration::from_secs(4);
/// The pause between two looks at a process.
const LOOK: Duration = Duration::from_millis(10);

/// Addresses on loopback that are free now. The system gives outgoing connections ports above
/// 32,768, so those below stay free until the nodes take them; and another program of this kind
/// begins to look elsewhere.
pub(crate) fn free_addresses(count: usize) -> Result<Vec<SocketAddr>> {
    const PORTS: std::ops::Range<u32> = 10_000..30_000;
    let begin = std::process::id().wrapping_mul(211);
    let port = |number: u32| PORTS.start + number % PORTS.len() as u32;
    let ports = (0..PORTS.len() as u32).map(|next| port(begin.wrapping_add(next)) as u16);
    // All are held until the last one is found, so that no two are the same.
    let listeners = ports.filter_map(|port| TcpListener::bind(("127.0.0.1", port)).ok());
    let listeners: Vec<TcpListener> = listeners.take(count).collect();
    let addresses: std::io::Result<Vec<_>> =
        listeners.iter().map(TcpListener::local_addr).collect();
    let addresses = addresses.context("no port is free")?;
    anyhow::ensure!(addresses.len() == count, "fewer than {count} ports from 10000 on are free");
    Ok(addresses)
}

/// Starts a node of the list.
pub(crate) fn start(list: &List, place: &Place) -> Result<Child> {
    fs::create_dir_all(&place.data)
        .with_context(|| format!("cannot make the directory {}", place.data.display()))?;
    let log = File::options().create(true).append(true).open(&place.log);
    let log = log.with_context(|| format!("cannot write {}", place.log.display()))?;
    let program = std::env::current_exe().context("this program cannot be found")?;
    let mut command = Command::new(program);
    command.args(["node", "--name", &place.name, "--cluster", &list.cluster]);
    for peer in &list.nodes {
        command.args(["--peer", &format!("{}={}", peer.name, peer.address)]);
    }
    command.arg("--data").arg(&place.data).arg("--socket").arg(&place.socket);
    command.args(["--allow-faults", "--stop-with-stdin"]);
    // The settings of this process are not those of its nodes.
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("SYNOD_") {
            command.env_remove(name);
        }
    }
    command.stdin(Stdio::piped()).stdout(log.try_clone()?).stderr(log);
    // Ctrl-C in a terminal is for `synod up` alone, which then stops the nodes.
    command.process_group(0);
    command.spawn().with_context(|| format!("{} cannot be started", place.name))
}

/// Stops nodes: their pipes end, and the ones that do not stop in time are killed.
pub(crate) fn stop(children: Vec<Child>) {
    let mut children = children;
    for child in &mut children {
        drop(child.stdin.take());
    }
    let until = Instant::now() + STOPPING;
    for mut child in children {
        while matches!(child.try_wait(), Ok(None)) && Instant::now() < until {
            std::thread::sleep(LOOK);
        }
        // A process that has ended needs no signal, and is waited for all the same.
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// How a process ended, in words.
pub(crate) fn end_in_words(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with exit code {code}"),
        (None, Some(9)) => "was killed".to_owned(),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "ended".to_owned(),
    }
}

/// The last lines of a log.
pub(crate) fn end_of_log(path: &Path) -> String {
    let read = || {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(SHOWN)))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        std::io::Result::Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    let text = read().unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    let last = &lines[lines.len().saturating_sub(4)..];
    last.iter().map(|line| format!("    {line}\n")).collect()
}
