//! Runs any algorithm of the catalogue on real sockets: one operating-system process for each
//! process of the group, on one machine.
//!
//! A run has two sides. The *members* are child processes: each drives one process of the
//! algorithm, and writes down what it takes in before anybody can see what comes of it. The
//! *leader*, the process that was asked for the run, starts and ends them, merges what they wrote,
//! and replays it in a [`World`](synod_sim::World). A world changes only by what it takes in, so
//! the replay *is* the run: monitors, invariants, counts and pictures are those of a simulated run.
//!
//! # Layout
//! - `group`: the leader: starts the members, notices when all is quiet, ends them
//! - `member`: one member: a loop that takes in, steps, writes down, and only then sends
//! - `actor`: one process of an algorithm inside it, with its application and timers
//! - `stage`: what a step can do: send, through `shim` into the `outbox`, and write the `log`
//! - `disk`: the stable storage of durable algorithms, which a process has again in its next life
//! - `past`: what the application of a process that comes back has gone through
//! - `links`: the sockets: TCP streams, or datagrams and IP multicast
//! - `wire`: what messages look like there
//! - `control`: what leader and members say to each other
//! - `merge`, `replay`: what the members wrote, in one order, in a world
//! - `facts`: what a run tells its caller
//! - `floor`: what the machine itself needs, to compare with
#![forbid(unsafe_code)]

mod actor;
mod clock;
mod control;
mod digest;
mod disk;
mod error;
mod facts;
mod floor;
mod group;
mod links;
mod log;
mod member;
mod merge;
mod outbox;
mod past;
mod replay;
mod shim;
mod stage;
mod wire;

pub use control::{Config, Control, Medium};
pub use error::NetError;
pub use facts::{Facts, Latency, Real};
pub use floor::Floor;
pub use group::{Fate, Kill, LARGEST_GROUP, Launch};
pub use member::{serve, serve_named};
