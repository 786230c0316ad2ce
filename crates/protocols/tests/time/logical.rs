//! Lamport's clock and the vector clock, step by step.

use synod_core::family::logical_time::{self, LogicalTime, Stamp};
use synod_core::{
    Algorithm, Effect, EffectOf, ProcessId, Protocol, Setup, Timestamp, VectorStamp, step,
};
use synod_protocols::time::mutants::LamportDeaf;
use synod_protocols::time::{LamportClock, VectorClock};

/// A group with logical clocks, moved by hand.
struct Group<A>(Vec<A>);

/// An event: its stamp, and the message that it sent.
type Event<A> = (Stamp, Option<<A as Protocol>::Message>);

impl<A: Algorithm<Family = LogicalTime>> Group<A> {
    fn of(setup: &Setup) -> Self {
        Group(A::processes(setup).expect("the setup is valid"))
    }

    fn event(effects: Vec<EffectOf<A>>) -> Event<A> {
        let (mut stamps, mut sent) = (Vec::new(), None);
        for effect in effects {
            match effect {
                Effect::Output(logical_time::Output::Stamped(stamp)) => stamps.push(stamp),
                Effect::Send { message, .. } => sent = Some(message),
                other => panic!("a clock has no business with {other:?}"),
            }
        }
        assert_eq!(stamps.len(), 1, "one event has one stamp");
        (stamps.remove(0), sent)
    }

    fn input(&mut self, at: u32, input: logical_time::Input) -> Event<A> {
        let (n, process) = (self.0.len(), &mut self.0[at as usize]);
        Self::event(step(ProcessId(at), n, |cx| process.on_input(input, cx)))
    }

    fn acts(&mut self, at: u32) -> Stamp {
        self.input(at, logical_time::Input::Act).0
    }

    fn sends(&mut self, from: u32, to: u32) -> (Stamp, A::Message) {
        let (stamp, message) = self.input(from, logical_time::Input::Send(ProcessId(to)));
        (stamp, message.expect("a message leaves"))
    }

    fn receives(&mut self, at: u32, from: u32, message: A::Message) -> Stamp {
        let (n, process) = (self.0.len(), &mut self.0[at as usize]);
        let effects = step(ProcessId(at), n, |cx| process.on_message(ProcessId(from), message, cx));
        Self::event(effects).0
    }

    /// p0: a, send m1; p1: receive m1, send m2; p2: x, receive m2.
    fn three_processes_and_two_messages(&mut self) -> [Stamp; 6] {
        let a = self.acts(0);
        let (send_m1, m1) = self.sends(0, 1);
        let receive_m1 = self.receives(1, 0, m1);
        let (send_m2, m2) = self.sends(1, 2);
        let x = self.acts(2);
        let receive_m2 = self.receives(2, 1, m2);
        [a, send_m1, receive_m1, send_m2, x, receive_m2]
    }
}

fn lamport(stamp: &Stamp) -> Timestamp {
    match stamp {
        Stamp::Lamport(stamp) => *stamp,
        Stamp::Vector(_) => panic!("{stamp:?} is no Lamport time"),
    }
}

fn vector(stamp: Stamp) -> VectorStamp {
    match stamp {
        Stamp::Vector(stamp) => stamp,
        Stamp::Lamport(_) => panic!("{stamp:?} is no vector time"),
    }
}

/// V1.3: "on a message with time t: C := max(C, t), then advance; the arrival has that time".
#[test]
fn a_lamport_clock_counts_events_and_is_never_behind_a_message() {
    let stamps = Group::<LamportClock>::of(&Setup::new(3)).three_processes_and_two_messages();
    assert_eq!(stamps.each_ref().map(|stamp| lamport(stamp).time), [1, 2, 3, 4, 1, 5]);
}

/// V1.3: x and a are concurrent and have the same time; the name decides.
#[test]
fn concurrent_events_with_the_same_lamport_time_are_ordered_by_name_alone() {
    let [a, .., x, _] =
        Group::<LamportClock>::of(&Setup::new(3)).three_processes_and_two_messages();
    let (a, x) = (lamport(&a), lamport(&x));
    assert!(!a.clock_lt(x) && !x.clock_lt(a));
    assert!(a.total_lt(x) && !x.total_lt(a));
}

#[test]
fn lamport_clocks_start_where_the_setup_says() {
    let mut group = Group::<LamportClock>::of(&Setup::new(3).with("clocks", "0 4 6"));
    let (_, message) = group.sends(2, 0);
    assert_eq!(message.time, 7);
    assert_eq!(lamport(&group.receives(0, 2, message)).time, 8);
    assert_eq!(lamport(&group.acts(1)).time, 5);
}

#[test]
fn a_message_from_the_end_of_time_stops_a_lamport_clock_and_does_not_reset_it() {
    let mut group = Group::<LamportClock>::of(&Setup::new(2));
    let (_, mut message) = group.sends(0, 1);
    message.time = u64::MAX;
    assert_eq!(lamport(&group.receives(1, 0, message)).time, u64::MAX);
    assert_eq!(lamport(&group.acts(1)).time, u64::MAX);
}

/// V1.4: "a=[1,0,0], send m1=[2,0,0], recv m1=[2,1,0], send m2=[2,2,0], x=[0,0,1],
/// recv m2=[2,2,2]".
#[test]
fn a_vector_clock_counts_the_known_events_of_everybody() {
    let stamps = Group::<VectorClock>::of(&Setup::new(3)).three_processes_and_two_messages();
    let expected = [[1, 0, 0], [2, 0, 0], [2, 1, 0], [2, 2, 0], [0, 0, 1], [2, 2, 2]];
    assert_eq!(stamps.map(|stamp| vector(stamp).0), expected);
}

/// V1.4: a → b if and only if V(a) < V(b); concurrent if neither.
#[test]
fn vectors_tell_what_happened_before_what() {
    let stamps = Group::<VectorClock>::of(&Setup::new(3)).three_processes_and_two_messages();
    let [a, send_m1, receive_m1, send_m2, x, receive_m2] = stamps.map(vector);
    let chain = [&a, &send_m1, &receive_m1, &send_m2, &receive_m2];
    for (index, earlier) in chain.iter().enumerate() {
        for later in &chain[index + 1..] {
            assert!(earlier.happened_before(later) && !later.happened_before(earlier));
        }
    }
    for other in [&a, &send_m1, &receive_m1, &send_m2] {
        assert!(x.is_concurrent_with(other));
    }
    assert!(x.happened_before(&receive_m2));
}

#[test]
fn a_vector_clock_accuses_who_claims_to_know_more_of_us_than_we_do() {
    for forged in [vec![1, 1], vec![1, 0, 0], vec![1]] {
        let mut group = Group::<VectorClock>::of(&Setup::new(2));
        let (_, mut message) = group.sends(0, 1);
        message.time = VectorStamp(forged);
        let before = group.0[1].clone();
        let process = &mut group.0[1];
        let effects = step(ProcessId(1), 2, |cx| process.on_message(ProcessId(0), message, cx));
        assert!(matches!(effects[..], [Effect::Accuse { who: ProcessId(0), .. }]));
        assert_eq!(*process, before, "the clock is not touched");
    }
}

#[test]
fn a_clock_that_ignores_the_times_of_messages_stamps_an_arrival_before_its_sending() {
    let stamps = Group::<LamportDeaf>::of(&Setup::new(3)).three_processes_and_two_messages();
    assert_eq!(stamps.each_ref().map(|stamp| lamport(stamp).time), [1, 2, 1, 2, 1, 2]);
}
