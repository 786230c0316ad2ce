//! A large state is written by the leader and installed at a follower that lags behind, both in
//! parts: `cargo run -p synod-drivers --example large_state -- 1024` for a state of 1,024 MiB.
//!
//! Prints how long the longest step took, how large the largest message and record were, how many
//! heartbeats were answered between parts, and how much memory the process used at most.

use std::time::{Duration, Instant};
use synod_core::durable::encoded_len;
use synod_core::replication::{Ask, Event, Map};
use synod_core::{Cx, Effect, EffectOf, ProcessId, ProcessSet, Protocol, step};
use synod_protocols::replication::raft::{Message, Outcome, Position, Raft, Settings, Timer};

type State = Map<u64, Vec<u8>>;
type Server = Raft<u8, State>;
type Said = Message<u8, State>;

const LEADER: ProcessId = ProcessId(0);
const HELPER: ProcessId = ProcessId(1);
const LAGGARD: ProcessId = ProcessId(2);
const VALUE_BYTES: usize = 1_000;

/// What was measured.
#[derive(Default)]
struct Measured {
    longest_step: Duration,
    largest_message: usize,
    largest_record: usize,
    records: usize,
}

impl Measured {
    /// Takes a step; returns its messages, and whether another part of a snapshot must be written.
    fn step(
        &mut self,
        at: ProcessId,
        server: &mut Server,
        run: impl FnOnce(&mut Server, &mut Cx<'_, Server>),
    ) -> (Vec<(ProcessId, Said)>, bool, Option<State>) {
        let begun = Instant::now();
        let effects: Vec<EffectOf<Server>> = step(at, 3, |cx| run(server, cx));
        self.longest_step = self.longest_step.max(begun.elapsed());
        let (mut sent, mut goes_on, mut restored) = (Vec::new(), false, None);
        for effect in effects {
            match effect {
                Effect::Send { to, message } => sent.push((to, message)),
                Effect::Persist(record) | Effect::Checkpoint { record, .. } => {
                    self.largest_record = self.largest_record.max(record.0.len());
                    self.records += 1;
                }
                Effect::SetTimer { timer: Timer::Snapshot, .. } => goes_on = true,
                Effect::Output(Event::Restored { state, .. }) => restored = Some(state),
                _ => {}
            }
        }
        for (_, message) in &sent {
            self.largest_message = self.largest_message.max(encoded_len(message));
        }
        (sent, goes_on, restored)
    }

    fn print(&self, what: &str) {
        println!(
            "{what}: longest step {:.1} ms, largest message {} KiB, {} records, largest {} KiB; \
             at most {} MiB in memory",
            self.longest_step.as_secs_f64() * 1e3,
            self.largest_message >> 10,
            self.records,
            self.largest_record >> 10,
            peak_mib().map_or("?".to_owned(), |peak| peak.to_string()),
        );
    }
}

/// The most memory that this process ever used, where the system tells it.
fn peak_mib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib >> 10)
}

fn hear(from: ProcessId, message: Said) -> impl FnOnce(&mut Server, &mut Cx<'_, Server>) {
    move |server, cx| server.on_message(from, message, cx)
}

fn agrees(index: u64, round: u64) -> Said {
    Message::Appended { term: 1, outcome: Outcome::Agrees(index), round }
}

/// A leader that has applied this state after entry 2, and has not handed it over yet.
fn leader(measured: &mut Measured, settings: &Settings) -> Server {
    let mut leader = Server::new(settings.clone()).expect("the settings are sound");
    measured.step(LEADER, &mut leader, |server, cx| server.on_start(cx));
    measured.step(LEADER, &mut leader, |server, cx| server.on_timer(Timer::Election, cx));
    let vote = Message::Vote { term: 1, pre: false, granted: true };
    measured.step(LEADER, &mut leader, hear(HELPER, vote));
    measured.step(LEADER, &mut leader, |server, cx| server.on_input(Ask::Append(7), cx));
    measured.step(LEADER, &mut leader, hear(HELPER, agrees(2, 0)));
    assert_eq!(leader.commit(), 2);
    leader
}

fn main() {
    let mib = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(64_u64);
    let voters = ProcessSet::all(3);
    let settings = Settings { pre_vote: false, batches: false, ..Settings::new(voters) };
    let keys = (mib << 20) / VALUE_BYTES as u64;
    let mut state: State = (0..keys).map(|key| (key, vec![7; VALUE_BYTES])).collect();
    println!("a state of {mib} MiB, {keys} keys: {} MiB in memory", peak_mib().unwrap_or(0));

    // The leader takes a snapshot. The state above goes on changing between two parts.
    let mut measured = Measured::default();
    let mut server = leader(&mut measured, &settings);
    let mut measured = Measured::default();
    let compact = Ask::Compact { index: 2, state: state.clone() };
    let (_, mut goes_on, _) =
        measured.step(LEADER, &mut server, |server, cx| server.on_input(compact, cx));
    let mut changed = 0;
    while goes_on {
        state.insert(changed * 7_919 % keys, vec![8; VALUE_BYTES]);
        changed += 1;
        (_, goes_on, _) =
            measured.step(LEADER, &mut server, |server, cx| server.on_timer(Timer::Snapshot, cx));
    }
    measured.print("taken and written by the leader");

    // A follower that has nothing gets it, with a heartbeat between every two parts.
    let (mut at_leader, mut at_follower) = (Measured::default(), Measured::default());
    let mut follower = Server::new(settings).expect("the settings are sound");
    at_follower.step(LAGGARD, &mut follower, |server, cx| server.on_start(cx));
    let differs = Message::Appended { term: 1, outcome: Outcome::Differs(0), round: 0 };
    let (mut mail, _, _) = at_leader.step(LEADER, &mut server, hear(LAGGARD, differs));
    let (mut installed, mut parts, mut beats) = (None, 0_u64, 0_u64);
    while let Some((_, message)) = mail.pop() {
        parts += u64::from(matches!(message, Message::InstallPart { .. }));
        let (answers, _, restored) =
            at_follower.step(LAGGARD, &mut follower, hear(LEADER, message));
        installed = installed.or(restored);
        if installed.is_some() {
            break;
        }
        for (_, answer) in answers {
            mail.extend(at_leader.step(LEADER, &mut server, hear(LAGGARD, answer)).0);
        }
        let (sent, _, _) =
            at_leader.step(LEADER, &mut server, |server, cx| server.on_timer(Timer::Heartbeat, cx));
        beats += 1;
        for (to, beat) in sent {
            let Message::Append { after, .. } = &beat else { continue };
            if to == LAGGARD && *after == Position::default() {
                let answers = at_follower.step(LAGGARD, &mut follower, hear(LEADER, beat)).0;
                assert!(matches!(answers[..], [(LEADER, Message::Appended { .. })]));
            }
        }
        // The helper answers, too, so the leader goes on leading.
        at_leader.step(LEADER, &mut server, hear(HELPER, agrees(2, beats)));
    }
    let installed = installed.expect("it was handed over");
    assert_eq!(installed.len() as u64, keys);
    at_leader.print("sent by the leader");
    at_follower.print(&format!("installed by the follower in {parts} parts, {beats} heartbeats"));
}
