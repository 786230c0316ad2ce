//! *Paxos Made Simple*, sentence by sentence: each test says in which section. The requirements of
//! section 2.1 are properties of the family; `paxos_explored` judges them in every schedule.

use synod_core::byzantine::Byzantine;
use synod_core::durable::{self, Record};
use synod_core::family::consensus::{Decision, Input, Output, Value};
use synod_core::{Algorithm, Cx, Effect, EffectOf, ProcessId, Protocol, Setup, step};
use synod_protocols::consensus::acceptor::{Acceptor, Vote};
use synod_protocols::consensus::paxos::{Message, Timer};
use synod_protocols::consensus::{Ballot, Paxos};

/// A process, its disk, and its decision.
struct Watched {
    me: u32,
    n: usize,
    setup: Setup,
    process: Paxos,
    disk: Vec<Record>,
    decided: Option<Value>,
}

type Sent = Vec<(u32, Message)>;

/// Every process may propose, and a refused proposer begins its next ballot when the test says so.
fn setup(n: usize) -> Setup {
    Setup::new(n).with("proposers", "all")
}

impl Watched {
    fn new(me: u32, n: usize) -> Self {
        Watched::with(me, setup(n))
    }

    fn with(me: u32, setup: Setup) -> Self {
        let process = processes(&setup).swap_remove(me as usize);
        Watched { me, n: setup.n, setup, process, disk: Vec::new(), decided: None }
    }

    /// Takes a step. Returns the messages that it sends, with their receivers.
    fn does(&mut self, run: impl FnOnce(&mut Paxos, &mut Cx<'_, Paxos>)) -> Sent {
        let mut sent = Vec::new();
        for effect in step(ProcessId(self.me), self.n, |cx| run(&mut self.process, cx)) {
            match effect {
                Effect::Send { to, message } => sent.push((to.0, message)),
                Effect::Multicast { to, message } => {
                    sent.extend(to.iter().map(|to| (to.0, message.clone())));
                }
                Effect::Checkpoint { record, .. } => self.disk = vec![record],
                Effect::Output(Output::Decided(Decision::Value(value))) => {
                    self.decided = Some(value);
                }
                Effect::SetTimer { .. } | Effect::CancelTimer(_) => {}
                other => panic!("{other:?}"),
            }
        }
        sent
    }

    fn hears(&mut self, from: u32, message: Message) -> Sent {
        self.does(|process, cx| process.on_message(ProcessId(from), message, cx))
    }

    fn proposes(&mut self, value: u64) -> Sent {
        self.does(|process, cx| process.on_input(Input::Propose(Value(value)), cx))
    }

    fn retries(&mut self) -> Sent {
        self.does(|process, cx| process.on_timer(Timer::Retry, cx))
    }

    fn acceptor(&self) -> Acceptor {
        let Byzantine::Loyal(process) = &self.process else { panic!("it is no traitor") };
        *process.acceptor()
    }

    /// The process crashes: its state is what its disk has.
    fn crashes(&mut self) {
        self.process = processes(&self.setup).swap_remove(self.me as usize);
        for record in &self.disk {
            durable::replay(&mut self.process, record).expect("it was written like that");
        }
    }
}

fn processes(setup: &Setup) -> Vec<Paxos> {
    Paxos::processes(setup).expect("the setup is valid")
}

fn ballot(round: u32, owner: u32) -> Ballot {
    Ballot { round, owner: ProcessId(owner) }
}

fn vote(round: u32, owner: u32, value: u64) -> Vote {
    Vote { ballot: ballot(round, owner), value: Value(value) }
}

/// The same message to each of these.
fn to_each<const N: usize>(to: [u32; N], message: &Message) -> Sent {
    to.map(|to| (to, message.clone())).to_vec()
}

/// Section 2.2, P1: an acceptor must accept the first proposal that it receives.
#[test]
fn an_acceptor_accepts_the_first_proposal_that_it_receives() {
    let mut p2 = Watched::new(2, 3);
    p2.hears(0, Message::Accept(vote(1, 0, 7)));
    assert_eq!(p2.acceptor().accepted, Some(vote(1, 0, 7)));
}

/// Section 2.2, phase 1 (a): a proposer selects a proposal number n and sends a prepare request to
/// a majority of acceptors. (Here to all of them.)
#[test]
fn a_proposer_sends_prepare_requests_with_a_number_of_its_own() {
    let mut p1 = Watched::new(1, 3);
    assert_eq!(p1.proposes(7), to_each([0, 2], &Message::Prepare(ballot(1, 1))));
}

/// Section 2.2, phase 1 (b): it responds with a promise, and with the highest-numbered proposal (if
/// any) that it has accepted.
#[test]
fn an_acceptor_promises_and_reports_the_highest_numbered_proposal_that_it_accepted() {
    let mut p2 = Watched::new(2, 3);
    let first = p2.hears(0, Message::Prepare(ballot(1, 0)));
    assert_eq!(first, [(0, Message::Promise(ballot(1, 0), None))]);
    p2.hears(0, Message::Accept(vote(1, 0, 7)));
    p2.hears(1, Message::Accept(vote(2, 1, 8)));
    let last = p2.hears(0, Message::Prepare(ballot(3, 0)));
    assert_eq!(last, [(0, Message::Promise(ballot(3, 0), Some(vote(2, 1, 8))))]);
}

/// Section 2.2, P1a: an acceptor can accept a proposal numbered n iff it has not responded to a
/// prepare request having a number greater than n.
#[test]
fn an_acceptor_accepts_a_proposal_unless_it_promised_a_greater_number() {
    for (promised, proposed, accepts) in [
        (ballot(2, 1), ballot(1, 0), false),
        (ballot(2, 1), ballot(2, 0), false),
        (ballot(2, 1), ballot(2, 1), true),
        (ballot(2, 0), ballot(2, 1), true),
        (ballot(1, 1), ballot(2, 0), true),
    ] {
        let mut p2 = Watched::new(2, 3);
        p2.hears(promised.owner.0, Message::Prepare(promised));
        let proposal = Vote { ballot: proposed, value: Value(7) };
        p2.hears(proposed.owner.0, Message::Accept(proposal));
        let accepted = accepts.then_some(proposal);
        assert_eq!(p2.acceptor().accepted, accepted, "{promised:?}, then {proposed:?}");
    }
}

/// Section 2.2: if an acceptor ignores a request because of a higher number, it should probably
/// inform the proposer, who should then abandon its proposal.
#[test]
fn an_acceptor_informs_a_proposer_that_comes_too_late_and_the_proposer_abandons_its_proposal() {
    let mut p2 = Watched::new(2, 3);
    p2.hears(1, Message::Prepare(ballot(2, 1)));
    let refusal = Message::Refusal(ballot(1, 0), ballot(2, 1));
    for request in [Message::Prepare(ballot(1, 0)), Message::Accept(vote(1, 0, 7))] {
        assert_eq!(p2.hears(0, request), [(0, refusal.clone())]);
    }
    let mut p0 = Watched::new(0, 3);
    p0.proposes(7);
    p0.hears(2, refusal);
    assert_eq!(p0.hears(1, Message::Promise(ballot(1, 0), None)), [], "it has no ballot");
    assert_eq!(p0.retries(), to_each([1, 2], &Message::Prepare(ballot(3, 0))));
}

/// Section 2.2, phase 2 (a): if the proposer receives a response from a majority of acceptors, it
/// sends an accept request.
#[test]
fn a_proposer_waits_for_a_majority_of_different_acceptors() {
    let mut p0 = Watched::new(0, 5);
    p0.proposes(7);
    let promise = Message::Promise(ballot(1, 0), None);
    assert_eq!(p0.hears(3, promise.clone()), []);
    assert_eq!(p0.hears(3, promise.clone()), [], "the same one again");
    let accept = Message::Accept(vote(1, 0, 7));
    assert_eq!(p0.hears(1, promise)[..4], to_each([1, 2, 3, 4], &accept));
}

/// Section 2.2, phase 2 (a): v is the value of the highest-numbered proposal among the responses,
/// or is any value if the responses reported no proposals.
#[test]
fn a_proposer_proposes_the_highest_numbered_value_reported_or_else_its_own() {
    for (reported, value) in [
        ([None, None], 7),
        ([Some(vote(1, 1, 8)), None], 8),
        ([Some(vote(1, 1, 8)), Some(vote(2, 2, 9))], 9),
        ([Some(vote(2, 2, 9)), Some(vote(1, 1, 8))], 9),
    ] {
        let mut p0 = Watched::new(0, 5);
        p0.proposes(7);
        p0.hears(1, Message::Refusal(ballot(1, 0), ballot(2, 1)));
        p0.retries();
        let promises = reported.map(|vote| Message::Promise(ballot(3, 0), vote));
        let sent: Sent = (3..).zip(promises).flat_map(|(from, it)| p0.hears(from, it)).collect();
        assert_eq!(sent[0], (1, Message::Accept(vote(3, 0, value))), "{reported:?}");
    }
}

/// Section 2.2, P2b: if a proposal with value v is chosen, then every higher-numbered proposal
/// issued by any proposer has value v. Here for every majority that may have chosen 8, whatever
/// the other acceptors did, and for every majority that may answer.
#[test]
fn every_later_proposal_has_the_chosen_value_whichever_majority_answers() {
    let majorities = || (0..1_u32 << 5).filter(|set| set.count_ones() == 3);
    for chosen_by in majorities() {
        for asked in majorities() {
            let reports = |at: u32| match chosen_by >> at & 1 == 1 {
                true => Some(vote(2, 1, 8)),
                false => Some(vote(1, 0, 9)),
            };
            let mut p4 = Watched::new(4, 5);
            let own = reports(4).expect("every acceptor has accepted");
            p4.hears(own.ballot.owner.0, Message::Accept(own));
            // It knows of that ballot, so its own is above it.
            p4.hears(1, Message::Prepare(ballot(2, 1)));
            p4.proposes(7);
            let answers = (0..4).filter(|at| asked >> at & 1 == 1);
            let promise = |at| (at, Message::Promise(ballot(2, 4), reports(at)));
            let sent: Sent = answers.map(promise).flat_map(|(at, it)| p4.hears(at, it)).collect();
            let value = sent.iter().find_map(|(_, message)| match message {
                Message::Accept(vote) => Some(vote.value),
                _ => None,
            });
            assert_eq!(value, Some(Value(8)), "{chosen_by:05b} chose, {asked:05b} answered");
        }
    }
}

/// Section 2.3: each acceptor, whenever it accepts a proposal, responds to all learners.
#[test]
fn an_acceptor_tells_every_learner_what_it_accepts() {
    let mut p3 = Watched::with(3, setup(5).with("learners", "p0 p1 p3"));
    let proposal = vote(1, 0, 7);
    let sent = p3.hears(0, Message::Accept(proposal));
    assert_eq!(sent, to_each([0, 1], &Message::Accepted(proposal)), "it is the third itself");
}

/// Section 2.3: a learner must find out that a proposal has been accepted by a majority of
/// acceptors.
#[test]
fn a_learner_learns_a_value_when_a_majority_accepted_the_same_proposal() {
    let mut p4 = Watched::new(4, 5);
    p4.hears(0, Message::Accepted(vote(1, 0, 7)));
    p4.hears(1, Message::Accepted(vote(2, 1, 7)));
    p4.hears(2, Message::Accepted(vote(1, 0, 7)));
    assert_eq!(p4.decided, None, "three accepted 7, but not in one proposal");
    p4.hears(3, Message::Accepted(vote(1, 0, 7)));
    assert_eq!(p4.decided, Some(Value(7)));
}

/// Section 2.3: because of message loss, a value could be chosen with no learner ever finding out;
/// a learner can have a proposer issue a proposal.
#[test]
fn a_value_that_was_chosen_unnoticed_is_learned_by_another_proposal() {
    let mut acceptors: Vec<Watched> = (0..3).map(|at| Watched::new(at, 3)).collect();
    for acceptor in &mut acceptors[1..] {
        // All that they say about it is lost.
        acceptor.hears(0, Message::Accept(vote(1, 0, 7)));
    }
    deliver_all(&mut acceptors, 2, |p2| p2.proposes(9));
    assert_eq!(decisions(&acceptors), [Some(Value(7)); 3]);
}

/// Section 2.4: two proposers each keep issuing proposals with increasing numbers, none of which
/// are ever chosen.
#[test]
fn two_proposers_can_outbid_each_other_for_as_long_as_they_like() {
    let mut group: Vec<Watched> = (0..3).map(|at| Watched::new(at, 3)).collect();
    let (mut last, mut late) = (None, None);
    for turn in 0..50 {
        let me = turn % 2;
        let begun = match turn {
            0 | 1 => group[me].proposes(turn as u64),
            _ => group[me].retries(),
        };
        let (_, prepare @ Message::Prepare(mine)) = &begun[0] else { panic!("{begun:?}") };
        assert!(Some(*mine) > last, "numbers increase");
        last = Some(*mine);
        let promise = group[2].hears(me as u32, prepare.clone());
        let accept = group[me].hears(2, promise[0].1.clone()).swap_remove(0).1;
        assert!(matches!(accept, Message::Accept(_)), "{accept:?}");
        // Only now the other's accept request arrives at p2, and comes too late.
        if let Some((other, accept)) = late.replace((me, accept)) {
            let refusal = group[2].hears(other as u32, accept).swap_remove(0).1;
            assert!(matches!(refusal, Message::Refusal(..)), "{refusal:?}");
            group[other].hears(2, refusal);
        }
    }
    assert_eq!(decisions(&group), [None; 3]);
}

/// Section 2.4: progress, if a distinguished proposer is the only one to try issuing proposals.
#[test]
fn a_proposer_that_is_left_alone_gets_its_value_chosen() {
    let mut group: Vec<Watched> = (0..3).map(|at| Watched::new(at, 3)).collect();
    deliver_all(&mut group, 0, |p0| p0.proposes(7));
    assert_eq!(decisions(&group), [Some(Value(7)); 3]);
}

/// Section 2.5: an acceptor records its intended response in stable storage before actually sending
/// the response.
#[test]
fn an_acceptor_writes_before_it_responds() {
    let mut process = processes(&setup(3)).swap_remove(1);
    let effects = |process: &mut Paxos, message| -> Vec<EffectOf<Paxos>> {
        step(ProcessId(1), 3, |cx| process.on_message(ProcessId(0), message, cx))
    };
    for message in [Message::Prepare(ballot(1, 0)), Message::Accept(vote(1, 0, 7))] {
        let effects = effects(&mut process, message);
        assert!(matches!(effects[0], Effect::Checkpoint { .. }), "{effects:?}");
        assert!(effects.len() > 1);
    }
    let proposed = step(ProcessId(1), 3, |cx| process.on_input(Input::Propose(Value(8)), cx));
    let prepare = proposed.iter().position(|e| matches!(e, Effect::Multicast { .. }));
    assert!(matches!(proposed[0], Effect::Checkpoint { .. }) && prepare > Some(0));
}

/// Section 2.2: an acceptor must remember this information even if it fails and then restarts.
#[test]
fn an_acceptor_remembers_its_promise_and_its_proposal_after_a_crash() {
    let mut p2 = Watched::new(2, 3);
    p2.hears(0, Message::Accept(vote(1, 0, 7)));
    p2.hears(1, Message::Prepare(ballot(2, 1)));
    let before = p2.acceptor();
    p2.crashes();
    assert_eq!(p2.acceptor(), before);
}

/// Section 2.5: different proposers choose their numbers from disjoint sets of numbers.
#[test]
fn no_two_proposers_use_the_same_number() {
    let begins = |me: u32| match &Watched::new(me, 3).proposes(7)[0].1 {
        Message::Prepare(ballot) => *ballot,
        other => panic!("{other:?}"),
    };
    let mut numbers = [0, 1, 2].map(|me| begins(me).number(3));
    numbers.sort_unstable();
    assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "{numbers:?}");
}

/// Section 2.5: each proposer remembers (in stable storage) the highest-numbered proposal it has
/// tried to issue, and begins phase 1 with a higher proposal number.
#[test]
fn a_proposer_that_restarts_begins_with_a_higher_number() {
    let mut p0 = Watched::new(0, 3);
    p0.proposes(7);
    p0.crashes();
    let again = p0.does(|process, cx| process.on_start(cx));
    assert_eq!(again, to_each([1, 2], &Message::Prepare(ballot(2, 0))));
}

/// The decision of each process in a group of three.
fn decisions(group: &[Watched]) -> [Option<Value>; 3] {
    [0, 1, 2].map(|at: usize| group[at].decided)
}

/// One process takes a step; then messages are delivered, in the order of sending, until none is
/// left.
fn deliver_all(group: &mut [Watched], me: u32, first: impl FnOnce(&mut Watched) -> Sent) {
    let addressed = |from: u32, sent: Sent| sent.into_iter().map(move |(to, it)| (from, to, it));
    let mut mail: Vec<_> = addressed(me, first(&mut group[me as usize])).collect();
    while !mail.is_empty() {
        for (from, to, message) in std::mem::take(&mut mail) {
            let sent = group[to as usize].hears(from, message);
            mail.extend(addressed(to, sent));
        }
    }
}
