//! The numbers by which algorithms of the family are compared, with the load under which each is
//! measured. Only the formula differs from card to card.

use synod_core::card::{Bounds, Cost, Load, Quantity, Size};

/// All messages of one decision, without faults. In the formula, N is the number of processes, and
/// f the number of faults that the algorithm is made for.
pub(super) const fn in_all(formula: &'static str, expected: fn(Size) -> Bounds) -> Cost {
    Cost {
        name: "messages in all",
        quantity: Quantity::MessagesInAll,
        load: Load::Saturated,
        formula,
        expected,
    }
}
