//! Consensus: the sentences, the counts and the examples of the sources.

mod by_hand;
mod explored;
mod generals;
mod paxos;
mod paxos_explored;
mod reductions;
mod runs;
mod signed;
mod sync_consensus;
