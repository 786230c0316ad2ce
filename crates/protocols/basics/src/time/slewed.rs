//! A clock that is set by a time server (Cristian, 1989), and never goes back.
//!
//! The process keeps a clock of its own above the one that it reads. When it knows the server's
//! time, it sets the kept clock. If that is behind, it jumps forward. If it is ahead, it must not
//! jump back, because later events would bear earlier times: it runs slower, by half a millisecond
//! a second, until true time has caught up ([`slew_us`](synod_core::clock::slew_us)).
//!
//! - Assumes: that of Cristian's method, which is the layer below.
//! - Guarantees: T5, T6, T7.
//! - Cost: that of Cristian's method.
//! - State: two times and the correction that is left.
//!
//! Source: F. Cristian: Probabilistic clock synchronization. Distributed Computing 3, 1989.

use super::cristian::{Cristian, Message};
use super::kept::Kept;
use super::mutants::STEPPED;
use serde::{Deserialize, Serialize};
use synod_core::card::{Card, Scope};
use synod_core::family::clock_sync::{ClockSync, Input, Output, SERVER, T5, T6, T7};
use synod_core::{Algorithm, Cx, Never, ProcessId, Protocol, Rule, Setup, SetupError, Trigger};

/// One process: the server, or a client with a clock that it sets. With `SLEWS` it is right;
/// without, the clock jumps back: the mutant [`cristian-stepped`](super::mutants).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct KeptClock<const SLEWS: bool> {
    cristian: Cristian,
    kept: Option<Kept>,
}

/// One process of the right version.
pub type CristianSlewed = KeptClock<true>;

impl<const SLEWS: bool> Protocol for KeptClock<SLEWS> {
    type Input = Input;
    type Output = Output;
    type Message = Message;
    type Timer = Never;

    fn on_input(&mut self, input: Input, cx: &mut Cx<'_, Self>) {
        if let Input::Reading { now_us } = input {
            self.show(now_us, cx);
        }
        for output in cx.below(|cx| self.cristian.on_input(input, cx)) {
            cx.output(output);
            if let (Output::Synchronised(estimate), Input::Reading { now_us }) = (output, input) {
                self.set(estimate.server_us);
                self.show(now_us, cx);
            }
        }
    }

    fn on_message(&mut self, from: ProcessId, message: Message, cx: &mut Cx<'_, Self>) {
        let outputs = cx.below(|cx| self.cristian.on_message(from, message, cx));
        outputs.into_iter().for_each(|output| cx.output(output));
    }
}

impl<const SLEWS: bool> KeptClock<SLEWS> {
    /// The kept clock starts with the first reading of the one below. The server keeps none.
    fn show(&mut self, now_us: i64, cx: &mut Cx<'_, Self>) {
        if cx.me() != SERVER {
            let kept = self.kept.get_or_insert(Kept::new(now_us));
            kept.go_on(now_us);
            cx.output(Output::Shows { us: kept.shown_us });
        }
    }

    fn set(&mut self, server_us: i64) {
        let Some(kept) = &mut self.kept else { return };
        if SLEWS {
            kept.correction_us = server_us.saturating_sub(kept.shown_us);
        } else {
            kept.shown_us = server_us;
        }
    }
}

impl<const SLEWS: bool> Algorithm for KeptClock<SLEWS> {
    type Family = ClockSync;

    const CARD: Card = if SLEWS { CARD } else { STEPPED };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        let keeping = |cristian| KeptClock { cristian, kept: None };
        Ok(Cristian::assemble(setup)?.into_iter().map(keeping).collect())
    }

    fn takes_part(&self, me: ProcessId) -> bool {
        self.cristian.takes_part(me)
    }
}

/// The card; the mutant takes most of it over.
pub(super) const CARD: Card = Card {
    name: "cristian-slewed",
    title: "a clock that is set by Cristian's method",
    idea: "Set the clock to the server's time: forward at once, and never back. A clock that is \
           ahead runs slower for a while.",
    rules: &[
        Rule::on(
            &[Trigger::Input("Synchronise"), Trigger::Input("Reading")],
            "synchronise: read the clock (T0) and ask the server",
        ),
        Rule::on(
            &[Trigger::Message("Request"), Trigger::Input("Reading")],
            "on a request: the server reads its clock (t) and answers at once",
        ),
        Rule::on(
            &[Trigger::Message("Time"), Trigger::Input("Reading")],
            "on the answer: read the clock again (T1); the server's clock shows t + (T1 - T0)/2",
        ),
        Rule::on_input(
            "Reading",
            "with the estimate: if the kept clock is behind, move it forward; if it is ahead, let \
             it lose 500 microseconds in each second until the difference is made good",
        ),
    ],
    promises: &[T5, T6, T7],
    proved: &[
        Scope::of(2),
        Scope::of(3),
        Scope { rounds: synod_core::card::Rounds::Times(2), ticks: 3, ..Scope::of(2) },
    ],
    ..Cristian::CARD
};
