//! Errors of a run: it could not start, or its logs cannot be judged.

use std::io;
use synod_core::{ProcessId, SetupError};

/// Why there is no report of a run.
#[derive(Debug, thiserror::Error)]
pub enum NetError {
    /// The algorithm refuses this group.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// A member could not be started, or did not get ready.
    #[error("{who} {why}")]
    Member {
        /// The process that the member should run.
        who: ProcessId,
        /// The failure, as the rest of a sentence about `who`.
        why: String,
    },
    /// A restarted process has a new address, which the senders of datagrams do not learn.
    #[error("on udp a process that was killed cannot be started again; use tcp")]
    NoReturn,
    /// The logs of the members contradict each other or the replay.
    #[error("the run cannot be judged: {0}")]
    Record(String),
    /// The operating system refused an operation.
    #[error("{what}: {error}")]
    Machine {
        /// The operation, as a sentence that it failed.
        what: &'static str,
        /// The error of the operating system.
        error: io::Error,
    },
}

/// Adds the operation to an error of the operating system.
pub(crate) trait Trying<T> {
    fn trying(self, what: &'static str) -> Result<T, NetError>;
}

impl<T> Trying<T> for io::Result<T> {
    fn trying(self, what: &'static str) -> Result<T, NetError> {
        self.map_err(|error| NetError::Machine { what, error })
    }
}
