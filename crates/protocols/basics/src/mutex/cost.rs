//! The four numbers by which algorithms of the family are compared, with the load under which
//! each is measured. Only the formula differs from card to card.

use synod_core::card::{Bounds, Cost, Load, Quantity, Size};

/// How a formula is written as a function.
pub type Formula = fn(Size) -> Bounds;

/// The messages of an entry and its exit, under any load.
pub const fn per_entry(formula: &'static str, expected: Formula) -> Cost {
    Cost {
        name: "messages per entry",
        quantity: Quantity::MessagesPerOperation,
        load: Load::Any,
        formula,
        expected,
    }
}

/// The messages from request to entry, while no other process asks.
pub const fn entry_messages(formula: &'static str, expected: Formula) -> Cost {
    Cost {
        name: "entry, in messages",
        quantity: Quantity::EntryMessages,
        load: Load::Sequential,
        formula,
        expected,
    }
}

/// The consecutive messages from request to entry, while no other process asks.
pub const fn entry_hops(formula: &'static str, expected: Formula) -> Cost {
    Cost {
        name: "entry, in hops",
        quantity: Quantity::EntryHops,
        load: Load::Sequential,
        formula,
        expected,
    }
}

/// The consecutive messages from one process's exit to the entry of the next, already waiting.
pub const fn relay_hops(formula: &'static str, expected: Formula) -> Cost {
    Cost {
        name: "relay, in hops",
        quantity: Quantity::RelayHops,
        load: Load::Saturated,
        formula,
        expected,
    }
}
