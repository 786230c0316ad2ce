//! The encoding of a table in messages and on disk: runs of neighbours with the same owner.

use super::counts::Counts;
use super::{Code, PAGE, Page, SLOTS_AT_MOST, Table};
use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};

/// Written as runs: a length and an owner's code each.
impl Serialize for Table {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Two passes, because a format may need the length first.
        let mut written = serializer.serialize_seq(Some(self.runs().count()))?;
        for (run, owner) in self.runs() {
            written.serialize_element(&(run.len(), Code::from(owner).0))?;
        }
        written.end()
    }
}

/// The written form comes from the network or a disk, so it may be forged.
impl TryFrom<Vec<(u32, u32)>> for Table {
    type Error = &'static str;

    fn try_from(written: Vec<(u32, u32)>) -> Result<Self, Self::Error> {
        let size = written.iter().map(|(length, _)| u64::from(*length)).sum::<u64>();
        if size > u64::from(SLOTS_AT_MOST) {
            return Err("a table has more slots than there can be");
        }
        let mut table = Table { size: size as u32, pages: Vec::new(), counts: Counts::default() };
        let mut page: Vec<Code> = Vec::with_capacity(PAGE);
        // Most owners have small numbers: an array counts these. The others are sorted first,
        // because a forged table may have very many of them.
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
    /// Adds a run at the end; `page` is the page that is not full yet.
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
