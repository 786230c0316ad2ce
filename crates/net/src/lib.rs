//! Runs any algorithm of the catalogue on real sockets: one operating-system process for each
//! process of the group, on one machine.
//!
//! A run has two sides. The *members* are child processes. Each drives one process of the algorithm
//! and logs every input, message and timer before it sends the results. The *coordinator*, the
//! process that the caller asked for the run, starts and ends the members, merges their logs, and
//! replays them in a [`World`](synod_sim::World). A world changes only by what it takes in, so the
//! replay *is* the run: monitors, invariants, counts and pictures are those of a simulated run.
//!
//! # Layout
//! - `coordinator`: starts the members, detects the end of the run, stops the members
//! - `member`: the event loop of one member: take in, step, log, and only then send
//! - `actor`: one process of an algorithm inside a member: its host and its application
//! - `environment`: the effects of a step: send, through `shim` into the `outbox`, and `log`
//! - `disk`: the stable storage of a durable algorithm, which survives its process
//! - `recovery`: the application of a restarted process, rebuilt from the logs of earlier lives
//! - `links`: the sockets: TCP streams, or datagrams and IP multicast
//! - `wire`: the format of messages on the sockets
//! - `control`: the messages between the coordinator and its members
//! - `merge`: the logs of all members in one order; `digest`: a hash of the results, in each log
//! - `replay`: the merged logs, judged in a world
//! - `facts`: the result of a run
//! - `baseline`: the cost of a disk sync and of a round trip on this machine, for comparison
#![forbid(unsafe_code)]

mod actor;
mod baseline;
mod clock;
mod control;
mod coordinator;
mod digest;
mod disk;
mod environment;
mod error;
mod facts;
mod links;
mod log;
mod member;
mod merge;
mod outbox;
mod recovery;
mod replay;
mod shim;
mod wire;

pub use baseline::Baseline;
pub use control::{Config, Control, Medium};
pub use coordinator::{Fate, Kill, LARGEST_GROUP, Launch};
pub use error::NetError;
pub use facts::{Facts, Latency, Real};
pub use member::{serve, serve_named};
