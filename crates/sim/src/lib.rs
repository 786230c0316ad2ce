//! One world: processes, messages in flight, timers, disks and faults; and the simulator that
//! drives it by time and seed.
#![forbid(unsafe_code)]

pub mod trace;
