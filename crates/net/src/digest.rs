//! One number for all that a process sent and told: a replay must come to the same.

use synod_core::ProcessId;
use xxhash_rust::xxh3::xxh3_64;

/// An odd number with many bits set, so that every bit of what is folded in spreads.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// A running digest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Digest(pub(crate) u64);

impl Digest {
    #[inline]
    fn fold(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(5) ^ value).wrapping_mul(SPREAD);
    }

    /// A message with this body goes to each of them.
    #[inline]
    pub(crate) fn sent(&mut self, to: impl Iterator<Item = ProcessId>, body: &[u8]) {
        let body = xxh3_64(body);
        for to in to {
            self.fold(u64::from(to.0) + 1);
            self.fold(body);
        }
    }

    /// The application is told this.
    #[inline]
    pub(crate) fn told(&mut self, output: &[u8]) {
        self.fold(xxh3_64(output));
    }
}
