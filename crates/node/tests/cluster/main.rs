//! Clusters of nodes in one process, with real sockets, disks and cuts.

mod clients;
mod http;
mod lives;
mod nemesis;
mod partitions;
mod security;
mod support;
