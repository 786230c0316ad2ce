//! A table as it is told to others: runs of neighbours with the same owner.

use super::counts::Counts;
use super::{Code, PAGE, Page, SLOTS_AT_MOST, Table};
use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};

/// Written as runs: how long, and whose.
impl Serialize for Table {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Two passes, because a format may want to know the length first.
        let mut written = serializer.serialize_seq(Some(self.runs().count()))?;
        for (run, owner) in self.runs() {
            written.serialize_element(&(run.len(), Code::from(owner).0))?;
        }
        written.end()
    }
}

/// As somebody else wrote it: anything is possible.
impl TryFrom<Vec<(u32, u32)>> for Table {
    type Error = &'static str;

    fn try_from(written: Vec<(u32, u32)>) -> Result<Self, Self::Error> {
        let size = written.iter().map(|(length, _)| u64::from(*length)).sum::<u64>();
        if size > u64::from(SLOTS_AT_MOST) {
            return Err("a table has more slots than there can be");
        }
        let mut table = Table { size: size as u32, pages: Vec::new(), counts: Counts::default() };
        let mut page: Vec<Code> = Vec::with_capacity(PAGE);
        // Most owners have small numbers: these are counted in an array. The others are put in
        // order first, since a forged table may have very many of them.
        let mut few = [0u32; 256];
        let mut others = Vec::new();
        for (length, code) in written {
            match few.get_mut(code as usize) {
                Some(count) => *count += length,
                None => others.push((Code(code), length)),
            }
            table.append(Code(code), length as usize, &mut page);
        }
        table.close(&page);
        others.sort_unstable();
        let few = few.iter().zip(0..).map(|(count, code)| (Code(code), *count));
        for (owner, slots) in few.chain(others) {
            table.counts.add(owner, slots);
        }
        Ok(table)
    }
}

impl Table {
    /// Adds a run behind what there is; `page` is the page that is not full yet.
    fn append(&mut self, code: Code, mut length: usize, page: &mut Vec<Code>) {
        while length > 0 {
            if page.is_empty() && length >= PAGE {
                self.pages.push(Page::One(code));
                length -= PAGE;
                continue;
            }
            let more = length.min(PAGE - page.len());
            page.resize(page.len() + more, code);
            length -= more;
            if page.len() == PAGE {
                self.close(page);
                page.clear();
            }
        }
    }

    fn close(&mut self, page: &[Code]) {
        let Some(first) = page.first() else { return };
        self.pages.push(match page.iter().all(|code| code == first) {
            true => Page::One(*first),
            false => Page::Each(page.into()),
        });
    }
}
