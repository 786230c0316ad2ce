//! The explored world: as flags say, or as the card does.

use super::Check;
use crate::about::About;
use crate::options::Order;
use crate::parse;
use clap::Args;
use synod_core::card::{Counterexample, Rounds, Scope, Settings, Timing};
use synod_core::family::Mutex;
use synod_core::{Card, Family, Setup};

/// The explored scope.
#[derive(Args)]
#[command(next_help_heading = "Scope")]
pub(super) struct ScopeFlags {
    /// The number of processes
    #[arg(short, long = "processes", value_name = "N", value_parser = parse::scope)]
    n: Option<usize>,
    /// The number of requests of each process, or forever
    #[arg(long, value_name = "K|forever", value_parser = parse::rounds)]
    rounds: Option<Rounds>,
    /// The order in which messages may arrive
    #[arg(long, value_enum)]
    order: Option<Order>,
    /// The number of messages that applications may send each other
    #[arg(long, value_name = "K", value_parser = parse::budget)]
    tells: Option<u32>,
    /// The number of processes that may crash
    #[arg(long, value_name = "K", value_parser = parse::budget)]
    crashes: Option<u32>,
    /// The number of crashed processes that may start again, with their disk
    #[arg(long, value_name = "K", value_parser = parse::budget)]
    restarts: Option<u32>,
    /// The number of messages that may be lost
    #[arg(long, value_name = "K", value_parser = parse::budget)]
    drops: Option<u32>,
    /// The number of messages that may arrive twice
    #[arg(long, value_name = "K", value_parser = parse::budget)]
    duplicates: Option<u32>,
    /// The number of milliseconds that may pass
    #[arg(long, value_name = "K", value_parser = parse::budget)]
    ticks: Option<u32>,
    /// Clocks run alike and every message arrives within this time; or: never [default: as the
    /// algorithm assumes]
    #[arg(long, value_name = "TIME|never", value_parser = parse::bound)]
    bound: Option<Timing>,
    /// The number of messages that may take longer than that
    #[arg(long, value_name = "K", value_parser = parse::budget)]
    late: Option<u32>,
}

impl Check {
    /// The counterexample of a mutant's card whose world is explored, if flags name no other.
    pub(super) fn usual_counterexample(&self, card: &Card) -> Option<&'static Counterexample> {
        if !self.scope.is_empty() {
            return None;
        }
        let usual = card.failure()?;
        let asked = |known: &&Counterexample| {
            self.judging.properties.iter().any(|id| id.eq_ignore_ascii_case(known.property))
        };
        Some(card.counterexamples.iter().find(asked).unwrap_or(usual))
    }

    /// The scope that the flags give; without a flag that of the card.
    pub(super) fn chosen_scope(&self, about: &About) -> Scope {
        let card = &about.card;
        if let Some(usual) = card.usual_world().filter(|_| self.scope.is_empty()) {
            return usual;
        }
        let flags = &self.scope;
        let n = flags.n.unwrap_or(card.smallest.max(3));
        let assumed = match card.tolerates_with(&self.parameters.setup(n)).delay_ms {
            None => Timing::Asynchronous,
            Some(delay_ms) => Timing::Synchronous { delay_ms },
        };
        // Applications that tell each other of their requests create the order that ME3 judges.
        let tells = u32::from(n <= 3 && about.family == Mutex::NAME);
        Scope {
            n,
            rounds: flags.rounds.unwrap_or(Rounds::Times(1)),
            order: flags.order.unwrap_or(Order::Any).into(),
            tells: flags.tells.unwrap_or(tells),
            crashes: flags.crashes.unwrap_or(0),
            restarts: flags.restarts.unwrap_or(0),
            drops: flags.drops.unwrap_or(0),
            duplicates: flags.duplicates.unwrap_or(0),
            ticks: flags.ticks.unwrap_or(0),
            timing: flags.bound.unwrap_or(assumed),
            late: flags.late.unwrap_or(0),
            set: &[],
        }
    }
}

impl ScopeFlags {
    pub(super) fn is_empty(&self) -> bool {
        let budgets = [
            self.tells,
            self.crashes,
            self.restarts,
            self.drops,
            self.duplicates,
            self.ticks,
            self.late,
        ];
        self.bound.is_none()
            && self.n.is_none()
            && self.rounds.is_none()
            && self.order.is_none()
            && budgets.iter().all(Option::is_none)
    }
}

/// The parameters in the form of a scope. Scopes are `Copy`, because most of them stand on a card
/// for ever. So the few that are made here leak their texts.
pub(super) fn settings(setup: &Setup) -> Settings {
    let for_ever = |text: &String| -> &'static str { text.clone().leak() };
    let pairs = setup.parameters.iter().map(|(name, value)| (for_ever(name), for_ever(value)));
    pairs.collect::<Vec<_>>().leak()
}
