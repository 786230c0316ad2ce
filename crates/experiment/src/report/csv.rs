//! All measurements, as comma-separated values.

use crate::settings::Timing;
use crate::study::Row;
use std::fmt::Write as _;

/// The files, by name: one with a line for each case, one with the response times, one with all
/// samples.
pub fn files(rows: &[Row]) -> Vec<(&'static str, String)> {
    vec![
        ("cases.csv", cases(rows)),
        ("responses.csv", responses(rows)),
        ("samples.csv", samples(rows)),
    ]
}

fn name(row: &Row) -> String {
    format!("{:?},{},{}", row.case.part, row.case.x, row.case.allocator.name())
}

fn cases(rows: &[Row]) -> String {
    let mut text = "part,x,allocator,nodes,slots,latency,rounds,seeds,claims_per_multicast,\
                    claims_per_multicast_sd,failed_per_success,failed_per_success_sd,used,used_sd,\
                    offered,multicasts_per_round,queue,blocked,unserved\n"
        .to_owned();
    for row in rows {
        let (settings, summary) = (&row.case.settings, &row.summary);
        let latency = match settings.timing {
            Timing::Authors => "authors".to_owned(),
            Timing::Clean { latency } => latency.to_string(),
        };
        let claims = summary.claims_per_multicast.unwrap_or_default();
        let _ = writeln!(
            text,
            "{},{},{},{latency},{},{},{},{},{},{},{},{},{},{},{},{},{}",
            name(row),
            settings.nodes,
            settings.slots,
            settings.rounds,
            summary.seeds,
            claims.mean,
            claims.deviation,
            summary.failed_per_success.mean,
            summary.failed_per_success.deviation,
            summary.used.mean,
            summary.used.deviation,
            summary.offered.mean,
            summary.multicasts_per_round.mean,
            summary.queue.mean,
            summary.blocked.mean,
            summary.unserved,
        );
    }
    text
}

fn responses(rows: &[Row]) -> String {
    let mut text = "part,x,allocator,unit,time,requests\n".to_owned();
    for row in rows {
        let both = [
            ("multicasts", &row.summary.response_multicasts),
            ("rounds", &row.summary.response_rounds),
        ];
        for (unit, histogram) in both {
            for (time, count) in histogram.iter().enumerate().filter(|(_, count)| **count > 0) {
                let _ = writeln!(text, "{},{unit},{time},{count}", name(row));
            }
        }
    }
    text
}

fn samples(rows: &[Row]) -> String {
    let mut text = "part,x,allocator,round,member,used,free,pledged,succeeded,failed,open,blocked,\
                    queue\n"
        .to_owned();
    for row in rows {
        for sample in &row.summary.samples {
            for (member, has) in sample.members.iter().enumerate() {
                let _ = writeln!(
                    text,
                    "{},{},p{member},{},{},{},{},{},{},{},{:.2}",
                    name(row),
                    sample.round,
                    has.used,
                    has.free,
                    has.pledged,
                    has.succeeded,
                    has.failed,
                    sample.open,
                    sample.blocked,
                    sample.queue
                );
            }
        }
    }
    text
}
