//! The choice of a value for the ballot after a fast one, by counting votes.

use super::Setting;
use crate::consensus::acceptor::Vote;
use std::collections::BTreeMap;
use synod_core::family::consensus::Value;

/// The number of votes for each value in the greatest ballot among them.
fn count(votes: impl Iterator<Item = Vote> + Clone) -> BTreeMap<Value, usize> {
    let last = votes.clone().map(|vote| vote.ballot).max();
    let mut counts = BTreeMap::new();
    for vote in votes.filter(|vote| Some(vote.ballot) == last) {
        *counts.entry(vote.value).or_default() += 1;
    }
    counts
}

/// The value that a new ballot must have, if `heard` processes have answered and these are their
/// last votes: the value that may have been chosen; if there is none, any that has a vote. `None`
/// without votes.
pub(super) fn pick(
    votes: impl Iterator<Item = Vote> + Clone,
    heard: usize,
    setting: &Setting,
) -> Option<Value> {
    let counts = count(votes);
    let silent = setting.quorums.group() - heard;
    let may_be_chosen = |(_, count): &(&Value, &usize)| **count + silent >= setting.quorums.fast();
    // A classic ballot has one value only.
    let chosen = counts.iter().find(may_be_chosen);
    chosen.or_else(|| counts.iter().max_by_key(|(_, count)| **count)).map(|(value, _)| *value)
}

/// Whether no value can still get a fast quorum, and a classic quorum has voted.
pub(super) fn collide(votes: &[Vote], setting: &Setting) -> bool {
    let silent = setting.quorums.group() - votes.len();
    let is_out = |count: &usize| count + silent < setting.quorums.fast();
    votes.len() >= setting.quorums.classic() && count(votes.iter().copied()).values().all(is_out)
}
