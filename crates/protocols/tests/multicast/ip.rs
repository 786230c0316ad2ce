//! Reliable multicast over IP multicast: counts, buffers, and many runs by chance.

use synod_core::card::{Load, Rounds};
use synod_core::{Effect, ProcessId, Protocol, Setup, step};
use synod_protocols::multicast::ip_reliable::{Gaps, Message, Numbers, Settings};
use synod_protocols::multicast::{IpMulticast, IpReliable, Multicast};
use synod_sim::faults::RandomFaults;
use synod_sim::network::Delay;
use synod_sim::world::Judged;
use synod_sim::{Ended, Options, Plan, Report, Simulator};

fn options(n: usize, seed: u64, set: &[(&str, &str)]) -> Options {
    let mut plan = Plan { multicast: true, ..Plan::new(n, Rounds::Times(20)) };
    plan.setup = set.iter().fold(Setup::new(n), |setup, (name, value)| setup.with(name, value));
    Options::new(plan, seed)
}

fn run(options: Options) -> Report {
    let simulator = Simulator::of::<IpMulticast>(options, None).expect("the setup is right");
    let report = simulator.run(|_, _| ()).expect("nothing is written");
    assert_eq!(report.meter.accusations, 0);
    assert_eq!(report.ended, Ended::Quiet, "everybody falls silent in the end");
    report
}

#[test]
fn without_losses_there_is_one_message_per_multicast_and_heartbeats() {
    for (n, load) in [(2, Load::Any), (3, Load::Sequential), (5, Load::Saturated)] {
        let mut options = options(n, 1, &[]);
        options.network.latency = Delay::Constant(1_000);
        options.load = load;
        let kinds = run(options).meter.by_kind();
        assert_eq!(kinds["Data"], 20 * n as u64);
        assert_eq!((kinds.get("Nack"), kinds.get("Again")), (None, None));
        assert!(kinds["Heartbeat"] > 0);
    }
}

#[test]
fn everything_arrives_though_every_fourth_message_is_lost() {
    for seed in 0..50 {
        let mut options = options(4, seed, &[("window", "4")]);
        options.network.loss = 0.25;
        options.network.duplication = 0.1;
        let report = run(options);
        assert_eq!(report.violations, [], "seed {seed}");
        assert_eq!(report.meter.operations, 80);
        assert!(report.meter.by_kind()["Again"] > 10);
    }
}

#[test]
fn survivors_agree_whoever_crashes_if_what_is_early_is_held_back() {
    for seed in 0..200 {
        let mut options = options(4, seed, &[("gaps", "hold")]);
        options.plan.judged =
            Judged::Only(["integrity", "validity", "agreement", "fifo"].map(str::to_owned).into());
        options.network.loss = 0.1;
        let crashes = (seed % 4) as u32;
        options.faults = RandomFaults { crashes, within_us: 300_000, ..RandomFaults::default() };
        assert_eq!(run(options).violations, [], "seed {seed}");
    }
}

fn process(window: u32) -> IpReliable<char> {
    let settings = Settings::from_setup(&Setup::new(2), Gaps::Hold).expect("the defaults fit");
    IpReliable::new(2, Settings { window, ..settings })
}

type Effects = Vec<synod_core::EffectOf<IpReliable<char>>>;

fn multicasts(process: &mut IpReliable<char>, payload: char) -> Effects {
    step(ProcessId(0), 2, |cx| process.on_input(Multicast(payload), cx))
}

fn takes(process: &mut IpReliable<char>, message: Message<char>) -> Effects {
    step(ProcessId(0), 2, |cx| process.on_message(ProcessId(1), message, cx))
}

fn sent(effects: &Effects) -> usize {
    effects.iter().filter(|effect| matches!(effect, Effect::Multicast { .. })).count()
}

#[test]
fn copies_are_kept_until_everybody_is_known_to_have_the_message() {
    let mut process = process(10);
    for payload in ['a', 'b', 'c'] {
        assert_eq!(sent(&multicasts(&mut process, payload)), 1);
    }
    assert_eq!(process.unstable(), 3);
    takes(&mut process, Message::Ack(Numbers(vec![2, 0])));
    assert_eq!(process.unstable(), 1);
    let nack = Message::Nack { sender: ProcessId(0), numbers: vec![2, 3] };
    let again = Message::Again { sender: ProcessId(0), number: 3, payload: 'c' };
    let effects = takes(&mut process, nack);
    assert_eq!(effects, [Effect::Send { to: ProcessId(1), message: again }]);
    takes(&mut process, Message::Ack(Numbers(vec![3, 0])));
    assert_eq!(process.unstable(), 0);
}

#[test]
fn what_the_window_has_no_room_for_waits_at_its_sender() {
    let mut process = process(2);
    let sent_at_once: Vec<_> =
        ['a', 'b', 'c', 'd'].map(|payload| sent(&multicasts(&mut process, payload))).into();
    assert_eq!(sent_at_once, [1, 1, 0, 0]);
    assert_eq!(process.unstable(), 2);
    assert_eq!(sent(&takes(&mut process, Message::Ack(Numbers(vec![1, 0])))), 1);
    assert_eq!(process.unstable(), 2, "the bound holds all the time");
    assert_eq!(sent(&takes(&mut process, Message::Ack(Numbers(vec![3, 0])))), 1);
}

#[test]
fn what_is_missing_is_asked_for_once_between_two_heartbeats() {
    let mut process = process(10);
    let data = |number| Message::Data { number, received: Numbers(vec![0, 0]), payload: 'x' };
    let asks = |effects: Effects| {
        effects.into_iter().find_map(|effect| match effect {
            Effect::Send { message: Message::Nack { numbers, .. }, .. } => Some(numbers),
            _ => None,
        })
    };
    assert_eq!(asks(takes(&mut process, data(3))), Some(vec![1, 2]));
    assert_eq!(asks(takes(&mut process, data(5))), Some(vec![4]));
    assert_eq!(asks(takes(&mut process, data(6))), None);
    step(ProcessId(0), 2, |cx| process.on_timer(synod_protocols::multicast::ip_reliable::Beat, cx));
    assert_eq!(asks(takes(&mut process, data(7))), Some(vec![1, 2, 4]));
}
