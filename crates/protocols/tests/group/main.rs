//! Group services: the engines, and the contract that they keep.

mod abstract_engine;
mod embedded;
mod forged;
mod settling;
mod storms;
mod swarm;
mod table;
