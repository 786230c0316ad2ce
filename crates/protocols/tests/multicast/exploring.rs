//! Small worlds, in every way that they can go.

use synod_check::{Question, explore};
use synod_core::Algorithm;
use synod_core::card::{Rounds, Scope};
use synod_core::family::multicast::{AGREEMENT, UNIFORM};
use synod_protocols::multicast::mutants::ReliableLateRelay;
use synod_protocols::multicast::{BasicMulticast, IpMulticast, ReliableMulticast};
use synod_sim::world::Judged;

const ONE_SENDER: Scope = Scope { set: &[("senders", "p0")], ..Scope::of(3) };

/// How many different states there are, if the properties hold in all of them.
fn states<A: Algorithm>(scope: Scope, properties: &[&str]) -> usize {
    let mut question = Question::new(scope);
    question.judged = Judged::Only(properties.iter().map(|id| (*id).to_owned()).collect());
    let exploration = explore::<A>(&question, |_| ()).expect("the scope fits");
    assert_eq!(exploration.unfinished, None);
    for verdict in &exploration.verdicts {
        let because = verdict.refuted.as_ref().map(|refuted| &refuted.violation.because);
        assert_eq!(because, None, "{}", verdict.property);
    }
    exploration.progress.unique
}

#[test]
fn basic_multicast_agrees_as_long_as_nobody_crashes() {
    let promises = BasicMulticast::CARD.promises;
    assert_eq!(states::<BasicMulticast>(Scope::of(3), promises), 125);
    let two = Scope { rounds: Rounds::Times(3), ..Scope::of(2) };
    assert_eq!(states::<BasicMulticast>(two, promises), 225);
}

#[test]
fn reliable_multicast_agrees_whoever_crashes_in_the_middle_of_whatever() {
    let promises = ReliableMulticast::CARD.promises;
    let scope = Scope { crashes: 2, duplicates: 1, ..ONE_SENDER };
    assert_eq!(states::<ReliableMulticast>(scope, promises), 1429);
}

#[test]
fn over_ip_multicast_two_agree_whatever_message_is_lost() {
    let (scope, promises) = (IpMulticast::CARD.proved[0], IpMulticast::CARD.promises);
    assert_eq!((scope.n, scope.drops), (2, 1));
    assert_eq!(states::<IpMulticast>(scope, promises), 3252);
}

/// Agreement speaks of those that do not crash: it does not see what is wrong with delivering first.
#[test]
fn delivering_before_passing_on_keeps_agreement_and_loses_uniform_agreement() {
    let scope = Scope { crashes: 2, ..ONE_SENDER };
    assert!(states::<ReliableLateRelay>(scope, &[AGREEMENT]) > 100);
    let mut question = Question::new(scope);
    question.judged = Judged::Only(vec![UNIFORM.to_owned()]);
    let exploration = explore::<ReliableLateRelay>(&question, |_| ()).expect("the scope fits");
    assert!(exploration.refutation(UNIFORM).is_some());
}
