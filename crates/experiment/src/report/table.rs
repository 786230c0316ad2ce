//! The table: the published figures, and ours.

use crate::run::Allocator;
use crate::settings::Settings;
use crate::statistics::Mean;
use crate::study::{PUBLISHED, Part, Row, pooled};

/// A line of a table, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The allocator.
    pub who: String,
    /// Claims per multicast.
    pub claims_per_multicast: String,
    /// Failed per success.
    pub failed_per_success: String,
    /// The share in use.
    pub used: String,
    /// The shares of requests served after 2, 3, and more multicasts.
    pub response: String,
    /// Remarks.
    pub note: String,
}

/// The lines of a part.
pub fn lines(rows: &[Row], part: Part) -> Vec<Line> {
    let here: Vec<&Row> = rows.iter().filter(|row| row.case.part == part).collect();
    let Some(first) = here.first() else { return Vec::new() };
    let settings = &first.case.settings;
    let as_published = part == Part::Authors && is_as_published(settings);
    let mut lines = Vec::new();
    if as_published {
        lines.push(published(0));
    }
    for row in here {
        if as_published && row.case.allocator == Allocator::MutualExclusionWithSlip {
            lines.push(published(1));
        }
        lines.push(line(row));
    }
    lines.push(erlang(settings));
    lines
}

fn is_as_published(settings: &Settings) -> bool {
    let usual = Settings::published();
    (settings.nodes, settings.slots) == (usual.nodes, usual.slots)
        && (settings.arrivals, settings.hot_spot) == (usual.arrivals, usual.hot_spot)
}

fn published(which: usize) -> Line {
    let (who, claims, failed, used) = PUBLISHED[which];
    Line {
        who: format!("published: {who}"),
        claims_per_multicast: format!("{claims:.2}"),
        failed_per_success: format!("{failed:.2}"),
        used: format!("{:.0} %", used * 100.0),
        response: if which == 0 { "79 / 16 / 5" } else { "" }.to_owned(),
        note: "Table I and Fig. 9 of the paper".to_owned(),
    }
}

fn line(row: &Row) -> Line {
    let summary = &row.summary;
    let with = |mean: &Mean, digits: usize| with(mean, digits, summary.seeds);
    let claims = summary.claims_per_multicast.as_ref();
    Line {
        who: row.case.allocator.title().to_owned(),
        claims_per_multicast: claims.map_or("no multicast".to_owned(), |mean| with(mean, 2)),
        failed_per_success: with(&summary.failed_per_success, 4),
        used: format!("{} %", with(&percent(&summary.used), 1)),
        response: response(&summary.response_multicasts),
        note: note(row),
    }
}

fn note(row: &Row) -> String {
    let blocked = row.summary.blocked.mean;
    match row.case.allocator {
        _ if blocked >= 0.5 => {
            format!("{blocked:.0} of {} members blocked at the end", row.case.settings.nodes)
        }
        Allocator::MutualExclusionWithSlip => "what made the published figures".to_owned(),
        Allocator::Mover => "sees everything, messages free of charge".to_owned(),
        _ => String::new(),
    }
}

fn erlang(settings: &Settings) -> Line {
    let (failed, used) = pooled(settings);
    let failed = if failed < 1e-4 { format!("{failed:.1e}") } else { format!("{failed:.4}") };
    Line {
        who: "Erlang's formula, one pool".to_owned(),
        claims_per_multicast: String::new(),
        failed_per_success: failed,
        used: format!("{:.1} %", used * 100.0),
        response: String::new(),
        note: format!("at the offered load of {:.1} %", settings.offered_load() * 100.0),
    }
}

/// `11.65 ± 0.04`: a mean and its confidence interval. One run has none.
fn with(mean: &Mean, digits: usize, runs: usize) -> String {
    match runs {
        0 | 1 => format!("{:.digits$}", mean.mean),
        _ => format!("{:.digits$} ± {:.digits$}", mean.mean, mean.confidence),
    }
}

fn percent(mean: &Mean) -> Mean {
    let scale = |value| value * 100.0;
    Mean {
        mean: scale(mean.mean),
        deviation: scale(mean.deviation),
        confidence: scale(mean.confidence),
    }
}

/// The shares of requests that are served after 2, 3 and more multicasts; after 1 and more, if some
/// are served by the first.
fn response(histogram: &[u64]) -> String {
    let total: u64 = histogram.iter().sum();
    if total == 0 {
        return String::new();
    }
    let at = |place: usize| histogram.get(place).copied().unwrap_or(0);
    let share = |count: u64| (count as f64 * 100.0 / total as f64).round();
    if at(0) + at(1) > 0 {
        let one = at(0) + at(1);
        return format!("{} at once, {} later", share(one), share(total - one));
    }
    format!("{} / {} / {}", share(at(2)), share(at(3)), share(total - at(2) - at(3)))
}
