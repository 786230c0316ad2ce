//! The first part of the catalogue: what processes can agree on without a consensus. Time, mutual
//! exclusion, election, failure detectors, multicast.
#![forbid(unsafe_code)]

pub mod detector;
pub mod election;
pub mod multicast;
pub mod mutex;
pub mod time;
