//! The colours of the report: one means one policy, in every plot.

use crate::run::Allocator;

/// The number of a policy's colour. Those that have no plots share one.
pub(super) fn colour(allocator: Allocator) -> usize {
    match allocator {
        Allocator::Repaired => 0,
        Allocator::Offers => 1,
        Allocator::MutualExclusion => 2,
        Allocator::Static => 3,
        Allocator::Mover => 4,
        Allocator::Oracle => 5,
        Allocator::Paper => 6,
        Allocator::PaperAsProgrammed => 7,
        Allocator::MutualExclusionWithSlip => 8,
        Allocator::Loose(_) | Allocator::Alternative(_) => 9,
    }
}

/// The quantities of one policy, which have plots of their own.
#[derive(Clone, Copy)]
pub(super) enum Quantity {
    Used,
    Free,
    Pledged,
    /// The two sides of a partition.
    Left,
    Right,
}

impl Quantity {
    /// The number of its colour, which no policy of a plot has.
    pub(super) fn colour(self) -> usize {
        match self {
            Quantity::Used | Quantity::Left => 10,
            Quantity::Free | Quantity::Right => 11,
            Quantity::Pledged => 12,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_two_policies_share_a_colour_and_no_quantity_has_that_of_a_policy() {
        let policies = [
            Allocator::Repaired,
            Allocator::Offers,
            Allocator::MutualExclusion,
            Allocator::MutualExclusionWithSlip,
            Allocator::Static,
            Allocator::Mover,
            Allocator::Oracle,
            Allocator::Paper,
            Allocator::PaperAsProgrammed,
        ];
        let colours: BTreeSet<usize> = policies.map(colour).into();
        assert_eq!(colours.len(), policies.len());
        let quantities = [Quantity::Used, Quantity::Free, Quantity::Pledged];
        assert!(quantities.iter().all(|quantity| !colours.contains(&quantity.colour())));
    }
}
