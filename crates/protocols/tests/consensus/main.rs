//! Consensus: the sentences, the counts and the examples of the sources.

mod by_hand;
mod disks_first;
mod explored;
mod flp;
mod generals;
mod paxos;
mod paxos_explored;
mod paxos_fast;
mod paxos_generalized;
mod paxos_made_simple;
mod reductions;
mod runs;
mod signed;
mod sync_consensus;
