//! What a process has, below its lane, where it changes.

use super::Picture;
use crate::paper::text_width;
use crate::words::{has_in_words, shortened};
use synod_sim::trace::Event;

/// The longest words about what a process has, in letters.
const LONGEST: usize = 20;

impl Picture<'_> {
    /// Writes what each process has where the picture begins, and wherever that changes.
    pub(super) fn sights(&mut self, earlier: &[Event], events: &[Event]) {
        let mut has = vec![String::new(); self.scene.n()];
        for (at, sight) in earlier.iter().flat_map(|event| &event.sights) {
            if let Some(has) = has.get_mut(at.index()) {
                has.clone_from(&sight.has);
            }
        }
        let begins = has.clone().into_iter().enumerate().filter(|(_, has)| !has.is_empty());
        begins.for_each(|(lane, has)| self.sight(self.left, lane, &has));
        for (position, event) in events.iter().enumerate() {
            for (at, sight) in &event.sights {
                let Some(before) = has.get_mut(at.index()) else { continue };
                if *before != sight.has {
                    before.clone_from(&sight.has);
                    self.sight(self.x(position), at.index(), &sight.has);
                }
            }
        }
    }

    fn sight(&mut self, x: f64, lane: usize, has: &str) {
        let words = shortened(has_in_words(has), LONGEST);
        let (y, half) = (self.y(lane), text_width(&words) / 2.0);
        let beside = [half - 4.0, 0.0, 4.0 - half, half + 14.0];
        let places: Vec<(f64, f64)> = [19.0, 31.0, 43.0, -15.0]
            .iter()
            .flat_map(|down| beside.iter().map(move |aside| (x + aside, y + down)))
            .collect();
        self.labels.claim("small has", &words, &places);
    }
}
