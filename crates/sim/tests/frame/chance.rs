//! Choices of the protocol come from the seed, like all other choices.

use super::toys::{P0, act, list, number, play, steady, toy};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use synod_core::family::logical_time::{Input, Output};
use synod_core::{Cx, Never, ProcessId, Protocol};
use synod_sim::trace::What;

/// On `Act` it throws two dice.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Dice;

impl Protocol for Dice {
    type Input = Input;
    type Output = Output;
    type Message = Never;
    type Timer = Never;

    fn on_input(&mut self, _: Input, cx: &mut Cx<'_, Self>) {
        let thrown = [cx.choose(6), cx.choose(6)].map(u64::from);
        cx.output(number(10 * thrown[0] + thrown[1], cx.me()));
    }

    fn on_message(&mut self, _: ProcessId, message: Never, _: &mut Cx<'_, Self>) {
        match message {}
    }
}

toy!(Dice, "dice");

fn thrown(seed: u64) -> Vec<String> {
    let mut options = steady(1);
    options.seed = seed;
    let (events, _) = play::<Dice>(options, &[(1, act(P0)), (2, act(P0))]);
    list(&events, What::Output).into_iter().map(|(.., text)| text.to_owned()).collect()
}

#[test]
fn the_same_seed_throws_the_same_dice() {
    for seed in 0..20 {
        assert_eq!(thrown(seed), thrown(seed));
        assert_eq!(thrown(seed).len(), 2);
    }
}

#[test]
fn over_many_seeds_every_pair_of_dice_is_thrown_about_as_often() {
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    for thrown in (0..1_800).flat_map(thrown) {
        *counts.entry(thrown).or_default() += 1;
    }
    assert_eq!(counts.len(), 36, "{counts:?}");
    // A hundred of each are expected, with a standard deviation of ten.
    assert!(counts.values().all(|count| (55..=145).contains(count)), "{counts:?}");
}
