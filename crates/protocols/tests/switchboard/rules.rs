//! The rules of the switchboard, one by one.

use crate::hand::{Group, set};
use synod_core::family::services::{Definition, Input, Output, PoolSettings, Tag};
use synod_core::family::slots::{Input as Request, OperatorCommand, Output as Answer, Refusal};
use synod_core::group::{Level, Member};
use synod_core::{ProcessId, ProcessSet};
use synod_protocols::switchboard::mutants::{BareCertificates, Sound, Variant};

const P: Tag = Tag(0);
const Q: Tag = Tag(1);
const TALK: Tag = Tag(2);
const ALL: &[u32] = &[1, 2, 3];

fn pool(slots: u32) -> Definition {
    Definition::Pool(PoolSettings::of(slots))
}

/// A pool that the first life of this node founds.
fn founded(slots: u32, by: u32) -> Definition {
    let founder = Some(Member { node: ProcessId(by), incarnation: 1 });
    Definition::Pool(PoolSettings { founder, ..PoolSettings::of(slots) })
}

fn three() -> Group {
    Group::new(&[(1, ALL), (2, ALL), (3, ALL)])
}

fn owned<V: Variant>(group: &Group<V>, tag: Tag) -> Vec<u32> {
    ALL.iter().map(|at| group.owned(*at, tag)).collect()
}

#[test]
fn a_pool_that_one_node_opens_is_open_at_all_nodes_of_the_view() {
    let mut group = three();
    group.view(ALL);
    group.say(2, Input::Open(P, pool(9)));
    group.deliver_all();
    assert_eq!(owned(&group, P).iter().sum::<u32>(), 9);
    assert!(owned(&group, P).iter().all(|owned| *owned > 0));
    assert!(ALL.iter().all(|at| group.told(*at).contains(&Output::Opened(P))));
    let claimed = group.say(3, Input::Pool(P, Request::Claim));
    assert!(matches!(claimed[..], [Output::Pool(P, Answer::Claimed(..))]), "{claimed:?}");
    assert_eq!(group.say(3, Input::Pool(Q, Request::Claim)), [Output::Unknown(Q)]);
}

#[test]
fn a_node_that_was_cut_off_hears_of_services_and_of_their_end_when_it_is_back() {
    let mut group = three();
    group.view(&[1, 2]);
    group.view(&[3]);
    group.say(1, Input::Open(P, pool(6)));
    group.say(3, Input::Open(Q, pool(6)));
    group.deliver_all();
    group.say(1, Input::Close(P));
    group.view(ALL);
    assert_eq!((owned(&group, P), owned(&group, Q).iter().sum::<u32>()), (vec![0, 0, 0], 6));
    assert!(group.told(2).contains(&Output::Closed(P)));
    assert!(!group.told(3).contains(&Output::Opened(P)), "it was deleted before");
    group.say(3, Input::Open(P, pool(6)));
    group.deliver_all();
    assert!(!group.board(3).known().contains_key(&P), "a tag is never used again");
}

#[test]
fn the_founder_owns_all_slots_at_once_although_a_node_is_cut_off() {
    let mut group = three();
    group.view(&[1, 2]);
    group.say(2, Input::Open(P, founded(8, 1)));
    group.say(2, Input::Open(Q, pool(8)));
    group.deliver_all();
    assert_eq!((group.owned(1, P) + group.owned(2, P), group.absent(2, P)), (8, 0));
    assert!(group.owned(2, P) > 0, "slots spread to the others");
    assert_eq!((group.owned(1, Q) + group.owned(2, Q), group.absent(2, Q)), (0, 8));
    group.view(&[3]);
    group.say(3, Input::Open(P, founded(8, 1)));
    group.deliver_all();
    assert_eq!((group.owned(3, P), group.absent(3, P)), (0, 8));
    group.view(ALL);
    assert_eq!(owned(&group, P).iter().sum::<u32>(), 8);
}

#[test]
fn the_others_wait_for_a_founder_that_has_not_heard_of_its_pool_and_the_next_life_founds_nothing() {
    let mut group = three();
    group.view(ALL);
    group.say(2, Input::Open(P, founded(8, 1)));
    // p1 leaves the view before it hears of the pool.
    group.begin_view(&[1]);
    group.view(&[2, 3]);
    assert_eq!((group.absent(2, P), group.absent(3, P)), (8, 8));
    group.restart(1);
    group.say(1, Input::Open(P, founded(8, 1)));
    group.view(&[1]);
    assert_eq!(group.absent(1, P), 8);
    group.view(ALL);
    assert_eq!(owned(&group, P).iter().sum::<u32>(), 8, "all nodes are accounted for");
}

#[test]
fn all_members_go_by_the_nodes_that_one_of_them_knows() {
    let mut group: Group = Group::new(&[(1, &[1, 2]), (2, &[1, 2])]);
    group.say(1, Input::Nodes(set(&[3])));
    group.view(&[1, 2]);
    group.say(2, Input::Open(P, pool(6)));
    group.deliver_all();
    assert!([1, 2].iter().all(|at| group.board(*at).accountable() == set(ALL)));
    assert_eq!((group.absent(1, P), group.absent(2, P)), (6, 6));
    // Restarted nodes know p3 still: p1 from its registry, p2 by p1.
    group.restart(2);
    group.view(&[1, 2]);
    assert_eq!((group.absent(1, P), group.absent(2, P)), (6, 6));
}

#[test]
fn a_certificate_counts_in_all_pools_and_views() {
    let mut group = three();
    group.view(&[1, 2]);
    group.say(1, Input::Open(P, pool(6)));
    group.say(1, Input::Open(Q, pool(4)));
    group.deliver_all();
    let certify = |node| Request::CertifyDead(ProcessId(node));
    let void = Answer::Void(OperatorCommand::CertifyDead(ProcessId(3)));
    assert_eq!(group.say(1, Input::Pool(P, certify(3))), [Output::Pool(P, void)]);
    group.say(2, Input::Forget(ProcessId(3), set(ALL)));
    // The view ends before the certificate is delivered.
    group.view(&[1]);
    group.view(&[1, 2]);
    assert_eq!((group.absent(1, P), group.absent(1, Q)), (0, 0));
    assert_eq!(group.owned(1, P) + group.owned(2, P), 6);
    assert!([1, 2].iter().all(|at| group.board(*at).accountable() == set(&[1, 2])));
}

/// p3 has slots, is cut off with p4, which the others do not know, and gives it some. Then p3 dies,
/// and the registry certifies it. Returns the slots that p1, p2 and p4 own together, of 60.
fn forgotten<V: Variant>() -> u32 {
    let known: ProcessSet = set(&[1, 2, 3, 4]);
    let mut group: Group<V> = Group::new(&[(1, ALL), (2, ALL), (3, ALL), (4, &[1, 2, 3, 4])]);
    group.view(ALL);
    group.say(1, Input::Open(P, pool(60)));
    group.deliver_all();
    group.view(&[3, 4]);
    assert!(group.owned(4, P) > 0, "p3 gives p4 some");
    group.view(&[4]);
    group.view(&[1, 2]);
    group.say(1, Input::Forget(ProcessId(3), known));
    group.deliver_all();
    [1, 2, 4].iter().map(|at| group.owned(*at, P)).sum()
}

#[test]
fn a_certificate_names_the_nodes_that_may_have_slots_of_the_dead() {
    assert!(forgotten::<Sound>() < 60, "those of p3 are absent until p4 is here");
    assert!(forgotten::<BareCertificates>() > 60, "slots of p4 were given out again");
}

#[test]
fn a_node_that_leaves_hands_over_the_slots_of_all_its_pools() {
    let mut group = three();
    group.view(ALL);
    group.say(1, Input::Open(P, pool(9)));
    group.say(1, Input::Open(Q, pool(6)));
    group.deliver_all();
    group.say(3, Input::Leave);
    assert!(!group.has_left(3), "first it hands its slots over");
    group.deliver_all();
    assert!(group.has_left(3));
    assert_eq!(
        (group.owned(1, P) + group.owned(2, P), group.owned(1, Q) + group.owned(2, Q)),
        (9, 6)
    );
    let refused = Output::Pool(P, Answer::Refused(Refusal::Outside));
    assert_eq!(group.say(3, Input::Pool(P, Request::Claim)), [refused]);
}

#[test]
fn pools_that_wait_for_room_get_it_in_turn() {
    let mut group = three().with_room(1);
    group.view(ALL);
    for tag in 0..20 {
        group.say(1, Input::Open(Tag(tag), founded(4, 2)));
    }
    group.deliver_all();
    for tag in (0..20).map(Tag) {
        assert_eq!(owned(&group, tag).iter().sum::<u32>(), 4);
        assert!(ALL.iter().all(|at| group.board(*at).lines()[&tag].pool().state().is_settled()));
    }
}

#[test]
fn a_group_hears_what_its_members_cast() {
    let mut group = three();
    group.view(ALL);
    assert_eq!(group.say(1, Input::Cast(TALK, Level::Agreed, vec![7])), [Output::Unknown(TALK)]);
    group.say(1, Input::Open(TALK, Definition::Group));
    assert_eq!(group.say(1, Input::Cast(TALK, Level::Agreed, vec![7])), []);
    group.deliver_all();
    let p1 = Member { node: ProcessId(1), incarnation: 1 };
    assert!(ALL.iter().all(|at| group.told(*at).contains(&Output::Heard(TALK, p1, vec![7]))));
}
