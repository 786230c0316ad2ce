//! Cristian's method, step by step.

use synod_core::family::clock_sync::{self, ClockSync, Estimate};
use synod_core::{
    Algorithm, Cx, Effect, EffectOf, Never, ProcessId, Protocol, Setup, SetupError, step,
};
use synod_protocols::time::Cristian;
use synod_protocols::time::cristian::{Message, Round};
use synod_protocols::time::mutants::{CristianImpostor, CristianSum};

/// The protocol of a client, in every variant.
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

    /// Runs a step, and answers every request for a reading; returns the other outputs.
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

    /// The answer of a process arrives at T1.
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

/// V1.1b: the request takes 2 ms, the answer 22 ms, min = 2 ms: the error is 10 ms, the whole
/// bound.
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

/// A client that multicasts its request and does not check the sender adopts the impostor's time.
#[test]
fn a_client_that_believes_anybody_adopts_the_time_of_an_impostor() {
    let mut client = Client::<CristianImpostor>::new(&Setup::new(3));
    let number = client.asks(0);
    let estimate = estimate_of(&client.is_answered(2, number, 77_000, 10));
    assert_eq!(estimate.server_us, 77_005);
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
