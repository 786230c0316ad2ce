//! Practical Byzantine Fault Tolerance, sentence by sentence: each test says in which section.

use super::super::*;
use std::collections::VecDeque;
use synod_agreement::seal::Signature;
use synod_core::replication::{Entry, RequestId};
use synod_core::{Effect, Setup, step};

type Replica = Pbft<u8, u64>;
type Said = Message<u8, u64>;

/// Four replicas, of which one may be faulty, and a fifth process with a client.
const N: usize = 5;
const CLIENT: ProcessId = ProcessId(4);

fn settings() -> Settings {
    Settings { period: 2, resend_ms: 0, ..Settings::new(4) }
}

fn replica(at: u32) -> Watched {
    let sealers = Sealer::group(&Setup::new(N)).expect("the setup is valid");
    let sealer = sealers[at as usize].clone();
    let process = Replica::new(settings(), sealer).expect("the settings are sound");
    Watched { process, outputs: Vec::new(), timers: Vec::new(), accused: Vec::new() }
}

/// A replica, and what came of its steps.
struct Watched {
    process: Replica,
    outputs: Vec<Event<Command<u8>, u64>>,
    timers: Vec<(Timer, u64)>,
    accused: Vec<ProcessId>,
}

impl Watched {
    /// What it sends in this step.
    fn does(
        &mut self,
        run: impl FnOnce(&mut Replica, &mut Cx<'_, Replica>),
    ) -> Vec<(ProcessId, Said)> {
        let mut sent = Vec::new();
        for effect in step(self.process.me(), N, |cx| run(&mut self.process, cx)) {
            match effect {
                Effect::Send { to, message } => sent.push((to, message)),
                Effect::Multicast { to, message } => {
                    sent.extend(to.iter().map(|to| (to, message.clone())));
                }
                Effect::Output(event) => self.outputs.push(event),
                Effect::SetTimer { timer, after_ms } => {
                    self.timers.retain(|(set, _)| *set != timer);
                    self.timers.push((timer, after_ms));
                }
                Effect::CancelTimer(timer) => self.timers.retain(|(set, _)| *set != timer),
                Effect::Accuse { who, .. } => self.accused.push(who),
                Effect::Persist(_) | Effect::Checkpoint { .. } => {}
            }
        }
        sent
    }

    /// What it sends when it hears this. The layer above gives back the requests that it is told
    /// of, and hands over the state when it is due.
    fn hears(&mut self, from: ProcessId, message: Said) -> Vec<(ProcessId, Said)> {
        let known = self.outputs.len();
        let mut sent = self.does(|process, cx| process.on_message(from, message, cx));
        let news: Vec<_> = self.outputs[known..].to_vec();
        for event in news {
            let index = self.executed().len() as u64;
            let ask = match event {
                Event::Requested(command) => Ask::Append(command),
                Event::Due => Ask::Compact { index, state: index },
                _ => continue,
            };
            sent.extend(self.does(|process, cx| process.on_input(ask, cx)));
        }
        sent
    }

    /// Suspects the primary. Returns its view change.
    fn suspects(&mut self) -> (ProcessId, Said) {
        let sent = self.does(|process, cx| process.on_timer(Timer::Suspect, cx));
        (self.process.me(), sent[0].1.clone())
    }

    /// The operations that it has executed, in their order.
    fn executed(&self) -> Vec<u8> {
        let operation = |event: &Event<Command<u8>, u64>| match event {
            Event::Committed { entry: Entry::Command(command), .. } => Some(command.operation),
            _ => None,
        };
        self.outputs.iter().filter_map(operation).collect()
    }
}

/// The first request of the client with this number, signed.
fn request(number: u64) -> Request<u8> {
    let client = Client { at: CLIENT, name: number as u32, session: (1, 0) };
    let command = Command { request: RequestId { client, number: 1 }, operation: number as u8 };
    let client = replica(CLIENT.0).process;
    let signature = client.sign(&Statement::Request(&command));
    Request { command, signature }
}

/// The pre-prepare of p0 for this request, in view 0 at this number.
fn pre_prepare(number: u64, requests: &[u64]) -> PrePrepare<u8> {
    let batch: Batch<u8> = requests.iter().map(|number| request(*number)).collect();
    let proposal = Proposal { view: 0, number, digest: Digest::of_data(&batch) };
    let signature = replica(0).process.sign(&Statement::PrePrepare(proposal));
    PrePrepare { proposal, batch, signature }
}

fn prepare(by: u32, proposal: Proposal) -> (ProcessId, Said) {
    let signature = replica(by).process.sign(&Statement::Prepare(proposal));
    (ProcessId(by), Message::Prepare(proposal, signature))
}

fn kinds(sent: &[(ProcessId, Said)]) -> Vec<(u32, &'static str)> {
    sent.iter().map(|(to, message)| (to.0, synod_core::Wire::kind(message))).collect()
}

/// Lets all that is sent arrive, but for what goes to those who are down.
fn settle(group: &mut [Watched], mut mail: VecDeque<(ProcessId, ProcessId, Said)>, down: &[u32]) {
    while let Some((from, to, message)) = mail.pop_front() {
        if to == CLIENT || down.contains(&to.0) || down.contains(&from.0) {
            continue;
        }
        let sent = group[to.index()].hears(from, message);
        mail.extend(sent.into_iter().map(|(next, message)| (to, next, message)));
    }
}

/// Section 4.2: the primary assigns a sequence number to the request and multicasts a pre-prepare
/// message with the request piggybacked to all the backups.
#[test]
fn the_primary_gives_a_request_a_number_and_tells_all_backups() {
    let mut primary = replica(0);
    let sent = primary.hears(CLIENT, Message::Request(request(1)));
    assert_eq!(kinds(&sent), [1, 2, 3].map(|to| (to, "PrePrepare")));
    let Message::PrePrepare(pre_prepare) = &sent[0].1 else { panic!("{sent:?}") };
    assert_eq!((pre_prepare.proposal.number, &pre_prepare.batch), (1, &vec![request(1)]));
}

/// Section 4.2: a backup accepts a pre-prepare message provided the signatures are correct and it
/// is in the same view; it then enters the prepare phase by multicasting a prepare message to all
/// other replicas.
#[test]
fn a_backup_that_accepts_a_proposal_tells_all() {
    let sent = replica(1).hears(ProcessId(0), Message::PrePrepare(pre_prepare(1, &[1])));
    assert_eq!(kinds(&sent), [0, 2, 3].map(|to| (to, "Prepare")));
}

/// Section 4.2: … it has not accepted a pre-prepare message for the same view and sequence
/// number with a different digest.
#[test]
fn a_backup_accepts_one_proposal_for_a_number_and_accuses_a_primary_that_makes_two() {
    let mut backup = replica(1);
    backup.hears(ProcessId(0), Message::PrePrepare(pre_prepare(1, &[1])));
    let sent = backup.hears(ProcessId(2), Message::PrePrepare(pre_prepare(1, &[2])));
    assert_eq!((sent, backup.accused), (Vec::new(), vec![ProcessId(0)]));
}

/// Section 4.2: … and the sequence number is between a low water mark and a high water mark.
#[test]
fn a_backup_accepts_no_number_beyond_the_high_water_mark() {
    let mut backup = replica(1);
    assert!(backup.hears(ProcessId(0), Message::PrePrepare(pre_prepare(5, &[1]))).is_empty());
    assert!(!backup.hears(ProcessId(0), Message::PrePrepare(pre_prepare(4, &[1]))).is_empty());
}

/// Section 4.2: a proposal that the primary did not sign, or with a request that its client did
/// not, is not accepted.
#[test]
fn a_backup_accepts_nothing_with_a_wrong_signature() {
    let right = pre_prepare(1, &[1]);
    let mut unsigned = right.clone();
    unsigned.signature = replica(2).process.sign(&Statement::PrePrepare(right.proposal));
    let mut forged = pre_prepare(1, &[1]);
    forged.batch[0].command.operation = 9;
    for wrong in [unsigned, forged] {
        let mut backup = replica(1);
        let sent = backup.hears(ProcessId(0), Message::PrePrepare(wrong));
        assert_eq!((sent, backup.accused), (Vec::new(), vec![ProcessId(0)]));
    }
}

/// Section 4.2: prepared is true with the pre-prepare and 2f prepares from different backups that
/// match it; the replica then multicasts a commit message. committed-local is true with 2f + 1
/// commits.
#[test]
fn a_replica_commits_with_two_prepares_and_executes_with_three_commits() {
    let mut backup = replica(1);
    let proposal = pre_prepare(1, &[1]).proposal;
    backup.hears(ProcessId(0), Message::PrePrepare(pre_prepare(1, &[1])));
    let (from, message) = prepare(2, proposal);
    // Its own prepare is one of the two.
    let sent = backup.hears(from, message);
    assert_eq!(kinds(&sent), [0, 2, 3].map(|to| (to, "Commit")));
    backup.hears(ProcessId(2), Message::Commit(proposal));
    assert!(backup.executed().is_empty(), "its own commit and one more");
    backup.hears(ProcessId(3), Message::Commit(proposal));
    assert_eq!(backup.executed(), [1]);
}

/// Section 4.2: replicas execute requests in the order of sequence numbers, also if they commit in
/// another order.
#[test]
fn a_replica_executes_in_the_order_of_numbers() {
    let mut backup = replica(1);
    for number in [2, 1] {
        let pre_prepare = pre_prepare(number, &[number]);
        let proposal = pre_prepare.proposal;
        assert!(backup.executed().is_empty());
        backup.hears(ProcessId(0), Message::PrePrepare(pre_prepare));
        let (from, message) = prepare(2, proposal);
        backup.hears(from, message);
        for from in [2, 3] {
            backup.hears(ProcessId(from), Message::Commit(proposal));
        }
    }
    assert_eq!(backup.executed(), [1, 2]);
}

/// Section 4.1: a client sends the request to the primary; if it does not receive replies soon
/// enough, it broadcasts the request to all replicas.
#[test]
fn a_client_asks_the_primary_first_and_then_all() {
    let mut client = replica(CLIENT.0);
    let command = request(1).command;
    let mut asks = || client.does(|client, cx| client.on_input(Ask::Append(command.clone()), cx));
    assert_eq!(kinds(&asks()), [(0, "Request")]);
    assert_eq!(kinds(&asks()), [0, 1, 2, 3].map(|to| (to, "Request")));
}

/// Section 4.1: the client waits for f + 1 replies with valid signatures from different replicas
/// and with the same result.
#[test]
fn a_client_believes_what_one_more_says_than_may_be_faulty() {
    assert_eq!(replica(CLIENT.0).process.answers_needed(), 2);
}

/// Section 4.3: with 2f + 1 checkpoint messages the checkpoint is stable, and the replica discards
/// all messages with sequence numbers up to it from its log.
#[test]
fn a_checkpoint_that_a_quorum_signed_is_stable_and_the_log_before_it_is_gone() {
    let mut group: Vec<Watched> = (0..4).map(replica).collect();
    for number in [1, 2] {
        let mail = (CLIENT, ProcessId(0), Message::Request(request(number)));
        settle(&mut group, [mail].into(), &[3]);
    }
    for replica in &group[..3] {
        assert_eq!((replica.executed(), replica.process.low_water_mark()), (vec![1, 2], 2));
        assert_eq!(replica.process.kept(), 0);
    }
}

/// Section 4.4: if the timer of a backup expires, it stops accepting messages other than
/// checkpoint, view-change and new-view messages, and multicasts a view-change message to all
/// replicas.
#[test]
fn a_backup_that_waits_too_long_leaves_the_view() {
    let mut backup = replica(1);
    backup.hears(CLIENT, Message::Request(request(1)));
    assert!(backup.timers.iter().any(|(timer, _)| *timer == Timer::Suspect));
    let sent = backup.does(|process, cx| process.on_timer(Timer::Suspect, cx));
    assert_eq!(kinds(&sent), [0, 2, 3].map(|to| (to, "ViewChange")));
    assert_eq!(backup.process.view(), 1);
    let sent = backup.hears(ProcessId(0), Message::PrePrepare(pre_prepare(1, &[1])));
    assert!(kinds(&sent).iter().all(|(_, kind)| *kind != "Prepare"), "{sent:?}");
}

/// Section 4.4: when the primary of view v + 1 receives 2f valid view-change messages from other
/// replicas, it multicasts a new-view message; and what was prepared in the last view is proposed
/// again at its number.
#[test]
fn a_request_that_was_prepared_is_executed_at_its_number_in_the_next_view() {
    let mut group: Vec<Watched> = (0..4).map(replica).collect();
    let pre_prepare = pre_prepare(1, &[1]);
    // The primary falls silent after p1 to p3 prepared its proposal; their commits are lost.
    for (at, backup) in group.iter_mut().enumerate().skip(1) {
        backup.hears(ProcessId(0), Message::PrePrepare(pre_prepare.clone()));
        for by in (1..4).filter(|by| *by != at as u32) {
            let (from, message) = prepare(by, pre_prepare.proposal);
            backup.hears(from, message);
        }
    }
    // Another request waits, so they suspect the primary.
    let mut mail = VecDeque::new();
    for (at, backup) in group.iter_mut().enumerate().skip(1) {
        backup.hears(CLIENT, Message::Request(request(2)));
        let sent = backup.does(|process, cx| process.on_timer(Timer::Suspect, cx));
        mail.extend(sent.into_iter().map(|(to, message)| (ProcessId(at as u32), to, message)));
    }
    settle(&mut group, mail, &[0]);
    for replica in &group[1..] {
        assert_eq!((replica.process.view(), replica.executed()), (1, vec![1, 2]));
    }
}

/// Section 4.4: if no view-change message has a request prepared at a number, the new primary
/// proposes a null request there; its execution is a no-op.
#[test]
fn a_gap_is_filled_with_a_null_request() {
    let mut group: Vec<Watched> = (0..4).map(replica).collect();
    let pre_prepare = pre_prepare(2, &[2]);
    let mut mail = VecDeque::new();
    for (at, backup) in group.iter_mut().enumerate().skip(1) {
        backup.hears(ProcessId(0), Message::PrePrepare(pre_prepare.clone()));
        for by in (1..4).filter(|by| *by != at as u32) {
            let (from, message) = prepare(by, pre_prepare.proposal);
            backup.hears(from, message);
        }
        backup.hears(CLIENT, Message::Request(request(2)));
        let (from, change) = backup.suspects();
        mail.extend([1, 2, 3].map(|to| (from, ProcessId(to), change.clone())));
    }
    settle(&mut group, mail, &[0]);
    for replica in &group[1..] {
        assert_eq!((replica.executed(), replica.process.executed()), (vec![2], 2));
        let first = Event::Committed { index: 1, entry: Entry::Nothing };
        assert_eq!(
            replica.outputs.iter().find(|event| matches!(event, Event::Committed { .. })),
            Some(&first)
        );
    }
}

/// Section 4.4: a backup accepts a new-view message if the view-change messages it contains are
/// valid and if the set O is correct.
#[test]
fn a_backup_checks_a_new_view_message() {
    let mut primary = replica(1);
    let mut changes: Vec<_> = [2, 3].map(replica).iter_mut().map(suspicious).collect();
    suspicious(&mut primary);
    let (from, change) = changes.remove(0);
    assert!(primary.hears(from, change).is_empty(), "two of three");
    let (from, change) = changes.remove(0);
    let sent = primary.hears(from, change);
    let new = sent.iter().find_map(|(_, message)| match message {
        Message::NewView(new) => Some(new.clone()),
        _ => None,
    });
    let new = new.expect("a quorum has left the view");
    let mut too_few = new.clone();
    too_few.changes.pop();
    let mut twice = new.clone();
    twice.changes[0] = twice.changes[1].clone();
    let mut later = new.clone();
    later.view = 5;
    for (new, is_valid) in [(new, true), (too_few, false), (twice, false), (later, false)] {
        let mut backup = replica(2);
        backup.hears(ProcessId(1), Message::NewView(new));
        assert_eq!(backup.accused.is_empty(), is_valid);
        assert_eq!(backup.process.view(), u64::from(is_valid));
    }
}

/// A backup waits for a request in vain, and leaves the view.
fn suspicious(backup: &mut Watched) -> (ProcessId, Said) {
    backup.hears(CLIENT, Message::Request(request(1)));
    backup.suspects()
}

/// The proof that this batch was prepared at this number in this view: the primary's pre-prepare,
/// and the prepares of two backups.
fn certificate(view: u64, number: u64, requests: &[u64]) -> Certificate<u8> {
    let batch: Batch<u8> = requests.iter().map(|number| request(*number)).collect();
    let proposal = Proposal { view, number, digest: Digest::of_data(&batch) };
    let primary = view as u32 % 4;
    let signature = replica(primary).process.sign(&Statement::PrePrepare(proposal));
    let backups = (0..4).filter(|by| *by != primary).take(2);
    let prepares = backups.map(|by| (ProcessId(by), prepared_by(by, proposal))).collect();
    Certificate { pre_prepare: PrePrepare { proposal, batch, signature }, prepares }
}

fn prepared_by(by: u32, proposal: Proposal) -> Signature {
    replica(by).process.sign(&Statement::Prepare(proposal))
}

/// The view change of a replica that has prepared these.
fn view_change(by: u32, view: u64, prepared: Vec<Certificate<u8>>) -> (ProcessId, Said) {
    let process = replica(by).process;
    let change = ViewChange { view, stable: process.stable.proof.clone(), prepared };
    let signature = process.sign(&Statement::ViewChange(&change));
    let signed = SignedChange { by: ProcessId(by), change, signature };
    (ProcessId(by), Message::ViewChange(Box::new(signed)))
}

/// Section 4.4: each set P_m contains a valid pre-prepare message and 2f matching, valid prepare
/// messages signed by different backups with the same view, sequence number and digest.
#[test]
fn a_view_change_without_full_certificates_is_rejected() {
    let right = certificate(0, 1, &[1]);
    let proposal = right.pre_prepare.proposal;
    let mut too_few = right.clone();
    too_few.prepares.pop_last();
    let mut of_the_primary = too_few.clone();
    of_the_primary.prepares.insert(ProcessId(0), prepared_by(0, proposal));
    let mut of_another = right.clone();
    of_another.prepares.insert(ProcessId(2), prepared_by(3, proposal));
    let mut other_batch = right.clone();
    other_batch.pre_prepare.batch = vec![request(2)];
    let (later, beyond) = (certificate(1, 1, &[1]), certificate(0, 5, &[1]));
    let wrong = [too_few, of_the_primary, of_another, other_batch, later, beyond];
    let verdict = |certificate| {
        let mut backup = replica(2);
        let (from, change) = view_change(3, 1, vec![certificate]);
        backup.hears(from, change);
        backup.accused
    };
    assert_eq!(verdict(right), []);
    for wrong in wrong {
        let said = format!("{wrong:?}");
        assert_eq!(verdict(wrong), [ProcessId(3)], "{said}");
    }
}

/// Section 4.4: the primary selects for each sequence number the message with the highest view
/// number in V, because only that one can have been committed.
#[test]
fn a_new_view_proposes_the_batch_that_was_prepared_in_the_latest_view() {
    let (early, late) = (certificate(0, 1, &[1]), certificate(1, 1, &[2]));
    let wanted = late.pre_prepare.proposal.digest;
    for (one, other) in [(&early, &late), (&late, &early)] {
        let mut primary = replica(2);
        let mut sent = Vec::new();
        for (by, certificate) in [(1, one), (3, other)] {
            let (from, change) = view_change(by, 2, vec![certificate.clone()]);
            sent.extend(primary.hears(from, change));
        }
        let new = sent.into_iter().find(|(_, message)| matches!(message, Message::NewView(_)));
        let (_, new) = new.expect("three replicas want view 2, and it is one of them");
        let mut backup = replica(1);
        let prepared = backup.hears(ProcessId(2), new).into_iter().find_map(|(_, message)| {
            if let Message::Prepare(proposal, _) = message { Some(proposal) } else { None }
        });
        assert_eq!(prepared, Some(Proposal { view: 2, number: 1, digest: wanted }));
        assert_eq!(backup.accused, []);
    }
}

/// Section 4.5.2: a replica waits for 2f + 1 view-change messages and then starts its timer; if it
/// expires before the view begins, the replica waits twice as long in the next one.
#[test]
fn each_view_that_does_not_begin_doubles_the_wait() {
    let mut backup = replica(3);
    suspicious(&mut backup);
    assert!(backup.timers.is_empty(), "it waits for other replicas");
    let mut others = [0, 2].map(replica);
    for other in &mut others {
        let (from, change) = suspicious(other);
        backup.hears(from, change);
    }
    assert_eq!(backup.timers, [(Timer::Suspect, 2 * settings().suspect_ms)]);
    backup.suspects();
    for other in &mut others {
        let (from, change) = other.suspects();
        backup.hears(from, change);
    }
    assert_eq!(backup.timers, [(Timer::Suspect, 4 * settings().suspect_ms)]);
}

/// Section 4.5.2: a replica that receives f + 1 valid view-change messages for views greater than
/// its own sends one for the smallest of them, even if its timer has not expired.
#[test]
fn a_replica_goes_along_with_more_than_may_be_faulty() {
    let mut changes: Vec<_> = [1, 2].map(replica).iter_mut().map(suspicious).collect();
    let mut backup = replica(3);
    let (from, change) = changes.remove(0);
    assert!(backup.hears(from, change).is_empty());
    let (from, change) = changes.remove(0);
    let sent = backup.hears(from, change);
    assert_eq!(kinds(&sent), [0, 1, 2].map(|to| (to, "ViewChange")));
}
