//! The presentation of the experiment: tables, plots, a page, and values for other programs.

mod colours;
mod csv;
mod html;
mod plots;
mod properties;
mod table;

pub use csv::files;
pub use html::{Picture, page};
pub use properties::{Property, properties};
pub use table::{Line, lines};

use crate::run::Allocator;
use crate::study::{Part, Row};

/// The row of an allocator in a part, if there is one.
pub(crate) fn find(rows: &[Row], part: Part, allocator: Allocator) -> Option<&Row> {
    rows.iter().find(|row| row.case.part == part && row.case.allocator == allocator)
}
