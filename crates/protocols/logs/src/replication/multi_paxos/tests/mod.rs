//! The records of a process, and the messages that it does not believe.

mod paper;
mod parts;

use super::*;
use synod_agreement::consensus::acceptor::Vote;
use synod_core::replication::Map;
use synod_core::{Effect, durable, step};

/// The state is a map.
type State = Map<u16, u8>;
type Paxos = MultiPaxos<u8, State>;
type Said = Message<u8, State>;

const N: usize = 3;
const FIRST: Ballot = Ballot { round: 1, owner: ProcessId(0) };
const SECOND: Ballot = Ballot { round: 1, owner: ProcessId(1) };

/// A process and its disk.
struct Watched {
    me: ProcessId,
    process: Paxos,
    disk: Vec<durable::Record>,
    settings: Settings,
}

/// What a step leads to.
type Effects = Vec<Effect<Said, Timer, Event<u8, State>>>;

fn settings() -> Settings {
    Settings { asks_first: false, batches: false, ..Settings::default() }
}

fn new() -> Paxos {
    Paxos::new(settings()).expect("the settings are sound")
}

/// A small state.
fn state(key: u16) -> State {
    [(key, 0)].into_iter().collect()
}

fn entries(commands: &[u8]) -> Vec<Entry<u8>> {
    commands.iter().map(|command| Entry::Command(*command)).collect()
}

impl Watched {
    fn new(me: u32) -> Self {
        Watched::with(me, settings())
    }

    fn with(me: u32, settings: Settings) -> Self {
        let process = Paxos::new(settings.clone()).expect("the settings are sound");
        Watched { me: ProcessId(me), process, disk: Vec::new(), settings }
    }

    /// Takes a step; then the disk is as good as the process, but for what it knows to be chosen.
    fn step(&mut self, run: impl FnOnce(&mut Paxos, &mut Cx<'_, Paxos>)) -> Effects {
        let effects = step(self.me, N, |cx| run(&mut self.process, cx));
        for effect in &effects {
            match effect {
                Effect::Persist(record) => self.disk.push(record.clone()),
                Effect::Checkpoint { record, keep } => {
                    self.disk.drain(..self.disk.len() - *keep as usize);
                    self.disk.push(record.clone());
                }
                _ => {}
            }
        }
        if self.process.writing.is_some() {
            return effects;
        }
        let mut replayed = self.replayed();
        assert!(replayed.log.commit() <= self.process.log.commit());
        replayed.log.choose(None, self.process.log.commit());
        assert_eq!(replayed.log, self.process.log);
        assert_eq!(replayed.promised, self.process.promised);
        effects
    }

    fn hears(&mut self, from: u32, message: Said) -> Effects {
        self.step(|process, cx| process.on_message(ProcessId(from), message, cx))
    }

    fn replayed(&self) -> Paxos {
        let mut process = Paxos::new(self.settings.clone()).expect("the settings are sound");
        for record in &self.disk {
            durable::replay(&mut process, record).expect("it was written like that");
        }
        process
    }

    fn commit(&self) -> u64 {
        self.process.log.commit()
    }
}

/// The messages among what a step leads to, with their receivers.
fn sent(effects: Effects) -> Vec<(u32, Said)> {
    let sent = effects.into_iter().flat_map(|effect| match effect {
        Effect::Send { to, message } => vec![(to.0, message)],
        Effect::Multicast { to, message } => to.iter().map(|to| (to.0, message.clone())).collect(),
        _ => Vec::new(),
    });
    sent.collect()
}

fn accept(ballot: Ballot, after: u64, commands: &[u8], commit: u64) -> Said {
    Message::Accept { ballot, after, entries: entries(commands), commit }
}

/// A process that has heard messages of all kinds, with the state after place 2 in its snapshot,
/// and places 3 and 4 known to be chosen.
fn experienced() -> Watched {
    let mut p2 = Watched::new(2);
    p2.hears(0, Message::Prepare { ballot: FIRST, after: 0 });
    p2.hears(0, accept(FIRST, 0, &[1, 2], 0));
    p2.hears(0, accept(FIRST, 3, &[9], 1));
    p2.hears(0, Message::Heartbeat { ballot: FIRST, commit: 2, round: 1 });
    assert_eq!(p2.commit(), 2);
    p2.hears(1, Message::Prepare { ballot: SECOND, after: 0 });
    p2.hears(1, Message::Heartbeat { ballot: SECOND, commit: 3, round: 1 });
    let chosen = Chosen { after: 2, entries: entries(&[3]), commit: 3 };
    p2.hears(1, Message::Learn(chosen));
    p2.hears(1, accept(SECOND, 3, &[4], 3));
    p2.step(|process, cx| process.on_input(Ask::Compact { index: 2, state: state(22) }, cx));
    p2.hears(1, accept(SECOND, 4, &[5], 4));
    assert_eq!(p2.commit(), 4);
    p2
}

#[test]
fn what_an_acceptor_has_promised_and_accepted_is_on_its_disk_after_every_step() {
    let mut p2 = experienced();
    let snapshot = Snapshot { index: 9, state: Some(state(99)) };
    p2.hears(1, Message::Install { snapshot, commit: 9 });
    p2.hears(1, accept(SECOND, 9, &[7], 9));
    assert_eq!((p2.commit(), p2.process.log.votes().len()), (9, 1));
}

#[test]
fn what_a_leader_proposes_is_on_its_own_disk_after_every_step() {
    let mut p0 = Watched::new(0);
    p0.step(|process, cx| process.on_timer(Timer::Election, cx));
    let votes = vec![(2, Vote { ballot: FIRST, value: Entry::Command(2) })];
    let chosen = Chosen { after: 0, entries: Vec::new(), commit: 0 };
    p0.hears(1, Message::Refused { promised: SECOND });
    p0.step(|process, cx| process.on_timer(Timer::Election, cx));
    let ballot = p0.process.promised.expect("it has begun a ballot");
    assert!(ballot > SECOND);
    p0.hears(1, Message::Promise { ballot, votes, chosen });
    assert!(p0.process.leads());
    p0.step(|process, cx| process.on_input(Ask::Append(3), cx));
    p0.hears(2, Message::Accepted { ballot, after: 0, last: 3 });
    p0.step(|process, cx| process.on_input(Ask::Append(4), cx));
    let told = [Entry::Nothing, Entry::Command(2), Entry::Command(3)];
    assert_eq!(p0.process.log.after(0, 9), Some(&told[..]));
}

#[test]
fn a_process_that_starts_again_tells_its_state_and_what_is_chosen_after_it() {
    let mut again = experienced().replayed();
    let effects = step(ProcessId(2), N, |cx| again.on_start(cx));
    let outputs: Vec<Event<u8, State>> = effects
        .into_iter()
        .filter_map(|effect| if let Effect::Output(event) = effect { Some(event) } else { None })
        .collect();
    let committed = |index, command| Event::Committed { index, entry: Entry::Command(command) };
    let restored = Event::Restored { index: 2, state: state(22) };
    assert_eq!(outputs, [restored, committed(3, 3), committed(4, 4)]);
}

#[test]
fn messages_that_nobody_can_send_are_not_believed() {
    let chosen = |after, commands: &[u8]| Chosen { after, entries: entries(commands), commit: 1 };
    let far = Vote { ballot: FIRST, value: Entry::Command(1) };
    let long = vec![7; settings::MOST_ENTRIES as usize + 1];
    let voters = Entry::Voters(ProcessSet::all(1));
    let forged = [
        Message::Prepare { ballot: SECOND, after: 0 },
        Message::Prepare { ballot: Ballot { round: 0, ..FIRST }, after: 0 },
        Message::Prepare { ballot: FIRST, after: u64::MAX },
        Message::Heartbeat { ballot: FIRST, commit: u64::MAX, round: 1 },
        accept(FIRST, u64::MAX, &[1], 0),
        accept(FIRST, 0, &long, 0),
        Message::Accept { ballot: FIRST, after: 0, entries: vec![voters], commit: 0 },
        Message::Accepted { ballot: SECOND, after: 1, last: 0 },
        Message::Accepted { ballot: SECOND, after: 0, last: 1 << 61 },
        Message::Refused { promised: Ballot { round: 1, owner: ProcessId(9) } },
        Message::Lacks { after: u64::MAX },
        Message::Learn(chosen(u64::MAX, &[1])),
        Message::Learn(chosen(0, &long)),
        Message::Install { snapshot: Snapshot { index: 1, state: None }, commit: 1 },
        Message::Install { snapshot: Snapshot { index: 2, state: Some(state(1)) }, commit: 1 },
        Message::Promise { ballot: SECOND, votes: vec![(1, far)], chosen: chosen(0, &[1]) },
    ];
    for message in forged {
        let mut p2 = Watched::new(2);
        let effects = p2.hears(0, message.clone());
        assert!(matches!(effects[..], [Effect::Accuse { .. }]), "{message:?}: {effects:?}");
        assert_eq!(p2.process, new());
    }
}
