//! Fault budgets of a small world, and whether the card of an algorithm lets one be raised.
//!
//! Each kind of fault has a [`Budget`]: a bound on its occurrences. A world with a larger budget
//! has all histories of the smaller one, and more; so raising the budgets one by one asks the same
//! question of more histories each time.

use crate::byzantine::traitors;
use crate::card::{Card, Scope, Timing, Tolerance};
use crate::setup::Setup;

/// A kind of fault that is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Budget {
    /// Processes that crash.
    Crashes,
    /// Crashed processes that start again.
    Restarts,
    /// Messages that are lost.
    Drops,
    /// Messages that arrive twice.
    Duplicates,
    /// Messages that take longer than the bound.
    Late,
    /// Faults that a parameter of the algorithm counts: see [`OwnFaults`](crate::card::OwnFaults).
    Own(&'static str),
}

impl Budget {
    /// The budgets of this world, whether or not they may be raised.
    pub fn all(card: &Card, scope: &Scope, setup: &Setup) -> Vec<Budget> {
        if let Some(own) = card.own_faults_with(setup) {
            return own.budgets.iter().copied().map(Budget::Own).collect();
        }
        let mut all = vec![Budget::Crashes, Budget::Restarts, Budget::Drops, Budget::Duplicates];
        // Where messages have no bound, none is late.
        all.extend((scope.timing != Timing::Asynchronous).then_some(Budget::Late));
        all
    }

    /// The name in flags and parameters.
    pub fn name(self) -> &'static str {
        match self {
            Budget::Crashes => "crashes",
            Budget::Restarts => "restarts",
            Budget::Drops => "drops",
            Budget::Duplicates => "duplicates",
            Budget::Late => "late",
            Budget::Own(name) => name,
        }
    }

    /// The bound in this world.
    pub fn allowed(self, scope: &Scope, setup: &Setup) -> u32 {
        match self {
            Budget::Crashes => scope.crashes,
            Budget::Restarts => scope.restarts,
            Budget::Drops => scope.drops,
            Budget::Duplicates => scope.duplicates,
            Budget::Late => scope.late,
            Budget::Own(name) => setup.number(name, 0).map_or(0, |number| number as u32),
        }
    }

    /// Raises the budget by one; or says why the card does not allow it. A fault that the scope
    /// already has may be raised even if the card does not tolerate it, because the question is
    /// already about that fault.
    ///
    /// Only a crashed process can start again. So where every crash already has its restart, one
    /// more restart brings one more crash.
    pub fn raise(self, card: &Card, scope: &mut Scope, setup: &mut Setup) -> Result<(), String> {
        let tolerates = card.tolerates_with(setup);
        match self {
            Budget::Crashes => {
                let for_good = for_good(&tolerates, setup);
                if scope.crashes.saturating_sub(scope.restarts) >= for_good {
                    return Err(no_more_crashes(for_good, scope.n, setup));
                }
                scope.crashes += 1;
            }
            Budget::Restarts => {
                unless(tolerates.recovery || scope.restarts > 0, "crashes with a restart")?;
                scope.restarts += 1;
                scope.crashes = scope.crashes.max(scope.restarts);
            }
            Budget::Drops => {
                unless(tolerates.loss || scope.drops > 0, "lost messages")?;
                scope.drops += 1;
            }
            Budget::Duplicates => {
                unless(tolerates.duplication || scope.duplicates > 0, "doubled messages")?;
                scope.duplicates += 1;
            }
            Budget::Late => {
                unless(tolerates.delay_ms.is_none() || scope.late > 0, "late messages")?;
                scope.late += 1;
            }
            Budget::Own(name) if setup.text(name) == Some("any") => {
                return Err("it comes any number of times already".to_owned());
            }
            Budget::Own(name) => {
                let more = self.allowed(scope, setup) + 1;
                setup.parameters.insert(name.to_owned(), more.to_string());
            }
        }
        Ok(())
    }
}

fn unless(tolerated: bool, what: &str) -> Result<(), String> {
    if tolerated { Ok(()) } else { Err(format!("its card does not tolerate {what}")) }
}

/// The number of processes that may crash for good. A traitor counts as one of them.
fn for_good(tolerates: &Tolerance, setup: &Setup) -> u32 {
    let traitors = traitors(setup).map_or(0, |traitors| traitors.len());
    tolerates.crashes.among(setup.n).saturating_sub(traitors) as u32
}

fn no_more_crashes(for_good: u32, n: usize, setup: &Setup) -> String {
    let beside = match traitors(setup) {
        Ok(traitors) if !traitors.is_empty() => " beside the traitors",
        _ => "",
    };
    match for_good {
        0 => format!("its card lets none of {n} crash for good{beside}"),
        most => format!("its card lets no more than {most} of {n} crash for good{beside}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::card::{Crashes, OwnFaults};

    const CARD: Card = Card {
        tolerates: Tolerance {
            crashes: Crashes::Minority,
            recovery: true,
            loss: true,
            ..Tolerance::NOTHING
        },
        ..Card::BLANK
    };

    fn raise(budget: Budget, card: &Card, mut scope: Scope) -> Result<Scope, String> {
        let mut setup = Setup::new(scope.n);
        budget.raise(card, &mut scope, &mut setup).map(|()| scope)
    }

    #[test]
    fn no_more_crash_for_good_than_the_card_tolerates() {
        let one = raise(Budget::Crashes, &CARD, Scope::of(3)).expect("one of three may");
        assert_eq!(one, Scope { crashes: 1, ..Scope::of(3) });
        let why = raise(Budget::Crashes, &CARD, one).expect_err("two are no minority");
        assert_eq!(why, "its card lets no more than 1 of 3 crash for good");
        let back = Scope { crashes: 2, restarts: 2, ..Scope::of(3) };
        assert!(raise(Budget::Crashes, &CARD, back).is_ok(), "those two start again");
    }

    #[test]
    fn a_traitor_is_as_bad_as_a_crash() {
        let (mut scope, mut setup) = (Scope::of(3), Setup::new(3).with("traitors", "p2"));
        let why = Budget::Crashes.raise(&CARD, &mut scope, &mut setup);
        assert_eq!(why, Err("its card lets none of 3 crash for good beside the traitors".into()));
    }

    #[test]
    fn one_more_restart_brings_a_crash_unless_there_is_one_without() {
        let both = raise(Budget::Restarts, &CARD, Scope::of(3)).expect("it recovers");
        assert_eq!((both.crashes, both.restarts), (1, 1));
        let one = Scope { crashes: 1, ..Scope::of(3) };
        assert_eq!(raise(Budget::Restarts, &CARD, one).expect("it recovers"), both);
    }

    #[test]
    fn what_is_not_tolerated_is_raised_only_where_the_scope_has_it() {
        let why = raise(Budget::Duplicates, &CARD, Scope::of(2)).expect_err("it is not tolerated");
        assert_eq!(why, "its card does not tolerate doubled messages");
        let some = Scope { duplicates: 1, ..Scope::of(2) };
        assert_eq!(raise(Budget::Duplicates, &CARD, some).map(|scope| scope.duplicates), Ok(2));
    }

    #[test]
    fn an_algorithm_that_stands_for_its_faults_has_its_own_budgets_and_no_others() {
        let own = OwnFaults { set: &[("engine", "abstract")], budgets: &["partitions"] };
        let card = Card { own_faults: Some(own), ..CARD };
        let mut setup = Setup::new(3).with("engine", "abstract");
        let mut scope = Scope::of(3);
        assert_eq!(Budget::all(&card, &scope, &setup), [Budget::Own("partitions")]);
        Budget::Own("partitions").raise(&card, &mut scope, &mut setup).expect("it has no limit");
        assert_eq!((scope, setup.text("partitions")), (Scope::of(3), Some("1")));
        assert_eq!(Budget::all(&card, &scope, &Setup::new(3)).len(), 4, "the network's");
    }

    #[test]
    fn messages_are_late_only_where_they_have_a_bound() {
        let bounded = Scope { timing: Timing::Synchronous { delay_ms: 1 }, ..Scope::of(2) };
        assert!(Budget::all(&CARD, &bounded, &Setup::new(2)).contains(&Budget::Late));
        assert!(!Budget::all(&CARD, &Scope::of(2), &Setup::new(2)).contains(&Budget::Late));
    }
}
