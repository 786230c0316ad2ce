//! Settings that all engines have, and the rules for them.

/// A rule for a setting: its name, whether it is kept, and what it asks for.
pub(super) type Rule = (&'static str, bool, &'static str);

/// A message has no second entry if its entries have more bytes than this together: links take
/// larger messages, but a heartbeat behind one would come late.
pub(super) const MOST_BYTES: usize = 1 << 20;

pub(super) fn most_bytes_rule(bytes: usize) -> Rule {
    ("most_bytes", (1..=4 << 20).contains(&bytes), "from 1 byte to 4 MiB")
}

pub(super) fn part_bytes_rule(bytes: usize) -> Rule {
    ("part_bytes", (1..=4 << 20).contains(&bytes), "from 1 byte to 4 MiB")
}
