//! A comparison: as tables, as values, as a page, as a plot.

use super::measure::{Contender, Number};
use crate::output::{self, BOLD, DIM};
use crate::words;
use serde::Serialize;
use std::fmt::Write as _;
use std::path::Path;
use synod_core::Verdict;
use synod_draw::plot::{Plot, Series, Style};

/// The tables of a family.
#[derive(Serialize)]
pub(super) struct Told {
    pub(super) family: &'static str,
    /// The size of the groups in which costs were measured.
    pub(super) n: usize,
    /// The number of runs of each measurement.
    pub(super) seeds: u32,
    pub(super) tables: Vec<Table>,
}

#[derive(Serialize)]
pub(super) struct Table {
    pub(super) title: &'static str,
    /// The columns and signs, explained.
    #[serde(skip)]
    pub(super) notes: &'static [(&'static str, &'static str)],
    pub(super) rows: Vec<Row>,
}

#[derive(Serialize)]
pub(super) struct Row {
    pub(super) algorithm: &'static str,
    /// Parameters that are not the usual ones, in words.
    pub(super) setting: String,
    pub(super) cells: Vec<Cell>,
}

#[derive(Serialize)]
pub(super) struct Cell {
    pub(super) column: &'static str,
    #[serde(flatten)]
    pub(super) found: Found,
}

/// What a cell has.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Found {
    Number(Number),
    Explored(Explored),
    /// There was nothing to measure: every run ended in a violation, or the algorithm has no such
    /// cost.
    Nothing {},
}

/// The result of an exploration.
#[derive(Serialize)]
pub(super) struct Explored {
    pub(super) holds: Verdict,
    /// The property with the shortest counterexample, and the length of that.
    pub(super) violated: Option<&'static str>,
    pub(super) steps: Option<usize>,
    /// The fault in it, as a line of a scenario.
    pub(super) fault: Option<String>,
    /// How many states were found.
    pub(super) states: usize,
    /// The command that explores it again.
    pub(super) command: String,
}

impl Cell {
    /// A measurement.
    pub(super) fn of(column: &'static str, number: Option<Number>) -> Self {
        Cell { column, found: number.map_or(Found::Nothing {}, Found::Number) }
    }

    fn in_words(&self) -> String {
        match &self.found {
            Found::Number(number) => number.in_words(),
            Found::Explored(explored) => explored.in_words(),
            Found::Nothing {} => "–".to_owned(),
        }
    }
}

impl Explored {
    fn in_words(&self) -> String {
        let sign = output::sign(self.holds);
        match (self.violated, self.steps) {
            (Some(property), Some(steps)) => format!("{sign} {property}, {steps} steps"),
            _ => format!("{sign} {}", words::grouped(self.states as u64)),
        }
    }
}

impl Row {
    fn name(&self) -> String {
        match self.setting.as_str() {
            "" => self.algorithm.to_owned(),
            setting => format!("{}, {setting}", self.algorithm),
        }
    }

    fn words(&self) -> Vec<String> {
        std::iter::once(self.name()).chain(self.cells.iter().map(Cell::in_words)).collect()
    }
}

impl Table {
    /// The names of the columns.
    fn header(&self) -> Vec<&'static str> {
        let cells = self.rows.first().into_iter().flat_map(|row| &row.cells);
        std::iter::once("").chain(cells.map(|cell| cell.column)).collect()
    }
}

impl Told {
    /// For people.
    pub(super) fn in_words(&self) -> String {
        let mut text = format!("\n{BOLD}{}{BOLD:#}\n", self.family);
        text += &output::paragraph("  ", &self.conditions());
        for table in &self.tables {
            text += &output::heading(table.title);
            let header = table.header();
            let right = if table.title == "Costs" { &header[1..] } else { &[] };
            text += &output::table(&header, right, table.rows.iter().map(Row::words).collect());
            let notes = table.notes.iter().map(|(name, note)| format!("{name}: {note}"));
            let notes =
                output::paragraph("  ", &format!("{}.", notes.collect::<Vec<_>>().join("; ")));
            text += &format!("\n{DIM}{notes}{DIM:#}");
        }
        text += &format!("\n{DIM}-o json has the command of each exploration{DIM:#}\n");
        text
    }

    fn conditions(&self) -> String {
        format!(
            "Costs in groups of {}, measured in {} runs each; least..most. Faults: each cell is an \
             exploration.",
            self.n, self.seeds
        )
    }

    fn explored(&self) -> impl Iterator<Item = &Explored> {
        let rows = self.tables.iter().flat_map(|table| &table.rows);
        rows.flat_map(|row| &row.cells).filter_map(|cell| match &cell.found {
            Found::Explored(explored) => Some(explored),
            Found::Number(_) | Found::Nothing {} => None,
        })
    }

    /// Every cell as comma-separated values, with a header.
    pub(super) fn csv(&self) -> String {
        let mut text =
            "table,algorithm,setting,column,min,mean,max,holds,violated,steps,states,command\n"
                .to_owned();
        for (table, row) in self.tables.iter().flat_map(|t| t.rows.iter().map(move |r| (t, r))) {
            for cell in &row.cells {
                let values = match &cell.found {
                    Found::Number(number) => {
                        format!("{},{},{},,,,,", number.min, number.mean, number.max)
                    }
                    Found::Nothing {} => ",,,,,,,".to_owned(),
                    Found::Explored(found) => {
                        let holds = found.holds.holds().map(|h| h.to_string()).unwrap_or_default();
                        let violated = found.violated.unwrap_or_default();
                        let steps = found.steps.map(|s| s.to_string()).unwrap_or_default();
                        format!(
                            ",,,{holds},{violated},{steps},{},\"{}\"",
                            found.states, found.command
                        )
                    }
                };
                let (title, setting) = (table.title, &row.setting);
                let _ = writeln!(
                    text,
                    "{title},{},\"{setting}\",\"{}\",{values}",
                    row.algorithm, cell.column
                );
            }
        }
        text
    }

    /// The tables as Markdown, with the commands; and the plot, if it is written beside it.
    pub(super) fn page(&self, plot: Option<&Path>) -> String {
        let mut text = format!("# Compared: {}\n\n{}\n", self.family, self.conditions());
        for table in &self.tables {
            let _ = writeln!(text, "\n## {}\n", table.title);
            let header = table.header();
            let _ = writeln!(text, "| {} |", header.join(" | "));
            let _ = writeln!(text, "|{}", "---|".repeat(header.len()));
            for row in &table.rows {
                let _ = writeln!(text, "| {} |", row.words().join(" | "));
            }
            text.push('\n');
            for (name, note) in table.notes {
                let _ = writeln!(text, "- *{name}*: {note}");
            }
        }
        if let Some(name) = plot.and_then(Path::file_name) {
            let title = self.first_column();
            let _ = writeln!(text, "\n![{title}]({})", name.to_string_lossy());
        }
        text += "\n## The command of each exploration\n\n```sh\n";
        for explored in self.explored() {
            let _ = writeln!(text, "{}", explored.command);
        }
        text + "```\n"
    }

    fn first_column(&self) -> String {
        let table = &self.tables[0];
        let first = table.notes.first().map_or("", |(_, note)| *note);
        format!("{}: {first}", self.family)
    }

    /// The first cost of each algorithm over the size of the group.
    pub(super) fn plot(&self, points: Vec<(Contender, Vec<(f64, f64)>)>) -> Plot {
        let usual = points
            .into_iter()
            .filter(|(contender, points)| contender.set.is_empty() && !points.is_empty());
        let series = usual.map(|(of, points)| Series::new(of.about.card.name, Style::Line, points));
        Plot {
            title: self.first_column(),
            x_label: "processes N".to_owned(),
            y_label: "messages".to_owned(),
            series: series.collect(),
            ..Plot::default()
        }
    }
}
