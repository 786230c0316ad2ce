//! The abstract engine on the cards of services.

use synod_core::{Rule, Trigger};

/// What the oracle and its members do.
pub const RULE: Rule = Rule::on(
    &[
        Trigger::Message("View"),
        Trigger::Message("Transitional"),
        Trigger::Message("Lost"),
        Trigger::Message("Leave"),
        Trigger::Message("Ask"),
        Trigger::Message("Done"),
        Trigger::Message("Certain"),
        Trigger::Timer("Partition"),
        Trigger::Timer("Merge"),
        Trigger::Timer("Die"),
        Trigger::Timer("Crash"),
        Trigger::Timer("Start"),
        Trigger::Timer("Restart"),
        Trigger::Timer("Rejoin"),
        Trigger::Timer("Settle"),
        Trigger::Timer("Gather"),
        Trigger::Timer("Pass"),
        Trigger::Timer("Order"),
        Trigger::Timer("Rest"),
    ],
    "engine=abstract: p0, the oracle, makes any move that the contract allows; it tells each member \
     its next event",
);
