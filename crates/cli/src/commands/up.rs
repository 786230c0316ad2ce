//! `synod up`: a real cluster in one command.

use crate::cluster::children::{self, end_in_words, end_of_log};
use crate::cluster::directory::{List, Mine};
use crate::cluster::reach::{Cluster, directory};
use crate::cluster::sides::Survey;
use crate::cluster::wait_for;
use crate::output::{self, BAD, BOLD, DIM, GOOD, Output};
use crate::parse;
use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::json;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::{Child, ExitCode};
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{sleep, timeout};

/// The pause between two looks at the nodes.
const LOOK: Duration = Duration::from_millis(50);
/// The time to answer a command of `synod chaos start`.
const PATIENCE: Duration = Duration::from_secs(1);

const EXAMPLES: &str = "\
Examples:
  synod up                                  five nodes; Ctrl-C stops them
  synod up --nodes 3 --dir /tmp/three       another cluster, in a directory of its own
  synod up --keep                           go on with the nodes of last time
  synod up -o json                          one JSON line for each event, for programs

Then, in another terminal:
  synod status                              nodes, sides, pools
  synod pool create ports --range 20000-29999
  synod pool claim ports

The nodes are processes 'synod node' on loopback, each with a directory of its own in DIR:
$XDG_STATE_HOME/synod/up, or ~/.local/state/synod/up. They end with this command, however it
ends. DIR is begun anew, unless --keep is said. Who owns which items is in memory: when all nodes
have ended, pools are there by name, and no node has items of them.";

/// Start a real cluster on this machine: pools, groups, and a network that you can cut
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Up {
    /// The number of nodes
    #[arg(long, value_name = "COUNT", default_value_t = 5)]
    #[arg(value_parser = clap::value_parser!(u8).range(1..=7))]
    nodes: u8,
    /// The directory of the cluster (or SYNOD_DIR)
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Go on with the nodes that are in the directory
    #[arg(long)]
    keep: bool,
    /// The longest time until all nodes are together
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = parse::duration)]
    timeout: Duration,
}

/// The cluster, while it runs.
struct Running {
    mine: Mine,
    list: List,
    /// One for each node; none for a node that has died.
    children: Vec<Option<Child>>,
    output: Output,
}

impl Up {
    /// Starts the cluster, and keeps it until a signal ends it.
    pub(crate) fn perform(self, output: &Output) -> Result<ExitCode> {
        let began = Instant::now();
        let is_usual = self.dir.is_none() && std::env::var_os("SYNOD_DIR").is_none();
        let mine = Mine::take(&directory(self.dir.clone()), self.keep)?;
        let mut list = match &mine.before {
            Some(before) => before.clone(),
            None => {
                let addresses = children::free_addresses(usize::from(self.nodes))?;
                List::new(&mine.path, &addresses)
            }
        };
        list.pid = std::process::id();
        let children = list.nodes.iter().map(|_| None).collect();
        let mut running = Running { mine, list, children, output: *output };
        wait_for(async {
            let result = running.run(self.timeout, began, is_usual).await;
            running.stop();
            result.map(|()| ExitCode::SUCCESS)
        })
    }
}

impl Running {
    async fn run(&mut self, patience: Duration, began: Instant, is_usual: bool) -> Result<()> {
        let mut interrupted = signal(SignalKind::interrupt())?;
        let mut terminated = signal(SignalKind::terminate())?;
        let control = self.listen()?;
        for place in 0..self.list.nodes.len() {
            self.start(place)?;
        }
        let mut is_ready = false;
        loop {
            tokio::select! {
                _ = interrupted.recv() => return Ok(()),
                _ = terminated.recv() => return Ok(()),
                asked = control.accept() => if let Ok((stream, _)) = asked {
                    self.serve(stream).await;
                },
                () = sleep(LOOK) => {}
            }
            let died = self.look()?;
            if !is_ready {
                if let Some(died) = died {
                    bail!("{died}");
                }
                is_ready = self.is_ready().await;
                if is_ready {
                    self.greet(began.elapsed(), is_usual)?;
                } else if began.elapsed() > patience {
                    bail!(
                        "the nodes are not together after {patience:?}. What they say is in \
                         {}/*.log; wait longer with --timeout",
                        self.mine.path.display()
                    );
                }
            }
        }
    }

    fn listen(&self) -> Result<UnixListener> {
        let path = &self.list.control;
        let _ = std::fs::remove_file(path);
        UnixListener::bind(path).with_context(|| format!("cannot listen at {}", path.display()))
    }

    fn start(&mut self, place: usize) -> Result<u32> {
        let child = children::start(&self.list, &self.list.nodes[place])?;
        let pid = child.id();
        self.children[place] = Some(child);
        self.list.nodes[place].pid = Some(pid);
        self.list.write(&self.mine.path)?;
        Ok(pid)
    }

    /// Says which nodes have died since the last look, and returns the last one, in words.
    fn look(&mut self) -> Result<Option<String>> {
        let mut last = None;
        for place in 0..self.children.len() {
            let Some(child) = &mut self.children[place] else { continue };
            let Some(status) = child.try_wait().context("a node cannot be waited for")? else {
                continue;
            };
            self.children[place] = None;
            self.list.nodes[place].pid = None;
            self.list.write(&self.mine.path)?;
            let node = &self.list.nodes[place];
            let end = end_in_words(status);
            if self.output.is_json() {
                self.output.line(&json!({ "event": "died", "node": node.name, "how": end }))?;
            } else {
                self.output.print(&format!(
                    "{BAD}✗{BAD:#} {} {end}. Start it again: synod chaos start {}\n",
                    node.name, node.name
                ))?;
            }
            let log = end_of_log(&node.log);
            last = Some(format!("{} {end}; the last that it said:\n{log}", node.name));
        }
        Ok(last)
    }

    async fn is_ready(&self) -> bool {
        let cluster = Cluster::of_list(&self.list, Duration::from_millis(500));
        Survey::of(&cluster).await.is_ready()
    }

    /// Starts a node again, because `synod chaos start` asks.
    async fn serve(&mut self, stream: UnixStream) {
        let (read, mut write) = stream.into_split();
        let mut line = String::new();
        let mut read = BufReader::new(read);
        // A client that says nothing is not waited for.
        if timeout(PATIENCE, read.read_line(&mut line)).await.is_err() {
            return;
        }
        let answer = match line.trim().strip_prefix("start ") {
            Some(name) => self.start_again(name),
            None => Err(anyhow::anyhow!("'{}' is no request", line.trim())),
        };
        let answer = match answer {
            Ok(pid) => format!("ok {pid}\n"),
            Err(why) => format!("error {why:#}\n"),
        };
        let _ = timeout(PATIENCE, write.write_all(answer.as_bytes())).await;
    }

    fn start_again(&mut self, name: &str) -> Result<u32> {
        // A node that was killed a moment ago may not have been looked at.
        self.look()?;
        let place = self.list.nodes.iter().position(|node| node.name == name);
        let place = place.with_context(|| {
            format!("the cluster has no node '{name}': it has {}", self.list.names().join(", "))
        })?;
        if self.children[place].is_some() {
            bail!("{name} runs already; end it first: synod chaos kill {name}");
        }
        let pid = self.start(place)?;
        match self.output.is_json() {
            true => self.output.line(&json!({ "event": "started", "node": name, "pid": pid }))?,
            false => self.output.print(&format!("{GOOD}✓{GOOD:#} {name} started again\n"))?,
        }
        Ok(pid)
    }

    fn greet(&self, after: Duration, is_usual: bool) -> Result<()> {
        if self.output.is_json() {
            return self.output.line(&json!({
                "event": "ready",
                "after_ms": after.as_millis() as u64,
                "directory": self.mine.path,
                "nodes": self.list.nodes,
            }));
        }
        let path = self.mine.path.display();
        let nodes = self.list.nodes.len();
        let mut text = format!(
            "{GOOD}✓{GOOD:#} {BOLD}{nodes} nodes{BOLD:#} in one view after {:.1} s, in {path}\n\n",
            after.as_secs_f64()
        );
        for node in &self.list.nodes {
            let _ = writeln!(
                text,
                "  {GOOD}●{GOOD:#} {:<4} {DIM}peers at{DIM:#} {:<16} {DIM}clients at{DIM:#} {}",
                node.name,
                node.address,
                node.socket.strip_prefix(&self.mine.path).unwrap_or(&node.socket).display()
            );
        }
        text += &self.suggestions(is_usual);
        self.output.print(&text)
    }

    /// What to try next.
    fn suggestions(&self, is_usual: bool) -> String {
        let names = self.list.names();
        let middle = names.len() / 2;
        let (left, right) = names.split_at(middle);
        let mut lines = Vec::new();
        if !is_usual {
            lines.push((format!("export SYNOD_DIR={}", self.mine.path.display()), "this cluster"));
        }
        lines.push(("synod pool create ports --range 20000-29999".into(), "a pool of ports"));
        lines.push(("synod pool claim ports".into(), "one of them, for you alone"));
        if let (Some(one), Some(other)) = (left.first(), right.last()) {
            let cut = format!("synod chaos cut {} : {}", left.join(" "), right.join(" "));
            lines.push((cut, "cut the network in two"));
            lines.push((format!("synod pool claim ports --node {one}"), "both sides go on,"));
            lines.push((format!("synod pool claim ports --node {other}"), "and share no port"));
            lines.push(("synod chaos heal".into(), "the network is whole again"));
        }
        lines.push(("synod pool check ports".into(), "is a port used twice?"));
        lines.push(("synod status --watch".into(), "nodes, sides, pools, all the time"));
        let width = lines.iter().map(|(line, _)| line.len()).filter(|width| *width < 50).max();
        let width = width.unwrap_or(0);
        let mut text = format!("\n{BOLD}Try, in another terminal{BOLD:#}\n");
        for (line, why) in lines {
            let _ = writeln!(text, "  {line:<width$}  {DIM}{why}{DIM:#}");
        }
        text + &format!("\n{DIM}Ctrl-C stops the cluster.{DIM:#}\n")
    }

    /// Stops all nodes.
    fn stop(&mut self) {
        let children: Vec<Child> = self.children.iter_mut().filter_map(Option::take).collect();
        let count = children.len();
        children::stop(children);
        for node in &mut self.list.nodes {
            node.pid = None;
        }
        // The next `synod up` begins without these, whether or not they can be removed.
        let _ = self.list.write(&self.mine.path);
        let _ = std::fs::remove_file(&self.list.control);
        if !self.output.is_json() {
            output::note(&format!("\n{count} nodes stopped\n"));
        }
    }
}
