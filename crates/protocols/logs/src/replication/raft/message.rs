//! The messages between servers, their timers, and their records.

use super::log::{LogEntry, Position, Snapshot};
use serde::{Deserialize, Serialize};
use synod_core::replication::Part;
use synod_core::{Data, ProcessId, ProcessSet, Wire};

/// A follower's answer to entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Outcome {
    /// Its log agrees with the leader's up to this place, and is on its disk.
    Agrees(u64),
    /// Its log has no such entry before them. It may agree up to this place.
    Differs(u64),
}

/// The messages between servers. Each carries the term of its sender.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message<C, S> {
    /// A candidate asks for a vote; or, before it campaigns, whether it would get it.
    RequestVote {
        /// The term for which it asks.
        term: u64,
        /// Whether it is a pre-vote: the candidate only asks whether it would get the vote.
        pre: bool,
        /// Whether the leader transfers its leadership to the candidate. Then a server that hears
        /// the leader votes all the same.
        called: bool,
        /// The last entry of its log.
        last: Position,
    },
    /// The answer.
    Vote {
        /// The term of the voter; if it is granted, the term for which it was asked.
        term: u64,
        /// Whether it was a pre-vote: then the voter gave no vote, and may still vote for another.
        pre: bool,
        /// Whether the candidate has it.
        granted: bool,
    },
    /// The leader's entries after some place; without entries it is a heartbeat.
    Append {
        /// The leader's term.
        term: u64,
        /// The entry before the first of these (prevLogTerm and prevLogIndex).
        after: Position,
        /// The entries.
        entries: Vec<LogEntry<C>>,
        /// The leader's commitIndex.
        commit: u64,
        /// The number of the last round of heartbeats: a read waits for the answers to a round that
        /// began after it.
        round: u64,
    },
    /// The answer: the follower has the entries on its disk, or its log differs before them.
    Appended {
        /// The follower's term.
        term: u64,
        /// Whether the logs agree now.
        outcome: Outcome,
        /// The round that it has heard of.
        round: u64,
    },
    /// The leader's state in the place of entries that its snapshot has replaced.
    Install {
        /// The leader's term.
        term: u64,
        /// The state, and up to where.
        snapshot: Snapshot<S>,
        /// The number of the last round of heartbeats.
        round: u64,
    },
    /// The leader asks this server to campaign now: it is the transfer target.
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
        /// The voters, after that entry.
        voters: ProcessSet,
        /// The part.
        part: Part<S>,
        /// The number of the last round of heartbeats.
        round: u64,
    },
    /// The answer: all parts before this one are on the disk. The last part is answered with
    /// `Appended`.
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

impl<C: Data, S: Data> Wire for Message<C, S> {
    fn label(&self) -> String {
        let pre = |pre: &bool| if *pre { "pre " } else { "" };
        match self {
            Message::RequestVote { term, pre: only, last, .. } => {
                format!("{}RequestVote t{term} {last}", pre(only))
            }
            Message::Vote { term, pre: only, granted } => {
                format!("{}Vote t{term} {}", pre(only), if *granted { "yes" } else { "no" })
            }
            Message::Append { term, after, entries, commit, .. } => {
                format!("Append t{term} {after} +{} c{commit}", entries.len())
            }
            Message::Appended { term, outcome: Outcome::Agrees(index), .. } => {
                format!("Appended t{term} to {index}")
            }
            Message::Appended { term, outcome: Outcome::Differs(index), .. } => {
                format!("Appended t{term} not {index}")
            }
            Message::Install { term, snapshot, .. } => {
                format!("Install t{term} to {}", snapshot.last)
            }
            Message::TimeoutNow { term } => format!("TimeoutNow t{term}"),
            Message::InstallPart { term, part, .. } => {
                format!("InstallPart t{term} {}", part.number)
            }
            Message::PartTaken { term, next, .. } => format!("PartTaken t{term} to {next}"),
        }
    }
}

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

    /// The term that makes the receiver follow, if it is greater than its own. A term for which a
    /// candidate only asks for pre-votes has not begun, and does not.
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

/// The reasons to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Timer {
    /// A follower has heard of no leader for a while; or an election came to nothing.
    Election,
    /// The leader shows that it is there.
    Heartbeat,
    /// The leader sends the entries that have come meanwhile.
    Flush,
    /// The lease that a majority granted in this round of heartbeats is over.
    Lease(u64),
    /// The next part of a snapshot is written.
    Snapshot,
}

/// A record on the disk.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Record<C, S> {
    /// The term, and who got the vote in it.
    Ballot {
        /// The term.
        term: u64,
        /// For whom.
        vote: Option<ProcessId>,
    },
    /// The log has these entries after this place, and nothing else.
    Append {
        /// The place.
        after: u64,
        /// The entries.
        entries: Vec<LogEntry<C>>,
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
        entries: Vec<LogEntry<C>>,
        /// Whether the disk was lost before that.
        lost_disk: bool,
    },
    /// A snapshot begins that is written in parts. With all of them, it and what follows it take
    /// the place of all that was written before.
    Begin {
        /// The term.
        term: u64,
        /// For whom.
        vote: Option<ProcessId>,
        /// The last entry that is in it.
        last: Position,
        /// The voters, after that entry.
        voters: ProcessSet,
        /// Whether the disk was lost before that.
        lost_disk: bool,
    },
    /// The next part of it.
    Part(Part<S>),
}
