//! The costs that each family is compared by.

use super::Family;
use super::measure::{HOP_US, Measure, Number, Setting, Tally};
use super::report::{Cell, Found};
use anyhow::Result;
use synod_core::card::{Crashes, Load};
use synod_sim::{Ended, Report};

const ALONE: Setting = Setting::under(Load::Sequential);
const BUSY: Setting = Setting::under(Load::Saturated);
/// Every process asks once, at the same moment.
const ONCE: Setting = Setting { rounds: Some(1), ..BUSY };
/// No process asks, for a hundred hops.
const IDLE: Setting =
    Setting { rounds: Some(0), run_for_us: Some(100 * HOP_US), ..Setting::under(Load::Any) };

impl Family {
    /// What the columns of the table of costs are.
    pub(super) fn notes(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Family::Mutex => &[
                ("busy", "messages per entry while all ask all the time"),
                ("entry", "messages from request to entry while no other process asks; in hops"),
                ("exit", "messages after an entry while no other process asks"),
                ("relay", "messages from an exit to the next entry while all wait; in hops"),
                ("idle", "messages per hop while no process asks"),
                ("busiest", "the share of all messages, in %, that the busiest process handles"),
            ],
            Family::Election => &[
                (
                    "all start",
                    "messages if all start at once; and hops until each knows the result",
                ),
                ("one starts", "messages of an election that one process calls; hops for that one"),
                ("idle", "messages per hop while nothing happens, of a failure detector"),
            ],
            Family::Multicast => &[
                ("links", "messages per multicast over a network of links"),
                ("net", "messages per multicast over a network that multicasts itself"),
                ("own", "hops until the sender delivers, while no other process multicasts"),
                ("others", "hops until another member delivers"),
                ("latency", "the same in ms, if a message takes 1 to 10 ms: mean"),
            ],
            Family::Consensus => &[
                ("links", "messages of a decision over a network of links"),
                ("net", "messages of a decision over a network that multicasts itself"),
                ("rounds", "messages that follow one another until every process knows it"),
                ("hops", "delays of messages until a process that asked knows the decision"),
                ("crashes", "how many of N may crash, by the card"),
            ],
        }
    }
}

/// A run with a violation, such as a deadlock, has no costs.
fn sound(report: &Report) -> Option<&Report> {
    (report.violations.is_empty() && report.ended != Ended::Cut).then_some(report)
}

fn per_operation(report: &Report) -> Option<Number> {
    let meter = &sound(report)?.meter;
    (meter.operations > 0).then(|| Number::one(meter.messages as f64 / meter.operations as f64))
}

fn in_all(report: &Report) -> Option<Number> {
    Some(Number::one(sound(report)?.meter.messages as f64))
}

/// The messages of the algorithm itself, without those of layers below.
fn top_messages(report: &Report) -> f64 {
    let layers = report.meter.by_layer();
    layers.get(&0).copied().unwrap_or(0) as f64
}

fn per_hop(report: &Report, _: &Tally) -> Option<Number> {
    let hops = report.time_us as f64 / HOP_US as f64;
    let messages = report.meter.messages as f64;
    Some(Number::one(if messages > 0.0 { messages / hops } else { 0.0 }))
}

fn entry_hops(report: &Report, _: &Tally) -> Option<Number> {
    Number::of(&sound(report)?.meter.entry_us, HOP_US)
}

impl Measure<'_> {
    /// The cells of the row of this algorithm; none if no such group is possible.
    pub(super) fn row(&self, family: Family) -> Result<Option<Vec<Cell>>> {
        if self.run(ONCE, 1)?.is_none() {
            return Ok(None);
        }
        match family {
            Family::Mutex => self.mutex(),
            Family::Election => self.election(),
            Family::Multicast => self.multicast(),
            Family::Consensus => self.consensus(),
        }
        .map(Some)
    }

    /// The first cost of the row: its mean.
    pub(super) fn first(&self, family: Family) -> Result<Option<f64>> {
        let found = match family {
            Family::Mutex => self.number(BUSY, |report, _| per_operation(report))?,
            Family::Election | Family::Consensus => {
                self.number(ONCE, |report, _| in_all(report))?
            }
            Family::Multicast => self.number(ALONE, |report, _| per_operation(report))?,
        };
        Ok(found.map(|number| number.mean))
    }

    fn mutex(&self) -> Result<Vec<Cell>> {
        // Of an algorithm whose messages never end, none belongs to an exit.
        let restless = self.of.about.card.restless;
        let exit = |report: &Report, _: &Tally| Number::of(&report.meter.exit_messages, 1);
        let exit = self.number(ALONE, |r, t| exit(r, t).filter(|_| !restless))?;
        let relay =
            |report: &Report, _: &Tally| Number::of(&sound(report)?.meter.relay_messages, 1);
        let busiest = |report: &Report, tally: &Tally| {
            sound(report)?;
            tally.busiest().map(Number::one)
        };
        Ok(vec![
            Cell::of("busy", self.number(BUSY, |report, _| per_operation(report))?),
            Cell::of("entry", self.number(ALONE, |r, _| Number::of(&r.meter.entry_messages, 1))?),
            Cell::of("entry, hops", self.number(ALONE, entry_hops)?),
            Cell::of("exit", exit),
            Cell::of("relay", self.number(ONCE, relay)?),
            Cell::of(
                "relay, hops",
                self.number(ONCE, |report, _| Number::of(&sound(report)?.meter.relay_us, HOP_US))?,
            ),
            Cell::of("idle", self.number(IDLE, per_hop)?),
            Cell::of("busiest", self.number(BUSY, busiest)?),
        ])
    }

    fn election(&self) -> Result<Vec<Cell>> {
        // A failure detector sends all the time: then only the mean of the algorithm's own messages
        // can be told.
        let restless = self.of.about.card.restless;
        let one = |report: &Report, _: &Tally| match restless {
            true => {
                let elections = report.meter.operations as f64;
                (elections > 0.0).then(|| Number::one(top_messages(report) / elections))
            }
            false => Number::of(&report.meter.operation_messages, 1),
        };
        Ok(vec![
            Cell::of(
                "all start",
                self.number(ONCE, |report, _| match restless {
                    true => Some(Number::one(top_messages(report))),
                    false => in_all(report),
                })?,
            ),
            Cell::of("all start, hops", self.number(ONCE, entry_hops)?),
            Cell::of("one starts", self.number(ALONE, one)?),
            Cell::of("one starts, hops", self.number(ALONE, entry_hops)?),
            Cell::of("idle", self.number(IDLE, per_hop)?),
        ])
    }

    fn multicast(&self) -> Result<Vec<Cell>> {
        let net = Setting { multicast: true, ..ALONE };
        let random = Setting { random: true, ..ALONE };
        let others =
            |report: &Report, _: &Tally| Number::of(&sound(report)?.meter.reach_us, HOP_US);
        let latency = self.number(random, others)?;
        Ok(vec![
            Cell::of("links", self.number(ALONE, |report, _| per_operation(report))?),
            Cell::of("net", self.number(net, |report, _| per_operation(report))?),
            Cell::of("own", self.number(ALONE, entry_hops)?),
            Cell::of("others", self.number(ALONE, others)?),
            Cell::of("latency", latency.map(|number| Number::one(number.mean))),
        ])
    }

    fn consensus(&self) -> Result<Vec<Cell>> {
        let net = Setting { multicast: true, ..ONCE };
        let crashes = self.of.about.card.tolerates.crashes;
        let may_crash = Cell {
            column: "crashes",
            found: Found::Number(Number::one(crashes.among(self.n) as f64)),
        };
        Ok(vec![
            Cell::of("links", self.number(ONCE, |report, _| in_all(report))?),
            Cell::of("net", self.number(net, |report, _| in_all(report))?),
            Cell::of("rounds", self.number(ONCE, |_, tally| tally.rounds().map(Number::one))?),
            Cell::of("hops", self.number(ONCE, entry_hops)?),
            match crashes {
                Crashes::None => Cell::of("crashes", Some(Number::one(0.0))),
                _ => may_crash,
            },
        ])
    }
}
