//! The plots of the report.

use super::colours::{Quantity, colour};
use super::find;
use crate::measure::{MemberSample, Sample};
use crate::run::Allocator;
use crate::settings::{AUTHORS_RATE, Settings};
use crate::study::{Part, Row, pooled, split};
use synod_draw::plot::{Plot, Scale, Series, Style};

/// Failures against multicasts, one point for each allocator.
pub(crate) fn failures_against_multicasts(rows: &[Row]) -> Plot {
    let mut series = Vec::new();
    let mut bounds = Vec::new();
    for row in rows.iter().filter(|row| row.case.part == Part::Clean) {
        let failed = row.summary.failed_per_success.mean;
        let (allocator, name) = (row.case.allocator, row.case.allocator.title());
        match (allocator, row.summary.claims_per_multicast) {
            (Allocator::Oracle, _) => {}
            (Allocator::Mover, _) => bounds.push((allocator, name, failed)),
            (Allocator::Static, _) => {
                series.push((allocator, LEFT, failed, "static split: no multicast at all"));
            }
            (_, Some(claims)) => series.push((allocator, 1.0 / claims.mean, failed, name)),
            (_, None) => {}
        }
    }
    let settings = rows.iter().find(|row| row.case.part == Part::Clean);
    if let Some(row) = settings {
        let formula = "Erlang's formula, one pool without latency";
        bounds.push((Allocator::Oracle, formula, pooled(&row.case.settings).0));
    }
    let point = |(allocator, x, y, label): (Allocator, f64, f64, &str)| {
        Series::new(allocator.title(), Style::Points, vec![(x, y)])
            .with_labels(vec![label.to_owned()])
            .coloured(colour(allocator))
    };
    let mut series: Vec<Series> = series.into_iter().map(point).collect();
    for (allocator, name, y) in bounds {
        let bound = Series::new(name, Style::Dashed, vec![(LEFT, y), (10.0, y)]);
        series.push(bound.coloured(colour(allocator)));
    }
    Plot {
        title: "Failures against multicasts, at the paper's load, latency 2 rounds".to_owned(),
        x_label: "multicasts for each successful claim".to_owned(),
        y_label: "failed claims for each successful one".to_owned(),
        series,
        x_scale: Scale::Log,
        ..Plot::default()
    }
}

/// The place of the vertical axis in that plot: no multicast.
const LEFT: f64 = 0.01;

fn over(rows: &[Row], part: Part, allocator: Allocator, y: impl Fn(&Row) -> f64) -> Series {
    let of = |row: &&Row| row.case.part == part && row.case.allocator == allocator;
    let points = rows.iter().filter(of).map(|row| (row.case.x, y(row))).collect();
    Series::new(allocator.title(), Style::Line, points).coloured(colour(allocator))
}

/// What a formula says about a policy: dashed, in its colour.
fn formula(name: &str, of: Allocator, points: Vec<(f64, f64)>) -> Series {
    Series::new(name, Style::Dashed, points).coloured(colour(of))
}

const COMPARED: [Allocator; 4] =
    [Allocator::Repaired, Allocator::Offers, Allocator::MutualExclusion, Allocator::Mover];

fn loads(rows: &[Row]) -> Vec<(f64, Settings)> {
    let of = |row: &&Row| row.case.part == Part::Load && row.case.allocator == Allocator::Offers;
    rows.iter().filter(of).map(|row| (row.case.x, row.case.settings.clone())).collect()
}

/// Failures over the offered load.
pub(crate) fn failures_over_load(rows: &[Row]) -> Plot {
    let failed = |row: &Row| row.summary.failed_per_success.mean;
    let mut series: Vec<Series> =
        COMPARED.map(|allocator| over(rows, Part::Load, allocator, failed)).into();
    let over_loads = |of: &dyn Fn(&Settings) -> f64| {
        loads(rows).iter().map(|(x, settings)| (*x, of(settings))).collect::<Vec<_>>()
    };
    series.push(formula("static split (formula)", Allocator::Static, over_loads(&split)));
    let one_pool = over_loads(&|settings| pooled(settings).0);
    series.push(formula("one pool (formula)", Allocator::Oracle, one_pool));
    in_percent(Plot {
        title: "Failures over the offered load, latency 2 rounds".to_owned(),
        x_label: "offered load, % of the slots".to_owned(),
        y_label: "failed claims for each successful one".to_owned(),
        series,
        ..Plot::default()
    })
}

/// Utilisation over the offered load.
pub(crate) fn used_over_load(rows: &[Row]) -> Plot {
    let used = |row: &Row| row.summary.used.mean * 100.0;
    let mut series: Vec<Series> =
        COMPARED.map(|allocator| over(rows, Part::Load, allocator, used)).into();
    let bound = |(x, settings): &(f64, Settings)| (*x, pooled(settings).1 * 100.0);
    let bound = loads(rows).iter().map(bound).collect();
    series.push(formula("one pool (formula)", Allocator::Oracle, bound));
    in_percent(Plot {
        title: "Slots in use over the offered load".to_owned(),
        x_label: "offered load, % of the slots".to_owned(),
        y_label: "slots in use, %".to_owned(),
        series,
        ..Plot::default()
    })
}

/// Loads as percentages.
fn in_percent(mut plot: Plot) -> Plot {
    for series in &mut plot.series {
        series.points.iter_mut().for_each(|(x, _)| *x *= 100.0);
    }
    plot
}

/// Multicasts over the number of members.
pub(crate) fn multicasts_over_members(rows: &[Row]) -> Plot {
    let multicasts = |row: &Row| row.summary.multicasts_per_round.mean;
    let series = [Allocator::Repaired, Allocator::Offers]
        .map(|allocator| over(rows, Part::Members, allocator, multicasts));
    Plot {
        title: "Multicasts over the number of members, 24 slots each".to_owned(),
        x_label: "members N".to_owned(),
        y_label: "multicasts in a round".to_owned(),
        series: series.into(),
        x_scale: Scale::Log,
        y_scale: Scale::Log,
    }
}

/// Failures over latency.
pub(crate) fn failures_over_latency(rows: &[Row]) -> Plot {
    let failed = |row: &Row| row.summary.failed_per_success.mean;
    let mut series: Vec<Series> =
        COMPARED.map(|allocator| over(rows, Part::Latency, allocator, failed)).into();
    let of = |row: &&Row| row.case.part == Part::Latency && row.case.allocator == Allocator::Offers;
    let split = rows.iter().filter(of).map(|row| (row.case.x, split(&row.case.settings)));
    series.push(formula("static split (formula)", Allocator::Static, split.collect()));
    for series in &mut series {
        series.points.iter_mut().for_each(|(x, _)| *x *= AUTHORS_RATE);
    }
    Plot {
        title: "Failures over latency × rate of claims: when a pool is worth having".to_owned(),
        x_label: "claims of a member during one multicast".to_owned(),
        y_label: "failed claims for each successful one".to_owned(),
        series,
        x_scale: Scale::Log,
        ..Plot::default()
    }
}

/// The slots of a member over time, while the hot spot moves.
pub(crate) fn member_over_time(rows: &[Row], member: usize, what: &str) -> Option<Plot> {
    let row = find(rows, Part::Moving, Allocator::Offers)?;
    let has = |sample: &Sample| sample.members.get(member).copied();
    Some(stacked(&row.summary.samples, has, &format!("p{member}, {what}")))
}

/// The slots of all members over time, while the hot spot moves.
pub(crate) fn all_over_time(rows: &[Row]) -> Option<Plot> {
    let row = find(rows, Part::Moving, Allocator::Offers)?;
    let has = |sample: &Sample| {
        let sum = |of: &dyn Fn(&MemberSample) -> u32| sample.members.iter().map(of).sum();
        Some(MemberSample {
            used: sum(&|m| m.used),
            free: sum(&|m| m.free),
            pledged: sum(&|m| m.pledged),
            ..MemberSample::default()
        })
    };
    Some(stacked(&row.summary.samples, has, "All members together: the pool on offer is a band"))
}

fn stacked(samples: &[Sample], has: impl Fn(&Sample) -> Option<MemberSample>, title: &str) -> Plot {
    let mut bands = [Vec::new(), Vec::new(), Vec::new()];
    for sample in samples {
        let Some(member) = has(sample) else { continue };
        let mut below = 0.0;
        for (band, count) in bands.iter_mut().zip([member.used, member.free, member.pledged]) {
            let above = below + f64::from(count);
            band.push((sample.round as f64, below, above));
            below = above;
        }
    }
    let [used, free, pledged] = bands;
    Plot {
        title: title.to_owned(),
        x_label: "round".to_owned(),
        y_label: "slots".to_owned(),
        series: vec![
            Series::area("in use", used).coloured(Quantity::Used.colour()),
            Series::area("free", free).coloured(Quantity::Free.colour()),
            Series::area("on offer", pledged).coloured(Quantity::Pledged.colour()),
        ],
        ..Plot::default()
    }
}

/// Response times in multicasts, as in the paper's figure 9.
pub(crate) fn responses_in_multicasts(rows: &[Row]) -> Option<Plot> {
    let row = find(rows, Part::Authors, Allocator::Repaired)?;
    let points = shares(&row.summary.response_multicasts, 2, 12, 1);
    let labels = points.iter().map(|(_, share)| format!("{share:.0} %")).collect();
    let published = vec![(2.0, 79.0), (3.0, 16.0)];
    Some(Plot {
        title: "Response time in multicasts (Fig. 9), SLOTS repaired".to_owned(),
        x_label: "multicasts from the request to the first slot".to_owned(),
        y_label: "requests that were served, %".to_owned(),
        series: vec![
            Series::new("measured", Style::Bars, points)
                .with_labels(labels)
                .coloured(colour(Allocator::Repaired)),
            Series::new("published", Style::Points, published)
                .coloured(colour(Allocator::PaperAsProgrammed)),
        ],
        ..Plot::default()
    })
}

/// Response times in rounds.
pub(crate) fn responses_in_rounds(rows: &[Row]) -> Option<Plot> {
    let row = find(rows, Part::Authors, Allocator::Repaired)?;
    let points = shares(&row.summary.response_rounds, 0, 600, 20);
    Some(Plot {
        title: "The same requests in rounds: what the multicasts wait for".to_owned(),
        x_label: "rounds from the request to the first slot".to_owned(),
        y_label: "requests that were served, %".to_owned(),
        series: vec![
            Series::new("measured", Style::Bars, points).coloured(colour(Allocator::Repaired)),
        ],
        ..Plot::default()
    })
}

/// Shares of a histogram in percent, in buckets.
fn shares(histogram: &[u64], from: usize, to: usize, width: usize) -> Vec<(f64, f64)> {
    let total: u64 = histogram.iter().sum::<u64>().max(1);
    let bucket = |start: usize| {
        let end = (start + width).min(histogram.len());
        let count: u64 = histogram.get(start..end).map_or(0, |counts| counts.iter().sum());
        (start as f64, count as f64 * 100.0 / total as f64)
    };
    (from..to).step_by(width).map(bucket).collect()
}

/// Quantities over time, under the authors' timing.
fn over_time(rows: &[Row], title: &str, y_label: &str, series: &[Wanted<'_>]) -> Plot {
    let mut lines = Vec::new();
    for (name, allocator, style, value) in series {
        if let Some(row) = find(rows, Part::Authors, *allocator) {
            let samples = &row.summary.samples;
            let points = samples.iter().map(|sample| (sample.round as f64, value(sample, row)));
            let line = Series::new(*name, *style, points.collect());
            lines.push(line.coloured(colour(*allocator)));
        }
    }
    Plot {
        title: title.to_owned(),
        x_label: "round".to_owned(),
        y_label: y_label.to_owned(),
        series: lines,
        ..Plot::default()
    }
}

/// A line: its name, its allocator, whose colour it has, its style, and its quantity.
type Wanted<'a> = (&'a str, Allocator, Style, &'a dyn Fn(&Sample, &Row) -> f64);

/// The queue of the group layer.
pub(crate) fn queue_over_time(rows: &[Row]) -> Plot {
    let queue = |sample: &Sample, _: &Row| sample.queue;
    let lines: [Wanted<'_>; 3] = [
        ("SLOTS repaired", Allocator::Repaired, Style::Line, &queue),
        ("SLOTS with offers", Allocator::Offers, Style::Line, &queue),
        ("mutual exclusion, correct", Allocator::MutualExclusion, Style::Line, &queue),
    ];
    let title = "The queue of the group layer, authors' timing";
    over_time(rows, title, "multicasts that a member has not read yet", &lines)
}

/// Utilisation over time: the paper's figure 7.
pub(crate) fn used_over_time(rows: &[Row]) -> Plot {
    let used = |sample: &Sample, row: &Row| {
        let used: u32 = sample.members.iter().map(|member| member.used).sum();
        f64::from(used) * 100.0 / f64::from(row.case.settings.slots)
    };
    let lines: [Wanted<'_>; 4] = [
        ("SLOTS repaired", Allocator::Repaired, Style::Line, &used),
        ("SLOTS with offers", Allocator::Offers, Style::Line, &used),
        ("mutual exclusion, correct", Allocator::MutualExclusion, Style::Line, &used),
        ("mutual exclusion with the slip", Allocator::MutualExclusionWithSlip, Style::Line, &used),
    ];
    over_time(rows, "Slots in use over time (Fig. 7), authors' timing", "slots in use, %", &lines)
}

/// Successful and failed claims over time: the paper's figure 8.
pub(crate) fn claims_over_time(rows: &[Row]) -> Plot {
    let per_round = |sample: &Sample, row: &Row, count: u64| {
        if sample.round == 0 {
            f64::NAN
        } else {
            count as f64 / row.case.settings.sample_every as f64
        }
    };
    let good = |sample: &Sample, row: &Row| per_round(sample, row, sample.succeeded);
    let bad = |sample: &Sample, row: &Row| per_round(sample, row, sample.failed);
    let lines: [Wanted<'_>; 4] = [
        ("repaired: successful", Allocator::Repaired, Style::Line, &good),
        ("repaired: failed", Allocator::Repaired, Style::Dashed, &bad),
        ("offers: successful", Allocator::Offers, Style::Line, &good),
        ("offers: failed", Allocator::Offers, Style::Dashed, &bad),
    ];
    over_time(rows, "Successful and failed claims (Fig. 8)", "claims in a round", &lines)
}

/// Waiting members, under the published rules.
pub(crate) fn blocked_over_time(rows: &[Row]) -> Plot {
    let blocked = |sample: &Sample, _: &Row| sample.blocked as f64;
    let open = |sample: &Sample, _: &Row| sample.open as f64;
    let lines: [Wanted<'_>; 4] = [
        ("published (text): blocked", Allocator::Paper, Style::Line, &blocked),
        ("published (program): blocked", Allocator::PaperAsProgrammed, Style::Line, &blocked),
        ("published (program): open", Allocator::PaperAsProgrammed, Style::Dashed, &open),
        ("repaired: blocked", Allocator::Repaired, Style::Line, &blocked),
    ];
    let title = "Members that wait for more than 2,000 rounds";
    over_time(rows, title, "members", &lines)
}

/// The slots of the two sides of a partition, and their failures.
pub(crate) fn partition(rows: &[Row]) -> Option<(Plot, Plot)> {
    let row = find(rows, Part::Partition, Allocator::Offers)?;
    let left = row.case.settings.partition?.left;
    let n = row.case.settings.nodes;
    let samples = &row.summary.samples;
    let side = |sample: &Sample, from: usize, to: usize, of: &dyn Fn(&MemberSample) -> u32| {
        sample.members.get(from..to).map_or(0.0, |all| f64::from(all.iter().map(of).sum::<u32>()))
    };
    let line = |name: &str, style, (from, to), of: &dyn Fn(&MemberSample) -> u32| {
        let points = samples.iter().map(|sample| (sample.round as f64, side(sample, from, to, of)));
        let quantity = if from == 0 { Quantity::Left } else { Quantity::Right };
        Series::new(name, style, points.collect()).coloured(quantity.colour())
    };
    let owned = |member: &MemberSample| member.used + member.free + member.pledged;
    let failed = |member: &MemberSample| member.failed;
    let plot = |title: &str, y_label: &str, series| Plot {
        title: title.to_owned(),
        x_label: "round (partition from 2,000 to 4,000)".to_owned(),
        y_label: y_label.to_owned(),
        series,
        ..Plot::default()
    };
    let (first, second) = (format!("p0 to p{}", left - 1), format!("p{left} to p{}", n - 1));
    let has = vec![
        line(&format!("{first}: owned"), Style::Line, (0, left), &owned),
        line(&format!("{first}: in use"), Style::Dashed, (0, left), &|member| member.used),
        line(&format!("{second}: owned"), Style::Line, (left, n), &owned),
        line(&format!("{second}: in use"), Style::Dashed, (left, n), &|member| member.used),
    ];
    let fails = vec![
        line(&first, Style::Line, (0, left), &failed),
        line(&second, Style::Line, (left, n), &failed),
    ];
    Some((
        plot("A partition: what each side owns", "slots", has),
        plot("The same: claims that fail on each side", "failed claims in 50 rounds", fails),
    ))
}
