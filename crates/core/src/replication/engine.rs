//! The contract of an engine: its requests and its events.

use crate::durable::Durable;
use crate::process::{ProcessId, ProcessSet};
use crate::protocol::{Data, Protocol};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A client, in one of its sessions. A process that starts again begins new ones.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Client {
    /// The process where it is.
    pub at: ProcessId,
    /// Its number among the clients there.
    pub name: u32,
    /// Its session: the life of its process, and the number of sessions closed in that life.
    pub session: (u32, u32),
}

/// The name of a request.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RequestId {
    /// The client that asks.
    pub client: Client,
    /// Its number among the session's requests for the log, from 1. A client has one at a time.
    pub number: u64,
}

/// `p1.2#3`: the third request of client 2 at p1; `p1.2'4#3` in the fourth life of p1.
impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.client, self.number)
    }
}

impl fmt::Debug for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.at, self.name)?;
        match self.session {
            (1, 0) => Ok(()),
            (life, 0) => write!(f, "'{life}"),
            (life, closed) => write!(f, "'{life}.{closed}"),
        }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A client's request, as it stands in the log.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Command<O> {
    /// Its name.
    pub request: RequestId,
    /// The operation of the state machine that the client wants.
    pub operation: O,
}

impl<O: fmt::Debug> fmt::Debug for Command<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", self.request, self.operation)
    }
}

/// An entry of the log.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Entry<C> {
    /// A no-op: a leader begins with it, and fills gaps with it.
    Nothing,
    /// A command.
    Command(C),
    /// A configuration: these processes vote from here on, or from a little later.
    Voters(ProcessSet),
}

/// A request of the layer above to the engine of its process.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Ask<C, S> {
    /// Append this command to the log. The engine may lose the request, and may append the command
    /// twice. So the layer above watches for the command in the log, and asks again.
    Append(C),
    /// Answer [`Event::Readable`] with this number, when this process has applied all entries that
    /// any process had committed before now.
    Read(u64),
    /// A snapshot: the state after all entries up to `index`. The engine may discard these entries.
    Compact {
        /// The last entry that is in the state.
        index: u64,
        /// The state.
        state: S,
    },
    /// Let these processes vote from now on.
    Reconfigure(ProcessSet),
    /// Let this process lead.
    Transfer(ProcessId),
}

/// An event that the engine reports to the layer above.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Event<C, S> {
    /// The entry at this place is committed. Entries come in order: 1, 2, 3, … in each life, or
    /// from the restored state on.
    Committed {
        /// Its place, from 1.
        index: u64,
        /// The entry.
        entry: Entry<C>,
    },
    /// A snapshot, in the place of all entries up to `index`.
    Restored {
        /// The last entry that is in the state.
        index: u64,
        /// The state, as some process handed it over with [`Ask::Compact`].
        state: S,
    },
    /// A client sent this command to the engine itself, signed. If the command took effect before,
    /// the layer above answers the client again; otherwise it asks the engine to append it.
    Requested(C),
    /// The engine needs a snapshot: the layer above hands it the state after all entries that were
    /// committed so far ([`Ask::Compact`]).
    Due,
    /// This process has applied all entries that were committed before this read was asked for.
    Readable(u64),
    /// This process cannot serve that read: ask elsewhere.
    Unreadable(u64),
    /// This process leads from now on, in this term (view, ballot).
    Leads(u64),
    /// It follows, in this term; perhaps it knows whom.
    Follows {
        /// The term.
        term: u64,
        /// The leader.
        leader: Option<ProcessId>,
    },
}

/// A protocol that agrees on a log of commands `C`; a state of type `S` may take the place of its
/// beginning.
///
/// It promises that no two processes ever commit different entries at the same place, as long as
/// faults stay within its fault model; and that commands are committed in the end as long as enough
/// of its voters are up and hear each other.
pub trait Engine<C: Data, S: Data>:
    Protocol<Input = Ask<C, S>, Output = Event<C, S>> + Durable
{
    /// The processes to which the clients here send their commands, at the first try, the second, …
    /// This process itself may be among them. Empty while the engine knows no leader.
    fn whom_to_ask(&self, me: ProcessId, tries: u32) -> ProcessSet;

    /// Whether this process replies to clients of other processes: only a leader does, or all do.
    fn answers(&self, me: ProcessId) -> bool;

    /// Whether a process keeps the log. A process that does not has only clients. Its engine may
    /// pass their commands on, and its replies to others count for nothing.
    fn keeps_log(&self, _at: ProcessId) -> bool {
        true
    }

    /// The number of equal replies after which a client believes the answer.
    fn answers_needed(&self) -> usize {
        1
    }

    /// The number of further commands that the engine takes in for now.
    fn room(&self) -> usize;
}
