//! Consensus: the sentences, the counts and the examples of the sources.

mod paxos;
mod paxos_explored;
