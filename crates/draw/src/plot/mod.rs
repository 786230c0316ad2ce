//! Small plots: measurements, as points with their range, against formulas, as lines. As SVG
//! ([`Plot::to_svg`]) or for the terminal ([`Plot::to_terminal`]).

mod svg;
mod terminal;

use crate::paper::nice_ticks;

/// A plot. Points that are not numbers are left out.
#[derive(Clone, Debug, Default)]
pub struct Plot {
    /// The title.
    pub title: String,
    /// The text below the horizontal axis: `processes N`.
    pub x_label: String,
    /// The text above the vertical axis, with the unit: `messages per entry`.
    pub y_label: String,
    /// The series, each in its own colour. The first lies at the bottom.
    pub series: Vec<Series>,
    /// The scale of the horizontal axis.
    pub x_scale: Scale,
    /// The scale of the vertical axis.
    pub y_scale: Scale,
}

/// The scale of an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Equal steps are equally long.
    #[default]
    Linear,
    /// Equal factors are equally long. Only values above 0 can be drawn.
    Log,
}

/// Points that belong together.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// The name in the legend.
    pub name: String,
    /// The points, from left to right.
    pub points: Vec<(f64, f64)>,
    /// The range around the points: x, least and most. May be empty.
    pub band: Vec<(f64, f64, f64)>,
    /// The style.
    pub style: Style,
    /// The texts beside the points, one for each. May be empty.
    pub labels: Vec<String>,
    /// The number of its colour, if it has one of its own in several plots; else its place among
    /// the series is the number.
    pub colour: Option<usize>,
}

/// The style of a series.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// As points: a measurement.
    #[default]
    Points,
    /// As a line: a calculation.
    Line,
    /// As a dashed line: a bound.
    Dashed,
    /// As bars from 0: a frequency.
    Bars,
    /// As an area, the range: parts of a whole, one upon the other.
    Area,
}

impl Series {
    /// A series without a range.
    pub fn new(name: impl Into<String>, style: Style, points: Vec<(f64, f64)>) -> Self {
        Series {
            name: name.into(),
            points,
            band: Vec::new(),
            style,
            labels: Vec::new(),
            colour: None,
        }
    }

    /// An area between two lines: x, from, to.
    pub fn area(name: impl Into<String>, band: Vec<(f64, f64, f64)>) -> Self {
        Series::new(name, Style::Area, Vec::new()).with_band(band)
    }

    /// Gives it the colour with this number.
    pub fn coloured(mut self, colour: usize) -> Self {
        self.colour = Some(colour);
        self
    }

    /// The number of its colour, if it is the series in this place.
    fn colour_at(&self, place: usize) -> usize {
        self.colour.unwrap_or(place)
    }

    /// Adds texts beside the points.
    pub fn with_labels(mut self, labels: Vec<String>) -> Self {
        self.labels = labels;
        self
    }

    /// Adds the range of the measured values.
    pub fn with_band(mut self, band: Vec<(f64, f64, f64)>) -> Self {
        self.band = band;
        self
    }
}

/// The numbers along an axis, and its marks.
#[derive(Clone, Debug, PartialEq)]
struct Range {
    low: f64,
    high: f64,
    ticks: Vec<f64>,
    scale: Scale,
}

impl Range {
    /// Covers all values above 0, and ends at 1, 2 or 5 times a power of ten. Marks are powers of
    /// ten, or these too where there are few.
    fn log(values: &[f64]) -> Self {
        let above = || values.iter().copied().filter(|value| *value > 0.0);
        let low = above().fold(f64::INFINITY, f64::min);
        let high = above().fold(0.0, f64::max);
        let (low, high) = if low <= high { (low, high) } else { (1.0, 10.0) };
        let first = (low.log10() + 1e-9).floor() as i32;
        let last = ((high.log10() - 1e-9).ceil() as i32).max(first + 1);
        let factors: &[f64] = if last - first <= 2 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let ends = || {
            (first..=last)
                .flat_map(|power| [1.0, 2.0, 5.0].map(|factor| factor * 10f64.powi(power)))
        };
        let low = ends().filter(|end| *end <= low * 1.000_001).fold(10f64.powi(first), f64::max);
        let high = ends().filter(|end| *end >= high / 1.000_001).fold(10f64.powi(last), f64::min);
        let ticks =
            (first..=last).flat_map(|power| factors.iter().map(move |f| f * 10f64.powi(power)));
        let inside = |tick: &f64| (low / 1.000_001..=high * 1.000_001).contains(tick);
        let ticks = ticks.filter(inside).collect();
        Range { low, high, ticks, scale: Scale::Log }
    }

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
            return Range { low, high, ticks, scale: Scale::Linear };
        }
        let step = match ticks[..] {
            [first, second, ..] => second - first,
            _ => high - low,
        };
        let (low, high) = ((low / step).floor() * step, (high / step - 1e-9).ceil() * step);
        let ticks = nice_ticks(low, high, ((high - low) / step).round() as usize);
        Range { low, high, ticks, scale: Scale::Linear }
    }

    /// The position of a value, from 0 to 1.
    fn part(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Linear => (value - self.low) / (self.high - self.low),
            Scale::Log => (value / self.low).ln() / (self.high / self.low).ln(),
        }
    }
}

impl Plot {
    /// The plot without points that are not numbers.
    fn cleaned(&self) -> Plot {
        let mut plot = self.clone();
        let fits = |value: f64, scale| value.is_finite() && (scale == Scale::Linear || value > 0.0);
        let (across, up) = (plot.x_scale, plot.y_scale);
        for series in &mut plot.series {
            let keep: Vec<bool> =
                series.points.iter().map(|(x, y)| fits(*x, across) && fits(*y, up)).collect();
            let mut kept = keep.iter();
            series.points.retain(|_| *kept.next().unwrap_or(&false));
            let mut kept = keep.iter();
            series.labels.retain(|_| *kept.next().unwrap_or(&false));
            series
                .band
                .retain(|(x, low, high)| fits(*x, across) && fits(*low, up) && fits(*high, up));
        }
        plot
    }

    fn x_range(&self, wanted: usize) -> Range {
        let points = self.series.iter().flat_map(|s| s.points.iter().map(|point| point.0));
        let bands = self.series.iter().flat_map(|s| s.band.iter().map(|range| range.0));
        let mut values: Vec<f64> = points.chain(bands).collect();
        // Bars are as wide as the gap between them, so the outermost need half of one more.
        for bars in self.series.iter().filter(|series| series.style == Style::Bars) {
            if let [first, second, .., last] = bars.points[..] {
                let half = (second.0 - first.0) / 2.0;
                values.extend([first.0 - half, last.0 + half]);
            }
        }
        match self.x_scale {
            Scale::Linear => Range::new(&values, false, wanted),
            Scale::Log => Range::log(&values),
        }
    }

    /// An amount is compared with zero, so 0 is on the axis unless values lie below it.
    fn y_range(&self, wanted: usize) -> Range {
        let points = self.series.iter().flat_map(|s| s.points.iter().map(|point| point.1));
        let bands = self.series.iter().flat_map(|s| s.band.iter().flat_map(|b| [b.1, b.2]));
        let values: Vec<f64> = points.chain(bands).chain([0.0]).collect();
        match self.y_scale {
            Scale::Linear => Range::new(&values, true, wanted),
            Scale::Log => Range::log(&values),
        }
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
        ..Plot::default()
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
    fn a_logarithmic_axis_ends_at_powers_of_ten_and_leaves_out_what_is_not_above_zero() {
        let range = Range::log(&[0.0, 3.0, 700.0]);
        assert_eq!((range.low, range.high), (2.0, 1_000.0));
        assert_eq!(range.ticks, [10.0, 100.0, 1_000.0]);
        assert!((range.part(2_000f64.sqrt()) - 0.5).abs() < 1e-9);
        assert_eq!(Range::log(&[2.0, 30.0]).ticks, [2.0, 5.0, 10.0, 20.0, 50.0]);
        let points = vec![(0.0, 1.0), (10.0, 2.0)];
        let series = Series::new("a", Style::Points, points);
        let series = vec![series.with_labels(vec!["zero".to_owned(), "ten".to_owned()])];
        let plot = Plot { series, x_scale: Scale::Log, ..Plot::default() }.cleaned();
        assert_eq!(plot.series[0].points, [(10.0, 2.0)]);
        assert_eq!(plot.series[0].labels, ["ten"]);
    }

    #[test]
    fn numbers_are_brief() {
        assert_eq!(number(0.30000000000000004), "0.3");
        assert_eq!(number(1_500.0), "1500");
        assert_eq!(number(-1_234_567.5), "-1\u{202f}234\u{202f}567.5");
    }
}
