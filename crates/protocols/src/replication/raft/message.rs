//! What servers send each other and write down.

use super::log::{Line, Position, Snapshot};
use serde::{Deserialize, Serialize};
use synod_core::replication::Part;
use synod_core::{Data, ProcessId, ProcessSet, Wire};

/// What travels. Every message carries the term of its sender.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message<C, S> {
    /// A candidate asks for a vote; or, before it dares to, whether it would get it.
    RequestVote {
        /// The term for which it asks.
        term: u64,
        /// Whether it only wants to know.
        pre: bool,
        /// Whether the leader asked it to stand, so that nobody need wait for the leader.
        called: bool,
        /// Where its log ends.
        last: Position,
    },
    /// The answer.
    Vote {
        /// The term of the voter; if it is granted, the term for which it was asked.
        term: u64,
        /// Whether it was about a real vote.
        pre: bool,
        /// Whether the candidate has it.
        granted: bool,
    },
    /// The leader's entries after some place; without entries it is a heartbeat.
    Append {
        /// The leader's term.
        term: u64,
        /// Where these entries belong.
        after: Position,
        /// The entries.
        lines: Vec<Line<C>>,
        /// How far the log is committed, as the leader knows.
        commit: u64,
        /// The number of the last round of heartbeats, for those who read.
        round: u64,
    },
    /// The answer: everything up to here is on the disk; or there is something else.
    Appended {
        /// The follower's term.
        term: u64,
        /// How far its log agrees with the leader's; or where to try, if it does not.
        outcome: Result<u64, u64>,
        /// The round that it has heard of.
        round: u64,
    },
    /// The leader's state in the place of entries that it does not have any more.
    Install {
        /// The leader's term.
        term: u64,
        /// The state, and up to where.
        snapshot: Snapshot<S>,
        /// The number of the last round of heartbeats.
        round: u64,
    },
    /// The leader asks this server to stand for election now.
    TimeoutNow {
        /// The leader's term.
        term: u64,
    },
    /// A part of the leader's state, if the whole does not fit in one message.
    InstallPart {
        /// The leader's term.
        term: u64,
        /// The last entry that is in the state.
        last: Position,
        /// Who votes, after that entry.
        voters: ProcessSet,
        /// The part.
        part: Part<S>,
        /// The number of the last round of heartbeats.
        round: u64,
    },
    /// The answer: all parts before this one are on the disk. The last part is answered with `Appended`.
    PartTaken {
        /// The follower's term.
        term: u64,
        /// The last entry that is in the state.
        last: Position,
        /// The part that comes next.
        next: u64,
        /// The round that it has heard of.
        round: u64,
    },
}

impl<C: Data, S: Data> Wire for Message<C, S> {}

/// No term and no log gets as far in any life; there is room above to count on.
const FAR: u64 = 1 << 62;

impl<C, S> Message<C, S> {
    /// Whether a number in it is greater than any that can come about.
    pub(super) fn is_far(&self) -> bool {
        let (term, index) = match self {
            Message::RequestVote { term, last, .. } => (*term, last.index),
            Message::Append { term, after, .. } => (*term, after.index),
            Message::Install { term, snapshot, .. } => (*term, snapshot.last.index),
            Message::InstallPart { term, last, part, .. } => (*term, last.index.max(part.number)),
            Message::PartTaken { term, last, next, .. } => (*term, last.index.max(*next)),
            Message::Vote { term, .. }
            | Message::Appended { term, .. }
            | Message::TimeoutNow { term } => (*term, 0),
        };
        term >= FAR || index >= FAR
    }

    /// The term that makes the receiver follow, if it is greater than its own. A term that somebody
    /// would only like to have does not.
    pub(super) fn term(&self) -> Option<u64> {
        match self {
            Message::RequestVote { pre: true, .. } => None,
            Message::Vote { pre: true, granted: true, .. } => None,
            Message::RequestVote { term, .. }
            | Message::Vote { term, .. }
            | Message::Append { term, .. }
            | Message::Appended { term, .. }
            | Message::Install { term, .. }
            | Message::InstallPart { term, .. }
            | Message::PartTaken { term, .. }
            | Message::TimeoutNow { term } => Some(*term),
        }
    }
}

/// What is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Timer {
    /// A follower has heard of no leader for a while; or an election came to nothing.
    Election,
    /// The leader shows that it is there.
    Heartbeat,
    /// The leader sends what it was given meanwhile.
    Flush,
    /// What a majority granted in this round of heartbeats is over.
    Lease(u64),
    /// The next part of a snapshot is written.
    Snapshot,
}

/// What is written down.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Record<C, S> {
    /// The term, and who got the vote in it.
    Ballot {
        /// The term.
        term: u64,
        /// For whom.
        vote: Option<ProcessId>,
    },
    /// The log has these lines after this place, and nothing else.
    Append {
        /// The place.
        after: u64,
        /// The lines.
        lines: Vec<Line<C>>,
    },
    /// Everything: takes the place of all that was written before.
    Whole {
        /// The term.
        term: u64,
        /// For whom.
        vote: Option<ProcessId>,
        /// The state in the place of the beginning of the log.
        snapshot: Snapshot<S>,
        /// The rest of the log.
        lines: Vec<Line<C>>,
        /// Whether the disk was lost before that.
        forgot: bool,
    },
    /// A snapshot begins that is written in parts. With all of them, it and what follows it take the
    /// place of all that was written before.
    Begin {
        /// The term.
        term: u64,
        /// For whom.
        vote: Option<ProcessId>,
        /// The last entry that is in it.
        last: Position,
        /// Who votes, after that entry.
        voters: ProcessSet,
        /// Whether the disk was lost before that.
        forgot: bool,
    },
    /// The next part of it.
    Part(Part<S>),
}
