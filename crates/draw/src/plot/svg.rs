//! A plot as SVG.

use super::{Plot, Range, Series, Style, number};
use crate::paper::{self, escaped, fill, line, stroke, text, text_width};
use std::fmt::Write as _;

/// The size of the file, and of the space between the axes.
const SIZE: (f64, f64) = (720.0, 460.0);
const LEFT: f64 = 72.0;
const RIGHT: f64 = 692.0;
const TOP: f64 = 74.0;
const BOTTOM: f64 = 372.0;

impl Plot {
    /// The plot as an SVG file, for light and dark pages.
    pub fn to_svg(&self) -> String {
        let plot = self.cleaned();
        let frame = Frame { x: plot.x_range(9), y: plot.y_range(6) };
        let mut body = text("title", 24.0, 34.0, &plot.title);
        body += &frame.axes(&plot);
        for (index, series) in plot.series.iter().enumerate() {
            let index = series.colour_at(index);
            body += &frame.band(series, index);
        }
        for (index, series) in plot.series.iter().enumerate() {
            let index = series.colour_at(index);
            body += &frame.series(series, index);
        }
        body += &legend(&plot);
        let names: Vec<&str> = plot.series.iter().map(|series| series.name.as_str()).collect();
        let description = format!("{} over {}: {}.", plot.y_label, plot.x_label, names.join(", "));
        paper::file(&plot.title, &description, SIZE, &body)
    }
}

struct Frame {
    x: Range,
    y: Range,
}

impl Frame {
    fn place(&self, (x, y): (f64, f64)) -> (f64, f64) {
        // The outermost points keep a little away from the axes.
        let inset = 14.0;
        let width = RIGHT - LEFT - 2.0 * inset;
        let across = LEFT + inset + self.x.part(x) * width;
        (across, BOTTOM - self.y.part(y) * (BOTTOM - TOP))
    }

    fn axes(&self, plot: &Plot) -> String {
        let mut axes = String::new();
        for &tick in &self.y.ticks {
            let (_, y) = self.place((self.x.low, tick));
            axes += &line("grid", (LEFT, y), (RIGHT, y));
            axes += &text("small faint end", LEFT - 8.0, y + 4.0, &number(tick));
        }
        for &tick in &self.x.ticks {
            let (x, _) = self.place((tick, self.y.low));
            axes += &line("axis", (x, BOTTOM), (x, BOTTOM + 5.0));
            axes += &text("small faint middle", x, BOTTOM + 19.0, &number(tick));
        }
        axes += &line("axis", (LEFT, BOTTOM), (RIGHT, BOTTOM));
        axes += &text("small", 24.0, TOP - 18.0, &plot.y_label);
        axes + &text("small end", RIGHT, BOTTOM + 38.0, &plot.x_label)
    }

    fn band(&self, series: &Series, index: usize) -> String {
        if series.band.is_empty() {
            return String::new();
        }
        let upper = series.band.iter().map(|&(x, _, high)| self.place((x, high)));
        let lower = series.band.iter().rev().map(|&(x, low, _)| self.place((x, low)));
        let points = listed(upper.chain(lower));
        let class = if series.style == Style::Area { "area" } else { "band" };
        format!("<polygon class=\"{class} {}\" points=\"{points}\"/>\n", fill(index))
    }

    fn series(&self, series: &Series, index: usize) -> String {
        if series.style == Style::Bars {
            return self.bars(series, index);
        }
        let places = series.points.iter().map(|&point| self.place(point));
        let mut drawn = self.labels(series);
        if series.style == Style::Points {
            for ((x, y), value) in places.zip(&series.points) {
                let tip = format!("{}: {} at {}", series.name, number(value.1), number(value.0));
                let _ = writeln!(
                    drawn,
                    "<circle class=\"{}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\">\
                     <title>{}</title></circle>",
                    fill(index),
                    escaped(&tip)
                );
            }
            return drawn;
        }
        if series.points.is_empty() {
            return drawn;
        }
        let points = listed(places);
        let class = line_class(series.style, index);
        drawn + &format!("<polyline class=\"{class}\" points=\"{points}\"/>\n")
    }

    /// Bars of equal width, as wide as the closest points allow.
    fn bars(&self, series: &Series, index: usize) -> String {
        let places: Vec<(f64, f64)> =
            series.points.iter().map(|&point| self.place(point)).collect();
        let gaps = places.windows(2).map(|pair| pair[1].0 - pair[0].0);
        let width = (gaps.fold(60.0, f64::min) * 0.8).max(1.0);
        let mut drawn = String::new();
        for ((x, y), value) in places.iter().zip(&series.points) {
            let (left, height) = (x - width / 2.0, (BOTTOM - y).max(0.0));
            let tip = format!("{}: {} at {}", series.name, number(value.1), number(value.0));
            let _ = writeln!(
                drawn,
                "<rect class=\"{}\" x=\"{left:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" \
                 height=\"{height:.1}\"><title>{}</title></rect>",
                fill(index),
                escaped(&tip)
            );
        }
        drawn + &self.labels(series)
    }

    /// The texts beside the points, to the left of them where there is no room to the right.
    fn labels(&self, series: &Series) -> String {
        let mut drawn = String::new();
        for (&point, label) in series.points.iter().zip(&series.labels) {
            let (x, y) = self.place(point);
            let above = series.style == Style::Bars;
            let (class, x, y) = match above {
                true => ("small middle", x, y - 6.0),
                false if x + 10.0 + text_width(label) > RIGHT => {
                    ("small end halo", x - 8.0, y - 6.0)
                }
                false => ("small halo", x + 8.0, y - 6.0),
            };
            drawn += &text(class, x, y, label);
        }
        drawn
    }
}

fn line_class(style: Style, index: usize) -> String {
    let shape = if style == Style::Dashed { "stub" } else { "arrow" };
    format!("{shape} {}", stroke(index))
}

fn listed(places: impl Iterator<Item = (f64, f64)>) -> String {
    places.map(|(x, y)| format!("{x:.1},{y:.1}")).collect::<Vec<_>>().join(" ")
}

/// The names of the series, below the plot.
fn legend(plot: &Plot) -> String {
    let mut legend = String::new();
    let (mut x, mut y) = (LEFT, BOTTOM + 62.0);
    for (index, series) in plot.series.iter().enumerate() {
        let index = series.colour_at(index);
        let words = if series.band.is_empty() || series.style == Style::Area {
            series.name.clone()
        } else {
            format!("{} (band: least to most)", series.name)
        };
        let width = 28.0 + text_width(&words) + 18.0;
        if x + width > RIGHT && x > LEFT {
            (x, y) = (LEFT, y + 18.0);
        }
        legend += &match series.style {
            Style::Points => {
                let class = fill(index);
                let x = x + 10.0;
                format!("<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{:.1}\" r=\"4\"/>\n", y - 4.0)
            }
            Style::Bars | Style::Area => {
                let class = fill(index);
                let y = y - 10.0;
                let size = "width=\"14\" height=\"11\"";
                format!("<rect class=\"area {class}\" x=\"{x:.1}\" y=\"{y:.1}\" {size}/>\n")
            }
            style => line(&line_class(style, index), (x, y - 4.0), (x + 20.0, y - 4.0)),
        };
        legend += &text("small", x + 28.0, y, &words);
        x += width;
    }
    legend
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use roxmltree::Document;

    #[test]
    fn a_plot_is_well_formed_and_holds_every_point_inside_the_axes() {
        let drawn = sample().to_svg();
        let document = Document::parse(&drawn).expect("the plot is XML");
        let circles: Vec<(f64, f64)> = document
            .descendants()
            .filter(|node| node.has_tag_name("circle"))
            .filter(|node| node.children().any(|child| child.has_tag_name("title")))
            .map(|node| {
                let number =
                    |name| node.attribute(name).and_then(|v| v.parse().ok()).unwrap_or(0.0);
                (number("cx"), number("cy"))
            })
            .collect();
        assert_eq!(circles.len(), 8);
        assert!(
            circles
                .iter()
                .all(|&(x, y)| (LEFT..=RIGHT).contains(&x) && (TOP..=BOTTOM).contains(&y))
        );
        assert!(circles.is_sorted_by(|a, b| a.0 < b.0 && a.1 > b.1), "more is higher");
        assert_eq!(drawn.matches("<polyline").count(), 2);
        assert_eq!(drawn.matches("<polygon").count(), 1);
    }

    #[test]
    fn what_is_no_number_is_left_out() {
        let points = vec![(1.0, f64::NAN), (2.0, 3.0), (f64::INFINITY, 1.0)];
        let series = vec![Series::new("<odd>", Style::Points, points)];
        let drawn = Plot { series, ..Plot::default() }.to_svg();
        Document::parse(&drawn).expect("the plot is XML");
        assert!(!drawn.contains("NaN") && !drawn.contains("inf,"));
        assert_eq!(drawn.matches("<title>").count(), 1);
        Document::parse(&Plot::default().to_svg()).expect("an empty plot is XML");
    }
}
