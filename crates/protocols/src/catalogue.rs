//! Every algorithm by name. A new one is a file and a line here; every driver then has it.

use crate::{
    commitment, consensus, detector, election, group, lockstep, multicast, mutex, replication,
    slots, table, time,
};
use synod_core::boxed::Which;
use synod_core::family::multicast::Payload;
use synod_core::{Algorithm, Card};

/// One algorithm, as lists show it.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its card.
    pub card: Card,
    /// The name of its family.
    pub family: &'static str,
}

/// A task that works for every algorithm: to run it, to explore it, …
pub trait Visit {
    /// The result of the task.
    type Answer;
    /// Carries the task out for the algorithm `A`.
    fn visit<A: Algorithm>(self) -> Self::Answer;
}

macro_rules! catalogue {
    ($($algorithm:ty),* $(,)?) => {
        /// All algorithms, in the order of the course. Boxes of them are compiled here, and in no
        /// crate above.
        pub static ALGORITHMS: &[Which] = &[$(Which::of::<$algorithm>()),*];

        /// Visits the algorithm of that name or alias, if there is one.
        pub fn visit<V: Visit>(name: &str, visitor: V) -> Option<V::Answer> {
            $(if <$algorithm>::CARD.answers_to(name) {
                return Some(visitor.visit::<$algorithm>());
            })*
            None
        }
    };
}

/// All algorithms, as lists show them.
pub fn entries() -> Vec<Entry> {
    ALGORITHMS.iter().map(|which| Entry::from(*which)).collect()
}

/// The algorithm of that name or alias, for a driver.
pub fn which(name: &str) -> Option<Which> {
    ALGORITHMS.iter().copied().find(|which| which.card().answers_to(name))
}

/// The entry of that name or alias.
pub fn find(name: &str) -> Option<Entry> {
    which(name).map(Entry::from)
}

impl From<Which> for Entry {
    fn from(which: Which) -> Self {
        Entry { card: *which.card(), family: which.family() }
    }
}

catalogue! {
    time::Cristian,
    time::LamportClock,
    time::VectorClock,
    time::mutants::CristianSum,
    time::mutants::CristianImpostor,
    time::mutants::LamportDeaf,
    mutex::CentralServer,
    mutex::TokenRing,
    mutex::RicartAgrawala,
    mutex::RicartAgrawalaTickets,
    mutex::RicartAgrawalaToken,
    mutex::SuzukiKasami,
    mutex::Maekawa,
    mutex::MaekawaSanders,
    mutex::mutants::R0,
    mutex::mutants::R1,
    mutex::mutants::R2,
    mutex::mutants::R3Split,
    mutex::mutants::R3Swapped,
    mutex::mutants::Priority,
    mutex::mutants::NoTieBreak,
    mutex::mutants::BareReplies,
    mutex::mutants::TokenInCsMisplaced,
    mutex::mutants::TokenUnfair,
    mutex::mutants::Maekawa000,
    mutex::mutants::SandersUntold,
    election::ChangRoberts,
    election::HirschbergSinclair,
    election::Bully,
    election::Luis,
    election::mutants::ChangRobertsForwarding,
    election::mutants::ChangRobertsEndless,
    multicast::BasicMulticast,
    multicast::ReliableMulticast,
    multicast::IpMulticast,
    multicast::FifoMulticast,
    multicast::CausalMulticast,
    multicast::IsisMulticast,
    multicast::SequencerMulticast,
    multicast::FifoTotalMulticast,
    multicast::CausalTotalMulticast,
    multicast::mutants::ReliableWithoutRelay,
    multicast::mutants::ReliableLateRelay,
    multicast::mutants::IpWithoutHeartbeats,
    multicast::mutants::IpFromZero,
    multicast::mutants::CausalOwnWaits,
    multicast::mutants::IsisNoTieBreak,
    detector::Perfect,
    detector::EventuallyPerfect,
    detector::PhiAccrual,
    group::GroupEngine<Payload>,
    slots::SlotsAlgorithm,
    slots::mutants::DeathOfALife,
    table::TableAlgorithm,
    table::mutants::TableReplaced,
    table::mutants::TableHasty,
    consensus::NaiveConsensus,
    consensus::SyncConsensus,
    consensus::OralGenerals,
    consensus::SignedGenerals,
    consensus::InteractiveConsistency,
    consensus::ConsensusFromGenerals,
    consensus::GeneralsFromConsensus,
    consensus::ConsensusFromTotalOrder,
    consensus::mutants::SyncConsensusOffByOne,
    consensus::mutants::SyncConsensusFRounds,
    consensus::Paxos,
    consensus::FastPaxos,
    consensus::CheapPaxos,
    consensus::GeneralizedPaxos,
    consensus::mutants::PaxosNoNumber,
    consensus::mutants::PaxosAmnesia,
    consensus::mutants::FastPaxosSmallQuorum,
    consensus::mutants::CheapPaxosUnilateral,
    replication::MultiPaxos,
    replication::Raft,
    replication::mutants::RaftOldTerm,
    replication::mutants::RaftBlindVote,
    replication::mutants::RaftForgetful,
    replication::Pbft,
    commitment::TwoPhaseCommit,
    commitment::mutants::TwoPhaseForgetful,
    commitment::mutants::TwoPhaseUnprepared,
    lockstep::TurnLock,
    lockstep::mutants::TurnLockNoNonce,
    lockstep::mutants::TurnLockUnbound,
    lockstep::mutants::TurnLockOnePhase,
    lockstep::mutants::TurnLockNoEcho,
}
