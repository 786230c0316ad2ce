//! Measurements in groups of many sizes: as tables, as values, as a plot.

use super::World;
use crate::about::About;
use crate::output::{self, BOLD, DIM};
use crate::words;
use serde::Serialize;
use std::fmt::Write as _;
use synod_core::card::Bounds;
use synod_core::{SetupError, Verdict};
use synod_draw::plot::{Plot, Series, Style};
use synod_sim::count::Measured;

/// The report on a sweep.
#[derive(Serialize)]
pub(crate) struct Told {
    algorithm: &'static str,
    /// The measurements, by size.
    pub(crate) points: Vec<Point>,
    skipped: Vec<Skipped>,
}

#[derive(Serialize)]
struct Skipped {
    n: usize,
    why: String,
}

/// One cost, measured in groups of one size.
#[derive(Serialize)]
pub(crate) struct Point {
    /// The size of the group.
    pub(crate) n: usize,
    /// The load under which it was measured.
    pub(crate) load: &'static str,
    /// The name of the cost.
    pub(crate) cost: &'static str,
    /// The formula.
    pub(crate) formula: &'static str,
    /// The parameters under which it holds, in words; empty for the usual ones.
    pub(crate) setting: String,
    expected_min: f64,
    expected_max: Option<f64>,
    /// The smallest measurement.
    pub(crate) min: f64,
    mean: f64,
    /// The largest measurement.
    pub(crate) max: f64,
    runs: u64,
    /// Whether every measurement agrees with the formula.
    pub(crate) agrees: Verdict,
}

impl Point {
    /// The measurement of the first run.
    pub(super) fn new(world: &World, measured: &Measured, agrees: Verdict) -> Self {
        Point {
            n: world.n,
            load: words::load(world.load),
            setting: words::settings(world.set),
            cost: measured.cost.name,
            formula: measured.cost.formula,
            expected_min: measured.expected.min,
            expected_max: measured.expected.max,
            min: measured.min,
            mean: measured.mean,
            max: measured.max,
            runs: 1,
            agrees,
        }
    }

    /// Adds the measurement of another run.
    pub(crate) fn add(&mut self, measured: &Measured, agrees: Verdict) {
        self.min = self.min.min(measured.min);
        self.max = self.max.max(measured.max);
        self.mean = (self.mean * self.runs as f64 + measured.mean) / (self.runs + 1) as f64;
        self.runs += 1;
        self.agrees = self.agrees.max(agrees);
    }

    /// The value of the formula for this size.
    pub(crate) fn expected(&self) -> Bounds {
        Bounds { min: self.expected_min, max: self.expected_max }
    }

    fn row(&self) -> Vec<String> {
        let measured = [self.min, self.mean, self.max].map(words::measured);
        let mut row = vec![self.n.to_string(), words::bounds(self.expected())];
        row.extend(measured);
        row.push(output::sign(self.agrees).to_owned());
        row
    }
}

impl Told {
    /// A report without measurements.
    pub(crate) fn new(about: &About) -> Self {
        Told { algorithm: about.card.name, points: Vec::new(), skipped: Vec::new() }
    }

    /// Notes that no group of this size is possible.
    pub(crate) fn skip(&mut self, n: usize, error: &SetupError) {
        if self.skipped.last().is_none_or(|last| last.n != n) {
            self.skipped.push(Skipped { n, why: error.to_string() });
        }
    }

    /// The reason why the first size was left out, if one was.
    pub(crate) fn first_skipped(&self) -> Option<&str> {
        self.skipped.first().map(|skipped| skipped.why.as_str())
    }

    /// For people: a table for each cost.
    pub(crate) fn in_words(&self) -> String {
        let mut text = format!("\n{BOLD}{}{BOLD:#}\n", self.algorithm);
        for (cost, load, setting) in self.costs() {
            let is_meant =
                |p: &&Point| (p.cost, p.load, p.setting.as_str()) == (cost, load, setting);
            let points = || self.points.iter().filter(is_meant);
            let formula = points().next().map_or("", |point| point.formula);
            text += &output::heading(&format!("{cost}: {formula}, under {load} load"));
            if !setting.is_empty() {
                text += &output::paragraph("  ", &format!("with {setting}"));
            }
            let header = ["N", "formula", "min", "mean", "max", ""];
            text += &output::table(&header, &header[..5], points().map(Point::row).collect());
        }
        for skipped in &self.skipped {
            let _ = writeln!(text, "  {DIM}N = {} is left out: {}{DIM:#}", skipped.n, skipped.why);
        }
        text + &output::coloured(&format!(
            "\n{} {}\n",
            output::sign(self.verdict()),
            self.summary()
        ))
    }

    /// Whether every point agrees with its formula.
    pub(crate) fn verdict(&self) -> Verdict {
        Verdict::on_all(self.points.iter().map(|point| point.agrees))
    }

    fn summary(&self) -> String {
        let verdict = self.verdict();
        let all = self.points.len();
        let such = self.points.iter().filter(|point| point.agrees == verdict).count();
        match verdict {
            Verdict::Holds => format!("all {all} points agree with their formulas"),
            Verdict::Violated => format!("{such} of {all} points disagree"),
            Verdict::Undecided => {
                format!("{such} of {all} points are not decided: a run was cut short")
            }
        }
    }

    /// Each cost with its load and its setting, in the order of the card.
    fn costs(&self) -> Vec<(&'static str, &'static str, &str)> {
        let mut costs = Vec::new();
        for point in &self.points {
            let cost = (point.cost, point.load, point.setting.as_str());
            if !costs.contains(&cost) {
                costs.push(cost);
            }
        }
        costs
    }

    /// All points as comma-separated values, with a header.
    pub(crate) fn csv(&self) -> String {
        let mut text =
            "n,load,cost,expected_min,expected_max,min,mean,max,agrees,setting\n".to_owned();
        for p in &self.points {
            let most = p.expected_max.map(|max| max.to_string()).unwrap_or_default();
            let agrees = p.agrees.holds().map(|holds| holds.to_string()).unwrap_or_default();
            let _ = writeln!(
                text,
                "{},{},\"{}\",{},{most},{},{},{},{agrees},\"{}\"",
                p.n, p.load, p.cost, p.expected_min, p.min, p.mean, p.max, p.setting
            );
        }
        text
    }

    /// One cost over the group size.
    pub(crate) fn plot(&self, cost: &str) -> Plot {
        let of_cost = || self.points.iter().filter(|point| point.cost == cost);
        let setting = of_cost().next().map(|point| &point.setting);
        let points: Vec<&Point> = of_cost().filter(|p| Some(&p.setting) == setting).collect();
        let over_n = |value: &dyn Fn(&Point) -> Option<f64>| -> Vec<(f64, f64)> {
            points.iter().filter_map(|point| Some((point.n as f64, value(point)?))).collect()
        };
        let formula = points.first().map_or("", |point| point.formula);
        let exact = points.iter().all(|point| point.expected().exact().is_some());
        let least = over_n(&|point| Some(point.expected_min));
        let mut series = if exact {
            vec![Series::new(formula, Style::Line, least)]
        } else {
            let most = over_n(&|point| point.expected_max);
            vec![
                Series::new(format!("{formula}: least"), Style::Dashed, least),
                Series::new("most", Style::Dashed, most),
            ]
        };
        series.retain(|series| !series.points.is_empty());
        let band = points.iter().map(|point| (point.n as f64, point.min, point.max)).collect();
        let measured = over_n(&|point| Some(point.mean));
        series.push(Series::new("measured", Style::Points, measured).with_band(band));
        Plot {
            title: format!("{}: {cost}", self.algorithm),
            x_label: "processes N".to_owned(),
            y_label: cost.to_owned(),
            series,
            ..Plot::default()
        }
    }
}
