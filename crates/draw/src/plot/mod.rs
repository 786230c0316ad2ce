//! Small plots: what was measured, as points with the range they lie in, against what a formula
//! says, as a line. As SVG ([`Plot::to_svg`]) or for the terminal ([`Plot::to_terminal`]).

mod svg;
mod terminal;

use crate::paper::nice_ticks;

/// A plot. Points that are no numbers are left out.
#[derive(Clone, Debug, Default)]
pub struct Plot {
    /// What it shows.
    pub title: String,
    /// What stands below the horizontal axis: `processes N`.
    pub x_label: String,
    /// What stands above the vertical axis, with its unit: `messages per entry`.
    pub y_label: String,
    /// What is drawn, each in its own colour. The first lies at the bottom.
    pub series: Vec<Series>,
}

/// Points that belong together.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// What they are called in the legend.
    pub name: String,
    /// The points, from left to right.
    pub points: Vec<(f64, f64)>,
    /// The range around the points: where, least and most. May be empty.
    pub band: Vec<(f64, f64, f64)>,
    /// How they are drawn.
    pub style: Style,
}

/// How a series is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// As points: something measured.
    #[default]
    Points,
    /// As a line: something calculated.
    Line,
    /// As a dashed line: a bound.
    Dashed,
}

impl Series {
    /// A series without a range.
    pub fn new(name: impl Into<String>, style: Style, points: Vec<(f64, f64)>) -> Self {
        Series { name: name.into(), points, band: Vec::new(), style }
    }

    /// The range in which the measured values lie.
    pub fn with_band(mut self, band: Vec<(f64, f64, f64)>) -> Self {
        self.band = band;
        self
    }
}

/// The numbers that fit on the axes, and their marks.
#[derive(Clone, Debug, PartialEq)]
struct Range {
    low: f64,
    high: f64,
    ticks: Vec<f64>,
}

impl Range {
    /// Covers all values, and ends at marks if it `rounds`.
    fn new(values: &[f64], rounds: bool, wanted: usize) -> Self {
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let (low, high) = match (low, high) {
            _ if values.is_empty() => (0.0, 1.0),
            (low, high) if low < high => (low, high),
            (only, _) => (only - 1.0, only + 1.0),
        };
        let mut ticks = nice_ticks(low, high, wanted);
        if !rounds {
            if values.iter().all(|value| value.fract() == 0.0) {
                ticks.retain(|tick| tick.fract() == 0.0);
            }
            return Range { low, high, ticks };
        }
        let step = match ticks[..] {
            [first, second, ..] => second - first,
            _ => high - low,
        };
        let (low, high) = ((low / step).floor() * step, (high / step - 1e-9).ceil() * step);
        Range { low, high, ticks: nice_ticks(low, high, ((high - low) / step).round() as usize) }
    }

    /// Where a value lies, from 0 to 1.
    fn part(&self, value: f64) -> f64 {
        (value - self.low) / (self.high - self.low)
    }
}

impl Plot {
    /// The plot without whatever is no number.
    fn cleaned(&self) -> Plot {
        let mut plot = self.clone();
        for series in &mut plot.series {
            series.points.retain(|(x, y)| x.is_finite() && y.is_finite());
            series.band.retain(|(x, low, high)| [x, low, high].iter().all(|v| v.is_finite()));
        }
        plot
    }

    fn x_range(&self, wanted: usize) -> Range {
        let points = self.series.iter().flat_map(|s| s.points.iter().map(|point| point.0));
        let bands = self.series.iter().flat_map(|s| s.band.iter().map(|range| range.0));
        Range::new(&points.chain(bands).collect::<Vec<_>>(), false, wanted)
    }

    /// Amounts are compared with nothing, so 0 is on the axis unless values lie below it.
    fn y_range(&self, wanted: usize) -> Range {
        let points = self.series.iter().flat_map(|s| s.points.iter().map(|point| point.1));
        let bands = self.series.iter().flat_map(|s| s.band.iter().flat_map(|b| [b.1, b.2]));
        let values: Vec<f64> = points.chain(bands).chain([0.0]).collect();
        Range::new(&values, true, wanted)
    }
}

/// A number as briefly as its axis allows, with a thin gap between thousands: `12 000`.
fn number(value: f64) -> String {
    let text = format!("{value:.6}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    let (sign, text) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let (whole, rest) = text
        .split_once('.')
        .map_or((text, String::new()), |(whole, rest)| (whole, format!(".{rest}")));
    let mut grouped = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) && whole.len() > 4 {
            grouped.push('\u{202f}');
        }
        grouped.push(digit);
    }
    format!("{sign}{grouped}{rest}")
}

#[cfg(test)]
pub(crate) fn sample() -> Plot {
    let formula = |n: f64| 2.0 * (n - 1.0);
    let measured = |n: f64| formula(n) * 0.8;
    let all = || (1..=8).map(|k| f64::from(k * 2));
    Plot {
        title: "What the formula says, and what was counted".to_owned(),
        x_label: "processes N".to_owned(),
        y_label: "messages per entry".to_owned(),
        series: vec![
            Series::new("2(N − 1)", Style::Line, all().map(|n| (n, formula(n))).collect()),
            Series::new("3√N", Style::Dashed, all().map(|n| (n, 3.0 * n.sqrt())).collect()),
            Series::new("measured", Style::Points, all().map(|n| (n, measured(n))).collect())
                .with_band(all().map(|n| (n, measured(n) * 0.8, measured(n) * 1.2)).collect()),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vertical_axis_begins_at_zero_and_ends_at_a_mark() {
        let range = sample().y_range(5);
        assert_eq!((range.low, range.high), (0.0, 30.0));
        assert_eq!(range.ticks, [0.0, 10.0, 20.0, 30.0]);
        assert_eq!(range.part(15.0), 0.5);
    }

    #[test]
    fn between_whole_numbers_there_are_no_marks() {
        let range = Range::new(&[2.0, 3.0, 4.0], false, 10);
        assert_eq!(range.ticks, [2.0, 3.0, 4.0]);
    }

    #[test]
    fn one_value_or_none_still_has_a_range() {
        assert_eq!(Range::new(&[], true, 5).low, 0.0);
        let one = Range::new(&[7.0], false, 5);
        assert!(one.low < 7.0 && one.high > 7.0);
    }

    #[test]
    fn numbers_are_brief() {
        assert_eq!(number(0.30000000000000004), "0.3");
        assert_eq!(number(1_500.0), "1500");
        assert_eq!(number(-1_234_567.5), "-1\u{202f}234\u{202f}567.5");
    }
}
