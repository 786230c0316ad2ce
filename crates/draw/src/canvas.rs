//! One row of a picture or plot in the terminal: characters, each with its style.

use anstyle::Style;

/// A row of cells. Characters outside of it are cut off.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    cells: Vec<(char, Style)>,
}

impl Row {
    /// A blank row.
    pub(crate) fn new(width: usize) -> Self {
        Row { cells: vec![(' ', Style::new()); width] }
    }

    /// Puts one character.
    pub(crate) fn put(&mut self, x: usize, c: char, style: Style) {
        if let Some(cell) = self.cells.get_mut(x) {
            *cell = (c, style);
        }
    }

    /// Writes text, to the right from `x`.
    pub(crate) fn write(&mut self, x: usize, text: &str, style: Style) {
        for (offset, c) in text.chars().enumerate() {
            self.put(x + offset, c, style);
        }
    }

    /// Appends the row as a line: styles as escape sequences, no blanks after the last character.
    pub(crate) fn render(&self, out: &mut String) {
        let end = self.cells.iter().rposition(|&(c, _)| c != ' ').map_or(0, |last| last + 1);
        let mut rest = &self.cells[..end];
        while let Some(&(_, style)) = rest.first() {
            let length = rest.iter().take_while(|cell| cell.1 == style).count();
            let run: String = rest[..length].iter().map(|cell| cell.0).collect();
            out.push_str(&format!("{style}{run}{style:#}"));
            rest = &rest[length..];
        }
        out.push('\n');
    }
}
