//! The output of a command: tables for people, JSON for programs.

use anstyle::{AnsiColor, Style};
use anyhow::{Context, Result};
use clap::ValueEnum;
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, Width, presets};
use serde::Serialize;
use std::io::{self, ErrorKind, Write};
use synod_core::Verdict;

/// Titles and headers.
pub(crate) const BOLD: Style = Style::new().bold();
/// Remarks.
pub(crate) const DIM: Style = Style::new().dimmed();
/// Good news.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// Bad news.
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();

/// The sign for good news.
pub(crate) const YES: &str = "✓";
/// The sign for bad news.
pub(crate) const NO: &str = "✗";
/// The sign for no news: it is not decided.
pub(crate) const OPEN: &str = "?";

/// The width of lines where the terminal does not report its own.
const USUAL_WIDTH: usize = 100;
/// Longer lines are hard to read, however wide the terminal is.
const WIDEST: usize = 160;
/// The blanks around a cell of a table.
const PADDING: usize = 2;

/// The form of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Words and tables.
    Human,
    /// One JSON value.
    Json,
}

/// The receiver of the answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Output {
    format: Format,
}

impl Output {
    /// Answers in this format.
    pub(crate) fn new(format: Format) -> Self {
        Output { format }
    }

    /// Whether a program reads the answer.
    pub(crate) fn is_json(&self) -> bool {
        self.format == Format::Json
    }

    /// Prints text. `anstream` removes styles where the terminal does not want them.
    pub(crate) fn print(&self, text: &str) -> Result<()> {
        let mut out = anstream::stdout().lock();
        unless_closed(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
    }

    /// Prints the value as JSON.
    pub(crate) fn json(&self, value: &impl Serialize) -> Result<()> {
        let text = serde_json::to_string_pretty(value).context("the answer does not fit JSON")?;
        let mut out = io::stdout().lock();
        unless_closed(writeln!(out, "{text}").and_then(|()| out.flush()))
    }

    /// Prints the value as JSON in one line, as one of a stream.
    pub(crate) fn line(&self, value: &impl Serialize) -> Result<()> {
        let text = serde_json::to_string(value).context("the answer does not fit JSON")?;
        let mut out = io::stdout().lock();
        unless_closed(writeln!(out, "{text}").and_then(|()| out.flush()))
    }

    /// Prints the value as JSON, or the text.
    pub(crate) fn answer(
        &self,
        value: &impl Serialize,
        text: impl FnOnce() -> String,
    ) -> Result<()> {
        if self.is_json() { self.json(value) } else { self.print(&text()) }
    }
}

/// The reader may close the pipe early, as `head` does: that is no failure.
fn unless_closed(printed: io::Result<()>) -> Result<()> {
    match printed {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        printed => printed.context("cannot write to standard output"),
    }
}

/// Prints an error and its causes on standard error.
pub(crate) fn complain(error: &anyhow::Error) {
    let mut text = format!("{BAD}error:{BAD:#} {error}\n");
    for cause in error.chain().skip(1) {
        text += &format!("  because: {cause}\n");
    }
    note(&text);
}

/// Prints a remark on standard error. A closed standard error is no failure.
pub(crate) fn note(text: &str) {
    let _ = anstream::stderr().lock().write_all(text.as_bytes());
}

/// The number of columns.
pub(crate) fn width() -> usize {
    let terminal = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    terminal.unwrap_or(USUAL_WIDTH).clamp(40, WIDEST)
}

/// ✓, ✗ or ?.
pub(crate) fn sign(verdict: impl Into<Verdict>) -> &'static str {
    match verdict.into() {
        Verdict::Holds => YES,
        Verdict::Violated => NO,
        Verdict::Undecided => OPEN,
    }
}

/// The text with its ✓ and ✗ in colour. Tables are coloured last: escape sequences take no room,
/// but the layout of a table would count them.
pub(crate) fn coloured(text: &str) -> String {
    let good = text.replace(YES, &format!("{GOOD}{YES}{GOOD:#}"));
    good.replace(NO, &format!("{BAD}{NO}{BAD:#}"))
}

/// A title with a line of its own.
pub(crate) fn heading(text: &str) -> String {
    format!("\n{BOLD}{text}{BOLD:#}\n")
}

/// Rows below a header, indented; columns named in `right` are aligned to the right.
pub(crate) fn table(header: &[&str], right: &[&str], rows: Vec<Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width((width() - 2) as u16);
    if header.iter().any(|name| !name.is_empty()) {
        table.set_header(header.to_vec());
    }
    let longest = longest_words(header, &rows);
    for row in rows {
        table.add_row(row);
    }
    // A column is as wide as its longest word, if there is room for those of all columns.
    if longest.iter().map(|word| word + PADDING).sum::<usize>() <= width() - 2 {
        for (index, word) in longest.into_iter().enumerate() {
            if let Some(column) = table.column_mut(index) {
                let least = Width::Fixed((word + PADDING) as u16);
                column.set_constraint(ColumnConstraint::LowerBoundary(least));
            }
        }
    }
    for (index, name) in header.iter().enumerate() {
        if let (true, Some(column)) = (right.contains(name), table.column_mut(index)) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let lines = table.lines().map(|line| format!(" {}\n", line.trim_end()));
    coloured(&lines.collect::<String>())
}

/// The length of the longest word of each column.
fn longest_words(header: &[&str], rows: &[Vec<String>]) -> Vec<usize> {
    let of = |cell: &str| cell.split_whitespace().map(|word| word.chars().count()).max();
    let mut longest: Vec<usize> = header.iter().map(|name| of(name).unwrap_or(0)).collect();
    for row in rows {
        longest.resize(longest.len().max(row.len()), 0);
        for (longest, cell) in longest.iter_mut().zip(row) {
            *longest = (*longest).max(of(cell).unwrap_or(0));
        }
    }
    longest
}

/// The sentences that explain the codes of a table above them, dim; nothing without sentences.
pub(crate) fn legend(sentences: impl Iterator<Item = String>) -> String {
    let lines: String = sentences.map(|sentence| paragraph("  ", &sentence)).collect();
    if lines.is_empty() { lines } else { format!("\n{DIM}{lines}{DIM:#}") }
}

/// Text in lines that fit, each after the indent.
pub(crate) fn paragraph(indent: &str, text: &str) -> String {
    let room = width().saturating_sub(indent.chars().count()).max(20);
    let mut lines = String::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > room {
            lines += &format!("{indent}{line}\n");
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if !line.is_empty() {
        lines += &format!("{indent}{line}\n");
    }
    lines
}
