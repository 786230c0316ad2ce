//! What goes wrong: violations, and processes that wait for ever.

use super::{LINE, MARGIN, Picture};
use crate::lane::{Lanes, Life, Operation};
use crate::paper::{line, text};
use crate::words::{Known, one_line, wrapped};
use synod_sim::trace::{Event, What};

/// The width of a letter of a reason.
const LETTER: f64 = 7.2;
/// A reason has at least this room, in letters; it may take several lines.
const LEAST_ROOM: usize = 36;

impl Picture<'_> {
    /// A red ring where a property is violated, and the reason below the lanes, once.
    pub(super) fn violations(&mut self, events: &[Event]) {
        let mut known = Known::default();
        for (position, event) in events.iter().enumerate() {
            let (What::Violation, Some(lane)) = (event.what, self.scene.lane_of(event)) else {
                continue;
            };
            if !known.is_new(event) {
                continue;
            }
            let (x, y) = (self.x(position), self.y(lane));
            let words = format!("{} violated: {}", event.kind, one_line(&event.text));
            let tip = self.tip(event);
            self.add(&format!("<circle class=\"ring\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"9\"/>\n"));
            self.add(&line("lead", (x, y + 9.0), (x, self.bottom + LINE - 12.0)));
            let reason = self.reason(x, &words);
            let reason = self.with_tip("<g>", &tip, &reason);
            self.add(&reason);
        }
    }

    /// The reason below the lanes, in full, on the side of `x` that has more room.
    fn reason(&mut self, x: f64, words: &str) -> String {
        let right_side = x < self.width / 2.0;
        let room = if right_side { self.width - MARGIN - x } else { x - MARGIN };
        let letters = ((room / LETTER) as usize).max(LEAST_ROOM);
        let class = if right_side { "wrong halo" } else { "wrong halo end" };
        let longest = letters as f64 * LETTER;
        let x = if right_side {
            x.min(self.width - MARGIN - longest).max(MARGIN)
        } else {
            x.max(MARGIN + longest).min(self.width - MARGIN)
        };
        let mut reason = String::new();
        for words in wrapped(words, letters) {
            self.bottom += LINE;
            reason += &text(class, x, self.bottom, &words);
        }
        reason
    }

    /// A bar across the end of every lane that waits, if the run ends because nothing can happen;
    /// and the words about it.
    pub(super) fn ending(&mut self, earlier: &[Event], events: &[Event]) {
        let Some(words) = self.scene.ending() else { return };
        let mut lanes = Lanes::after(self.scene, earlier);
        events.iter().for_each(|event| lanes.pass(self.scene, event));
        for (lane, state) in lanes.now().to_vec().into_iter().enumerate() {
            if state.operation == Operation::Waiting && state.life == Life::Up {
                let (x, y) = (self.right, self.y(lane));
                self.add(&line("stuck", (x, y - 11.0), (x, y + 11.0)));
                self.add(&line("stuck", (x + 5.0, y - 11.0), (x + 5.0, y + 11.0)));
            }
        }
        let reason = self.reason(self.right, &one_line(words));
        self.add(&reason);
    }
}
