//! The results of the experiment: in words, as values, as a page.

use crate::catalogue::which;
use crate::output::{self, DIM, Output};
use crate::words;
use anyhow::Result;
use serde::Serialize;
use synod_draw::Scene;
use synod_draw::svg::{self, Spread};
use synod_experiment::Delays;
use synod_experiment::compare::{Compared, compared};
use synod_experiment::report::{Picture, Property, lines, properties};
use synod_experiment::settings::{Arrivals, Settings, Timing};
use synod_experiment::study::{PUBLISHED, Part, Row};
use synod_sim::scenario::Scenario;

#[derive(Serialize)]
struct Told<'a> {
    published: Vec<Published>,
    cases: &'a [Row],
    properties: Vec<Property>,
}

#[derive(Serialize)]
struct Published {
    allocator: &'static str,
    claims_per_multicast: f64,
    failed_per_success: f64,
    used: f64,
}

/// Prints the results.
pub(super) fn show(rows: &[Row], seconds: f64, output: &Output) -> Result<()> {
    let published = |(allocator, claims_per_multicast, failed_per_success, used)| Published {
        allocator,
        claims_per_multicast,
        failed_per_success,
        used,
    };
    let told = Told {
        published: PUBLISHED.map(published).into(),
        cases: rows,
        properties: properties(rows),
    };
    output.answer(&told, || in_words(rows, seconds))
}

/// Prints the comparison with the paper's alternatives.
pub(super) fn compare(rows: &[Row], seconds: f64, output: &Output) -> Result<()> {
    let told = compared(rows);
    output.answer(&told, || compared_in_words(rows, &told, seconds))
}

fn compared_in_words(rows: &[Row], told: &[Compared], seconds: f64) -> String {
    let mut text = output::heading("What the paper's section II names, beside SLOTS");
    if let Some(first) = rows.first() {
        text += &output::paragraph("  ", &setting(&first.case.settings));
    }
    let header = [
        "",
        "failed/ok",
        "multicasts",
        "messages",
        "rounds",
        "third",
        "rest",
        "without p0",
        "twice",
    ];
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    let cells = |line: &Compared| {
        vec![
            line.allocator.title().to_owned(),
            format!("{:.4}", line.failed_per_success),
            format!("{:.2}", line.multicasts_per_claim),
            format!("{:.1}", line.messages_per_claim),
            line.delay_rounds.to_string(),
            percent(line.third_fails),
            percent(line.rest_fails),
            percent(line.without_p0_fails),
            line.used_twice.to_string(),
        ]
    };
    text += &output::table(&header, &header[1..], told.iter().map(cells).collect());
    let meaning = "Multicasts and messages to one member are for each successful claim, rounds from \
                   a claim to its slot. While the network is split: the claims that fail among the \
                   third of the members that has p0, among the rest, and among all others when p0 \
                   alone is cut off. Twice: the most slots that two members used at once.";
    text += &format!("\n{}", output::paragraph("  ", meaning));
    text + &format!("\n{DIM}{seconds:.1} s.{DIM:#}\n")
}

fn in_words(rows: &[Row], seconds: f64) -> String {
    let mut text = String::new();
    for (part, title) in
        [(Part::Authors, "Under the authors' timing"), (Part::Clean, "In a clean network")]
    {
        let Some(first) = rows.iter().find(|row| row.case.part == part) else { continue };
        text += &output::heading(title);
        text += &output::paragraph("  ", &setting(&first.case.settings));
        text += &table(rows, part);
        text += &delays(rows, part);
    }
    text += &fifteen(rows);
    let runs: usize = rows.iter().map(|row| row.summary.seeds).sum();
    let rounds: u64 = rows
        .iter()
        .map(|row| {
            (row.case.settings.rounds + row.case.settings.warm_up) * row.summary.seeds as u64
        })
        .sum();
    text += &format!(
        "\n{DIM}± is half the width of the 95 % confidence interval. {}, {}, {seconds:.1} s.{DIM:#}\n",
        words::count(runs as u64, "run", "runs"),
        words::count(rounds, "round", "rounds"),
    );
    text
}

/// Those of the fifteen properties that these runs judge.
fn fifteen(rows: &[Row]) -> String {
    let judged: Vec<Property> =
        properties(rows).into_iter().filter(|property| !property.measured.is_empty()).collect();
    if judged.is_empty() {
        return String::new();
    }
    let cells = |property: Property| {
        let words = format!("{}\nholds if {}", property.measured, property.threshold);
        vec![output::sign(property.holds).to_owned(), property.name, words]
    };
    let heading = format!("Properties: {} of 15 judged", judged.len());
    let cells = judged.into_iter().map(cells).collect();
    output::heading(&heading) + &output::table(&["", "", ""], &[], cells)
}

fn table(rows: &[Row], part: Part) -> String {
    let header = ["", "ok/multicast", "failed/ok", "in use", "2 / 3 / more, %", ""];
    let cells = |line: synod_experiment::report::Line| {
        vec![
            line.who,
            line.claims_per_multicast,
            line.failed_per_success,
            line.used,
            line.response,
            line.note,
        ]
    };
    let rows = lines(rows, part).into_iter().map(cells).collect();
    output::table(&header, &header[1..5], rows)
}

/// How long claims waited, if they do.
fn delays(rows: &[Row], part: Part) -> String {
    let here = rows.iter().filter(|row| row.case.part == part);
    let cells = here.filter_map(|row| {
        let Delays { delayed, half, nine_of_ten, longest } = row.summary.delays?;
        let who = row.case.allocator.title().to_owned();
        let late = format!("{:.2} %", delayed * 100.0);
        Some(vec![who, late, half.to_string(), nine_of_ten.to_string(), longest.to_string()])
    });
    let cells: Vec<_> = cells.collect();
    if cells.is_empty() {
        return String::new();
    }
    let header = ["rounds that claims waited", "waited", "half", "nine of ten", "longest"];
    format!("\n{}", output::table(&header, &header[1..], cells))
}

/// `32 members, 768 slots, …`.
fn setting(settings: &Settings) -> String {
    let arrivals = match settings.arrivals {
        Arrivals::Authors => "claims as the authors draw them".to_owned(),
        Arrivals::Poisson { load } => {
            format!("claims at random times, {:.1} % of the slots", load * 100.0)
        }
    };
    let timing = match settings.timing {
        Timing::Authors => "one message in a turn".to_owned(),
        Timing::Clean { latency } => format!("a multicast takes {latency} rounds"),
    };
    let (nodes, slots, rounds) = (settings.nodes, settings.slots, settings.rounds);
    let hot = settings.hot_spot.map_or(String::new(), |spot| {
        format!("; one member gets {:.0} % of the claims", spot.share * 100.0)
    });
    format!("{nodes} members, {slots} slots, {rounds} rounds; {timing}; {arrivals}{hot}.")
}

/// The report as a page.
pub(super) fn page(rows: &[Row]) -> String {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let how = format!("synod {}", words.join(" "));
    let pictures: Vec<Picture> = HISTORIES.iter().filter_map(picture).collect();
    synod_experiment::report::page(rows, &pictures, &how)
}

/// Two histories in which members wait for ever, as the explorer found them.
const HISTORIES: [(&str, &str); 2] = [
    (
        "History A: p1 and p2 ask at the same time, and p3 has nothing to give",
        include_str!("../../../../protocols/tests/scenarios/slots/found-H3-A.txt"),
    ),
    (
        "History B: p3 puts off its answer to p1, and then asks itself",
        include_str!("../../../../protocols/tests/scenarios/slots/found-H3-B.txt"),
    ),
];

/// A history as a space-time diagram. The scenario is played, not copied: if the rules changed and
/// its members no longer waited, the page would have no picture.
fn picture((caption, text): &(&str, &str)) -> Option<Picture> {
    let scenario = Scenario::parse(text).ok()?;
    let played = synod_drivers::play(which, &scenario)?.ok()?;
    let scene = Scene::new(*caption, scenario.processes());
    let svg = svg::draw(&scene, &played.events, Spread::Automatic);
    Some(Picture { caption: format!("{caption} (p0 stands for the group service)"), svg })
}
