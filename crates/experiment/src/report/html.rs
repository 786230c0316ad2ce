//! The report: one page, complete in itself.

use super::{lines, plots, properties};
use crate::study::{Part, Row};
use std::fmt::Write as _;
use synod_core::Verdict;
use synod_draw::plot::Plot;

/// A picture that belongs to the report and was made elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// The caption.
    pub caption: String,
    /// The picture, as SVG.
    pub svg: String,
}

/// The page. `how` is the command that makes it again.
pub fn page(rows: &[Row], pictures: &[Picture], how: &str) -> String {
    let mut page = Page::default();
    page.text += HEAD;
    let _ = writeln!(page.text, "<p class=\"how\">Made by <code>{}</code>.</p>", escaped(how));
    page.table(rows, Part::Authors, "Table I, again", AUTHORS);
    page.table(rows, Part::Clean, "A network without limits", CLEAN);
    page.section("Failures against multicasts", TRADE);
    page.plots([Some(plots::failures_against_multicasts(rows))]);
    page.section("Over the offered load", LOAD);
    page.plots([Some(plots::failures_over_load(rows)), Some(plots::used_over_load(rows))]);
    page.section("Over the number of members", MEMBERS);
    page.plots([Some(plots::multicasts_over_members(rows))]);
    page.section("Over time: a hot spot that moves", MOVING);
    page.plots([
        plots::all_over_time(rows),
        plots::member_over_time(rows, 0, "hot in the first thousand rounds"),
        plots::member_over_time(rows, 7, "hot in the second thousand rounds"),
        plots::member_over_time(rows, 1, "never hot"),
    ]);
    page.section("Over time, as in the paper", FIGURES);
    page.plots([Some(plots::used_over_time(rows)), Some(plots::claims_over_time(rows))]);
    page.section("Response times", RESPONSE);
    page.plots([
        plots::responses_in_multicasts(rows),
        plots::responses_in_rounds(rows),
        Some(plots::queue_over_time(rows)),
    ]);
    page.section("The published rules block", BLOCKED);
    page.plots([Some(plots::blocked_over_time(rows))]);
    page.pictures(pictures);
    page.section("A partition", PARTITION);
    let (owned, failed) = plots::partition(rows).unzip();
    page.plots([owned, failed]);
    page.section("When a pool is worth having", LATENCY);
    page.plots([Some(plots::failures_over_latency(rows))]);
    page.properties(rows);
    page.text += "</main>\n</body>\n</html>\n";
    page.text
}

#[derive(Default)]
struct Page {
    text: String,
    drawn: usize,
}

impl Page {
    fn section(&mut self, title: &str, words: &str) {
        let _ = writeln!(self.text, "<h2>{}</h2>\n<p>{words}</p>", escaped(title));
    }

    fn table(&mut self, rows: &[Row], part: Part, title: &str, words: &str) {
        let lines = lines(rows, part);
        if lines.is_empty() {
            return;
        }
        self.section(title, words);
        self.text += "<div class=\"wide\"><table>\n<tr><th>allocator</th><th>successful claims for a \
                      multicast</th><th>failed for each successful</th><th>in use</th><th>served \
                      after 2 / 3 / more multicasts, %</th><th></th></tr>\n";
        for line in lines {
            let class = if line.who.starts_with("published") { " class=\"published\"" } else { "" };
            let _ = write!(self.text, "<tr{class}><td>{}</td>", escaped(&line.who));
            let numbers =
                [&line.claims_per_multicast, &line.failed_per_success, &line.used, &line.response];
            for number in numbers {
                let _ = write!(self.text, "<td class=\"number\">{}</td>", escaped(number));
            }
            let _ = writeln!(self.text, "<td class=\"note\">{}</td></tr>", escaped(&line.note));
        }
        let runs = rows.iter().find(|row| row.case.part == part).map_or(0, |row| row.summary.seeds);
        let _ = writeln!(
            self.text,
            "</table></div>\n<p class=\"how\">Means of {runs} runs ± half the width of the 95 % \
             confidence interval.</p>"
        );
    }

    fn plots(&mut self, plots: impl IntoIterator<Item = Option<Plot>>) {
        self.text += "<div class=\"plots\">\n";
        for plot in plots.into_iter().flatten() {
            let drawn = plot.series.iter().any(|s| !s.points.is_empty() || !s.band.is_empty());
            if drawn {
                self.svg(&plot.to_svg());
            }
        }
        self.text += "</div>\n";
    }

    /// Names within a picture must differ from those of other pictures on the page.
    fn svg(&mut self, svg: &str) {
        self.drawn += 1;
        let (title, description) = (format!("title{}", self.drawn), format!("desc{}", self.drawn));
        let svg = svg
            .replace("id=\"title\"", &format!("id=\"{title}\""))
            .replace("id=\"desc\"", &format!("id=\"{description}\""))
            .replace(
                "aria-labelledby=\"title desc\"",
                &format!("aria-labelledby=\"{title} {description}\""),
            );
        let _ = writeln!(self.text, "<figure>{svg}</figure>");
    }

    fn pictures(&mut self, pictures: &[Picture]) {
        for picture in pictures {
            let _ =
                writeln!(self.text, "<h3>{}</h3>\n<div class=\"wide\">", escaped(&picture.caption));
            self.svg(&picture.svg);
            self.text += "</div>\n";
        }
    }

    fn properties(&mut self, rows: &[Row]) {
        self.section("The fifteen properties", PROPERTIES);
        self.text += "<div class=\"wide\"><table>\n<tr><th></th><th>what it says</th><th>judged \
                      by</th><th>holds if</th><th>measured in these runs</th><th></th></tr>\n";
        for property in properties(rows) {
            let sign = match property.holds {
                Verdict::Holds => "<span class=\"good\">✓</span>",
                Verdict::Violated => "<span class=\"bad\">✗</span>",
                Verdict::Undecided => "?",
            };
            let _ = writeln!(
                self.text,
                "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{sign}</td></tr>",
                property.name,
                escaped(property.says),
                escaped(property.judged),
                escaped(property.threshold),
                escaped(&property.measured)
            );
        }
        self.text += "</table></div>\n";
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

const HEAD: &str = include_str!("head.html");

const AUTHORS: &str = "768 slots, 32 members, 100,000 rounds under the timing of the authors' simulation: \
    a member reads one message in a turn at most and each send costs a turn, so no more than 0.97 \
    multicasts fit into a round. SLOTS begins with one member that owns everything.";
const CLEAN: &str = "The same pool where every multicast takes two rounds and there may be any number of \
    them; claims come at random times; the start is left out.";
const TRADE: &str = "The further to the left, the fewer multicasts; the lower, the fewer failures. A \
    static split needs no multicast at all, so whoever sends some must lie below it.";
const LOAD: &str = "Up to full load, offers stay close to a mover that sees everything; the formulas say \
    what a static split and one pool without any latency would do.";
const MEMBERS: &str = "A request of the published scheme is answered by everybody, so its multicasts grow \
    with the square of the group. A take is answered by nobody.";
const MOVING: &str = "Every thousand rounds another member gets 30 % of all claims. Slots follow, by way \
    of the pool on offer.";
const FIGURES: &str = "Figures 7 and 8 of the paper, under the authors' timing. The first part is the \
    start-up, in which only one member has anything to give.";
const RESPONSE: &str = "The paper counts multicasts, and finds 2 or 3. Under its own timing each of them \
    waits in a long queue, so that in rounds it looks quite different.";
const BLOCKED: &str = "Optimisations 2 and 3 of the paper do not go together: somebody waits for ever for \
    an answer that somebody else believes to have saved. After a while nearly everybody waits.";
const PARTITION: &str = "For two thousand rounds a third of the members cannot reach the others. Each side \
    goes on with what it owns, and when they are together again nothing is lost or doubled.";
const LATENCY: &str = "How many claims come to a member while one multicast is under way decides whether \
    sharing helps: if there are too many, help comes too late, and a static split does as well.";
const PROPERTIES: &str = "What the paper demands of SLOTS, who judges it, and what came of it in these \
    very runs.";
