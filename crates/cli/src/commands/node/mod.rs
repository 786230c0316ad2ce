//! `synod node`: one node, as a daemon.

mod settings;

use crate::output::{self, GOOD, Output};
use anyhow::{Context, Result};
use clap::Args;
use serde_json::json;
use settings::Settings;
use std::io::Read;
use std::os::unix::net::UnixDatagram;
use std::process::ExitCode;
use std::time::Duration;
use synod_node::Config;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;

/// The pause between two looks whether a client has made the node leave.
const LOOK: Duration = Duration::from_millis(50);

const EXAMPLES: &str = "\
Examples:
  synod node --name n1 --data /var/lib/synod/n1 \\
      --peer n1=127.0.0.1:7401 --peer n2=127.0.0.1:7402 --peer n3=127.0.0.1:7403
  synod node --config /etc/synod/synod.toml
  synod node --config /etc/synod/synod.toml --check-config
  SYNOD_NAME=n2 synod node --config synod.toml

Every node has the same list of peers, itself included, in the same order. A flag counts before
the environment (SYNOD_NAME for --name, and so on), and that before the file, whose keys are the
names of the flags: dist/synod.toml explains each. SIGTERM and SIGINT make the node hand its
items over to the others, and leave; a node at which items are in use only stops. Between machines,
nodes need certificates ('synod cert'). To try it all on one machine: synod up.";

/// Be a node of a cluster, until a signal ends it
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Node {
    #[command(flatten)]
    settings: Settings,
    /// Check the settings, and start nothing
    #[arg(long)]
    check_config: bool,
    /// Tell systemd when the node serves (a unit of Type=notify: dist/synod.service)
    #[arg(long)]
    systemd: bool,
    /// Stop, without leaving, when standard input ends
    #[arg(long, hide = true)]
    stop_with_stdin: bool,
}

/// Why a node ends.
enum End {
    /// A signal: the node leaves.
    Signal,
    /// A client made it leave.
    HasLeft,
    /// The process that started it is gone, and the whole cluster with it.
    Abandoned,
}

impl Node {
    /// Starts the node, and keeps it until it ends.
    pub(crate) fn perform(self, output: &Output) -> Result<ExitCode> {
        let config = self.settings.config()?;
        config.check()?;
        if self.check_config {
            let value = json!({ "node": config.name, "cluster": config.cluster, "valid": true });
            let nodes = config.peers.len();
            output.answer(&value, || {
                format!(
                    "{GOOD}✓{GOOD:#} the settings of {} are valid: cluster '{}' of {nodes} nodes, \
                     data in {}\n",
                    config.name,
                    config.cluster,
                    config.data.display()
                )
            })?;
            return Ok(ExitCode::SUCCESS);
        }
        self.serve(config, output)
    }

    fn serve(self, config: Config, output: &Output) -> Result<ExitCode> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.context("the system gives no room for a runtime")?;
        // Signals are taken from the beginning, so that none ends a node that has just started.
        let mut signals = runtime.block_on(async {
            let interrupted = signal(SignalKind::interrupt())?;
            anyhow::Ok((interrupted, signal(SignalKind::terminate())?))
        })?;
        let (name, address) = (config.name.clone(), own_address(&config));
        let node = synod_node::Node::start(config)?;
        let socket = node.socket().display().to_string();
        let value =
            json!({ "event": "serving", "node": name, "peers": address, "clients": socket });
        match output.is_json() {
            true => output.line(&value)?,
            false => output
                .print(&format!("{name} serves: peers at {address}, clients at {socket}\n"))?,
        }
        if self.systemd {
            notify(&format!("READY=1\nSTATUS=peers at {address}, clients at {socket}"))?;
        }
        let abandoned = self.stop_with_stdin.then(end_of_stdin);
        let end = runtime.block_on(async {
            let abandoned = async {
                match abandoned {
                    // The sender ends with standard input, and sends nothing.
                    Some(abandoned) => drop(abandoned.await),
                    None => std::future::pending().await,
                }
            };
            let has_left = async {
                while !node.has_left() {
                    tokio::time::sleep(LOOK).await;
                }
            };
            tokio::select! {
                _ = signals.0.recv() => End::Signal,
                _ = signals.1.recv() => End::Signal,
                () = has_left => End::HasLeft,
                () = abandoned => End::Abandoned,
            }
        });
        if self.systemd {
            notify("STOPPING=1")?;
        }
        match end {
            End::Signal => {
                node.leave();
            }
            End::HasLeft => output::note(&format!("{name}: has left\n")),
            End::Abandoned => drop(node),
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn own_address(config: &Config) -> String {
    let own = config.peers.iter().find(|peer| peer.name == config.name);
    own.map(|peer| peer.address.to_string()).unwrap_or_default()
}

/// Completes when standard input ends.
fn end_of_stdin() -> oneshot::Receiver<()> {
    let (alive, ended) = oneshot::channel();
    std::thread::spawn(move || {
        let mut chunk = [0; 64];
        let mut input = std::io::stdin().lock();
        while matches!(input.read(&mut chunk), Ok(1..)) {}
        drop(alive);
    });
    ended
}

/// Tells systemd about the state of the service: a datagram to the socket that it names.
fn notify(state: &str) -> Result<()> {
    let hint = "--systemd is for a unit of Type=notify, which names a socket in NOTIFY_SOCKET";
    let name = std::env::var_os("NOTIFY_SOCKET").context(hint)?;
    let socket = UnixDatagram::unbound()?;
    let bytes = name.as_encoded_bytes();
    let sent = match bytes.strip_prefix(b"@") {
        #[cfg(target_os = "linux")]
        Some(hidden) => {
            use std::os::linux::net::SocketAddrExt;
            let address = std::os::unix::net::SocketAddr::from_abstract_name(hidden)?;
            socket.send_to_addr(state.as_bytes(), &address)
        }
        _ => socket.send_to(state.as_bytes(), &name),
    };
    sent.map(drop).context("systemd cannot be told that the node serves")
}
