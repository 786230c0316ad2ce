//! A digest of all messages and outputs of a process. The replay must compute the same digest, or
//! it did not repeat the run.

use synod_core::ProcessId;
use xxhash_rust::xxh3::xxh3_64;

/// An odd multiplier with many bits set, so that every bit of a folded value spreads.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// A running digest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Digest(pub(crate) u64);

impl Digest {
    #[inline]
    fn fold(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(5) ^ value).wrapping_mul(SPREAD);
    }

    /// Folds in a message with this body to each receiver.
    #[inline]
    pub(crate) fn sent(&mut self, to: impl Iterator<Item = ProcessId>, body: &[u8]) {
        let body = xxh3_64(body);
        for to in to {
            self.fold(u64::from(to.0) + 1);
            self.fold(body);
        }
    }

    /// Folds in an output to the application.
    #[inline]
    pub(crate) fn output(&mut self, output: &[u8]) {
        self.fold(xxh3_64(output));
    }
}
