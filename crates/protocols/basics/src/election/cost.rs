//! The numbers by which algorithms of the family are compared, with the load under which each is
//! measured. Only the formula differs from card to card.

use synod_core::card::{Bounds, Cost, Load, Quantity, Size};

/// How a formula is written as a function.
type Formula = fn(Size) -> Bounds;

/// All messages of an election that one process calls.
pub(super) const fn one_starts(formula: &'static str, expected: Formula) -> Cost {
    Cost {
        name: "messages, one starts",
        quantity: Quantity::MessagesPerOperation,
        load: Load::Sequential,
        formula,
        expected,
    }
}

/// All messages if every process calls an election at the same moment.
pub(super) const fn all_start(formula: &'static str, expected: Formula) -> Cost {
    Cost {
        name: "messages, all start",
        quantity: Quantity::MessagesInAll,
        load: Load::Saturated,
        formula,
        expected,
    }
}

/// The consecutive messages until the process that called the election knows the result.
pub(super) const fn result_hops(formula: &'static str, expected: Formula) -> Cost {
    Cost {
        name: "result, in hops",
        quantity: Quantity::EntryHops,
        load: Load::Sequential,
        formula,
        expected,
    }
}
