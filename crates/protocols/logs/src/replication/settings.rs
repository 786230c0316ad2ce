//! Settings that engines have in common, and the rules for them.

use serde::Serialize;
use synod_core::card::{Bounds, Cost, Load, Quantity};
use synod_core::durable::encoded_len;

/// A rule for a setting: its name, whether it is kept, and what it asks for.
pub(super) type Rule = (&'static str, bool, &'static str);

/// A message has no second entry if its entries have more bytes than this together: links take
/// larger messages, but a heartbeat behind one would come late.
pub(super) const MOST_BYTES: usize = 1 << 20;

/// The entries that travel in one message: the first always, and those after it as long as all
/// together have at most `bytes` bytes.
pub(super) fn within_bytes<T: Serialize>(entries: &[T], bytes: usize) -> &[T] {
    // Most messages have one entry, whose size does not matter.
    if entries.len() < 2 {
        return entries;
    }
    let mut used = 0;
    let fits = |entry: &&T| {
        used += encoded_len(*entry);
        used <= bytes
    };
    let length = entries.iter().take_while(fits).count();
    &entries[..length.max(1)]
}

pub(super) fn most_bytes_rule(bytes: usize) -> Rule {
    ("most_bytes", (1..=4 << 20).contains(&bytes), "from 1 byte to 4 MiB")
}

pub(super) fn part_bytes_rule(bytes: usize) -> Rule {
    ("part_bytes", (1..=4 << 20).contains(&bytes), "from 1 byte to 4 MiB")
}

/// The costs of a request once there is a leader, which asks and is not disturbed; without
/// heartbeats.
pub(super) const STEADY: &[Cost] = &[
    Cost {
        name: "messages per request",
        quantity: Quantity::SteadyMessages,
        load: Load::Sequential,
        formula: "2(N - 1)",
        expected: |size| Bounds::exactly(2 * (size.n - 1)),
    },
    Cost {
        name: "answer, in hops",
        quantity: Quantity::SteadyHops,
        load: Load::Sequential,
        formula: "2",
        expected: |size| Bounds::exactly(if size.n == 1 { 0 } else { 2 }),
    },
];

#[cfg(test)]
mod tests {
    use super::within_bytes;

    #[test]
    fn a_message_has_as_many_entries_as_fit_and_always_one() {
        let entries = ["12345678", "1", "2", "3"];
        // A text takes up one byte more than its letters.
        let fit = |bytes| within_bytes(&entries, bytes).len();
        assert_eq!([1, 10, 11, 12, 13, 14, 15, 99].map(fit), [1, 1, 2, 2, 3, 3, 4, 4]);
        assert!(within_bytes(&entries[..0], 9).is_empty());
    }
}
