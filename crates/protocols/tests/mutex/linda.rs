//! Mutual exclusion in a tuple space.

use crate::by_hand::Group;
use synod_core::{Algorithm, Setup, SetupError};
use synod_protocols::mutex::linda::Message::{Found, In, Out, Rd};
use synod_protocols::mutex::mutants::LindaRd;
use synod_protocols::mutex::tuple_space::{Field, MOST_TUPLES, Template, Tuple};
use synod_protocols::mutex::{Linda, linda};

fn key() -> Tuple {
    Tuple(vec![Field::Word("key".to_owned())])
}

fn any() -> Template {
    Template(vec![None])
}

#[test]
fn who_waits_for_the_tuple_gets_it_in_the_order_of_asking() {
    let mut group = Group::<Linda>::of(4);
    for client in [3, 1, 2] {
        group.enter(client);
        group.deliver(client, 0, "In");
    }
    group.deliver_all();
    assert_eq!(group.entered, [3]);
    for client in [3, 1] {
        group.exit(client);
        group.deliver_all();
    }
    assert_eq!(group.entered, [3, 1, 2]);
    group.exit(2);
    assert_eq!(group.sent, 3 * 3, "in, found, out");
}

#[test]
fn a_process_that_only_reads_the_tuple_is_not_alone() {
    let mut group = Group::<LindaRd>::of(3);
    group.enter(1);
    group.enter(2);
    group.deliver_all();
    assert_eq!(group.inside, [1, 2].into());
}

#[test]
fn accuses_who_breaks_the_rules_and_goes_on() {
    let mut group = Group::<Linda>::of(3);
    group.enter(1);
    group.deliver_all();
    group.enter(2);
    group.deliver_all();
    let before = group.processes.clone();
    let forged = [(2, 0, In(any())), (2, 0, Rd(any())), (0, 1, Found(key())), (1, 2, Found(key()))];
    for (from, to, message) in forged {
        group.forge(from, to, message);
    }
    group.forge(1, 2, Out(key()));
    assert_eq!(group.accusations, 5);
    assert_eq!(group.processes, before);
}

#[test]
fn the_space_is_bounded() {
    let mut group = Group::<Linda>::of(3);
    for _ in 1..MOST_TUPLES {
        group.forge(1, 0, Out(key()));
    }
    assert_eq!(group.accusations, 0);
    group.forge(1, 0, Out(key()));
    assert_eq!(group.accusations, 1, "server {:?}", linda::SERVER);
}

#[test]
fn needs_somebody_to_serve() {
    let alone = Linda::processes(&Setup::new(1));
    assert!(matches!(alone, Err(SetupError::GroupSize { n: 1, .. })));
}
