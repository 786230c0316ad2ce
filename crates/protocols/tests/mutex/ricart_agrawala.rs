//! Permission from all others, by timestamps.

use crate::by_hand::Group;
use synod_core::Setup;
use synod_protocols::mutex::{RicartAgrawala, ricart_agrawala};

/// Requests of `first` and `second` cross; the one with the earlier time goes first.
fn two_requests_cross(clocks: &str, idle: u32, first: u32, second: u32) {
    let mut group = Group::<RicartAgrawala>::set_up(&Setup::new(3).with("clocks", clocks));
    group.enter(second);
    group.enter(first);
    for wanting in [first, second] {
        group.deliver(wanting, idle, "Request");
        group.deliver(idle, wanting, "Reply");
    }
    group.deliver(second, first, "Request");
    assert_eq!(group.sent, 6, "the earlier one puts the reply off");
    group.deliver(first, second, "Request");
    group.deliver_all();
    assert_eq!(group.entered, [first]);
    group.exit(first);
    group.deliver(first, second, "Reply");
    assert_eq!(group.entered, [first, second]);
    assert_eq!(group.sent, 8, "two entries, four messages each");
}

#[test]
fn the_request_of_time_5_goes_before_the_request_of_time_7() {
    two_requests_cross("0 4 6", 0, 1, 2);
}

#[test]
fn the_request_of_time_34_goes_before_the_request_of_time_41() {
    two_requests_cross("40 33 0", 2, 1, 0);
}

#[test]
fn a_process_that_holds_defers_every_reply() {
    let mut group = Group::<RicartAgrawala>::of(3);
    group.enter(0);
    group.deliver_all();
    group.enter(1);
    group.enter(2);
    group.deliver(1, 0, "Request");
    group.deliver(2, 0, "Request");
    assert!(group.in_flight.iter().all(|(from, ..)| from.0 != 0));
    group.exit(0);
    let replies = group.in_flight.iter().filter(|(from, ..)| from.0 == 0).count();
    assert_eq!(replies, 2);
}

#[test]
fn a_permission_that_nobody_asked_for_is_an_accusation_and_nothing_else() {
    let mut group = Group::<RicartAgrawala>::of(2);
    group.forge(0, 1, ricart_agrawala::Message::Reply { clock: 9 });
    assert_eq!((group.accusations, group.entered.len()), (1, 0));
}
