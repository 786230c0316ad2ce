//! The messages between processes, their timers, and their records.

use super::settings::MOST_ENTRIES;
use super::{Log, Snapshot, WINDOW};
use serde::{Deserialize, Serialize};
use synod_agreement::consensus::acceptor::Vote;
use synod_agreement::consensus::ballot::Ballot;
use synod_core::replication::{Entry, Part};
use synod_core::{Data, ProcessId, Wire};

/// The messages between processes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "C: Data, S: Data")]
pub enum Message<C, S> {
    /// I would like to begin this ballot: do you hear of no leader either?
    Ask {
        /// The ballot.
        ballot: Ballot,
    },
    /// No; begin it.
    Granted {
        /// The ballot.
        ballot: Ballot,
    },
    /// 1a: will you take part in this ballot, and in no smaller one, at all places?
    Prepare {
        /// The ballot.
        ballot: Ballot,
        /// The candidate knows the chosen entries up to here.
        after: u64,
    },
    /// 1b: I will; and these are my votes.
    Promise {
        /// The ballot.
        ballot: Ballot,
        /// The last vote at each place that is not known to be chosen.
        votes: Vec<(u64, Vote<Entry<C>>)>,
        /// The chosen entries that the candidate may lack.
        chosen: Chosen<C>,
    },
    /// 2a: accept these, at the places after this one.
    Accept {
        /// The leader's ballot.
        ballot: Ballot,
        /// The place before the first entry.
        after: u64,
        /// The entries.
        entries: Vec<Entry<C>>,
        /// Everything up to here is chosen.
        commit: u64,
    },
    /// 2b: I have accepted what you proposed at these places.
    Accepted {
        /// The leader's ballot.
        ballot: Ballot,
        /// The place before the first.
        after: u64,
        /// The last place.
        last: u64,
    },
    /// The leader is there.
    Heartbeat {
        /// Its ballot.
        ballot: Ballot,
        /// Everything up to here is chosen.
        commit: u64,
        /// Its number: a read waits for the answers to a heartbeat that is sent after it.
        round: u64,
    },
    /// I hear the leader, and have promised no greater ballot.
    Alive {
        /// The leader's ballot.
        ballot: Ballot,
        /// The heartbeat.
        round: u64,
    },
    /// I do not take part: I have promised this greater ballot.
    Refused {
        /// The ballot.
        promised: Ballot,
    },
    /// Which entries are chosen after this place?
    Lacks {
        /// The place.
        after: u64,
    },
    /// This.
    Learn(Chosen<C>),
    /// A snapshot has replaced these entries here; this is it.
    Install {
        /// The state, and up to where.
        snapshot: Snapshot<S>,
        /// Everything up to here is chosen.
        commit: u64,
    },
    /// The leader asks this process to lead.
    Stand {
        /// The leader's ballot.
        ballot: Ballot,
    },
    /// A part of the state, if the whole does not fit in one message.
    InstallPart {
        /// The last place that is in the state.
        index: u64,
        /// The part.
        part: Part<S>,
        /// Everything up to here is chosen.
        commit: u64,
    },
    /// All parts of this state before this one are on the disk; which is the next?
    LacksPart {
        /// The last place that is in the state.
        index: u64,
        /// The part that comes next.
        number: u64,
    },
}

/// Chosen entries.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Chosen<C> {
    /// The place before the first entry.
    pub after: u64,
    /// The entries, as many as fit in one message.
    pub entries: Vec<Entry<C>>,
    /// Everything up to here is chosen.
    pub commit: u64,
}

impl<C: Data, S: Data> Wire for Message<C, S> {
    fn label(&self) -> String {
        match self {
            Message::Prepare { ballot, after } => format!("Prepare {ballot:?} after {after}"),
            Message::Promise { ballot, votes, .. } => {
                format!("Promise {ballot:?} votes {}", votes.len())
            }
            Message::Accept { ballot, after, entries, commit } => {
                format!("Accept {ballot:?} {after} +{} c{commit}", entries.len())
            }
            Message::Accepted { ballot, last, .. } => format!("Accepted {ballot:?} to {last}"),
            Message::Heartbeat { ballot, commit, .. } => format!("Heartbeat {ballot:?} c{commit}"),
            Message::Learn(chosen) => {
                format!("Learn {} +{} c{}", chosen.after, chosen.entries.len(), chosen.commit)
            }
            Message::Install { snapshot, commit } => {
                format!("Install to {} c{commit}", snapshot.index)
            }
            Message::InstallPart { index, part, .. } => {
                format!("InstallPart {index} no. {}", part.number)
            }
            Message::LacksPart { index, number } => format!("LacksPart {index} no. {number}"),
            Message::Ask { ballot }
            | Message::Granted { ballot }
            | Message::Alive { ballot, .. }
            | Message::Stand { ballot } => format!("{} {ballot:?}", self.kind()),
            Message::Refused { promised } => format!("Refused {promised:?}"),
            Message::Lacks { after } => format!("Lacks after {after}"),
        }
    }
}

/// No log gets as far in any life; there is room above to count on.
const FAR: u64 = 1 << 62;

impl<C, S> Message<C, S> {
    /// Whether such a message can be. Only its owner begins a ballot and proposes in it; and
    /// nothing is longer or farther than any process makes it.
    pub(super) fn is_sound(&self, from: ProcessId, n: usize) -> bool {
        let own = |ballot: &Ballot| ballot.is_sound(n) && ballot.owner == from;
        match self {
            Message::Ask { ballot } | Message::Stand { ballot } => own(ballot),
            Message::Prepare { ballot, after } => own(ballot) && *after < FAR,
            Message::Heartbeat { ballot, commit, .. } => own(ballot) && *commit < FAR,
            Message::Accept { ballot, after, entries, commit } => {
                own(ballot) && *after < FAR && *commit < FAR && are_sound(entries)
            }
            Message::Promise { ballot, votes, chosen } => {
                let is_open = |index: u64| {
                    (1..=2 * WINDOW as u64).contains(&index.saturating_sub(chosen.commit))
                };
                let is_vote = |(index, vote): &(u64, Vote<Entry<C>>)| {
                    is_open(*index)
                        && vote.ballot.is_sound(n)
                        && vote.ballot < *ballot
                        && is_sound(&vote.value)
                };
                chosen.is_sound() && votes.len() <= 2 * WINDOW && votes.iter().all(is_vote)
            }
            Message::Accepted { after, last, .. } => {
                after <= last && last - after <= MOST_ENTRIES && *last < FAR
            }
            Message::Refused { promised } => promised.is_sound(n),
            Message::Lacks { after } => *after < FAR,
            Message::Learn(chosen) => chosen.is_sound(),
            Message::Install { snapshot, commit } => {
                snapshot.state.is_some() && snapshot.index <= *commit && *commit < FAR
            }
            Message::InstallPart { index, part, commit } => {
                index <= commit && *commit < FAR && part.number < FAR
            }
            Message::LacksPart { index, number } => *index < FAR && *number < FAR,
            Message::Granted { .. } | Message::Alive { .. } => true,
        }
    }
}

impl<C> Chosen<C> {
    fn is_sound(&self) -> bool {
        self.after < FAR && self.commit < FAR && are_sound(&self.entries)
    }
}

fn are_sound<C>(entries: &[Entry<C>]) -> bool {
    entries.len() as u64 <= MOST_ENTRIES && entries.iter().all(is_sound)
}

/// The group never changes, so no entry names voters.
fn is_sound<C>(entry: &Entry<C>) -> bool {
    !matches!(entry, Entry::Voters(_))
}

/// The reasons to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Timer {
    /// This process has heard of no leader for a while; or its ballot came to nothing.
    Election,
    /// The leader shows that it is there.
    Heartbeat,
    /// The leader sends the entries that have come meanwhile.
    Flush,
    /// The next part of a snapshot is written.
    Snapshot,
}

/// A record on the disk.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "C: Data, S: Data")]
pub enum Record<C, S> {
    /// It takes part in no smaller ballot.
    Promise(Ballot),
    /// It has accepted these entries.
    Accept {
        /// In this ballot.
        ballot: Ballot,
        /// After this place.
        after: u64,
        /// The entries.
        entries: Vec<Entry<C>>,
        /// Everything up to here was known to be chosen.
        commit: u64,
    },
    /// These are chosen.
    Learn {
        /// After this place.
        after: u64,
        /// The entries.
        entries: Vec<Entry<C>>,
    },
    /// Everything: takes the place of all that was written before.
    Whole {
        /// It takes part in no smaller ballot.
        promised: Option<Ballot>,
        /// The log.
        log: Log<C, S>,
        /// Whether the disk was lost before that.
        lost_disk: bool,
    },
    /// A snapshot begins that is written in parts. With all of them, it and what follows it take
    /// the place of all that was written before.
    Begin {
        /// It takes part in no smaller ballot.
        promised: Option<Ballot>,
        /// The last place that is in it.
        index: u64,
        /// Whether the disk was lost before that.
        lost_disk: bool,
    },
    /// The next part of it.
    Part(Part<S>),
}
