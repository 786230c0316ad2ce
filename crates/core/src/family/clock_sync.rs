//! Physical time: clients set their clocks by the clock of a time server.

use super::{Application, Family, Mark, Moment, Monitor, Pace, Property, Violation};
use crate::card::Rounds;
use crate::clock::in_words;
use crate::process::{ProcessId, ProcessSet};
use crate::setup::Setup;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The family of methods that set a clock by a time server.
#[derive(Clone, Copy, Debug)]
pub struct ClockSync;

/// The process whose clock is right by definition.
pub const SERVER: ProcessId = ProcessId(0);

/// A request or an answer of the application.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Input {
    /// It asks for the server's time.
    Synchronise,
    /// The clock of this process shows this: the answer to [`Output::ReadClock`].
    Reading {
        /// In microseconds.
        now_us: i64,
    },
}

/// An output to the application, or a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Output {
    /// What does the clock show? A protocol cannot read clocks; the application answers at once.
    ReadClock,
    /// The server's clock is estimated.
    Synchronised(Estimate),
    /// No answer was good enough.
    Refused,
    /// The clock that this process keeps, and sets, shows this.
    Shows {
        /// In microseconds.
        us: i64,
    },
    /// The time of the group, as this process takes it from a round of all.
    Agreed {
        /// The number of the round.
        round: u64,
        /// The time of the group now.
        us: i64,
        /// An upper bound on its error.
        error_bound_us: i64,
    },
}

/// A client's knowledge of the server's clock, at the moment of the estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Estimate {
    /// The estimated reading of the server's clock now.
    pub server_us: i64,
    /// An upper bound on the error.
    pub error_bound_us: i64,
    /// The lag of the client's clock behind the estimate; negative if it is ahead. The clock must
    /// not be set back by this: see [`slew_us`](crate::clock::slew_us).
    pub correction_us: i64,
}

/// The estimate is as good as it claims.
pub const T5: &str = "T5";
/// Every client that asks for the time is answered.
pub const T6: &str = "T6";
/// A clock that is set never goes back.
pub const T7: &str = "T7";
/// Processes that agree on a time agree up to the errors that they admit.
pub const T8: &str = "T8";

impl Family for ClockSync {
    const NAME: &'static str = "time";
    const OPERATION: &'static str = "synchronisation";
    const PROPERTIES: &'static [Property] = &[
        Property {
            id: T5,
            name: "accuracy",
            statement: "an estimate of the server's clock is wrong by no more than it claims",
        },
        Property {
            id: T6,
            name: "liveness",
            statement: "everybody who wants to synchronise comes to an end",
        },
        Property { id: T7, name: "monotony", statement: "a clock that is set never goes back" },
        Property {
            id: T8,
            name: "precision",
            statement: "the times of the group that two processes take from one round differ by no \
                        more than their errors together",
        },
    ];
    const ESSENTIAL: &'static [&'static str] = &[T5, T6];
    const LIVENESS: &'static [&'static str] = &[T6];
    const SPECIAL: &'static [&'static str] = &[T7, T8];

    type Input = Input;
    type Output = Output;
    type Application = Watch;
    type Monitor = TrueTime;

    fn pace(_input: &Input) -> Pace {
        Pace::Think
    }

    fn mark_of_input(input: &Input) -> Mark {
        match input {
            Input::Synchronise => Mark::Ask,
            Input::Reading { .. } => Mark::None,
        }
    }

    fn mark_of_output(at: ProcessId, output: &Output) -> Mark {
        match output {
            Output::Agreed { .. } if at == SERVER => Mark::Done,
            Output::Agreed { .. } => Mark::None,
            Output::ReadClock | Output::Shows { .. } => Mark::None,
            Output::Synchronised(_) => Mark::Done,
            Output::Refused => Mark::Refused,
        }
    }

    fn input_in_words(input: &Input) -> String {
        match input {
            Input::Synchronise => "synchronises".to_owned(),
            Input::Reading { now_us } => format!("sees {}", time(*now_us)),
        }
    }

    fn output_in_words(output: &Output) -> String {
        match output {
            Output::ReadClock => "reads its clock".to_owned(),
            Output::Synchronised(estimate) => format!("estimates {estimate}"),
            Output::Refused => "refuses the answers".to_owned(),
            Output::Shows { us } => format!("shows {}", time(*us)),
            Output::Agreed { us, error_bound_us, .. } => {
                format!("agrees on {}, give or take {}", time(*us), time(*error_bound_us))
            }
        }
    }

    fn input_from_words(words: &[&str]) -> Option<Input> {
        match words {
            ["synchronises"] => Some(Input::Synchronise),
            _ => None,
        }
    }

    const PHRASES: &'static [&'static str] = &["synchronises"];
}

/// `5012ms, give or take 4ms`.
impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, give or take {}", time(self.server_us), time(self.error_bound_us))
    }
}

fn time(us: i64) -> String {
    format!("{}{}", if us < 0 { "-" } else { "" }, in_words(us.unsigned_abs()))
}

/// An application that synchronises in rounds, and that reads the clock when asked to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Watch {
    me: ProcessId,
    waits: bool,
    left: Rounds,
}

impl Application for Watch {
    type Family = ClockSync;

    fn new(me: ProcessId, _setup: &Setup, rounds: Rounds) -> Self {
        Watch { me, waits: false, left: rounds }
    }

    fn offers(&self, offer: &mut dyn FnMut(Input)) {
        if !self.waits && self.left.are_left() {
            offer(Input::Synchronise);
        }
    }

    fn on_input(&mut self, input: &Input) {
        match input {
            Input::Synchronise => {
                self.waits = true;
                self.left.use_one();
            }
            Input::Reading { .. } => {}
        }
    }

    fn on_output(&mut self, output: &Output, moment: Moment<'_>) -> Option<Input> {
        match output {
            Output::ReadClock => Some(Input::Reading { now_us: moment.reading_us(self.me) }),
            Output::Synchronised(_) | Output::Refused | Output::Agreed { .. } => {
                self.waits = false;
                None
            }
            Output::Shows { .. } => None,
        }
    }

    fn on_crash(&mut self) {
        self.waits = false;
    }
}

/// Looks at the server's clock at the moment of every estimate.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TrueTime {
    waiting: ProcessSet,
    judges_accuracy: bool,
    /// What the clock of each process showed last, if that is judged.
    shown_us: Vec<i64>,
    /// The last time that each process agreed on, if that is judged.
    agreed: Vec<Option<Agreed>>,
}

/// A time of the group, as one process takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Agreed {
    round: u64,
    /// How far it is ahead of true time.
    ahead_us: i64,
    error_bound_us: i64,
}

impl Monitor for TrueTime {
    type Family = ClockSync;

    fn new(setup: &Setup, judged: &dyn Fn(&str) -> bool) -> Self {
        let clocks = if judged(T7) { setup.n } else { 0 };
        let shown_us = vec![i64::MIN; clocks];
        let agreed = vec![None; if judged(T8) { setup.n } else { 0 }];
        TrueTime { waiting: ProcessSet::EMPTY, judges_accuracy: judged(T5), shown_us, agreed }
    }

    fn on_input(&mut self, at: ProcessId, input: &Input, _: Moment<'_>, _: &mut Vec<Violation>) {
        match input {
            Input::Synchronise => {
                self.waiting.insert(at);
            }
            Input::Reading { .. } => {}
        }
    }

    fn on_output(
        &mut self,
        at: ProcessId,
        output: &Output,
        moment: Moment<'_>,
        found: &mut Vec<Violation>,
    ) {
        match output {
            Output::ReadClock => {}
            Output::Synchronised(estimate) => {
                self.waiting.remove(at);
                if self.judges_accuracy {
                    judge_accuracy(at, estimate, moment.reading_us(SERVER), found);
                }
            }
            Output::Refused => {
                self.waiting.remove(at);
            }
            Output::Agreed { round, us, error_bound_us } => {
                self.waiting.remove(at);
                let ahead_us = us.saturating_sub_unsigned(moment.now_us);
                let (round, error_bound_us) = (*round, *error_bound_us);
                self.judge_precision(at, Agreed { round, ahead_us, error_bound_us }, found);
            }
            Output::Shows { us } => {
                if let Some(shown_us) = self.shown_us.get_mut(at.index()) {
                    judge_monotony(at, *shown_us, *us, found);
                    *shown_us = *us;
                }
            }
        }
    }

    fn on_crash(&mut self, at: ProcessId) {
        self.waiting.remove(at);
    }

    /// Messages between applications never change a clock.
    fn has_news(&self, _from: ProcessId) -> bool {
        false
    }

    fn waiting(&self, _property: &str) -> ProcessSet {
        self.waiting.clone()
    }
}

fn judge_accuracy(at: ProcessId, said: &Estimate, truth_us: i64, found: &mut Vec<Violation>) {
    let Estimate { server_us, error_bound_us, .. } = *said;
    let error_us = server_us.abs_diff(truth_us);
    if i128::from(error_us) > i128::from(error_bound_us) {
        let truth = time(truth_us);
        let because = format!("{at} estimates {said}, but the server's clock shows {truth}");
        found.push(Violation { property: T5, at, because });
    }
}

impl TrueTime {
    fn judge_precision(&mut self, at: ProcessId, new: Agreed, found: &mut Vec<Violation>) {
        let others = ProcessId::all(self.agreed.len()).zip(&self.agreed);
        for (other, agreed) in others.filter_map(|(other, agreed)| Some((other, (*agreed)?))) {
            let apart_us = agreed.ahead_us.abs_diff(new.ahead_us);
            let admitted_us = agreed.error_bound_us.saturating_add(new.error_bound_us);
            if agreed.round == new.round && i128::from(apart_us) > i128::from(admitted_us) {
                let (apart, admitted) = (in_words(apart_us), time(admitted_us));
                let because = format!(
                    "{at} and {other} agree on times that are {apart} apart, but admit {admitted}"
                );
                found.push(Violation { property: T8, at, because });
            }
        }
        if let Some(known) = self.agreed.get_mut(at.index()) {
            *known = Some(new);
        }
    }
}

fn judge_monotony(at: ProcessId, before_us: i64, now_us: i64, found: &mut Vec<Violation>) {
    if now_us < before_us {
        let (before, now) = (time(before_us), time(now_us));
        let because = format!("the clock of {at} goes back from {before} to {now}");
        found.push(Violation { property: T7, at, because });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;

    fn judged(server_us: i64, error_bound_us: i64) -> Vec<Violation> {
        let clocks = [Clock { offset_us: 5_000, drift_ppm: 0 }];
        let moment = Moment { now_us: 100, clocks: &clocks };
        let mut found = Vec::new();
        let estimate = Estimate { server_us, error_bound_us, correction_us: 0 };
        let mut monitor = TrueTime::new(&Setup::new(2), &|_| true);
        monitor.on_output(ProcessId(1), &Output::Synchronised(estimate), moment, &mut found);
        found
    }

    #[test]
    fn an_estimate_may_be_wrong_by_its_bound_and_by_no_more() {
        assert_eq!(judged(5_110, 10), []);
        assert_eq!(judged(5_090, 10), []);
        let found = judged(5_111, 10);
        assert_eq!(found[0].property, T5);
        let because = "p1 estimates 5111us, give or take 10us, but the server's clock shows 5100us";
        assert_eq!(found[0].because, because);
    }

    #[test]
    fn a_client_waits_until_it_has_an_estimate_or_refuses() {
        let moment = Moment { now_us: 0, clocks: &[] };
        let mut monitor = TrueTime::new(&Setup::new(2), &|_| true);
        monitor.on_input(ProcessId(1), &Input::Synchronise, moment, &mut Vec::new());
        assert!(monitor.waiting(T6).contains(ProcessId(1)));
        monitor.on_output(ProcessId(1), &Output::ReadClock, moment, &mut Vec::new());
        assert!(monitor.waiting(T6).contains(ProcessId(1)));
        monitor.on_output(ProcessId(1), &Output::Refused, moment, &mut Vec::new());
        assert!(monitor.waiting(T6).is_empty());
    }

    #[test]
    fn the_application_answers_with_what_its_own_clock_shows() {
        let clocks = [Clock::default(), Clock { offset_us: -30, drift_ppm: 0 }];
        let moment = Moment { now_us: 100, clocks: &clocks };
        let mut watch = Watch::new(ProcessId(1), &Setup::new(2), Rounds::Times(0));
        let answer = watch.on_output(&Output::ReadClock, moment);
        assert_eq!(answer, Some(Input::Reading { now_us: 70 }));
    }
}
