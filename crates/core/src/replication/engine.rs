//! The contract of an engine: what it is asked, and what it tells.

use crate::durable::Durable;
use crate::process::{ProcessId, ProcessSet};
use crate::protocol::{Data, Protocol};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A client, in one of its sessions. A process that starts again begins new ones.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Client {
    /// Where it is.
    pub at: ProcessId,
    /// Which of the clients there.
    pub name: u32,
    /// Which of its sessions: the life of its process, and how many sessions were closed in it.
    pub session: (u32, u32),
}

/// The name of a request.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RequestId {
    /// Who asks.
    pub client: Client,
    /// Which of the session's requests for the log it is, from 1. A client has one at a time.
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

/// What stands at one place of the log.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Entry<C> {
    /// Nothing: a leader begins with it, and fills gaps with it.
    Nothing,
    /// A command.
    Command(C),
    /// From here on, or a little later, these processes vote.
    Voters(ProcessSet),
}

/// What the layer above asks of the engine at its own process.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Ask<C, S> {
    /// Put this into the log. It may come to nothing, and it may get in twice: the layer above
    /// watches for it in the log, and asks again.
    Append(C),
    /// Tell when this process knows all that was committed anywhere before now. The number is the
    /// asker's.
    Read(u64),
    /// The state machine has this state after everything up to `index`: the log need not go back
    /// farther.
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

/// What an engine tells the layer above.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Event<C, S> {
    /// The entry at this place is decided for all time. Told in order: 1, 2, 3, … in each life, or
    /// on from what was restored.
    Committed {
        /// Its place, from 1.
        index: u64,
        /// What stands there.
        entry: Entry<C>,
    },
    /// Instead of everything up to `index`, here is the state after it.
    Restored {
        /// The last entry that is in the state.
        index: u64,
        /// The state, as some process handed it over with [`Ask::Compact`].
        state: S,
    },
    /// A client asked the engine itself for this, with a proof of who it is. If the request took
    /// effect before, the layer above answers its client again; otherwise it asks the engine to
    /// append it.
    Requested(C),
    /// The engine wants to forget the beginning of the log: it is to be handed the state after all
    /// that it has told so far ([`Ask::Compact`]).
    Due,
    /// Everything that was committed before this was asked for has been told.
    Readable(u64),
    /// That read comes to nothing here: ask elsewhere.
    Unreadable(u64),
    /// This process leads from now on, in this term (view, ballot).
    Leads(u64),
    /// It follows, in this term; perhaps it knows whom.
    Follows {
        /// The term.
        term: u64,
        /// Who leads.
        leader: Option<ProcessId>,
    },
}

/// A protocol that agrees on a log of commands `C`; a state of type `S` may take the place of its
/// beginning.
///
/// It promises that no two processes are ever told different entries for the same place, as long as
/// faults stay within its fault model; and that commands are committed in the end as long as enough
/// of its voters are up and hear each other.
pub trait Engine<C: Data, S: Data>:
    Protocol<Input = Ask<C, S>, Output = Event<C, S>> + Durable
{
    /// Which processes are to be asked to append a command, at the first try, the second, … Its own
    /// process is among them if it is to be asked itself. Empty, while it does not know the leader.
    fn whom_to_ask(&self, me: ProcessId, tries: u32) -> ProcessSet;

    /// Whether this process answers requests that came from others: so that they are answered by
    /// the leader only, or by all.
    fn answers(&self, me: ProcessId) -> bool;

    /// Whether a process keeps the log. One that does not has only clients: what they want goes to
    /// its own engine, if that is to be asked, and what it answers to others is worth nothing.
    fn keeps_log(&self, _at: ProcessId) -> bool {
        true
    }

    /// How many processes must give the same answer before a client believes it.
    fn answers_needed(&self) -> usize {
        1
    }

    /// How many more commands it takes in for now.
    fn room(&self) -> usize;
}
