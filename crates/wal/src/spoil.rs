//! Faults of a disk, made on purpose, for tests of recovery.

use crate::error::{Error, Trying};
use crate::frame::{Frame, HEAD, Kind};
use crate::opening::{headers, read_file};
use crate::segment::{HEADER, Header, examine, name};
use crate::storage::{Storage, write_all};

/// The record of which a part is written.
const TORN: [u8; 64] = [0x55; 64];

/// Leaves a closed log as if the machine had lost power while it wrote the next record: the first
/// part of one stands behind the last whole record.
pub fn tear<S: Storage>(storage: &S) -> Result<(), Error> {
    let Some(header) = segments(storage)?.pop() else { return Ok(()) };
    let (file, bytes) = read_file(storage, header.number)?;
    let contents = examine(&bytes, &header, |_| {});
    let mut torn = Vec::new();
    let frame = Frame { kind: Kind::Record, sequence: contents.next, unsynced: 0, content: &TORN };
    frame.write(header.seed(), &mut torn);
    torn.truncate(HEAD + TORN.len() / 2);
    write_all(&file, &torn, contents.end as u64).trying("nothing can be torn", &name(header.number))
}

/// Flips one bit of a closed log: in the record in the middle of its first segment; if it has none,
/// in the header.
pub fn flip<S: Storage>(storage: &S) -> Result<(), Error> {
    let Some(header) = segments(storage)?.into_iter().next() else { return Ok(()) };
    let (file, bytes) = read_file(storage, header.number)?;
    let mut places = vec![HEADER];
    examine(&bytes, &header, |frame| places.extend(places.last().map(|at| at + frame.size())));
    places.pop();
    // A bit of its number; in a header, of the version.
    let at = places.get(places.len() / 2).unwrap_or(&0) + 8;
    let flipped = bytes.get(at).map(|byte| byte ^ 1);
    let written = write_all(&file, flipped.as_slice(), at as u64);
    written.trying("no bit can be flipped", &name(header.number))
}

fn segments<S: Storage>(storage: &S) -> Result<Vec<Header>, Error> {
    let names = storage.list().trying("the directory cannot be read", &storage.place())?;
    headers(storage, &names)
}
