//! Every cheat against the whole protocol: in every schedule of a small world, and by chance in
//! larger ones. (That each succeeds where an ingredient is left out is on the cards of the
//! mutants.)

use std::collections::BTreeSet;
use synod_check::{Question, explore};
use synod_core::card::{Rounds, Scope, Timing};
use synod_core::family::lockstep::{Action, Cheat, Input, Output, Verdict};
use synod_core::{Algorithm, Effect, EffectOf, ProcessId, Protocol, Setup, SetupError, step};
use synod_protocols::lockstep::TurnLock;
use synod_protocols::lockstep::turn_lock::{Deadline, Digest, Message};
use synod_sim::network::Delay;
use synod_sim::trace::{Tracer, What, Window};
use synod_sim::{Ended, Judged, Options, Plan, Simulator};

const PROMPT: Timing = Timing::Synchronous { delay_ms: 1 };
const SEEDS: u64 = 100;

/// The parameter for each way to cheat.
const CHEATERS: [&[(&str, &str)]; 6] = [
    &[("cheater", "p1:look-ahead")],
    &[("cheater", "p1:change")],
    &[("cheater", "p1:copy")],
    &[("cheater", "p1:mute-commit")],
    &[("cheater", "p1:mute-reveal")],
    &[("cheater", "p1:equivocate")],
];

/// The number of states of a world; all promises must hold in each.
fn explored(scope: Scope) -> usize {
    let question = Question { judged: Judged::All, ..Question::new(scope) };
    let exploration = explore::<TurnLock>(&question, |_| {}).expect("the setup is valid");
    assert!(exploration.exhausted(), "{scope:?}");
    for verdict in &exploration.verdicts {
        assert!(verdict.refuted.is_none(), "{scope:?}: {:?}", verdict.refuted);
    }
    exploration.progress.unique
}

#[test]
fn no_cheat_succeeds_against_another_player_in_any_schedule() {
    let sizes = CHEATERS.map(|set| explored(Scope { timing: PROMPT, set, ..Scope::of(2) }));
    assert_eq!(sizes, [175, 151, 167, 55, 73, 151]);
}

/// This cheat needs three players. (Random runs try the other cheats in larger groups.)
#[test]
fn whoever_tells_different_things_to_two_others_is_found_out_in_any_schedule() {
    let scope = Scope { timing: PROMPT, set: CHEATERS[5], ..Scope::of(3) };
    assert_eq!(explored(scope), 120_845);
}

/// The verdicts of all players on the cheater in each turn, in a group of `n`.
fn sentences(n: usize, set: &[(&'static str, &'static str)], seed: u64) -> Vec<BTreeSet<String>> {
    const TURNS: u32 = 3;
    let setup = set.iter().fold(Setup::new(n), |setup, (name, value)| setup.with(name, value));
    let plan = Plan { setup, judged: Judged::All, ..Plan::new(n, Rounds::Times(TURNS)) };
    let mut options = Options::new(plan, seed);
    options.network.latency = Delay::Uniform(0, 1_000);
    options.network.duplication = 0.1;
    let mut window = Window::new(0, usize::MAX);
    let tracer = Tracer::new(n, vec![&mut window]);
    let run = Simulator::of::<TurnLock>(options, Some(tracer)).expect("the setup is valid");
    let report = run.run(|_, _| {}).expect("a window never fails");
    assert_eq!((report.ended, report.violations), (Ended::Quiet, vec![]), "{set:?}, {seed}");
    let said = |turn: u32| {
        let opening = format!("ends turn {turn}: ");
        let outputs = window
            .events
            .iter()
            .filter(|event| event.what == What::Output && event.process != Some(ProcessId(1)));
        let verdicts = outputs.filter_map(|event| event.text.strip_prefix(&opening));
        verdicts.filter_map(|text| text.split(' ').nth(1)).map(str::to_owned).collect()
    };
    (1..=TURNS).map(said).collect()
}

#[test]
fn all_name_the_same_cheater_and_play_on_without_it() {
    let first = ["plays", "cheats", "cheats", "silent", "silent", "cheats"];
    for (set, expected) in CHEATERS.into_iter().zip(first) {
        for seed in 0..SEEDS {
            let n = 3 + seed as usize % 3;
            let said = sentences(n, set, seed);
            assert!(said.iter().all(|said| said.len() == 1), "{set:?}, {seed}: {said:?}");
            let word = said[0].first().expect("there is one").as_str();
            match expected {
                // The cheater gained nothing by waiting, and broke no rule that others could see.
                "plays" => assert!(word.starts_with("ATTACK") || word == "DEFEND", "{word}"),
                _ => {
                    assert_eq!(word, expected, "{set:?}, {seed}");
                    assert_eq!(said[1].first().map(String::as_str), Some("out"));
                }
            }
        }
    }
}

fn player(me: u32) -> TurnLock {
    TurnLock::processes(&Setup::new(3)).expect("a group").swap_remove(me as usize)
}

fn heard(state: &mut TurnLock, from: u32, message: Message) -> Vec<EffectOf<TurnLock>> {
    step(ProcessId(0), 3, |cx| state.on_message(ProcessId(from), message, cx))
}

fn accused(effects: &[EffectOf<TurnLock>]) -> Option<&'static str> {
    effects.iter().find_map(|effect| match effect {
        Effect::Accuse { why, .. } => Some(*why),
        _ => None,
    })
}

#[test]
fn accuses_who_commits_twice_is_turns_ahead_or_leaves_somebody_out() {
    let (one, two) = (Digest::of("1"), Digest::of("2"));
    let mut state = player(0);
    assert_eq!(accused(&heard(&mut state, 1, Message::Commit(1, one))), None);
    assert_eq!(accused(&heard(&mut state, 1, Message::Commit(1, one))), None);
    let twice = heard(&mut state, 1, Message::Commit(1, two));
    assert_eq!(accused(&twice), Some("committed twice"));
    let ahead = heard(&mut state, 1, Message::Commit(3, one));
    assert_eq!(accused(&ahead), Some("is turns ahead"));
    for message in [Message::Echo(1, vec![None; 2]), Message::Compare(2, vec![None; 4])] {
        let short = heard(&mut state, 2, message);
        assert_eq!(accused(&short), Some("does not tell of each player"));
    }
    assert!(heard(&mut state, 77, Message::Commit(1, one)).is_empty());
}

#[test]
fn whoever_has_not_all_commitments_does_not_reveal() {
    let mut state = player(0);
    let input = Input::Play { turn: 1, action: Action::Defend, nonce: 9 };
    let mut effects = step(ProcessId(0), 3, |cx| state.on_input(input, cx));
    effects.extend(heard(&mut state, 1, Message::Commit(1, Digest::of("1"))));
    // The others are ahead, but not all commitments are here.
    effects.extend(heard(&mut state, 2, Message::Echo(1, vec![None; 3])));
    let reveals = |effect: &EffectOf<TurnLock>| {
        matches!(effect, Effect::Multicast { message: Message::Reveal(..), .. })
    };
    assert!(!effects.iter().any(reveals));
    let all = heard(&mut state, 2, Message::Commit(1, Digest::of("2")));
    assert!(!all.iter().any(reveals), "first they compare");
    assert!(heard(&mut state, 1, Message::Echo(1, vec![None; 3])).iter().any(reveals));
}

#[test]
fn a_turn_ends_for_whoever_waits_for_somebody_who_is_silent() {
    let mut state = player(0);
    let input = Input::Play { turn: 1, action: Action::Defend, nonce: 9 };
    step(ProcessId(0), 3, |cx| state.on_input(input, cx));
    let fire = |state: &mut TurnLock| step(ProcessId(0), 3, |cx| state.on_timer(Deadline, cx));
    let effects: Vec<_> = (0..4).flat_map(|_| fire(&mut state)).collect();
    let alone = [Verdict::Plays(Action::Defend), Verdict::Silent, Verdict::Silent];
    assert!(effects.contains(&Effect::Output(Output::Over(1, alone.to_vec()))));
}

#[test]
fn refuses_parameters_that_make_no_sense() {
    let words = Cheat::ALL.map(|(word, _)| format!("p1:{word}"));
    assert!(
        words
            .iter()
            .all(|word| { TurnLock::processes(&Setup::new(2).with("cheater", word)).is_ok() })
    );
    for (name, value) in
        [("cheater", "p1"), ("cheater", "p1:think"), ("cheater", "p2:copy"), ("delay", "0")]
    {
        let refused = TurnLock::processes(&Setup::new(2).with(name, value));
        assert!(matches!(refused, Err(SetupError::BadParameter { .. })), "{name}: {value}");
    }
}
