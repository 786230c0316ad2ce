//! `synod compare`: the algorithms of a family side by side, each number measured in this run.

mod costs;
mod faults;
mod measure;
mod report;

use crate::about::About;
use crate::catalogue::entries;
use crate::export;
use crate::output::Output;
use crate::parallel::{in_order, threads};
use crate::parse;
use crate::progress::Progress;
use anyhow::Result;
use clap::{Args, ValueEnum};
use measure::{Contender, Measure};
use report::{Row, Table, Told};
use std::path::PathBuf;
use synod_core::card::Settings;
use synod_core::{Family as _, Verdict, family};

const EXAMPLES: &str = "\
Examples:
  synod compare mutex
  synod compare mutex --states 1000000               decides what is left undecided
  synod compare election -n 9 --csv elections.csv
  synod compare multicast -o json
  synod compare consensus --page consensus.md --svg consensus.svg

Costs are measured in simulation: every message takes one millisecond, disks and thoughts take no
time, so that time counts consecutive messages (hops). Faults are explored: in a small world with one
fault more than the algorithm meets otherwise, in every order. Each cell of that table has its command
with -o json, --csv and --page.";

/// The number of processes in each point of a plot.
const PLOTTED: [usize; 6] = [3, 5, 7, 9, 11, 13];

/// The families that have a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Family {
    /// Mutual exclusion.
    Mutex,
    /// Election.
    Election,
    /// Multicast to a group.
    Multicast,
    /// Consensus, and atomic commitment.
    Consensus,
}

/// Compare the algorithms of a family: costs, measured, and faults, explored
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Compare {
    /// The family
    #[arg(value_enum, value_name = "FAMILY")]
    family: Family,
    /// The size of the groups in which costs are measured
    #[arg(short, long = "processes", value_name = "N", value_parser = parse::compared)]
    #[arg(default_value = "7")]
    n: usize,
    /// The number of runs of each measurement, with different seeds
    #[arg(long, value_name = "K", value_parser = parse::faults, default_value = "3")]
    seeds: u32,
    /// Leave an exploration undecided at this number of states
    #[arg(long, value_name = "STATES", value_parser = parse::positive, default_value = "100000")]
    states: u64,
    /// The number of threads; the result does not depend on it [default: one for each core]
    #[arg(long, value_name = "T", value_parser = parse::positive)]
    threads: Option<u64>,
    /// Write every cell as a line of comma-separated values
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Plot the first cost of each algorithm over the size of the group
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Write the tables as a page of Markdown, with the command of each cell
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
}

impl Compare {
    /// Compares them.
    pub(crate) fn perform(self, output: &Output) -> Result<Verdict> {
        let told = self.told()?;
        output.answer(&told, || told.in_words())?;
        if let Some(path) = &self.csv {
            export::write(path, &told.csv())?;
        }
        if let Some(path) = &self.page {
            export::write(path, &told.page(self.svg.as_deref()))?;
        }
        if let Some(path) = &self.svg {
            let points = self.each(|contender| self.plotted(contender))?;
            export::write(path, &told.plot(points).to_svg())?;
        }
        // A table of what goes wrong is no failure.
        Ok(Verdict::Holds)
    }

    fn told(&self) -> Result<Told> {
        let rows = self.each(|contender| {
            let costs = self.measure(contender, self.n).row(self.family)?;
            Ok((costs, faults::row(&contender.about, self.states as usize)?))
        })?;
        let (mut costs, mut faults) = (Vec::new(), Vec::new());
        for (contender, (measured, explored)) in rows {
            let algorithm = contender.about.card.name;
            let setting = contender.setting();
            if let Some(cells) = measured {
                costs.push(Row { algorithm, setting: setting.clone(), cells });
            }
            // A layer below that is another does not change what its card promises.
            if contender.set.is_empty() {
                faults.push(Row { algorithm, setting, cells: explored });
            }
        }
        Ok(Told {
            family: self.family.name(),
            n: self.n,
            seeds: self.seeds,
            tables: vec![
                Table { title: "Costs", notes: self.family.notes(), rows: costs },
                Table { title: "Faults", notes: faults::NOTES, rows: faults },
            ],
        })
    }

    fn measure<'c>(&self, of: &'c Contender, n: usize) -> Measure<'c> {
        Measure { of, n, seeds: self.seeds }
    }

    /// The first cost of an algorithm in groups of several sizes.
    fn plotted(&self, contender: &Contender) -> Result<Vec<(f64, f64)>> {
        let mut points = Vec::new();
        for n in PLOTTED {
            let cost = self.measure(contender, n).first(self.family)?;
            points.extend(cost.map(|cost| (n as f64, cost)));
        }
        Ok(points)
    }

    /// Does the same for each algorithm of the family, on several threads.
    fn each<T: Send>(
        &self,
        piece: impl Fn(&Contender) -> Result<T> + Sync,
    ) -> Result<Vec<(Contender, T)>> {
        let contenders = self.family.contenders()?;
        let mut progress = Progress::of(contenders.len() as u64, "algorithms");
        let begun = |begun| progress.at(begun, String::new);
        let found = in_order(contenders.len() as u64, threads(self.threads), begun, |index| {
            piece(&contenders[index as usize])
        });
        progress.finish();
        contenders.into_iter().zip(found).map(|(of, found)| Ok((of, found?))).collect()
    }
}

impl Family {
    fn name(self) -> &'static str {
        match self {
            Family::Mutex => "mutual exclusion",
            Family::Election => "election",
            Family::Multicast => "multicast",
            Family::Consensus => "consensus and commitment",
        }
    }

    /// The families of the catalogue that it takes together.
    fn members(self) -> &'static [&'static str] {
        match self {
            Family::Mutex => &[family::Mutex::NAME],
            Family::Election => &[family::Election::NAME],
            Family::Multicast => &[family::GroupMulticast::NAME],
            Family::Consensus => &[
                family::Consensus::NAME,
                family::GeneralizedConsensus::NAME,
                family::Commitment::NAME,
            ],
        }
    }

    /// The algorithms, each as it is; multicasts also over other carriers.
    fn contenders(self) -> Result<Vec<Contender>> {
        let mut all = Vec::new();
        for entry in entries() {
            if entry.card.mutant.is_some() || !self.members().contains(&entry.family) {
                continue;
            }
            let settings: &[Settings] = match self {
                Family::Multicast if entry.card.parameters.iter().any(|p| p.name == "over") => {
                    &[&[], &[("over", "reliable")], &[("over", "ip")]]
                }
                _ => &[&[]],
            };
            for set in settings {
                all.push(Contender { about: About::find(entry.card.name)?, set });
            }
        }
        Ok(all)
    }
}
