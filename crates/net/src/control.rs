//! What the leader and its members say to each other: lines of JSON over a socket pair, which is
//! the member's standard input. If either dies, the other sees the end of it.

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

/// No line is longer than this.
const LONGEST_LINE: usize = 1 << 20;

/// What carries the messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Medium {
    /// TCP: reliable, and in the order of sending.
    Tcp,
    /// UDP, with IP multicast: neither.
    Udp,
}

/// All that a member has to know.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Config {
    /// The algorithm, by name.
    pub algorithm: String,
    /// The group.
    pub setup: Setup,
    /// Which process it is.
    pub me: ProcessId,
    /// How often its application asks.
    pub rounds: Rounds,
    /// Where all chance comes from.
    pub seed: u64,
    pub(crate) medium: Medium,
    /// Tells this run from others on the same machine.
    pub(crate) run: u64,
    pub(crate) load: Load,
    pub(crate) think: Delay,
    pub(crate) hold: Delay,
    pub(crate) tells: f64,
    pub(crate) clocks: Vec<Clock>,
    pub(crate) faults: Faults,
    /// Where it writes down what it takes in.
    pub(crate) log: PathBuf,
    /// The directory of its disk, if its algorithm is durable, and whether a sync reaches it.
    pub(crate) disk: PathBuf,
    pub(crate) fsync: bool,
    /// Whether it is killed and started again.
    pub(crate) comes_back: bool,
    /// What it wrote down in earlier lives, in order.
    pub(crate) past: Vec<PathBuf>,
    /// How often it was started before, also if it was killed before it could begin to live.
    pub(crate) starts: u32,
}

impl Config {
    /// Which life of the process this is, from 1.
    pub(crate) fn life(&self) -> u32 {
        self.past.len() as u32 + 1
    }
}

/// What the shim does to messages before they reach a socket.
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
        }
    }
}

/// What the leader says.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Order {
    /// The first: who you are.
    Be(Box<Config>),
    /// Where the others are, and where everybody is at once.
    Connect { addresses: Vec<Option<SocketAddr>>, everybody: Option<SocketAddr> },
    /// Go: this is time 0 of the common clock, and whether a multicast is sent once for all.
    Start { epoch_us: u64, share: bool },
    /// Under a sequential load: it is your turn to ask.
    Turn,
    /// How is it going? Answer with this number.
    Report { wave: u64 },
    /// It is over.
    Stop,
}

/// What a member says.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum News {
    /// Its address.
    Listening(SocketAddr),
    /// It can hear and be heard; if not as wanted, why.
    Connected { but: Option<String> },
    /// How it is going.
    Status(Status),
    /// It has stopped as told.
    Ended(Status),
    /// It cannot go on.
    Failed(String),
}

/// How it is going at one member.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Status {
    /// The number of the question that this answers.
    pub(crate) wave: u64,
    /// Whether its application wants nothing more, for now.
    pub(crate) content: bool,
    /// Whether it asked for something and was not answered.
    pub(crate) waits: bool,
    /// Under a sequential load: whether it wants a turn.
    pub(crate) wants_turn: bool,
    /// Whether timers are set, or messages held up by the shim or in a buffer.
    pub(crate) timers: bool,
    pub(crate) held: bool,
    /// How often the application asked, or was told.
    pub(crate) progress: u64,
    /// How many operations it completed.
    pub(crate) operations: u64,
    /// How many were over.
    pub(crate) turns_over: u64,
    /// How many parcels went to each, and came from each.
    pub(crate) sent: Vec<u64>,
    pub(crate) received: Vec<u64>,
    pub(crate) traffic: Traffic,
    /// What went wrong with a link, in words.
    pub(crate) broken: Vec<String>,
}

/// What a member put on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Traffic {
    /// Messages, each receiver of a multicast on a point-to-point medium counted.
    pub(crate) parcels: u64,
    /// Bytes of them, with all that surrounds them.
    pub(crate) bytes: u64,
    /// Clients and datagrams that do not belong to the run.
    pub(crate) strangers: u64,
    /// Messages that could not be read.
    pub(crate) unreadable: u64,
}

/// One end of the line between the leader and a member.
#[derive(Debug)]
pub struct Control {
    pub(crate) stream: UnixStream,
    heard: Vec<u8>,
}

impl Control {
    pub(crate) fn new(stream: UnixStream) -> Self {
        Control { stream, heard: Vec::new() }
    }

    /// The member's end: what it was given as standard input.
    pub fn of_member() -> io::Result<Self> {
        let stream = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
        // Anything but a socket is refused here: somebody called a member by hand.
        stream.set_read_timeout(Some(Duration::from_secs(1)))?;
        Ok(Control::new(stream))
    }

    /// Waits for the first line: who this member is.
    pub fn configuration(&mut self) -> io::Result<Config> {
        match self.expect(Duration::from_secs(10))? {
            Order::Be(config) => Ok(*config),
            other => Err(io::Error::other(format!("{other:?} is not a first order"))),
        }
    }

    /// Says something.
    pub(crate) fn say<T: Serialize>(&mut self, what: &T) -> io::Result<()> {
        let mut line = serde_json::to_vec(what)?;
        line.push(b'\n');
        self.stream.write_all(&line)
    }

    /// Waits for a line, so long.
    pub(crate) fn expect<T: DeserializeOwned>(&mut self, at_most: Duration) -> io::Result<T> {
        self.stream.set_nonblocking(false)?;
        self.stream.set_read_timeout(Some(at_most))?;
        loop {
            if let Some(line) = self.next_line()? {
                return Ok(line);
            }
            if self.hear()? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }

    /// The next line, if it is there.
    pub(crate) fn next_line<T: DeserializeOwned>(&mut self) -> io::Result<Option<T>> {
        let Some(end) = self.heard.iter().position(|byte| *byte == b'\n') else {
            return match self.heard.len() > LONGEST_LINE {
                true => Err(io::Error::other("a line without an end")),
                false => Ok(None),
            };
        };
        let line = serde_json::from_slice(&self.heard[..end]);
        self.heard.drain(..=end);
        Ok(Some(line?))
    }

    /// Takes in what has arrived; how many bytes.
    pub(crate) fn hear(&mut self) -> io::Result<usize> {
        let mut bytes = [0; 4096];
        let count = self.stream.read(&mut bytes)?;
        self.heard.extend_from_slice(&bytes[..count]);
        Ok(count)
    }
}
