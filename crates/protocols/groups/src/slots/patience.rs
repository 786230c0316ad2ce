//! How long a member waits for slots before it asks again.

use serde::{Deserialize, Serialize};

/// A waiting member asks again after this many refused claims between which no multicast was
/// delivered: all members have heard of its wish, and none has answered.
const SILENCE: u8 = 2;
/// It asks again after this many refused claims in any case.
const PATIENCE: u8 = 12;

/// The claims of a waiting member that were refused since its own wish was delivered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Patience {
    refused: u8,
    /// Those since the last delivery of any multicast.
    in_silence: u8,
}

impl Patience {
    /// A claim was refused. Returns whether it was one too many.
    pub fn ends(&mut self) -> bool {
        (self.refused, self.in_silence) = (self.refused + 1, self.in_silence + 1);
        let ends = self.in_silence >= SILENCE || self.refused >= PATIENCE;
        if ends {
            *self = Patience::default();
        }
        ends
    }

    /// A multicast was delivered.
    pub fn hear(&mut self) {
        self.in_silence = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patience_ends_with_the_second_refusal_in_silence_and_with_the_twelfth_in_any_case() {
        let mut patience = Patience::default();
        assert_eq!([patience.ends(), patience.ends(), patience.ends()], [false, true, false]);
        let mut patience = Patience::default();
        let ends = (1..=12).filter(|_| {
            patience.hear();
            patience.ends()
        });
        assert_eq!(ends.collect::<Vec<_>>(), [12]);
    }
}
