//! What can go wrong with a run before it has begun, or with its record.

use std::io;
use synod_core::{ProcessId, SetupError};

/// Why there is no report of a run.
#[derive(Debug, thiserror::Error)]
pub enum NetError {
    /// There can be no such group.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// A process cannot be started, or did not get ready.
    #[error("{who} {why}")]
    Member {
        /// Which.
        who: ProcessId,
        /// What is wrong with it.
        why: String,
    },
    /// Datagrams go to an address that a process which comes back does not have any more.
    #[error("on udp a process that was killed cannot be started again; use tcp")]
    NoReturn,
    /// What is written down does not fit together.
    #[error("the run cannot be judged: {0}")]
    Record(String),
    /// The machine does not let us.
    #[error("{what}: {error}")]
    Machine {
        /// What was tried.
        what: &'static str,
        /// What the machine says.
        error: io::Error,
    },
}

/// Says what was tried when the machine refused.
pub(crate) trait Trying<T> {
    fn trying(self, what: &'static str) -> Result<T, NetError>;
}

impl<T> Trying<T> for io::Result<T> {
    fn trying(self, what: &'static str) -> Result<T, NetError> {
        self.map_err(|error| NetError::Machine { what, error })
    }
}
