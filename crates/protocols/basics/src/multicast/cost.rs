//! The numbers by which multicasts are compared, with the load under which each is measured. Only
//! the formula differs from card to card.

use synod_core::card::{Bounds, Cost, Load, Quantity, Size};

/// How a formula is written as a function.
type Formula = fn(Size) -> Bounds;

/// All messages for one multicast, under any load.
pub(super) const fn per_multicast(formula: &'static str, expected: Formula) -> Cost {
    Cost {
        name: "messages per multicast",
        quantity: Quantity::MessagesPerOperation,
        load: Load::Any,
        formula,
        expected,
    }
}

/// The consecutive messages until another member delivers, while no other process multicasts.
pub(super) const fn reach_hops(formula: &'static str, expected: Formula) -> Cost {
    Cost {
        name: "delivery elsewhere, in hops",
        quantity: Quantity::ReachHops,
        load: Load::Sequential,
        formula,
        expected,
    }
}

/// The messages that carry payloads, without those that repair or acknowledge.
pub(super) const fn data_per_multicast(formula: &'static str, expected: Formula) -> Cost {
    Cost {
        name: "data messages per multicast",
        quantity: Quantity::KindPerOperation("Data"),
        load: Load::Any,
        formula,
        expected,
    }
}

/// The consecutive messages until the sender itself delivers, while no other process multicasts.
pub(super) const fn own_hops(formula: &'static str, expected: Formula) -> Cost {
    Cost {
        name: "delivery by the sender, in hops",
        quantity: Quantity::EntryHops,
        load: Load::Sequential,
        formula,
        expected,
    }
}
