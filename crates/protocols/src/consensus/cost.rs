//! The numbers by which algorithms of the family are compared, with the load under which each is
//! measured. Only the formula differs from card to card.

use synod_core::card::{Bounds, Cost, Load, Quantity, Size};

/// All messages of one decision, if nothing goes wrong. In the formula, N is the number of
/// processes, and f that of the faults for which the algorithm is made.
pub(super) const fn in_all(formula: &'static str, expected: fn(Size) -> Bounds) -> Cost {
    Cost {
        name: "messages in all",
        quantity: Quantity::MessagesInAll,
        load: Load::Saturated,
        formula,
        expected,
    }
}
