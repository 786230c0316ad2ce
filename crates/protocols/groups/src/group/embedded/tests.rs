//! The rules of a change of view, one message at a time.

use super::*;
use synod_core::family::multicast::Payload;
use synod_core::{Effect, ProcessSet, Setup, step};

const N: usize = 3;
const P0: ProcessId = ProcessId(0);
const P1: ProcessId = ProcessId(1);
const P2: ProcessId = ProcessId(2);

type Said = Message<Payload>;

/// A member, and the views that it was told of.
struct Watched {
    me: ProcessId,
    process: Embedded<Payload>,
    views: Vec<ViewId>,
    accused: Vec<ProcessId>,
}

fn member(node: ProcessId) -> Member {
    Member { node, incarnation: 1 }
}

fn id(epoch: u64, by: ProcessId) -> ViewId {
    ViewId { epoch, by: member(by) }
}

fn all() -> Vec<Member> {
    ProcessId::all(N).map(member).collect()
}

/// A sign of life of `by`, which is alone in its first view and hears all.
fn hello(by: ProcessId, wants: &[ProcessId]) -> Said {
    Message::Hello(Hello {
        incarnation: 1,
        epoch: 1,
        view: id(1, by),
        frozen: false,
        have: 0,
        hears: ProcessSet::all(N),
        follows: by,
        wants: wants.iter().copied().collect(),
    })
}

impl Watched {
    fn new(me: ProcessId) -> Self {
        let process = Embedded::from_setup(me, &Setup::new(N)).expect("the setup is valid");
        let mut watched = Watched { me, process, views: Vec::new(), accused: Vec::new() };
        watched.does(|process, cx| process.on_start(cx));
        watched
    }

    /// A member that has heard all others, and is wanted by none.
    fn among_others(me: ProcessId) -> Self {
        let mut watched = Watched::new(me);
        for other in ProcessId::all(N).filter(|other| *other != me) {
            watched.hears(other, hello(other, &[]));
        }
        watched
    }

    fn does(
        &mut self,
        run: impl FnOnce(&mut Embedded<Payload>, &mut Cx<'_, Embedded<Payload>>),
    ) -> Vec<(ProcessId, Said)> {
        let mut sent = Vec::new();
        for effect in step(self.me, N, |cx| run(&mut self.process, cx)) {
            match effect {
                Effect::Send { to, message } => sent.push((to, message)),
                Effect::Multicast { to, message } => {
                    sent.extend(to.iter().map(|to| (to, message.clone())));
                }
                Effect::Output(Event::View(view)) => self.views.push(view.id),
                Effect::Accuse { who, .. } => self.accused.push(who),
                _ => {}
            }
        }
        sent
    }

    fn hears(&mut self, from: ProcessId, message: Said) -> Vec<(ProcessId, Said)> {
        self.does(|process, cx| process.on_message(from, message, cx))
    }

    /// Whether it accepts the proposal of a view of all three.
    fn accepts(&mut self, from: ProcessId, attempt: ViewId) -> bool {
        let sent = self.hears(from, Message::Propose { attempt, members: all() });
        sent.iter().any(|(to, message)| match message {
            Message::Accept(accept) => *to == from && accept.attempt == attempt,
            _ => false,
        })
    }

    fn beats(&mut self) -> Vec<(ProcessId, Said)> {
        self.does(|process, cx| process.on_timer(Beat, cx))
    }
}

#[test]
fn a_member_accepts_a_view_above_all_that_it_accepted_and_repeats_its_answer() {
    let mut p2 = Watched::among_others(P2);
    assert!(!p2.accepts(P0, id(1, P0)), "not above its own first view");
    assert!(p2.accepts(P0, id(3, P0)));
    assert!(p2.accepts(P0, id(3, P0)), "the answer may be lost");
    assert!(!p2.accepts(P0, id(2, P0)), "it has promised a higher one");
    assert!(p2.accepts(P0, id(4, P0)));
    assert_eq!((p2.views.len(), p2.accused.len()), (1, 0), "it is in no new view");
}

#[test]
fn a_member_names_a_higher_view_after_a_proposal_that_it_cannot_accept() {
    let mut p2 = Watched::among_others(P2);
    p2.accepts(P0, id(5, P0));
    assert!(!p2.accepts(P1, id(5, P0).max(id(4, P1))));
    p2.accepts(P0, id(2, P0));
    let sent = p2.beats();
    let epoch = sent.iter().find_map(|(_, message)| match message {
        Message::Hello(hello) => Some(hello.epoch),
        _ => None,
    });
    assert_eq!(epoch, Some(5));
}

#[test]
fn a_member_that_a_smaller_one_wants_accepts_no_view_of_a_greater_one() {
    let mut p2 = Watched::among_others(P2);
    p2.hears(P0, hello(P0, &[P2]));
    let of_p1 = Message::Propose { attempt: id(9, P1), members: vec![member(P1), member(P2)] };
    assert!(p2.hears(P1, of_p1).is_empty());
    assert!(p2.accepts(P0, id(9, P0)));
}

#[test]
fn a_member_accepts_no_view_of_a_coordinator_that_does_not_hear_it() {
    let mut p2 = Watched::new(P2);
    let Message::Hello(deaf) = hello(P0, &[]) else { unreachable!("it is a hello") };
    p2.hears(P0, Message::Hello(Hello { hears: ProcessSet::EMPTY, ..deaf }));
    assert!(!p2.accepts(P0, id(3, P0)));
    p2.hears(P0, hello(P0, &[]));
    assert!(p2.accepts(P0, id(3, P0)));
}

#[test]
fn a_member_accepts_no_view_that_it_is_not_in_and_none_of_an_earlier_life() {
    let mut p2 = Watched::among_others(P2);
    let without = Message::Propose { attempt: id(3, P0), members: vec![member(P0), member(P1)] };
    assert!(p2.hears(P0, without).is_empty());
    let by = Member { node: P0, incarnation: 2 };
    let members = vec![by, member(P1), member(P2)];
    let later = Message::Propose { attempt: ViewId { epoch: 3, by }, members };
    assert!(p2.hears(P0, later).is_empty(), "it has not heard of that life");
    let other = Message::Propose { attempt: id(3, P1), members: all() };
    assert!(p2.hears(P0, other).is_empty());
    assert_eq!(p2.accused, [P0], "the view of another");
}

/// A coordinator that has proposed a view of all three, and its name.
fn proposer() -> (Watched, ViewId) {
    let mut p0 = Watched::among_others(P0);
    let sent = p0.beats().into_iter().chain(p0.beats()).collect::<Vec<_>>();
    let attempt = sent.iter().find_map(|(_, message)| match message {
        Message::Propose { attempt, .. } => Some(*attempt),
        _ => None,
    });
    (p0, attempt.expect("it wants another view"))
}

/// The answer of a member to the coordinator's proposal.
fn accept(by: ProcessId, attempt: ViewId) -> Said {
    let mut member = Watched::among_others(by);
    let sent = member.hears(attempt.by.node, Message::Propose { attempt, members: all() });
    sent.into_iter().next().expect("it accepts").1
}

fn has(sent: &[(ProcessId, Said)], kind: &str) -> bool {
    sent.iter().any(|(_, message)| message.kind() == kind)
}

#[test]
fn a_view_is_prepared_when_all_have_accepted_and_begins_when_all_are_ready() {
    let (mut p0, attempt) = proposer();
    assert!(!has(&p0.hears(P1, accept(P1, attempt)), "Prepare"), "p2 has not accepted");
    assert!(!has(&p0.hears(P1, accept(P1, attempt)), "Prepare"), "the same answer again");
    assert!(has(&p0.hears(P2, accept(P2, attempt)), "Prepare"));
    assert!(!has(&p0.hears(P1, Message::Ready { attempt }), "Commit"), "p2 is not ready");
    assert!(!has(&p0.hears(P1, Message::Ready { attempt }), "Commit"), "the same answer again");
    assert_eq!(p0.views, [id(1, P0)]);
    assert!(has(&p0.hears(P2, Message::Ready { attempt }), "Commit"));
    assert_eq!(p0.views, [id(1, P0), attempt]);
}

#[test]
fn an_answer_to_another_proposal_does_not_count() {
    let (mut p0, attempt) = proposer();
    let other = id(attempt.epoch + 1, P0);
    p0.hears(P1, accept(P1, attempt));
    assert!(!has(&p0.hears(P2, accept(P2, other)), "Prepare"));
    assert!(has(&p0.hears(P2, accept(P2, attempt)), "Prepare"));
    p0.hears(P1, Message::Ready { attempt });
    assert!(!has(&p0.hears(P2, Message::Ready { attempt: other }), "Commit"));
    assert_eq!(p0.views, [id(1, P0)]);
}

#[test]
fn a_member_is_in_the_view_when_it_is_ready_and_hears_that_it_has_begun() {
    let (mut p0, attempt) = proposer();
    let mut p2 = Watched::among_others(P2);
    let accepted = p2.hears(P0, Message::Propose { attempt, members: all() }).remove(0).1;
    let commit = Message::Commit { attempt };
    p2.hears(P0, commit.clone());
    assert_eq!(p2.views, [id(1, P2)], "it has not prepared");
    p0.hears(P1, accept(P1, attempt));
    let sent = p0.hears(P2, accepted);
    let prepare = sent.into_iter().find(|(to, message)| *to == P2 && message.kind() == "Prepare");
    let answer = p2.hears(P0, prepare.expect("all have accepted").1);
    assert!(has(&answer, "Ready"));
    p2.hears(P0, Message::Commit { attempt: id(attempt.epoch + 1, P0) });
    assert_eq!(p2.views, [id(1, P2)], "another view has begun");
    p2.hears(P0, commit);
    assert_eq!(p2.views, [id(1, P2), attempt]);
}

#[test]
fn a_member_that_has_accepted_a_higher_view_is_not_ready_for_a_lower_one() {
    let (mut p0, attempt) = proposer();
    let mut p2 = Watched::among_others(P2);
    let accepted = p2.hears(P0, Message::Propose { attempt, members: all() }).remove(0).1;
    p0.hears(P1, accept(P1, attempt));
    let sent = p0.hears(P2, accepted);
    let prepare = sent.into_iter().find(|(to, message)| *to == P2 && message.kind() == "Prepare");
    assert!(p2.accepts(P0, id(attempt.epoch + 1, P0)));
    assert!(p2.hears(P0, prepare.expect("all have accepted").1).is_empty());
    p2.hears(P0, Message::Commit { attempt });
    assert_eq!(p2.views, [id(1, P2)]);
}

#[test]
fn a_node_in_doubt_is_not_heard_from_the_next_beat_on_unless_it_gives_a_sign_of_life() {
    let hears = |sent: &[(ProcessId, Said)]| {
        sent.iter().find_map(|(_, said)| match said {
            Message::Hello(hello) => Some(hello.hears.clone()),
            _ => None,
        })
    };
    let mut p0 = Watched::among_others(P0);
    assert_eq!(hears(&p0.beats()), Some(ProcessSet::all_but(N, P0)));
    p0.process.doubt(P1);
    p0.process.doubt(P2);
    p0.hears(P2, hello(P2, &[]));
    assert_eq!(hears(&p0.beats()), Some(ProcessSet::from_iter([P2])));
    // An unknown node is data from elsewhere, too.
    p0.process.doubt(ProcessId(9));
}
