//! Time: the rules of each clock, step by step.

use synod_core::family::clock_sync::{self, ClockSync, Estimate};
use synod_core::family::logical_time::{self, LogicalTime, Stamp};
use synod_core::{
    Algorithm, Cx, Effect, EffectOf, Never, ProcessId, Protocol, Setup, SetupError, Timestamp,
    VectorStamp, step,
};
use synod_protocols::time::cristian::{Message, Round};
use synod_protocols::time::mutants::{CristianImpostor, CristianSum, LamportDeaf};
use synod_protocols::time::{Cristian, LamportClock, VectorClock};

/// A group with logical clocks, moved by hand.
struct Group<A>(Vec<A>);

/// What an event was: its stamp, and the message that it sent.
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

/// What a client does, in every variant.
type ClientEffect = EffectOf<Cristian>;

/// A client and its clock, moved by hand.
struct Client<A> {
    process: A,
    clock_us: i64,
}

impl<A: Algorithm<Family = ClockSync, Message = Message, Timer = Never>> Client<A> {
    fn new(setup: &Setup) -> Self {
        let processes = A::processes(setup).expect("the setup is valid");
        Client { process: processes[1].clone(), clock_us: 0 }
    }

    /// Runs a step, and answers every question for the clock; returns the rest.
    fn run(&mut self, run: impl FnOnce(&mut A, &mut Cx<'_, A>)) -> Vec<ClientEffect> {
        let me = ProcessId(1);
        let process = &mut self.process;
        let mut effects = step(me, 3, |cx| run(process, cx));
        while let Some(at) = effects
            .iter()
            .position(|effect| *effect == Effect::Output(clock_sync::Output::ReadClock))
        {
            effects.remove(at);
            let reading = clock_sync::Input::Reading { now_us: self.clock_us };
            effects.extend(step(me, 3, |cx| self.process.on_input(reading, cx)));
        }
        effects
    }

    /// Asks at T0; returns the number of the request.
    fn asks(&mut self, sent_us: i64) -> u64 {
        self.clock_us = sent_us;
        let effects = self.run(|process, cx| process.on_input(clock_sync::Input::Synchronise, cx));
        number_of(&effects)
    }

    /// Is answered at T1 by a process.
    fn is_answered(
        &mut self,
        by: u32,
        number: u64,
        server_us: i64,
        received_us: i64,
    ) -> Vec<ClientEffect> {
        self.clock_us = received_us;
        let time = Message::Time { number, server_us };
        self.run(|process, cx| process.on_message(ProcessId(by), time, cx))
    }
}

fn number_of(effects: &[ClientEffect]) -> u64 {
    match effects {
        [Effect::Send { message: Message::Request { number }, .. }, ..] => *number,
        other => panic!("no request: {other:?}"),
    }
}

fn estimate_of(effects: &[ClientEffect]) -> Estimate {
    match effects {
        [Effect::Output(clock_sync::Output::Synchronised(estimate))] => *estimate,
        other => panic!("no estimate: {other:?}"),
    }
}

/// V1.1a: T0 = 100 ms, T1 = 124 ms, t = 5000 ms: 5012 ms, and with min = 8 ms give or take 4 ms.
#[test]
fn a_client_adds_half_the_round_and_knows_its_error() {
    let mut client = Client::<Cristian>::new(&Setup::new(3).with("min_us", "8000"));
    let number = client.asks(100_000);
    let estimate = estimate_of(&client.is_answered(0, number, 5_000_000, 124_000));
    let expected =
        Estimate { server_us: 5_012_000, error_bound_us: 4_000, correction_us: 4_888_000 };
    assert_eq!(estimate, expected);
}

/// V1.1b: the request takes 2 ms, the answer 22 ms, min = 2 ms: the error is 10 ms, the whole bound.
#[test]
fn with_all_the_delay_on_one_way_the_error_is_as_large_as_the_bound() {
    let setup = Setup::new(3).with("min_us", "2000");
    for (request_ms, reply_ms) in [(2, 22), (22, 2)] {
        let mut client = Client::<Cristian>::new(&setup);
        let number = client.asks(0);
        let read_us = request_ms * 1_000;
        let received_us = read_us + reply_ms * 1_000;
        let estimate = estimate_of(&client.is_answered(0, number, read_us, received_us));
        assert_eq!(estimate.error_bound_us, 10_000);
        assert_eq!((estimate.server_us - received_us).abs(), 10_000);
    }
}

#[test]
fn an_odd_round_does_not_make_the_bound_too_small() {
    let round = Round { sent_us: 0, server_us: 0, received_us: 3 };
    // Estimate 1; the truth may be 0 to 3.
    assert_eq!((round.took_us() / 2, round.error_bound_us(0)), (1, 2));
}

#[test]
fn of_several_attempts_the_fastest_counts_and_its_age_is_added() {
    let mut client = Client::<Cristian>::new(&Setup::new(3).with("attempts", "3"));
    let first = client.asks(0);
    let second = number_of(&client.is_answered(0, first, 1_000_010, 20));
    let third = number_of(&client.is_answered(0, second, 1_000_022, 24));
    let estimate = estimate_of(&client.is_answered(0, third, 1_000_100, 124));
    // The second round took 4: at 24 the server's clock was 1000024, give or take 2.
    let expected = Estimate { server_us: 1_000_124, error_bound_us: 2, correction_us: 1_000_000 };
    assert_eq!(estimate, expected);
}

#[test]
fn an_answer_that_is_too_slow_or_too_fast_to_be_true_is_refused() {
    let setup = Setup::new(3).with("min_us", "10").with("threshold_us", "50");
    for (took_us, refused) in [(19, true), (20, false), (50, false), (51, true), (-1, true)] {
        let mut client = Client::<Cristian>::new(&setup);
        let number = client.asks(100);
        let effects = client.is_answered(0, number, 0, 100 + took_us);
        assert_eq!(effects == [Effect::Output(clock_sync::Output::Refused)], refused, "{took_us}");
    }
}

#[test]
fn an_answer_to_an_earlier_request_is_not_taken_for_the_answer_to_this_one() {
    let mut client = Client::<Cristian>::new(&Setup::new(3));
    let first = client.asks(0);
    client.is_answered(0, first, 5, 10);
    let second = client.asks(1_000);
    assert_eq!(client.is_answered(0, first, 5, 1_001), [], "a late copy");
    let estimate = estimate_of(&client.is_answered(0, second, 1_005, 1_010));
    assert_eq!(estimate.server_us, 1_010);
}

#[test]
fn a_client_accuses_an_impostor_and_goes_on_waiting() {
    let mut client = Client::<Cristian>::new(&Setup::new(3));
    let number = client.asks(0);
    let effects = client.is_answered(2, number, 77, 10);
    assert!(matches!(effects[..], [Effect::Accuse { who: ProcessId(2), .. }]));
    assert_eq!(estimate_of(&client.is_answered(0, number, 5, 10)).server_us, 10);
}

/// With the request multicast and no look at who answers, the impostor's time is adopted.
#[test]
fn a_client_that_believes_anybody_adopts_the_time_of_an_impostor() {
    let mut client = Client::<CristianImpostor>::new(&Setup::new(3));
    let number = client.asks(0);
    let estimate = estimate_of(&client.is_answered(2, number, 77_000, 10));
    assert_eq!(estimate.server_us, 77_005);
}

#[test]
fn a_clock_that_ignores_the_times_of_messages_stamps_an_arrival_before_its_sending() {
    let stamps = Group::<LamportDeaf>::of(&Setup::new(3)).three_processes_and_two_messages();
    assert_eq!(stamps.each_ref().map(|stamp| lamport(stamp).time), [1, 2, 1, 2, 1, 2]);
}

/// V1.1a with the sum: 5000 + (100 + 124)/2 is 100 ms off.
#[test]
fn the_sum_of_two_clock_readings_is_not_the_length_of_a_round() {
    let mut client = Client::<CristianSum>::new(&Setup::new(3));
    let number = client.asks(100_000);
    let estimate = estimate_of(&client.is_answered(0, number, 5_000_000, 124_000));
    assert_eq!(estimate.server_us, 5_112_000);
}

#[test]
fn the_server_reads_its_clock_just_before_it_answers() {
    let mut server = Cristian::processes(&Setup::new(2)).expect("the setup is valid").remove(0);
    assert!(!server.takes_part(ProcessId(0)) && server.takes_part(ProcessId(1)));
    let request = Message::Request { number: 9 };
    let effects = step(ProcessId(0), 2, |cx| server.on_message(ProcessId(1), request, cx));
    assert_eq!(effects, [Effect::Output(clock_sync::Output::ReadClock)]);
    let reading = clock_sync::Input::Reading { now_us: 5_000 };
    let effects = step(ProcessId(0), 2, |cx| server.on_input(reading, cx));
    let message = Message::Time { number: 9, server_us: 5_000 };
    assert_eq!(effects, [Effect::Send { to: ProcessId(1), message }]);
}

#[test]
fn parameters_that_make_no_sense_are_refused_with_a_reason() {
    let why = |setup: Setup| match Cristian::processes(&setup) {
        Err(SetupError::BadParameter { name, .. }) => name,
        other => panic!("{other:?}"),
    };
    assert_eq!(why(Setup::new(2).with("attempts", "0")), "attempts");
    assert_eq!(why(Setup::new(2).with("min_us", &u64::MAX.to_string())), "min_us");
    assert_eq!(why(Setup::new(2).with("min_us", "9").with("threshold_us", "17")), "threshold_us");
    assert!(Cristian::processes(&Setup::new(1)).is_err(), "a server needs a client");
}
