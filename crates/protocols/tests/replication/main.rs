//! Replicated logs with a key-value store above.

#[path = "../../examples/embedded_log.rs"]
mod embedded_log;
mod ignored;
mod multi_paxos;
mod pbft;
mod raft;
mod raft_runs;
mod runs;
mod storms;

#[test]
fn a_log_embedded_in_another_program_survives_the_crash_of_every_process() {
    embedded_log::main();
}
