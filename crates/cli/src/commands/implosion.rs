//! `synod implosion`: acknowledgements that arrive all at once, and find no room.

use crate::about::About;
use crate::export;
use crate::output::{self, BOLD, Output};
use crate::parse;
use crate::simulate::simulate;
use anyhow::{Result, ensure};
use clap::Args;
use serde::Serialize;
use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;
use synod_core::card::{Load, Rounds};
use synod_core::{Setup, Verdict};
use synod_draw::plot::{Plot, Series, Style};
use synod_sim::network::{Buffer, Delay, in_words, microseconds};
use synod_sim::trace::{Event, Sink, Tracer, What};
use synod_sim::{Judged, Options, Plan};

const EXAMPLES: &str = "\
Examples:
  synod implosion                                     G against lost acknowledgements
  synod implosion --n 20..200:20 --buffer 32 --svg implosion.svg
  synod implosion --spread 20                         receivers wait a random time first
  synod implosion --loss 0.05                         and the network loses messages, too

p0 multicasts once. Every message takes one millisecond, so that all G - 1 acknowledgements arrive
at the same moment. Where p0's receive buffer has room for B, the others are lost, and the message
is sent again to the members that have it already: with equal delays, and if nothing else is lost,
max(0, G - 1 - kB) acknowledgements in round k = 1, 2, …";

const ALGORITHM: &str = "acknowledged-multicast";
/// The latency of each message.
const LATENCY_US: u64 = 1_000;
/// Larger groups say nothing more.
const LARGEST: usize = 2_000;

/// Measure what is lost when the acknowledgements of a multicast arrive all at once
#[derive(Args)]
#[command(after_help = EXAMPLES, allow_negative_numbers = true)]
pub(crate) struct Implosion {
    /// The group sizes G: 2..64, 20..200:20 or 8,16,32
    #[arg(short = 'n', long = "n", value_name = "SIZES", value_parser = parse::sizes)]
    #[arg(default_value = "8,16,17,32,64,128")]
    sizes: parse::Sizes,
    /// The number of messages that have room in the receive buffer of a process
    #[arg(long, value_name = "B", value_parser = parse::positive, default_value = "16")]
    buffer: u64,
    /// The time that a process needs for a message
    #[arg(long, value_name = "TIME", default_value = "50us")]
    handling: String,
    /// Milliseconds after which a message is sent again to those that have not acknowledged it
    #[arg(long, value_name = "MS", value_parser = parse::positive, default_value = "100")]
    resend: u64,
    /// Receivers acknowledge after a random time of at most so many milliseconds
    #[arg(long, value_name = "MS", default_value = "0")]
    spread: u64,
    /// The probability that the network loses a message
    #[arg(long, value_name = "P", default_value = "0")]
    loss: f64,
    /// The seed
    #[arg(short, long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    /// Write every measured point as a line of comma-separated values
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Plot the lost acknowledgements over the group size
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

/// The answer.
#[derive(Serialize)]
struct Told {
    algorithm: &'static str,
    buffer: u64,
    handling_us: u64,
    resend_ms: u64,
    spread_ms: u64,
    loss: f64,
    points: Vec<Point>,
}

/// One multicast in a group of one size.
#[derive(Serialize)]
struct Point {
    /// The size of the group, G.
    n: usize,
    /// The acknowledgements that were lost.
    lost: u64,
    /// The same by the formula, where it applies.
    expected: Option<u64>,
    /// The copies of the message that p0 sent.
    copies: u64,
    /// All messages.
    messages: u64,
    /// The time until all had the message, and p0 knew it.
    time_us: u64,
    /// Whether the promises were kept and the formula is right.
    agrees: Verdict,
}

/// Counts the messages of a run.
#[derive(Default)]
struct Count {
    copies: u64,
    lost: u64,
    /// When the last acknowledgement arrived.
    confirmed_us: u64,
}

impl Sink for Count {
    fn take(&mut self, event: &Event) -> io::Result<()> {
        match (event.what, event.kind) {
            (What::Send, "Data") => self.copies += 1,
            (What::Lose, "Ack") => self.lost += 1,
            (What::Receive, "Ack") => self.confirmed_us = event.time_us,
            _ => {}
        }
        Ok(())
    }
}

impl Implosion {
    /// Measures one multicast in a group of each size.
    pub(crate) fn perform(self, output: &Output) -> Result<Verdict> {
        let largest = self.sizes.0.last().copied().unwrap_or(0);
        ensure!(largest <= LARGEST, "a group of {largest} takes too long; stay below {LARGEST}");
        ensure!((0.0..1.0).contains(&self.loss), "--loss is a probability, from 0 to below 1");
        let handling_us = microseconds(&self.handling);
        let told = Told {
            algorithm: ALGORITHM,
            buffer: self.buffer,
            handling_us: handling_us
                .ok_or_else(|| anyhow::anyhow!("--handling {}: write 50us", self.handling))?,
            resend_ms: self.resend,
            spread_ms: self.spread,
            loss: self.loss,
            points: Vec::new(),
        };
        let points = self.sizes.0.iter().map(|n| self.point(*n, &told)).collect::<Result<_>>()?;
        let told = Told { points, ..told };
        output.answer(&told, || told.in_words())?;
        if let Some(path) = &self.csv {
            export::write(path, &told.csv())?;
        }
        if let Some(path) = &self.svg {
            export::write(path, &told.plot().to_svg())?;
        }
        Ok(Verdict::on_all(told.points.iter().map(|point| point.agrees)))
    }

    fn point(&self, n: usize, told: &Told) -> Result<Point> {
        let mut count = Count::default();
        let tracer = Tracer::new(n, vec![&mut count]);
        let about = About::find(ALGORITHM)?;
        let report = simulate(&about, self.options(n, told), Some(tracer), &mut |_, _| {})?;
        let expected = told.expected(n);
        let is_right = expected.is_none_or(|expected| expected == count.lost);
        let agrees = match (report.violations.is_empty() && is_right, report.undecided.is_empty()) {
            (false, _) => Verdict::Violated,
            (true, true) => Verdict::Holds,
            (true, false) => Verdict::Undecided,
        };
        Ok(Point {
            n,
            lost: count.lost,
            expected,
            copies: count.copies,
            messages: report.meter.messages,
            time_us: count.confirmed_us,
            agrees,
        })
    }

    fn options(&self, n: usize, told: &Told) -> Options {
        let setup = Setup::new(n)
            .with("senders", "p0")
            .with("resend", &self.resend.to_string())
            .with("spread", &self.spread.to_string());
        let plan = Plan { setup, judged: Judged::Promised, ..Plan::new(n, Rounds::Times(1)) };
        let mut options = Options::new(plan, self.seed);
        options.load = Load::Saturated;
        options.network.latency = Delay::Constant(LATENCY_US);
        options.network.loss = self.loss;
        let messages = u32::try_from(self.buffer).unwrap_or(u32::MAX);
        options.network.buffer = Some(Buffer { messages, handling_us: told.handling_us });
        options
    }
}

impl Told {
    /// The acknowledgements that are lost if all arrive together, and p0 has handled the last ones
    /// before the next arrive.
    fn expected(&self, n: usize) -> Option<u64> {
        let busy_us = self.buffer.saturating_mul(self.handling_us);
        let together = self.spread_ms == 0 && self.loss == 0.0;
        let apart = busy_us < self.resend_ms * 1_000;
        let receivers = n as u64 - 1;
        let left = |round| receivers.saturating_sub(round * self.buffer);
        (together && apart).then(|| (1..=receivers / self.buffer).map(left).sum())
    }

    /// For people: a table.
    fn in_words(&self) -> String {
        let mut text = format!("\n{BOLD}{}{BOLD:#}\n", self.algorithm);
        text += &output::heading(&format!(
            "acknowledgements of one multicast: room for {}, {} each",
            self.buffer,
            in_words(self.handling_us)
        ));
        let header = ["G", "lost", "formula", "copies", "messages", "confirmed after", ""];
        text + &output::table(&header, &header[..6], self.points.iter().map(Point::row).collect())
    }

    /// All points as comma-separated values, with a header.
    fn csv(&self) -> String {
        let mut text = "n,lost,expected,copies,messages,time_us\n".to_owned();
        for p in &self.points {
            let expected = p.expected.map(|lost| lost.to_string()).unwrap_or_default();
            let _ = writeln!(
                text,
                "{},{},{expected},{},{},{}",
                p.n, p.lost, p.copies, p.messages, p.time_us
            );
        }
        text
    }

    /// The lost acknowledgements over the group size.
    fn plot(&self) -> Plot {
        let over_n = |value: &dyn Fn(&Point) -> Option<u64>| -> Vec<(f64, f64)> {
            let pair = |p: &Point| Some((p.n as f64, value(p)? as f64));
            self.points.iter().filter_map(pair).collect()
        };
        let formula = over_n(&|point| point.expected);
        let mut series = vec![Series::new("sum of G - 1 - kB", Style::Line, formula)];
        series.retain(|series| !series.points.is_empty());
        series.push(Series::new("lost", Style::Points, over_n(&|point| Some(point.lost))));
        Plot {
            title: format!("Ack implosion, B = {}", self.buffer),
            x_label: "members G".to_owned(),
            y_label: "lost acknowledgements".to_owned(),
            series,
            ..Plot::default()
        }
    }
}

impl Point {
    fn row(&self) -> Vec<String> {
        let expected = self.expected.map_or("-".to_owned(), |lost| lost.to_string());
        vec![
            self.n.to_string(),
            self.lost.to_string(),
            expected,
            self.copies.to_string(),
            self.messages.to_string(),
            in_words(self.time_us),
            output::sign(self.agrees).to_owned(),
        ]
    }
}
