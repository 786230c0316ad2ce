//! The fifteen properties of SLOTS: statement, judge, and measurement.

use super::find;
use crate::measure::Sample;
use crate::run::Allocator;
use crate::settings::Settings;
use crate::statistics::{Mean, quantile, rank_correlation};
use crate::study::{Part, Row};
use serde::Serialize;
use synod_core::Verdict;

/// One of the fifteen.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Property {
    /// π1 to π15.
    pub name: String,
    /// Its statement.
    pub says: &'static str,
    /// Its judge.
    pub judged: &'static str,
    /// What must be measured for the property to hold.
    pub threshold: &'static str,
    /// The measurements in these runs; empty if there is no quantity to measure.
    pub measured: String,
    /// The verdict of the measurements. It is not decided if there are none.
    pub holds: Verdict,
}

/// The fifteen, as far as these runs show.
pub fn properties(rows: &[Row]) -> Vec<Property> {
    let assessments = [
        safe(rows),
        consistent(rows),
        symmetric(rows),
        live(rows),
        no_starvation(rows),
        concurrent(rows),
        quick(rows),
        best_effort(rows),
        efficient(rows),
        far_sighted(rows),
        equitable(rows),
        stable(rows),
        elastic(rows),
        adaptive(rows),
        available(rows),
    ];
    let property = |(index, assessment): (usize, Assessment)| {
        let (says, judged, threshold, measured) = assessment;
        let (measured, holds) = measured
            .map_or((String::new(), Verdict::Undecided), |(text, holds)| (text, holds.into()));
        Property { name: format!("π{}", index + 1), says, judged, threshold, measured, holds }
    };
    assessments.into_iter().enumerate().map(property).collect()
}

/// Statement, judge, threshold, and measurement.
type Assessment = (&'static str, &'static str, &'static str, Option<(String, bool)>);

const EXPLORED: &str =
    "monitor and invariant, in every state that the explorer reaches; and measured";

fn slots_rows(rows: &[Row]) -> impl Iterator<Item = &Row> {
    let holds = [Allocator::Repaired, Allocator::Offers];
    rows.iter().filter(move |row| holds.contains(&row.case.allocator))
}

fn safe(rows: &[Row]) -> Assessment {
    let runs: usize = slots_rows(rows).map(|row| row.summary.seeds).sum();
    let over =
        slots_rows(rows).filter(|row| row.summary.owned_most > row.case.settings.slots).count();
    let text = format!("{runs} runs: never more owned in all than there are slots");
    (
        "Safe: no slot has two owners, on whichever sides",
        EXPLORED,
        "all members together never own more slots than there are",
        (runs > 0).then_some((text, over == 0)),
    )
}

fn consistent(rows: &[Row]) -> Assessment {
    let clean = || slots_rows(rows).filter(|row| row.case.part != Part::Authors);
    let runs: usize = clean().map(|row| row.summary.seeds).sum();
    let good = clean().all(|row| {
        let slots = row.case.settings.slots;
        row.summary.disagreements == 0
            && (row.summary.owned_least, row.summary.owned_most) == (slots, slots)
    });
    let text = format!("{runs} runs end with equal tables at all members, every slot owned once");
    (
        "Consistent: members agree who owns what; nothing is lost",
        EXPLORED,
        "in a clean network, every run ends with equal tables and every slot owned once",
        (runs > 0).then_some((text, good)),
    )
}

fn symmetric(rows: &[Row]) -> Assessment {
    let measured = find(rows, Part::Authors, Allocator::Offers).map(|row| {
        let share = |member: usize| {
            let sum = |of: &dyn Fn(&Sample) -> u32| settled(row).map(of).sum::<u32>();
            let good = sum(&|sample| sample.members[member].succeeded);
            let bad = sum(&|sample| sample.members[member].failed);
            f64::from(bad) / f64::from((good + bad).max(1))
        };
        let shares: Vec<f64> = (0..row.case.settings.nodes).map(share).collect();
        let (least, most) = extent(&shares);
        let text = format!(
            "offers, alike for all: between {:.1} % and {:.1} % of a member's claims fail",
            least * 100.0,
            most * 100.0
        );
        (text, most - least < 0.1)
    });
    (
        "Symmetric: all members do the same",
        "by construction: no rule names a member, but for the primary; and measured",
        "the shares of failed claims of any two members differ by less than 10 points",
        measured,
    )
}

fn live(rows: &[Row]) -> Assessment {
    let measured = find(rows, Part::Authors, Allocator::Repaired).map(|row| {
        let published = [Allocator::Paper, Allocator::PaperAsProgrammed]
            .map(|rules| find(rows, Part::Authors, rules).map(|row| row.summary.blocked.mean));
        let published: Vec<String> =
            published.into_iter().flatten().map(|blocked| format!("{blocked:.0}")).collect();
        let blocked = row.summary.blocked.mean;
        let text = format!(
            "members blocked at the end: {blocked:.0} repaired; {} as published",
            published.join(" and ")
        );
        (text, blocked == 0.0)
    });
    (
        "Live: every cycle and every transaction ends",
        EXPLORED,
        "no member is blocked at the end of a run",
        measured,
    )
}

fn no_starvation(rows: &[Row]) -> Assessment {
    let measured = find(rows, Part::Clean, Allocator::Offers).and_then(|row| {
        let longest = row.summary.response_rounds.iter().rposition(|count| *count > 0)?;
        let half = quantile(&row.summary.response_rounds, 0.5)?;
        let text = format!(
            "offers: half of the requests are served within {half} rounds, all within {longest}; {} in vain",
            row.summary.unserved
        );
        Some((text, longest < 1_000))
    });
    (
        "No starvation: who keeps asking gets a slot, if there is one to spare",
        "invariant, in every state that the explorer reaches; and measured",
        "a request waits for less than 1,000 rounds",
        measured,
    )
}

fn concurrent(rows: &[Row]) -> Assessment {
    let measured = find(rows, Part::Clean, Allocator::Repaired).map(|row| {
        let most = row.summary.most_open;
        (format!("up to {most} requests open at once"), most >= 2)
    });
    (
        "Concurrent: several members may ask at once",
        "explored: with all orders of requests; and measured",
        "at least two requests are open at once",
        measured,
    )
}

fn quick(rows: &[Row]) -> Assessment {
    let measured = find(rows, Part::Authors, Allocator::Repaired).and_then(|row| {
        let histogram = &row.summary.response_multicasts;
        let total: u64 = histogram.iter().sum();
        let least = histogram.iter().position(|count| *count > 0)?;
        let share =
            |at: usize| histogram.get(at).copied().unwrap_or(0) as f64 * 100.0 / total as f64;
        let text = format!(
            "repaired: {:.0} % after 2 multicasts, {:.0} % after 3 (published: 79 % and 16 %); \
             median {} rounds",
            share(2),
            share(3),
            quantile(&row.summary.response_rounds, 0.5)?
        );
        Some((text, least >= 2 && share(2) + share(3) >= 50.0))
    });
    (
        "High performance: a request is answered in few multicasts",
        "measured",
        "no request is answered before 2 multicasts, and at least half after 2 or 3",
        measured,
    )
}

fn best_effort(rows: &[Row]) -> Assessment {
    let measured = find(rows, Part::Authors, Allocator::Repaired).map(|row| {
        let [more, just, less, nothing] = row.summary.outcomes;
        let text = format!(
            "repaired: {more} requests brought more than was asked for, {just} just that, {less} \
             less, {nothing} nothing"
        );
        (text, row.summary.outcomes.iter().all(|count| *count > 0))
    });
    (
        "Best effort: a request may bring more, as much, less, or nothing",
        "measured",
        "each of the four happens",
        measured,
    )
}

fn efficient(rows: &[Row]) -> Assessment {
    let claims = |allocator| {
        let row = find(rows, Part::Authors, allocator)?;
        row.summary.claims_per_multicast.map(|mean| mean.mean)
    };
    let measured =
        claims(Allocator::Repaired).zip(claims(Allocator::Offers)).map(|(ours, offers)| {
            let text = format!(
                "{ours:.2} successful claims for a multicast repaired, {offers:.2} with offers \
             (published: 11.45)"
            );
            (text, ours > 10.0 && offers > ours)
        });
    (
        "Efficient: many claims for one multicast",
        "measured",
        "more than 10 claims for a multicast repaired, and still more with offers",
        measured,
    )
}

fn far_sighted(rows: &[Row]) -> Assessment {
    let donors: Vec<&Row> =
        rows.iter().filter(|row| row.case.allocator == Allocator::Repaired).collect();
    let wrong: u64 = donors.iter().map(|row| row.summary.overgenerous).sum();
    let text = format!("{wrong} donations left their donor with less than FREE_LOW");
    (
        "Far-sighted: a donor keeps FREE_LOW free slots",
        "test of the heuristic; and measured",
        "no donation leaves its donor with less than FREE_LOW",
        (!donors.is_empty()).then_some((text, wrong == 0)),
    )
}

fn equitable(rows: &[Row]) -> Assessment {
    let measured = find(rows, Part::Moving, Allocator::Offers).and_then(|row| {
        let settings = &row.case.settings;
        let last = row.summary.samples.last()?;
        let pairs: Vec<(f64, f64)> = last
            .members
            .iter()
            .enumerate()
            .map(|(node, member)| {
                let owned = member.used + member.free + member.pledged;
                (settings.share_of(node, last.round), f64::from(owned))
            })
            .collect();
        let hot = pairs.iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
        let rank = rank_correlation(&pairs);
        let text = format!(
            "offers, hot spot of {:.0} %: it owns {:.0} of {} slots; rank correlation of demand and \
             ownership {rank:.2}",
            hot.0 * 100.0,
            hot.1,
            settings.slots
        );
        Some((text, rank > 0.0 && hot.1 > 2.0 * f64::from(settings.slots) / pairs.len() as f64))
    });
    (
        "Equitable: who needs more owns more",
        "measured",
        "the rank correlation of demand and ownership is positive, and the hot member owns more than \
         twice an even share",
        measured,
    )
}

fn stable(rows: &[Row]) -> Assessment {
    let measured = find(rows, Part::Authors, Allocator::Repaired).map(|row| {
        let used: Vec<f64> = settled(row).map(|sample| share_in_use(sample, &row.case.settings)).collect();
        let mean = Mean::of(&used);
        let rate = |samples: &[&Sample]| {
            let sum: u64 = samples.iter().map(|sample| sample.multicasts).sum();
            sum as f64 / samples.len().max(1) as f64 / row.case.settings.sample_every as f64
        };
        let late: Vec<&Sample> = settled(row).collect();
        let (first, second) = late.split_at(late.len() / 2);
        let text = format!(
            "repaired, after the start-up: {:.1} % in use, standard deviation {:.1}; {:.2} multicasts a \
             round, later {:.2}",
            mean.mean * 100.0,
            mean.deviation * 100.0,
            rate(first),
            rate(second)
        );
        (text, mean.deviation < 0.06 && (rate(first) - rate(second)).abs() < 0.1)
    });
    (
        "Stable: under a constant load the traffic and the use are constant",
        "measured",
        "the share in use has a standard deviation below 6 points, and the multicasts in a round of the \
         two halves differ by less than 0.1",
        measured,
    )
}

fn elastic(rows: &[Row]) -> Assessment {
    let measured = find(rows, Part::HotSpot, Allocator::Offers).map(|row| {
        let split = find(rows, Part::HotSpot, Allocator::Static);
        let split = split.map_or(0.0, |row| row.summary.failed_per_success.mean);
        let failed = row.summary.failed_per_success.mean;
        let text = format!(
            "half of all claims at one member: {failed:.3} fail for each that succeeds (static \
             split: {split:.2})"
        );
        (text, failed < 0.1)
    });
    (
        "Elastic: a burst at one member is served, if there are slots to spare",
        "measured",
        "with half of all claims at one member, fewer than 0.1 fail for each that succeeds",
        measured,
    )
}

fn adaptive(rows: &[Row]) -> Assessment {
    let measured = find(rows, Part::Authors, Allocator::Repaired).map(|row| {
        let all = row.case.settings.nodes;
        let owns =
            |sample: &Sample| sample.members.iter().all(|member| member.used + member.free > 0);
        let first = row.summary.samples.iter().find(|sample| owns(sample));
        let text = match first {
            Some(sample) => format!(
                "repaired: {all} members joined one by one; all own slots by round {}",
                sample.round
            ),
            None => format!("not all of the {all} members ever owned a slot"),
        };
        (text, first.is_some())
    });
    (
        "Adaptive: members join, leave and come back",
        EXPLORED,
        "all members that join own slots in the end",
        measured,
    )
}

fn available(rows: &[Row]) -> Assessment {
    let measured = find(rows, Part::Partition, Allocator::Offers).and_then(|row| {
        let partition = row.case.settings.partition?;
        let during: Vec<&Sample> = row
            .summary
            .samples
            .iter()
            .filter(|sample| sample.round > partition.from && sample.round <= partition.until)
            .collect();
        let share = |from: usize, to: usize| {
            let count = |of: &dyn Fn(&Sample, usize) -> u32| {
                during.iter().flat_map(|sample| (from..to).map(move |node| of(sample, node))).sum::<u32>()
            };
            let good = count(&|sample, node| sample.members[node].succeeded);
            let bad = count(&|sample, node| sample.members[node].failed);
            f64::from(good) / f64::from((good + bad).max(1))
        };
        let sides = (share(0, partition.left), share(partition.left, row.case.settings.nodes));
        let text = format!(
            "during a partition {:.1} % of the claims succeed on one side, {:.1} % on the other; after \
             it {} slots are owned",
            sides.0 * 100.0,
            sides.1 * 100.0,
            row.summary.owned_least
        );
        let whole = row.summary.owned_least == row.case.settings.slots;
        Some((text, sides.0 > 0.8 && sides.1 > 0.8 && whole))
    });
    (
        "Available: every side of a partition goes on",
        EXPLORED,
        "on either side more than 80 % of the claims succeed, and afterwards every slot is owned",
        measured,
    )
}

/// The samples after the start-up: the second half.
fn settled(row: &Row) -> impl Iterator<Item = &Sample> {
    let samples = &row.summary.samples;
    samples[samples.len() / 2..].iter()
}

fn share_in_use(sample: &Sample, settings: &Settings) -> f64 {
    let used: u32 = sample.members.iter().map(|member| member.used).sum();
    f64::from(used) / f64::from(settings.slots)
}

fn extent(values: &[f64]) -> (f64, f64) {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    (least, values.iter().copied().fold(0.0, f64::max))
}
