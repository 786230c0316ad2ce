//! Cut links and partitions: a band behind the lanes of each side, torn apart where nothing passes.

use super::{FIRST_LANE, Picture};
use crate::paper::{line, text_width};
use crate::words::{one_line, shortened};
use std::collections::BTreeSet;
use synod_sim::trace::{Event, What};

/// The furthest that the band of a side reaches beyond its lanes.
const FURTHEST: f64 = 30.0;
/// The number of shades for sides.
const SHADES: usize = 3;

impl Picture<'_> {
    /// A dashed line where the network changes, and bands for as long as it is not whole.
    pub(super) fn network(&mut self, earlier: &[Event], events: &[Event]) {
        let mut division = Division::new(self.scene.n());
        earlier.iter().for_each(|event| division.pass(event));
        let mut since = self.left - 12.0;
        let (top, bottom) = (FIRST_LANE - 32.0, self.last_y() + 24.0);
        for (position, event) in events.iter().enumerate() {
            let before = division.clone();
            division.pass(event);
            let x = self.x(position);
            if division != before {
                self.bands(&before, since, x);
                since = x;
            }
            if event.what == What::Network {
                self.add(&line("cut", (x, top), (x, bottom)));
                let words = shortened(&one_line(&event.text), 40);
                let half = text_width(&words) / 2.0;
                let places = [(x + half, top - 5.0), (x - half, top - 5.0), (x + half, top - 19.0)];
                self.labels.claim("small faint", &words, &places);
            }
        }
        self.bands(&division, since, self.right);
    }

    fn bands(&mut self, division: &Division, from: f64, to: f64) {
        let n = self.scene.n();
        if division.parts.iter().all(Option::is_none) {
            if !division.links.is_empty() {
                self.band("cut-band", (from, to), FIRST_LANE - 32.0, self.last_y() + 24.0);
            }
            return;
        }
        let half = self.lane_distance / 2.0;
        let mut first = 0;
        for lane in 0..n {
            let next = division.parts.get(lane + 1).copied().flatten();
            if lane + 1 < n && next == division.parts[lane] {
                continue;
            }
            if let Some(part) = division.parts[lane] {
                let class = format!("side{}", part % SHADES);
                let reach = (half - 5.0).min(FURTHEST);
                let (top, bottom) = (self.y(first) - reach, self.y(lane) + reach);
                self.band(&class, (from, to), top, bottom);
                if next.is_some() {
                    let y = self.y(lane) + half;
                    self.add(&line("tear", (from, y), (to, y)));
                }
            }
            first = lane + 1;
        }
    }

    fn band(&mut self, class: &str, (from, to): (f64, f64), top: f64, bottom: f64) {
        let (width, height) = (to - from, bottom - top);
        self.add(&format!(
            "<rect class=\"{class}\" x=\"{from:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" \
             height=\"{height:.1}\"/>\n"
        ));
    }
}

/// What the network does not carry.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Division {
    /// The part of each lane, while the group is divided; a lane that is in none stands for the
    /// network itself, or is dead.
    parts: Vec<Option<usize>>,
    /// The cut links, in the words of the trace.
    links: BTreeSet<String>,
}

impl Division {
    fn new(n: usize) -> Self {
        Division { parts: vec![None; n], links: BTreeSet::new() }
    }

    fn pass(&mut self, event: &Event) {
        if event.what == What::Network {
            self.change(&event.text);
        }
        for (_, sight) in &event.sights {
            if !sight.parts.is_empty() {
                let lanes =
                    |part: &synod_core::ProcessSet| part.iter().map(|p| p.index()).collect();
                self.divide(sight.parts.iter().map(lanes).collect());
            }
        }
    }

    /// A change of the links, in the words of the trace: `partition …`, `cut …`, `mend …`, `heal`.
    fn change(&mut self, words: &str) {
        match words.split_once(' ').unwrap_or((words, "")) {
            ("heal", _) => *self = Division::new(self.parts.len()),
            ("mend", link) => {
                self.links.remove(link);
            }
            ("cut", link) => {
                self.links.insert(link.to_owned());
            }
            (_, parts) => {
                let lane = |word: &str| word.strip_prefix('p')?.parse().ok();
                let lanes = |part: &str| part.split(' ').filter_map(lane).collect();
                let mut parts: Vec<Vec<usize>> = parts.split('|').map(lanes).collect();
                let is_alone = |lane: &usize| !parts.iter().any(|part| part.contains(lane));
                let alone: Vec<usize> = (0..self.parts.len()).filter(is_alone).collect();
                parts.extend(alone.into_iter().map(|lane| vec![lane]));
                self.divide(parts);
            }
        }
    }

    /// The group falls into these parts. One part is no division.
    fn divide(&mut self, mut parts: Vec<Vec<usize>>) {
        parts.sort();
        self.parts.fill(None);
        for (number, part) in parts.iter().enumerate().filter(|_| parts.len() > 1) {
            for lane in part {
                if let Some(place) = self.parts.get_mut(*lane) {
                    *place = Some(number);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partition_gives_each_side_its_own_lanes_until_it_heals() {
        let mut division = Division::new(4);
        division.change("partition p2 p1 | p0");
        assert_eq!(division.parts, [Some(0), Some(1), Some(1), Some(2)], "p3 is alone");
        division.change("cut p0 -> p1");
        division.change("heal");
        assert_eq!(division, Division::new(4));
        division.change("cut p0 -> p1");
        division.change("mend p0 -> p1");
        assert_eq!(division, Division::new(4));
    }
}
