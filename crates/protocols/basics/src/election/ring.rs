//! A ring: the neighbours of each process.

use serde::{Deserialize, Serialize};
use synod_core::card::{Order, Parameter, Tolerance};
use synod_core::{ProcessId, Setup, SetupError};

/// The two neighbours of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Neighbours {
    /// The process before it.
    pub previous: ProcessId,
    /// The process after it.
    pub next: ProcessId,
}

/// The parameter that [`neighbours`] reads.
pub(super) const RING: Parameter = Parameter {
    name: "ring",
    meaning: "the processes in the order of the ring, e.g. p0 p2 p1 (default: by name)",
};

/// The neighbours of each process, by its number.
pub(super) fn neighbours(setup: &Setup) -> Result<Vec<Neighbours>, SetupError> {
    let ring = setup.ring("ring")?;
    let mut all = vec![Neighbours { previous: ProcessId(0), next: ProcessId(0) }; setup.n];
    for (&process, &next) in ring.iter().zip(ring.iter().cycle().skip(1)) {
        all[process.index()].next = next;
        all[next.index()].previous = process;
    }
    Ok(all)
}

/// Links keep the order of messages, and no fault happens.
pub(super) const ORDERED: Tolerance = Tolerance { order: Order::Fifo, ..Tolerance::NOTHING };
