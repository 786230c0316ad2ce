//! One process of a detector, step by step.

use synod_core::{Effect, EffectOf, ProcessId, Protocol, Setup, SetupError, step};
use synod_protocols::detector::common_tick;
use synod_protocols::detector::perfect::Timer;
use synod_protocols::detector::phi_accrual::{self, QUANTILES};
use synod_protocols::detector::{
    self, CommonTick, Detector, EventuallyPerfect, Message, Opinion, Perfect, PhiAccrual,
};

const P0: ProcessId = ProcessId(0);
const P1: ProcessId = ProcessId(1);
const P2: ProcessId = ProcessId(2);
const STRANGER: ProcessId = ProcessId(3);

fn three() -> Setup {
    Setup::new(3).with("period", "10").with("delay", "5").with("step", "7")
}

fn start<P: Protocol>(process: &mut P) -> Vec<EffectOf<P>> {
    step(P0, 3, |cx| process.on_start(cx))
}

fn hear<P: Protocol>(process: &mut P, from: ProcessId, message: P::Message) -> Vec<EffectOf<P>> {
    step(P0, 3, |cx| process.on_message(from, message, cx))
}

fn fire<P: Protocol>(process: &mut P, timer: P::Timer) -> Vec<EffectOf<P>> {
    step(P0, 3, |cx| process.on_timer(timer, cx))
}

fn opinions<P: Protocol<Output = Opinion>>(effects: &[EffectOf<P>]) -> Vec<Opinion> {
    let opinion = |effect: &EffectOf<P>| match effect {
        Effect::Output(opinion) => Some(*opinion),
        _ => None,
    };
    effects.iter().filter_map(opinion).collect()
}

fn is_accused<P: Protocol>(effects: &[EffectOf<P>]) -> bool {
    matches!(effects, [Effect::Accuse { .. }])
}

fn waits<P: Protocol<Timer = Timer>>(effects: &[EffectOf<P>], process: ProcessId) -> Option<u64> {
    let wait = |effect: &EffectOf<P>| match effect {
        Effect::SetTimer { timer: Timer::Silence(other), after_ms } if *other == process => {
            Some(*after_ms)
        }
        _ => None,
    };
    effects.iter().find_map(wait)
}

#[test]
fn a_heartbeat_may_be_a_period_and_a_delay_apart_from_the_one_before() {
    let mut detector = Perfect::from_setup(&three()).expect("it fits");
    let effects = start(&mut detector);
    let peers = [P1, P2].into_iter().collect();
    assert!(effects.contains(&Effect::Multicast { to: peers, message: Message::Heartbeat }));
    assert_eq!(waits::<Perfect>(&effects, P1), Some(16));
    assert_eq!(waits::<Perfect>(&effects, P0), None);
    assert_eq!(waits::<Perfect>(&hear(&mut detector, P2, Message::Heartbeat), P2), Some(16));
}

#[test]
fn an_answer_may_be_a_period_and_two_delays_apart_from_the_one_before() {
    let mut detector = Perfect::from_setup(&three().with("style", "ping")).expect("it fits");
    let effects = start(&mut detector);
    let peers = [P1, P2].into_iter().collect();
    assert!(effects.contains(&Effect::Multicast { to: peers, message: Message::Ping }));
    assert_eq!(waits::<Perfect>(&effects, P1), Some(21));
    let answer = Effect::Send { to: P1, message: Message::Pong };
    assert_eq!(hear(&mut detector, P1, Message::Ping), [answer]);
    assert_eq!(waits::<Perfect>(&hear(&mut detector, P1, Message::Pong), P1), Some(21));
}

#[test]
fn the_verdict_of_the_perfect_detector_is_final() {
    let mut detector = Perfect::from_setup(&three()).expect("it fits");
    start(&mut detector);
    let effects = fire(&mut detector, Timer::Silence(P1));
    assert_eq!(opinions::<Perfect>(&effects), [Opinion::Suspect(P1)]);
    assert_eq!(hear(&mut detector, P1, Message::Heartbeat), []);
    assert!(detector.suspected().contains(P1) && !detector.suspected().contains(P2));
}

#[test]
fn the_eventually_perfect_detector_takes_a_mistake_back_and_waits_longer_for_that_process() {
    let mut detector = EventuallyPerfect::from_setup(&three()).expect("it fits");
    start(&mut detector);
    for mistakes in 1..=3 {
        let effects = fire(&mut detector, Timer::Silence(P1));
        assert_eq!(opinions::<EventuallyPerfect>(&effects), [Opinion::Suspect(P1)]);
        let effects = hear(&mut detector, P1, Message::Heartbeat);
        assert_eq!(opinions::<EventuallyPerfect>(&effects), [Opinion::Restore(P1)]);
        assert_eq!(waits::<EventuallyPerfect>(&effects, P1), Some(16 + 7 * mistakes));
    }
    let effects = hear(&mut detector, P2, Message::Heartbeat);
    assert_eq!(waits::<EventuallyPerfect>(&effects, P2), Some(16));
}

/// The opinions at a tick, and the length of the next.
fn tick(detector: &mut CommonTick) -> (Vec<Opinion>, u64) {
    let effects = fire(detector, common_tick::Timer::Tick);
    (opinions::<CommonTick>(&effects), detector.tick_ms())
}

#[test]
fn the_detector_with_one_tick_looks_at_all_at_once_and_grows_once_for_several_mistakes() {
    let mut detector = CommonTick::from_setup(&three()).expect("it fits");
    start(&mut detector);
    hear(&mut detector, P2, Message::Heartbeat);
    assert_eq!(tick(&mut detector), (vec![Opinion::Suspect(P1)], 16));
    assert_eq!(tick(&mut detector), (vec![Opinion::Suspect(P2)], 16));
    assert_eq!(tick(&mut detector), (vec![], 16), "it says so once");
    for process in [P1, P2] {
        let effects = hear(&mut detector, process, Message::Heartbeat);
        assert_eq!(opinions::<CommonTick>(&effects), [], "not before the tick");
    }
    assert!(detector.suspected().contains(P1));
    assert_eq!(tick(&mut detector), (vec![Opinion::Restore(P1), Opinion::Restore(P2)], 16 + 7));
    hear(&mut detector, P1, Message::Heartbeat);
    assert_eq!(tick(&mut detector), (vec![Opinion::Suspect(P2)], 16 + 7), "no mistake so far");
}

/// Lets `count` ticks pass; returns each process that is suspected on the way, with the tick.
fn ticks(detector: &mut PhiAccrual, count: u64) -> Vec<(u64, Opinion)> {
    let mut found = Vec::new();
    for tick in 1..=count {
        let effects = fire(detector, phi_accrual::Timer::Tick);
        found.extend(opinions::<PhiAccrual>(&effects).into_iter().map(|said| (tick, said)));
    }
    found
}

fn accrual(threshold: &str) -> PhiAccrual {
    let setup = three().with("threshold", threshold).with("window", "4");
    let mut detector = PhiAccrual::from_setup(&setup).expect("it fits");
    start(&mut detector);
    detector
}

/// Signs of life of p1 that come after these waits.
fn signs(detector: &mut PhiAccrual, waits: &[u64]) {
    hear(detector, P1, Message::Heartbeat);
    for wait in waits {
        ticks(detector, *wait);
        hear(detector, P1, Message::Heartbeat);
    }
}

/// Waits of 8, 12, 8 and 12: mean 10, deviation 2.
#[test]
fn phi_is_the_number_of_zeros_in_the_odds_of_a_longer_silence() {
    for (threshold, limit) in [("1", 13), ("3", 17), ("8", 22), ("16", 27)] {
        let mut detector = accrual(threshold);
        signs(&mut detector, &[8, 12, 8, 12]);
        // 10 + 1.282 · 2, 10 + 3.090 · 2, 10 + 5.612 · 2, 10 + 8.222 · 2; rounded up.
        assert_eq!(detector.limit(P1), Some(limit), "threshold {threshold}");
        let suspected = ticks(&mut detector, limit);
        assert!(suspected.contains(&(limit, Opinion::Suspect(P1))), "threshold {threshold}");
    }
}

#[test]
fn the_accrual_detector_learns_from_a_long_wait_and_forgets_it_again() {
    let mut detector = accrual("8");
    signs(&mut detector, &[10, 10, 10, 10]);
    let calm = detector.limit(P1);
    signs(&mut detector, &[40]);
    assert!(detector.limit(P1) > Some(2 * 40), "the same wait again is no surprise");
    signs(&mut detector, &[10, 10, 10, 10]);
    assert_eq!(detector.limit(P1), calm);
}

#[test]
fn the_accrual_detector_takes_a_mistake_back() {
    let mut detector = accrual("8");
    signs(&mut detector, &[10, 10]);
    let suspected = ticks(&mut detector, 20);
    assert!(suspected.iter().any(|(_, opinion)| *opinion == Opinion::Suspect(P1)));
    let effects = hear(&mut detector, P1, Message::Heartbeat);
    assert_eq!(opinions::<PhiAccrual>(&effects), [Opinion::Restore(P1)]);
}

/// 16 periods of silence are enough for a suspicion, however much the waits vary.
#[test]
fn the_accrual_detector_suspects_the_crashed_whatever_it_remembers() {
    let mut detector = accrual("16");
    signs(&mut detector, &[160, 0, 160, 0]);
    let suspected = ticks(&mut detector, 160);
    assert!(suspected.contains(&(160, Opinion::Suspect(P1))));
    assert_eq!(ticks(&mut detector, 1_000), [], "it says so once");
}

/// The tail of the normal distribution, integrated by Simpson's rule.
#[test]
fn the_table_holds_the_quantiles_of_the_normal_distribution() {
    let density = |z: f64| (-z * z / 2.0).exp() / std::f64::consts::TAU.sqrt();
    let tail = |from: f64| {
        let (steps, width) = (20_000, 12.0 / 20_000.0);
        let weight = |step: u32| match step {
            0 | 20_000 => 1.0,
            step if step % 2 == 1 => 4.0,
            _ => 2.0,
        };
        let parts = (0..=steps).map(|step| weight(step) * density(from + f64::from(step) * width));
        parts.sum::<f64>() * width / 3.0
    };
    for (index, quantile) in QUANTILES.iter().enumerate() {
        let (z, odds) = (*quantile as f64 / 1000.0, 10f64.powi(-(index as i32) - 1));
        assert!(tail(z - 0.0006) > odds && tail(z + 0.0006) < odds, "{quantile}");
    }
}

#[test]
fn signs_of_life_from_strangers_or_in_the_other_style_are_reported_and_change_nothing() {
    for style in ["heartbeat", "ping"] {
        for name in ["perfect", "eventually-perfect", "phi-accrual"] {
            let setup = three().with("style", style).with("detector", name);
            let mut detector = Detector::from_setup(&setup, "none").expect("it fits");
            start(&mut detector);
            let before = detector.clone();
            for message in [Message::Heartbeat, Message::Ping, Message::Pong] {
                for from in [P0, STRANGER, ProcessId(u32::MAX)] {
                    assert!(is_accused::<Detector>(&hear(&mut detector, from, message)));
                }
            }
            let other = if style == "ping" { Message::Heartbeat } else { Message::Pong };
            assert!(is_accused::<Detector>(&hear(&mut detector, P1, other)));
            assert_eq!(detector, before, "{name}, {style}");
        }
    }
}

#[test]
fn a_detector_below_says_what_it_would_say_alone() {
    let mut alone = EventuallyPerfect::from_setup(&three()).expect("it fits");
    let setup = three().with("detector", "eventually-perfect");
    let mut below = Detector::from_setup(&setup, "none").expect("it fits");
    start(&mut alone);
    start(&mut below);
    assert_eq!(
        opinions::<EventuallyPerfect>(&fire(&mut alone, Timer::Silence(P2))),
        opinions::<Detector>(&fire(&mut below, detector::Timer::TimeOut(Timer::Silence(P2)))),
    );
    assert!(below.suspects(P2) && !below.suspects(P1));
    let back = hear(&mut below, P2, Message::Heartbeat);
    assert_eq!(opinions::<Detector>(&back), [Opinion::Restore(P2)]);
    assert!(!below.suspects(P2));
}

#[test]
fn where_there_is_no_detector_nothing_is_sent_and_nobody_suspected() {
    let mut none =
        Detector::from_setup(&three().with("detector", "none"), "perfect").expect("fits");
    assert_eq!(start(&mut none), []);
    assert!(is_accused::<Detector>(&hear(&mut none, P1, Message::Heartbeat)));
    assert!(!none.suspects(P1));
}

#[test]
fn parameters_that_make_no_sense_are_refused() {
    let wrong = [
        ("period", "0"),
        ("period", "3600001"),
        ("delay", "x"),
        ("style", "shouting"),
        ("threshold", "17"),
        ("window", "1001"),
        ("detector", "oracle"),
    ];
    for (name, value) in wrong {
        let setup = Setup::new(3).with("detector", "phi-accrual").with(name, value);
        let setup = if name == "delay" { setup.with("detector", "perfect") } else { setup };
        let refused = Detector::from_setup(&setup, "none");
        assert!(matches!(refused, Err(SetupError::BadParameter { .. })), "{name} = {value}");
    }
}
