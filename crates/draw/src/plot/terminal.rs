//! A plot for the terminal.

use super::{Plot, Range, Series, Style, number};
use crate::canvas::Row;
use crate::words::{one_line, shortened};
use anstyle::AnsiColor;

const BOLD: anstyle::Style = anstyle::Style::new().bold();
const DIM: anstyle::Style = anstyle::Style::new().dimmed();
const COLOURS: [AnsiColor; 5] =
    [AnsiColor::Cyan, AnsiColor::Yellow, AnsiColor::Magenta, AnsiColor::Green, AnsiColor::Blue];

impl Plot {
    /// The plot as text of about this many columns and rows, styles embedded.
    pub fn to_terminal(&self, columns: usize, rows: usize) -> String {
        let plot = self.cleaned();
        let (x, y) = (plot.x_range(columns / 7), plot.y_range(rows / 4));
        let left = y.ticks.iter().map(|&tick| number(tick).chars().count()).max().unwrap_or(0) + 1;
        let rows = rows.max(5);
        let columns = columns.max(left + 20);
        let mut grid = Grid { x, y, left, columns, rows: vec![Row::new(columns); rows] };
        grid.axis();
        for (index, series) in plot.series.iter().enumerate() {
            grid.series(series, COLOURS[series.colour_at(index) % COLOURS.len()].on_default());
        }
        grid.finish(&plot)
    }
}

struct Grid {
    x: Range,
    y: Range,
    /// The column of the vertical axis.
    left: usize,
    columns: usize,
    rows: Vec<Row>,
}

impl Grid {
    fn column(&self, x: f64) -> usize {
        let room = (self.columns - self.left - 3) as f64;
        self.left + 2 + (self.x.part(x) * room).round() as usize
    }

    fn row(&self, y: f64) -> usize {
        let last = self.rows.len() - 1;
        last - (self.y.part(y).clamp(0.0, 1.0) * last as f64).round() as usize
    }

    fn axis(&mut self) {
        for row in &mut self.rows {
            row.put(self.left, '│', DIM);
        }
        for tick in self.y.ticks.clone() {
            let (row, words) = (self.row(tick), number(tick));
            let start = self.left.saturating_sub(words.chars().count() + 1);
            self.rows[row].write(start, &words, DIM);
            self.rows[row].put(self.left, '┤', DIM);
        }
    }

    fn series(&mut self, series: &Series, style: anstyle::Style) {
        for &(x, low, high) in &series.band {
            let (column, bottom, top) = (self.column(x), self.row(low), self.row(high));
            for row in &mut self.rows[top..=bottom] {
                row.put(column, '│', style);
            }
        }
        if !matches!(series.style, Style::Points | Style::Bars) {
            for pair in series.points.windows(2) {
                self.line(pair[0], pair[1], style);
            }
        }
        let sign = sign(series.style);
        for &(x, y) in &series.points {
            let (column, row) = (self.column(x), self.row(y));
            self.rows[row].put(column, sign, style);
        }
    }

    /// A straight line from one point to the next, one sign a column.
    fn line(&mut self, from: (f64, f64), to: (f64, f64), style: anstyle::Style) {
        let (first, last) = (self.column(from.0), self.column(to.0));
        for column in first..=last {
            let part = (column - first) as f64 / (last - first).max(1) as f64;
            let row = self.row(from.1 + (to.1 - from.1) * part);
            self.rows[row].put(column, '·', style);
        }
    }

    fn finish(self, plot: &Plot) -> String {
        let mut out = String::new();
        let mut put = |text: &str, x: usize, style| {
            let mut row = Row::new(self.columns.max(x + text.chars().count()));
            row.write(x, text, style);
            row.render(&mut out);
        };
        put(&one_line(&plot.title), 0, BOLD);
        put(&one_line(&plot.y_label), 0, DIM);
        self.rows.iter().for_each(|row| row.render(&mut out));

        let mut axis = Row::new(self.columns);
        (self.left..self.columns).for_each(|x| axis.put(x, '─', DIM));
        axis.put(self.left, '└', DIM);
        let mut words = Row::new(self.columns + 2);
        let mut free = 0;
        for &tick in &self.x.ticks {
            let (column, text) = (self.column(tick), number(tick));
            let start = column.saturating_sub(text.chars().count() / 2);
            if start >= free {
                axis.put(column, '┬', DIM);
                words.write(start, &text, DIM);
                free = start + text.chars().count() + 1;
            }
        }
        axis.render(&mut out);
        words.render(&mut out);
        let label = shortened(&one_line(&plot.x_label), self.columns - self.left);
        let mut below = Row::new(self.columns);
        below.write(self.columns - label.chars().count(), &label, DIM);
        below.render(&mut out);
        for (index, series) in plot.series.iter().enumerate() {
            let style = COLOURS[series.colour_at(index) % COLOURS.len()].on_default();
            let range = if series.band.is_empty() { "" } else { " (│ least to most)" };
            let name = one_line(&series.name);
            out += &format!("  {style}{}{style:#} {name}{range}\n", sign(series.style));
        }
        out
    }
}

fn sign(style: Style) -> char {
    match style {
        Style::Points | Style::Bars => '●',
        Style::Line | Style::Area => '•',
        Style::Dashed => '◦',
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;

    #[test]
    fn a_plot_for_the_terminal_keeps_its_size_and_shows_every_series() {
        let drawn = sample().to_terminal(60, 15);
        let mut plain = String::new();
        for part in drawn.split('\u{1b}') {
            plain.push_str(part.split_once('m').map_or(part, |(_, rest)| rest));
        }
        assert!(plain.lines().skip(2).all(|line| line.chars().count() <= 62), "{plain}");
        // Eight points and the sign in the legend.
        assert_eq!(plain.matches('●').count(), 9, "{plain}");
        assert!(plain.contains("└") && plain.contains("processes N"), "{plain}");
    }

    #[test]
    fn an_empty_plot_is_no_reason_to_panic() {
        let drawn = super::Plot::default().to_terminal(3, 1);
        assert!(drawn.contains('└'), "{drawn}");
    }
}
