//! The whole catalogue: nothing is missing, costs are as the cards say, scenarios come out as
//! written, promises hold in thousands of schedules. One program, because every algorithm is
//! compiled into it.

mod completeness;
mod costs;
mod determinism;
mod forged;
mod looks;
mod misfortunes;
mod quorum;
mod rules;
mod scenarios;
mod session;
mod swarm;
