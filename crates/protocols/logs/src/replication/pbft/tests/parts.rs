//! States that are larger than a message: how they are signed, written and fetched.

use super::super::*;
use std::collections::BTreeSet;
use synod_agreement::seal::Signature;
use synod_core::durable::{self, encoded_len};
use synod_core::replication::{Entry, Map, RequestId};
use synod_core::{Effect, EffectOf, Setup, step};

type State = Map<u16, u8>;
type Said = Message<u8, State>;
type Mail = VecDeque<(ProcessId, ProcessId, Said)>;

/// Parts have about this many bytes here.
const PART: usize = 64;

/// Four replicas, of which one may be a traitor, and a fifth process with clients.
const N: usize = 5;
const CLIENT: ProcessId = ProcessId(4);
const LAGGARD: ProcessId = ProcessId(3);

/// A replica, the state machine above it, and its disk.
struct Node {
    process: Pbft<u8, State>,
    state: State,
    timers: BTreeSet<Timer>,
    accused: Vec<ProcessId>,
    disk: Vec<durable::Record>,
    largest: usize,
}

fn initial(at: u32) -> Pbft<u8, State> {
    let sealers = Sealer::group(&Setup::new(N)).expect("the setup is valid");
    let settings = Settings { period: 1, part_bytes: PART, ..Settings::new(4) };
    Pbft::new(settings, sealers[at as usize].clone()).expect("the settings are sound")
}

fn large() -> State {
    (0..1_000).map(|key| (key, 0)).collect()
}

impl Node {
    fn new(at: u32) -> Self {
        let (timers, accused, disk) = (BTreeSet::new(), Vec::new(), Vec::new());
        Node { process: initial(at), state: large(), timers, accused, disk, largest: 0 }
    }

    fn does(
        &mut self,
        run: impl FnOnce(&mut Pbft<u8, State>, &mut Cx<'_, Pbft<u8, State>>),
    ) -> Mail {
        let effects = step(self.process.me(), N, |cx| run(&mut self.process, cx));
        self.carry_out(effects)
    }

    fn carry_out(&mut self, effects: Vec<EffectOf<Pbft<u8, State>>>) -> Mail {
        let me = self.process.me();
        let (mut mail, mut asks) = (Mail::new(), Vec::new());
        for effect in effects {
            match effect {
                Effect::Send { to, message } => mail.push_back((me, to, message)),
                Effect::Multicast { to, message } => {
                    mail.extend(to.iter().map(|to| (me, to, message.clone())));
                }
                Effect::Output(event) => asks.extend(self.on_event(event)),
                Effect::SetTimer { timer, .. } => _ = self.timers.insert(timer),
                Effect::CancelTimer(timer) => _ = self.timers.remove(&timer),
                Effect::Accuse { who, .. } => self.accused.push(who),
                Effect::Persist(record) => self.disk.push(record),
                Effect::Checkpoint { record, keep } => {
                    self.disk.drain(..self.disk.len() - keep as usize);
                    self.disk.push(record);
                }
            }
        }
        let largest = self.disk.iter().map(|record| record.0.len()).max().unwrap_or(0);
        self.largest = self.largest.max(largest);
        for ask in asks {
            mail.extend(self.does(|process, cx| process.on_input(ask, cx)));
        }
        mail
    }

    /// The state machine: operation o gives key o the value o.
    fn on_event(&mut self, event: Event<Command<u8>, State>) -> Option<Ask<Command<u8>, State>> {
        match event {
            Event::Requested(command) => Some(Ask::Append(command)),
            Event::Due => {
                Some(Ask::Compact { index: self.process.applied, state: self.state.clone() })
            }
            Event::Committed { entry: Entry::Command(Command { operation, .. }), .. } => {
                self.state.insert(operation.into(), operation);
                None
            }
            Event::Restored { state, .. } => {
                self.state = state;
                None
            }
            _ => None,
        }
    }

    fn hears(&mut self, from: ProcessId, message: Said) -> Mail {
        self.does(|process, cx| process.on_message(from, message, cx))
    }

    /// Lets a timer run out, if it is set.
    fn expires(&mut self, timer: Timer) -> Mail {
        if !self.timers.remove(&timer) {
            return Mail::new();
        }
        self.does(|process, cx| process.on_timer(timer, cx))
    }

    /// The replica as it would be after a crash.
    fn replayed(&self) -> Pbft<u8, State> {
        let mut process = initial(self.process.me().0);
        for record in &self.disk {
            durable::replay(&mut process, record).expect("the record can be read");
        }
        process
    }
}

fn request(number: u8) -> Said {
    let client = Client { at: CLIENT, name: number.into(), session: (1, 0) };
    let command = Command { request: RequestId { client, number: 1 }, operation: number };
    let signature: Signature = initial(CLIENT.0).sign(&Statement::Request(&command));
    Message::Request(Request { command, signature })
}

/// Four replicas, and a network in which one of them may betray the others.
struct Group {
    nodes: Vec<Node>,
    /// Whether p3 is cut off.
    is_cut: bool,
    /// The sender of these parts changes them, or keeps them for itself.
    traitor: Option<(ProcessId, Treason)>,
    parts: usize,
    largest: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum Treason {
    Lies,
    IsSilent,
    /// It offers a newer checkpoint instead of a part, again and again.
    OffersAnew,
}

impl Group {
    /// p3 is cut off while the others execute a request, and take a checkpoint.
    fn with_laggard(traitor: Option<(ProcessId, Treason)>) -> Self {
        let nodes = (0..4).map(Node::new).collect();
        let mut group = Group { nodes, is_cut: true, traitor, parts: 0, largest: 0 };
        group.execute(1);
        group.is_cut = false;
        group
    }

    /// Delivers all messages; p3 sees the work of the others only as far as it asks for it.
    fn settle(&mut self, mut mail: Mail) {
        while let Some((from, to, message)) = mail.pop_front() {
            let is_away = self.is_cut && (to == LAGGARD || from == LAGGARD);
            if to == CLIENT || is_away {
                continue;
            }
            let message = match (message, self.traitor) {
                (Message::StatePart { number, mut part, next }, traitor) => {
                    self.parts += 1;
                    let treason = traitor.filter(|(who, _)| *who == from).map(|(_, what)| what);
                    match treason {
                        Some(Treason::IsSilent) => continue,
                        Some(Treason::OffersAnew) => {
                            let node = &mut self.nodes[from.index()];
                            node.process.served.remove(&to);
                            mail.extend(node.does(|process, cx| process.hand_over_state(to, cx)));
                            continue;
                        }
                        Some(Treason::Lies) => _ = part.state.insert(9_999, 9),
                        None => {}
                    }
                    Message::StatePart { number, part, next }
                }
                (message, _) => message,
            };
            if !matches!(message, Message::NewView(_) | Message::ViewChange(_)) {
                self.largest = self.largest.max(encoded_len(&message));
            }
            mail.extend(self.nodes[to.index()].hears(from, message));
        }
    }

    /// The replicas that are not cut off execute a request, and cut and sign the state after it.
    fn execute(&mut self, number: u8) {
        self.settle([(CLIENT, ProcessId(0), request(number))].into());
        for _ in 0..300 {
            for at in 0..4 {
                let mail = self.nodes[at].expires(Timer::Snapshot);
                self.settle(mail);
            }
        }
    }

    /// p3 asks for what it lacks, until it has the state of the others.
    fn catch_up(&mut self, rounds: usize) {
        for _ in 0..rounds {
            let laggard = &mut self.nodes[LAGGARD.index()];
            laggard.timers.insert(Timer::Resend);
            let mail = laggard.expires(Timer::Resend);
            self.settle(mail);
        }
    }

    fn laggard(&self) -> &Node {
        &self.nodes[LAGGARD.index()]
    }
}

#[test]
fn a_large_state_is_signed_and_written_in_parts_and_read_back() {
    let group = Group::with_laggard(None);
    for node in &group.nodes[..3] {
        assert_eq!(node.process.low_water_mark(), 1);
        assert!(node.process.writing.is_none());
        assert!(node.disk.len() > 30, "{} records", node.disk.len());
        assert!(node.largest < 4 * PART, "a record of {} bytes", node.largest);
        let again = node.replayed();
        assert_eq!(again.stable, node.process.stable);
        assert_eq!((&again.log, again.view), (&node.process.log, 0));
    }
}

#[test]
fn a_crash_while_a_checkpoint_is_written_loses_nothing() {
    let mut group = Group::with_laggard(None);
    let before = group.nodes[1].process.stable.clone();
    group.is_cut = true;
    group.settle([(CLIENT, ProcessId(0), request(2))].into());
    for at in (0..4).cycle().take(4 * 70) {
        let mail = group.nodes[at].expires(Timer::Snapshot);
        group.settle(mail);
    }
    let node = &group.nodes[1];
    assert!(node.process.low_water_mark() == 2 && node.process.writing.is_some(), "half-way");
    let again = node.replayed();
    assert_eq!(again.stable, before, "the old checkpoint");
    let certificate = again.log.get(&2).and_then(|slot| slot.prepared.as_ref());
    assert!(certificate.is_some(), "and the request after it is prepared");
}

#[test]
fn a_replica_that_lags_behind_fetches_a_large_state_in_parts() {
    let mut group = Group::with_laggard(None);
    group.catch_up(4);
    let laggard = group.laggard();
    assert_eq!((laggard.process.executed(), laggard.process.low_water_mark()), (1, 1));
    assert_eq!(laggard.state, group.nodes[0].state);
    assert!(group.parts > 30 && group.largest < 8 * PART, "a message of {} bytes", group.largest);
    assert!(laggard.largest < 8 * PART, "a record of {} bytes", laggard.largest);
    assert_eq!(laggard.replayed().stable, laggard.process.stable);
}

#[test]
fn the_others_go_on_during_a_transfer_and_keep_the_state_that_is_fetched() {
    let mut group = Group::with_laggard(None);
    // The offer, and the first parts, arrive; then the others go on without p3.
    let laggard = &mut group.nodes[LAGGARD.index()];
    laggard.timers.insert(Timer::Resend);
    let mut mail = laggard.expires(Timer::Resend);
    let mut delivered = 0;
    while let Some((from, to, message)) = mail.pop_front() {
        delivered += usize::from(matches!(message, Message::StatePart { .. }));
        if to != CLIENT {
            mail.extend(group.nodes[to.index()].hears(from, message));
        }
        if delivered == 5 {
            break;
        }
    }
    group.is_cut = true;
    group.execute(2);
    group.execute(3);
    group.is_cut = false;
    assert_eq!(group.nodes[0].process.low_water_mark(), 3);
    // The transfer goes on where it was, with the checkpoint that it began with.
    group.settle(mail);
    assert_eq!(group.laggard().process.low_water_mark(), 1);
    group.catch_up(8);
    assert_eq!(group.laggard().process.low_water_mark(), 3);
    assert_eq!(group.laggard().state, group.nodes[0].state);
    let served: usize = group.nodes.iter().map(|node| node.process.served.len()).sum();
    group.catch_up(1);
    assert!(group.nodes.iter().all(|node| node.process.served.is_empty()), "{served} before");
}

#[test]
fn no_traitor_stops_a_transfer_or_spoils_it() {
    for treason in [Treason::Lies, Treason::IsSilent, Treason::OffersAnew] {
        for traitor in (0..3).map(ProcessId) {
            let mut group = Group::with_laggard(Some((traitor, treason)));
            group.catch_up(12);
            let laggard = group.laggard();
            assert_eq!(laggard.process.low_water_mark(), 1, "{traitor}");
            assert_eq!(laggard.state, group.nodes[2 - traitor.index() / 2].state, "{traitor}");
            let lied = treason == Treason::Lies;
            assert!(laggard.accused.iter().all(|who| lied && *who == traitor), "{traitor}");
        }
    }
}

#[test]
fn an_offer_that_no_quorum_signed_is_rejected() {
    let mut group = Group::with_laggard(None);
    let Stable { proof, index, .. } = group.nodes[0].process.stable.clone();
    let first = Digest::of("another state");
    let laggard = &mut group.nodes[LAGGARD.index()];
    laggard.hears(ProcessId(0), Message::Offer { proof, index, first });
    assert!(laggard.process.fetching.is_none());
    assert_eq!(laggard.accused, [ProcessId(0)]);
}
