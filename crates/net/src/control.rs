//! The messages between the coordinator and its members: lines of JSON over a socket pair. The
//! member's end is its standard input. If either side dies, the other reads the end of the stream.

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;
use synod_core::card::{Load, Rounds};
use synod_core::{Clock, ProcessId, Setup};
use synod_sim::network::{Delay, Network};

/// Limit of one line in bytes; a longer one is refused, so that the buffer stays bounded.
const LONGEST_LINE: usize = 1 << 20;

/// The transport that carries the messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Medium {
    /// TCP: reliable, and in the order of sending.
    Tcp,
    /// UDP, with IP multicast: neither reliable nor ordered.
    Udp,
}

/// The configuration of one member.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Config {
    /// The algorithm, by name.
    pub algorithm: String,
    /// The group.
    pub setup: Setup,
    /// The process that this member runs.
    pub me: ProcessId,
    /// The number of requests of its application.
    pub rounds: Rounds,
    /// The seed of the run, from which every member derives its own.
    pub seed: u64,
    pub(crate) medium: Medium,
    /// Distinguishes this run from others on the same machine.
    pub(crate) run: u64,
    pub(crate) load: Load,
    pub(crate) think: Delay,
    pub(crate) hold: Delay,
    pub(crate) tells: f64,
    pub(crate) clocks: Vec<Clock>,
    pub(crate) faults: Faults,
    /// The file of its log.
    pub(crate) log: PathBuf,
    /// The directory of its disk, if its algorithm is durable, and whether a sync reaches it.
    pub(crate) disk: PathBuf,
    pub(crate) fsync: bool,
    /// Whether the coordinator is going to kill and restart it.
    pub(crate) comes_back: bool,
    /// The logs of its earlier lives, in order.
    pub(crate) past: Vec<PathBuf>,
    /// The number of earlier starts. Unlike `past` it counts a start that was killed before its
    /// first log entry.
    pub(crate) starts: u32,
}

impl Config {
    /// The number of this life of the process, from 1.
    pub(crate) fn life(&self) -> u32 {
        self.past.len() as u32 + 1
    }
}

/// Delays and faults that the shim applies to messages before they reach a socket.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Faults {
    latency: Delay,
    links: Vec<(ProcessId, ProcessId, Delay)>,
    loss: f64,
    duplication: f64,
    reordering: f64,
}

impl From<&Network> for Faults {
    fn from(network: &Network) -> Self {
        Faults {
            latency: network.latency,
            links: network.links.iter().map(|((from, to), delay)| (*from, *to, *delay)).collect(),
            loss: network.loss,
            duplication: network.duplication,
            reordering: network.reordering,
        }
    }
}

impl From<&Faults> for Network {
    fn from(faults: &Faults) -> Self {
        Network {
            latency: faults.latency,
            links: faults.links.iter().map(|(from, to, delay)| ((*from, *to), *delay)).collect(),
            loss: faults.loss,
            duplication: faults.duplication,
            reordering: faults.reordering,
            buffer: None,
        }
    }
}

/// A message of the coordinator to a member.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Instruction {
    /// The first message: the member's configuration.
    Configure(Box<Config>),
    /// The addresses of the other members, and the address of their IP multicast group.
    Connect { addresses: Vec<Option<SocketAddr>>, everybody: Option<SocketAddr> },
    /// The run starts. `epoch_us` is time 0 of the common clock; with `share`, one datagram carries
    /// a multicast to all its receivers.
    Start { epoch_us: u64, share: bool },
    /// Under a sequential load: the application may submit one request.
    Turn,
    /// Asks for a status that carries this wave number.
    Report { wave: u64 },
    /// The run is over.
    Stop,
}

/// A message of a member to the coordinator.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum News {
    /// The member listens at this address.
    Listening(SocketAddr),
    /// The member is connected. If IP multicast does not work, `no_multicast` says why.
    Connected { no_multicast: Option<String> },
    /// The current status, periodic or on request.
    Status(Status),
    /// The member has stopped as instructed; its last status.
    Ended(Status),
    /// The member cannot go on, for this reason.
    Failed(String),
}

/// The status of one member, from which the coordinator detects the end of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Status {
    /// The wave of the last [`Instruction::Report`] before this status.
    pub(crate) wave: u64,
    /// Whether the application plans no request at present.
    pub(crate) content: bool,
    /// Whether a request of the application is unanswered.
    pub(crate) waits: bool,
    /// Under a sequential load: whether the application waits for a turn.
    pub(crate) wants_turn: bool,
    /// Whether timers are set, and the longest of all that were.
    pub(crate) timers: bool,
    pub(crate) longest_timer_ms: u64,
    /// Whether the shim or a buffer holds unsent messages.
    pub(crate) held: bool,
    /// Inputs and outputs of the application so far.
    pub(crate) progress: u64,
    /// Completed operations.
    pub(crate) operations: u64,
    /// Operations that have released their turn, completed or not.
    pub(crate) turns_over: u64,
    /// Parcels sent to each process, and received from each.
    pub(crate) sent: Vec<u64>,
    pub(crate) received: Vec<u64>,
    pub(crate) traffic: Traffic,
    /// Failures that the member noticed, in words for the report.
    pub(crate) broken: Vec<String>,
}

/// The traffic of a member on its sockets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Traffic {
    /// Messages sent. On a point-to-point medium a multicast counts once per receiver.
    pub(crate) parcels: u64,
    /// Their bytes, including heads and lengths.
    pub(crate) bytes: u64,
    /// Connections and datagrams that do not belong to the run.
    pub(crate) strangers: u64,
    /// Messages that could not be decoded.
    pub(crate) unreadable: u64,
}

/// One end of the connection between the coordinator and a member.
#[derive(Debug)]
pub struct Control {
    pub(crate) stream: UnixStream,
    buffer: Vec<u8>,
}

impl Control {
    pub(crate) fn new(stream: UnixStream) -> Self {
        Control { stream, buffer: Vec::new() }
    }

    /// The member's end, which the coordinator passed as standard input.
    pub fn of_member() -> io::Result<Self> {
        let stream = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
        // This call fails unless standard input is a socket: a user ran `synod run-member` by hand.
        stream.set_read_timeout(Some(Duration::from_secs(1)))?;
        Ok(Control::new(stream))
    }

    /// Waits for the first line, the configuration of this member.
    pub fn configuration(&mut self) -> io::Result<Config> {
        match self.expect(Duration::from_secs(10))? {
            Instruction::Configure(config) => Ok(*config),
            other => Err(io::Error::other(format!("{other:?} is not a first instruction"))),
        }
    }

    pub(crate) fn send<T: Serialize>(&mut self, what: &T) -> io::Result<()> {
        let mut line = serde_json::to_vec(what)?;
        line.push(b'\n');
        self.stream.write_all(&line)
    }

    /// Waits for the next line, but not longer than `at_most` for each part of it.
    pub(crate) fn expect<T: DeserializeOwned>(&mut self, at_most: Duration) -> io::Result<T> {
        self.stream.set_nonblocking(false)?;
        self.stream.set_read_timeout(Some(at_most))?;
        loop {
            if let Some(line) = self.next_line()? {
                return Ok(line);
            }
            if self.read_some()? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }

    /// The next line, if it has arrived completely.
    pub(crate) fn next_line<T: DeserializeOwned>(&mut self) -> io::Result<Option<T>> {
        let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') else {
            return match self.buffer.len() > LONGEST_LINE {
                true => Err(io::Error::other("a line without an end")),
                false => Ok(None),
            };
        };
        let line = serde_json::from_slice(&self.buffer[..end]);
        self.buffer.drain(..=end);
        Ok(Some(line?))
    }

    /// Reads once from the stream into the buffer; returns the number of bytes.
    pub(crate) fn read_some(&mut self) -> io::Result<usize> {
        let mut bytes = [0; 4096];
        let count = self.stream.read(&mut bytes)?;
        self.buffer.extend_from_slice(&bytes[..count]);
        Ok(count)
    }
}
