//! Replication: clients ask one store, and several processes together are that store.
//!
//! Each process has clients. A client has one request open at a time: to get, put, delete or swap
//! the value of a key. The judge sees the requests and answers, and decides whether there is one
//! order in which a single store would have answered the same (linearizability). It also sees which
//! entries each process applies to its copy, and whether these are the same entries at the same
//! places.

mod clients;
mod monitor;
mod words;

pub(crate) use clients::check;

pub use clients::Clients;
pub use monitor::Chronicler;

use super::{Family, Mark, Pace, Property};
use crate::card::Parameter;
use crate::process::ProcessId;
use crate::replication::{Answer, Invoke, Notice, Operation};

/// The family of replicated logs with a key-value store above.
#[derive(Clone, Copy, Debug)]
pub struct Replication;

/// At most one process leads in a term.
pub const ONE_LEADER: &str = "one-leader";
/// All processes apply the same entries at the same places.
pub const SAME_LOG: &str = "same-log";
/// No request takes effect twice.
pub const ONCE: &str = "once";
/// The clients cannot tell it from one store.
pub const LINEARIZABLE: &str = "linearizable";
/// Every client is answered in the end.
pub const ANSWERED: &str = "answered";

impl Family for Replication {
    const NAME: &'static str = "replicated log";
    const OPERATION: &'static str = "request";
    const PROPERTIES: &'static [Property] = &[
        Property {
            id: ONE_LEADER,
            name: "election safety",
            statement: "no two processes lead in the same term",
        },
        Property {
            id: SAME_LOG,
            name: "state machine safety",
            statement: "each process applies the entries of the log in their order, and no two apply \
                        different entries at the same place",
        },
        Property {
            id: ONCE,
            name: "exactly once",
            statement: "no request takes effect at two places of the log",
        },
        Property {
            id: LINEARIZABLE,
            name: "linearizability",
            statement: "there is an order of all requests, each at some moment between its call and \
                        its answer, in which a single store would have given the same answers",
        },
        Property {
            id: ANSWERED,
            name: "liveness",
            statement: "every client whose process stays up is answered in the end",
        },
    ];
    const ESSENTIAL: &'static [&'static str] = &[SAME_LOG, LINEARIZABLE];
    const LIVENESS: &'static [&'static str] = &[ANSWERED];

    type Input = Invoke<Operation>;
    type Output = Notice<Answer>;
    type Application = Clients;
    type Monitor = Chronicler;

    fn pace(_: &Self::Input) -> Pace {
        Pace::Think
    }

    fn is_order(input: &Self::Input) -> bool {
        matches!(input, Invoke::Reconfigure(_) | Invoke::Transfer(_))
    }

    fn mark_of_input(input: &Self::Input) -> Mark {
        match input {
            Invoke::Operation { .. } => Mark::Ask,
            Invoke::Reconfigure(_) | Invoke::Transfer(_) => Mark::None,
        }
    }

    fn mark_of_output(_at: ProcessId, output: &Self::Output) -> Mark {
        match output {
            Notice::Returned { .. } => Mark::Done,
            Notice::Closed { .. } => Mark::End,
            Notice::Applied { .. }
            | Notice::Restored(_)
            | Notice::Leads(_)
            | Notice::Refused { .. } => Mark::None,
        }
    }

    fn asker(input: &Self::Input) -> u32 {
        match input {
            Invoke::Operation { client, .. } => *client,
            Invoke::Reconfigure(_) | Invoke::Transfer(_) => 0,
        }
    }

    fn asker_of(output: &Self::Output) -> u32 {
        match output {
            Notice::Returned { client, .. }
            | Notice::Closed { client }
            | Notice::Refused { client, .. } => *client,
            Notice::Applied { .. } | Notice::Restored(_) | Notice::Leads(_) => 0,
        }
    }

    fn input_in_words(input: &Self::Input) -> String {
        words::input(input)
    }

    fn output_in_words(output: &Self::Output) -> String {
        words::output(output)
    }

    fn input_from_words(words: &[&str]) -> Option<Self::Input> {
        words::parse(words)
    }

    const PHRASES: &'static [&'static str] = &[
        "puts 1 5",
        "gets 1",
        "deletes 1",
        "swaps 1 5 6",
        "swaps 1 nothing 6",
        "client 2 gets 1",
        "transfers to p1",
        "reconfigures to p0 p1 p2",
    ];
}

/// The number of clients at each process.
pub const CLIENTS: Parameter =
    Parameter { name: "clients", meaning: "how many clients each process has (default: 1)" };

/// The processes whose clients ask.
pub const ASKERS: Parameter =
    Parameter { name: "askers", meaning: "at which processes clients ask, e.g. p0 (default: all)" };

/// The number of keys that clients use.
pub const KEYS: Parameter =
    Parameter { name: "keys", meaning: "how many keys the clients use (default: 2)" };

/// The mix of requests.
pub const OPERATIONS: Parameter = Parameter {
    name: "operations",
    meaning: "what clients ask: mixed (default), put, or put-get, one after the other",
};

/// The path of reads: through the log or around it.
pub const READS: Parameter = Parameter {
    name: "reads",
    meaning: "how reads are done: through the log (default), or by index, around it",
};

/// The time until a client asks again.
pub const PATIENCE: Parameter = Parameter {
    name: "patience",
    meaning: "after how many milliseconds without an answer a client asks again (default: 1000)",
};

/// The number of times that a client asks again.
pub const TRIES: Parameter =
    Parameter { name: "tries", meaning: "how often a client asks again (default: no limit)" };

/// The number of entries between two snapshots.
pub const SNAPSHOT: Parameter = Parameter {
    name: "snapshot",
    meaning: "after how many entries the state takes the place of the log (default: never)",
};
