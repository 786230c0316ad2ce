//! `synod list`: every algorithm.

use crate::catalogue::entries;
use crate::output::{self, DIM, Output};
use anyhow::{Result, bail};
use clap::Args;
use serde::Serialize;
use synod_core::Family;
use synod_core::Verdict;
use synod_core::family::Mutex;
use synod_protocols::Entry;

const EXAMPLES: &str = "\
Examples:
  synod list                        every algorithm, and the broken ones
  synod list --family mutex         those for mutual exclusion
  synod list --mutants              only those that are broken on purpose
  synod list -o json | jq -r '.[].name'";

/// List the algorithms of the catalogue
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct List {
    /// Only the family whose name begins like this
    #[arg(long, value_name = "FAMILY")]
    family: Option<String>,
    /// Only algorithms that are broken on purpose
    #[arg(long, conflicts_with = "no_mutants")]
    mutants: bool,
    /// Only algorithms that are not broken
    #[arg(long)]
    no_mutants: bool,
}

#[derive(Serialize)]
struct Row {
    name: &'static str,
    family: &'static str,
    mutant: bool,
    breaks: Option<&'static str>,
    title: &'static str,
    aliases: &'static [&'static str],
    promises: &'static [&'static str],
}

impl From<Entry> for Row {
    fn from(Entry { card, family }: Entry) -> Self {
        Row {
            name: card.name,
            family,
            mutant: card.mutant.is_some(),
            breaks: card.mutant.map(|mutant| mutant.breaks),
            title: card.title,
            aliases: card.aliases,
            promises: card.promises,
        }
    }
}

impl List {
    /// Lists the algorithms.
    pub(crate) fn perform(self, output: &Output) -> Result<Verdict> {
        let rows: Vec<Row> = self.chosen()?.into_iter().map(Row::from).collect();
        output.answer(&rows, || in_words(&rows))?;
        Ok(Verdict::Holds)
    }

    fn chosen(&self) -> Result<Vec<Entry>> {
        let mut chosen = entries();
        if let Some(wanted) = &self.family {
            let wanted = match wanted.to_lowercase().replace(['-', '_'], " ") {
                short if short == "mutex" => Mutex::NAME.to_owned(),
                wanted => wanted,
            };
            chosen.retain(|entry| entry.family.starts_with(&wanted));
            if chosen.is_empty() {
                bail!("there is no family '{wanted}'; there are: {}", families().join(", "));
            }
        }
        chosen.retain(|entry| match entry.card.mutant {
            Some(_) => !self.no_mutants,
            None => !self.mutants,
        });
        Ok(chosen)
    }
}

fn families() -> Vec<&'static str> {
    let mut families = Vec::new();
    for Entry { family, .. } in entries() {
        if !families.contains(&family) {
            families.push(family);
        }
    }
    families
}

fn in_words(rows: &[Row]) -> String {
    let mut text = String::new();
    for family in families() {
        let of_family = || rows.iter().filter(move |row| row.family == family);
        for (mutant, title) in [(false, family.to_owned()), (true, format!("{family}: mutants"))] {
            let cells = of_family().filter(|row| row.mutant == mutant).map(|row| {
                let promise = match row.breaks {
                    Some(property) => format!("breaks {property}"),
                    None => row.promises.join(" "),
                };
                vec![row.name.to_owned(), promise, row.title.to_owned()]
            });
            let cells: Vec<_> = cells.collect();
            if !cells.is_empty() {
                text += &output::heading(&title);
                text += &output::table(&["", "", ""], &[], cells);
            }
        }
    }
    text + &format!("\n{DIM}synod show NAME tells more about each.{DIM:#}\n")
}
