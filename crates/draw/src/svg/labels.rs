//! Texts in the picture: each looks for a place where it covers no other, or is left out. The
//! reader still has the colour, the legend and the tooltip of an arrow without a name.

use crate::paper::{Area, text};

type Point = (f64, f64);

/// Places along an arrow where its name may stand, the best first.
const ALONG: [f64; 9] = [0.5, 0.4, 0.6, 0.32, 0.68, 0.25, 0.75, 0.18, 0.82];
/// The largest number of arrows that the name of an arrow may cover.
const COVERED: usize = 1;
/// The distance between the name of an arrow and a lane.
const FROM_LANES: f64 = 15.0;

pub(super) struct Labels {
    left: f64,
    right: f64,
    taken: Vec<Area>,
    arrows: Vec<Arrow>,
    texts: String,
}

struct Arrow {
    from: Point,
    to: Point,
    /// Ways to name it, the best first.
    names: Vec<String>,
    class: String,
}

impl Labels {
    /// For texts between these two edges.
    pub(super) fn new(left: f64, right: f64) -> Self {
        Labels { left, right, taken: Vec::new(), arrows: Vec::new(), texts: String::new() }
    }

    fn is_free(&self, area: &Area) -> bool {
        area.left >= self.left
            && area.right <= self.right
            && !self.taken.iter().any(|other| other.overlaps(area))
    }

    fn put(&mut self, class: &str, words: &str, place: Point, area: Area) {
        self.taken.push(area);
        let class = format!("{class} halo middle");
        self.texts.push_str(&text(&class, place.0, place.1, words));
    }

    /// Takes the free place that covers the fewest arrows; of equals, the first. Returns whether
    /// there was one.
    pub(super) fn claim(&mut self, class: &str, words: &str, places: &[Point]) -> bool {
        let area = |place: &Point| Area::of_text(words, place.0, place.1);
        let free = places.iter().filter(|place| self.is_free(&area(place)));
        let best = free.min_by_key(|place| self.covered(&area(place), None)).copied();
        if let Some(place) = best {
            self.put(class, words, place, area(&place));
        }
        best.is_some()
    }

    /// The number of arrows through an area, but for one.
    fn covered(&self, area: &Area, but: Option<usize>) -> usize {
        let others = self.arrows.iter().enumerate().filter(|&(index, _)| Some(index) != but);
        others.filter(|(_, arrow)| area.is_crossed(arrow.from, arrow.to)).count()
    }

    /// Remembers an arrow that wants a name.
    pub(super) fn arrow(&mut self, from: Point, to: Point, names: Vec<String>, class: &str) {
        self.arrows.push(Arrow { from, to, names, class: class.to_owned() });
    }

    /// Names the arrows, as far as there is room.
    pub(super) fn name_arrows(&mut self, lanes: &[f64]) {
        for index in 0..self.arrows.len() {
            if let Some((name, place, area)) = self.place_on_arrow(index, lanes) {
                let class = format!("small {}", self.arrows[index].class);
                self.put(&class, &name, place, area);
            }
        }
    }

    /// The best name that has a place where it is readable, at the place where it covers the fewest
    /// other arrows. A name that covers several arrows would hide more than it says.
    fn place_on_arrow(&self, index: usize, lanes: &[f64]) -> Option<(String, Point, Area)> {
        let arrow = &self.arrows[index];
        arrow.names.iter().find_map(|name| {
            let places = ALONG.iter().filter_map(|&part| {
                let (x, y) = along(arrow, part);
                let area = Area::of_text(name, x, y + 4.0);
                let clear = lanes.iter().all(|lane| (lane - y).abs() >= FROM_LANES);
                (clear && self.is_free(&area)).then_some(((x, y + 4.0), area))
            });
            let (place, area) = places.min_by_key(|(_, area)| self.covered(area, Some(index)))?;
            let readable = self.covered(&area, Some(index)) <= COVERED;
            readable.then(|| (name.clone(), place, area))
        })
    }

    /// All texts that found a place.
    pub(super) fn elements(&mut self) -> String {
        std::mem::take(&mut self.texts)
    }
}

fn along(arrow: &Arrow, part: f64) -> Point {
    let (from, to) = (arrow.from, arrow.to);
    (from.0 + (to.0 - from.0) * part, from.1 + (to.1 - from.1) * part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_texts_cover_each_other_and_the_last_to_come_is_left_out() {
        let mut labels = Labels::new(0.0, 500.0);
        let places = [(100.0, 50.0), (105.0, 60.0), (100.0, 80.0)];
        for words in ["first", "second", "third"] {
            labels.claim("", words, &places);
        }
        let texts = labels.elements();
        assert!(texts.contains("first") && texts.contains("second"), "{texts}");
        assert!(!texts.contains("third"), "{texts}");
    }

    #[test]
    fn the_name_of_an_arrow_keeps_away_from_lanes_and_edges() {
        let mut labels = Labels::new(0.0, 500.0);
        let names = || vec!["Request".to_owned()];
        labels.arrow((100.0, 0.0), (200.0, 80.0), names(), "f0");
        labels.arrow((490.0, 0.0), (495.0, 80.0), names(), "f0");
        labels.name_arrows(&[0.0, 40.0, 80.0]);
        let texts = labels.elements();
        assert_eq!(texts.matches("Request").count(), 1, "{texts}");
        assert!(!texts.contains("y=\"44.0\""), "{texts}");
    }
}
