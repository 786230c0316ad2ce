//! Messages as arrows: from the sending to the arrival, the loss, or the edge of the window.

use super::Picture;
use crate::paper::line;
use crate::paper::{fill, stroke};
use crate::words::{message_text, shortened};
use std::collections::{BTreeMap, BTreeSet};
use synod_sim::trace::{Event, What};

type Point = (f64, f64);

/// The length of a stub from the lane.
const STUB: f64 = 30.0;

impl Picture<'_> {
    /// Draws every message that is sent, received or lost in the window.
    pub(super) fn arrows(&mut self, events: &[Event]) {
        let mut sends: BTreeMap<u64, usize> = BTreeMap::new();
        let mut ended: BTreeSet<u64> = BTreeSet::new();
        for (position, event) in events.iter().enumerate() {
            match (event.what, event.message) {
                (What::Send, Some(number)) => {
                    sends.insert(number, position);
                }
                (What::Receive | What::Lose, Some(number)) => {
                    ended.insert(number);
                    let send = sends.get(&number).copied();
                    self.arrival(events, send, position);
                }
                _ => {}
            }
        }
        for (_, &send) in sends.iter().filter(|(number, _)| !ended.contains(number)) {
            self.departure(&events[send], send);
        }
    }

    fn arrival(&mut self, events: &[Event], send: Option<usize>, end: usize) {
        let event = &events[end];
        let (Some(from), Some(to)) = (self.scene.peer_lane_of(event), self.scene.lane_of(event))
        else {
            return;
        };
        let lost = event.what == What::Lose;
        let mut target = (self.x(end), self.y(to));
        let tip = match send {
            Some(send) => format!("{}\n{}", self.tip(&events[send]), self.tip(event)),
            None => self.tip(event),
        };
        let (class, source) = match send {
            Some(send) => ("arrow", (self.x(send), self.y(from))),
            None => ("stub", towards(target, (target.0 - 60.0, self.y(from)), STUB)),
        };
        if from == to {
            return self.loop_back(event, source, target, &tip);
        }
        if lost && target.0 <= source.0 {
            // Lost as soon as it was sent; but every arrow leans to the right.
            target.0 = source.0 + 24.0;
        }
        let target = towards(target, source, if lost { 15.0 } else { 4.0 });
        let colour = if lost { "lost".to_owned() } else { stroke(self.kind_index(event)) };
        let mut shape = line(&format!("{class} {colour}"), source, target);
        shape += &self.hit(source, target);
        if lost {
            shape += &cross("arrow lost", target.0, target.1, 5.0);
        } else {
            shape += &head(&fill(self.kind_index(event)), source, target);
        }
        self.message(event, &tip, &shape);
        let (name, colour) = (event.kind.to_owned(), fill(self.kind_index(event)));
        if send.is_none() {
            self.stub_name(source, from as f64 - to as f64, event);
        }
        let names = match (send, lost) {
            (None, _) => Vec::new(),
            (Some(_), true) => vec![shortened(without_reason(event), 22), name],
            (Some(_), false) => vec![shortened(&message_text(event), 22), name],
        };
        self.labels.arrow(source, target, names, &colour);
    }

    /// A message that has not arrived when the window ends.
    fn departure(&mut self, event: &Event, send: usize) {
        let (Some(from), Some(to)) = (self.scene.lane_of(event), self.scene.peer_lane_of(event))
        else {
            return;
        };
        let source = (self.x(send), self.y(from));
        let target = towards(source, (source.0 + 60.0, self.y(to)), STUB);
        let class = format!("stub {}", stroke(self.kind_index(event)));
        let shape = line(&class, source, target) + &self.hit(source, target);
        let tip = format!("{}\nnot received in this picture", self.tip(event));
        self.message(event, &tip, &shape);
        self.stub_name(target, to as f64 - from as f64, event);
    }

    /// The name of a message at the open end of its stub, which points up or down.
    fn stub_name(&mut self, (x, y): Point, down: f64, event: &Event) {
        let class = format!("small {}", fill(self.kind_index(event)));
        let y = if down > 0.0 { y + 11.0 } else { y - 3.0 };
        let name = shortened(&message_text(event), 22);
        for words in [name.as_str(), event.kind] {
            if self.labels.claim(&class, words, &[(x, y), (x + 14.0, y), (x - 14.0, y)]) {
                return;
            }
        }
    }

    /// A message of a process to itself: an arc below the lane.
    fn loop_back(&mut self, event: &Event, source: Point, target: Point, tip: &str) {
        let class = stroke(self.kind_index(event));
        let ((x1, y), (x2, _)) = (source, target);
        let low = y + 20.0;
        let shape = format!(
            "<path class=\"arrow {class}\" \
             d=\"M{x1:.1} {y:.1}C{x1:.1} {low:.1} {x2:.1} {low:.1} {x2:.1} {y:.1}\"/>\n"
        );
        self.message(event, tip, &shape);
    }

    /// A broad line to point at.
    fn hit(&self, source: Point, target: Point) -> String {
        if self.scene.has_tips() { line("hit", source, target) } else { String::new() }
    }

    fn message(&mut self, event: &Event, tip: &str, shape: &str) {
        let number = event.message.unwrap_or_default();
        let group = format!("<g class=\"message\" data-message=\"{number}\">");
        let message = self.with_tip(&group, tip, shape);
        self.add(&message);
    }
}

/// The label of a lost message, without the reason of the loss.
fn without_reason(event: &Event) -> &str {
    event.label.rsplit_once(": ").map_or(event.kind, |(label, _)| label)
}

/// The point at this distance from `point` on the way to `other`.
fn towards(point: Point, other: Point, distance: f64) -> Point {
    let (dx, dy) = (other.0 - point.0, other.1 - point.1);
    let length = dx.hypot(dy);
    if length <= distance {
        return point;
    }
    (point.0 + dx / length * distance, point.1 + dy / length * distance)
}

/// The head of an arrow that comes from `source` and ends at `tip`.
fn head(class: &str, source: Point, tip: Point) -> String {
    let base = towards(tip, source, 9.0);
    let (dx, dy) = (tip.0 - base.0, tip.1 - base.1);
    let (left, right) =
        ((base.0 - dy * 0.38, base.1 + dx * 0.38), (base.0 + dy * 0.38, base.1 - dx * 0.38));
    format!(
        "<polygon class=\"head {class}\" points=\"{:.1},{:.1} {:.1},{:.1} {:.1},{:.1}\"/>\n",
        tip.0, tip.1, left.0, left.1, right.0, right.1
    )
}

/// An ×.
pub(super) fn cross(class: &str, x: f64, y: f64, half: f64) -> String {
    let (left, right, top, bottom) = (x - half, x + half, y - half, y + half);
    format!(
        "<path class=\"{class}\" d=\"M{left:.1} {top:.1}L{right:.1} {bottom:.1}\
         M{left:.1} {bottom:.1}L{right:.1} {top:.1}\"/>\n"
    )
}
