//! The format of a segment on the disk, and the verdict on one.

use crate::frame::{ALIGNMENT, Found, Frame, HEAD, Kind, LARGEST_RECORD, read, size_of, word};
use crc32c::crc32c;
use std::ops::Range;

const MAGIC: &[u8; 8] = b"SYNODWAL";
const VERSION: u32 = 1;
/// The length of a header, in bytes.
pub(crate) const HEADER: usize = 64;
/// The smallest segment: a header, an empty record and the mark behind it.
pub(crate) const LEAST: u64 = (HEADER + 2 * HEAD) as u64;
/// The largest segment.
pub(crate) const MOST: u64 = (HEADER + HEAD + LARGEST_RECORD + ALIGNMENT + HEAD) as u64;

/// The beginning of a segment. It is on the disk before the segment has its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// The number of the segment, from 1.
    pub(crate) number: u64,
    /// The log that it belongs to.
    pub(crate) identity: u128,
    /// The number of its first record.
    pub(crate) first: u64,
    /// Whether that is a checkpoint, and from which record on the log is needed then: from itself
    /// on, or from one in an older segment. The checkpoint is on the disk as soon as the header is.
    pub(crate) base: Option<u64>,
}

impl Header {
    /// The header as it is on the disk: magic, version, whether it is a base (1, or 2 if older
    /// segments are needed, too), number, identity, first record, first record that is needed if it
    /// is a 2, room for more, checksum.
    pub(crate) fn write(&self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        let (kind, since) = match self.base {
            None => (0_u32, 0),
            Some(since) if since == self.first => (1, 0),
            Some(since) => (2, since),
        };
        bytes[12..16].copy_from_slice(&kind.to_le_bytes());
        bytes[48..56].copy_from_slice(&since.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.number.to_le_bytes());
        bytes[24..40].copy_from_slice(&self.identity.to_le_bytes());
        bytes[40..48].copy_from_slice(&self.first.to_le_bytes());
        let checksum = crc32c(&bytes[..60]);
        bytes[60..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Reads a header, or says why it is invalid.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, String> {
        let Some(bytes) = bytes.first_chunk::<HEADER>() else {
            return Err(format!("the header has {} bytes instead of {HEADER}", bytes.len()));
        };
        if &bytes[..8] != MAGIC {
            return Err("it does not begin like a segment of a log".to_owned());
        }
        if crc32c(&bytes[..60]) != word(&bytes[60..]) {
            return Err("the checksum of the header is wrong".to_owned());
        }
        let version = word(&bytes[8..]);
        if version != VERSION {
            return Err(format!("it has version {version}, and this program knows {VERSION}"));
        }
        let long =
            |at: usize| u64::from(word(&bytes[at..])) | u64::from(word(&bytes[at + 4..])) << 32;
        if long(40) == 0 {
            return Err("its first record has number 0".to_owned());
        }
        let base = match word(&bytes[12..]) {
            1 => Some(long(40)),
            2 => Some(long(48)).filter(|since| (1..long(40)).contains(since)),
            _ => None,
        };
        Ok(Header {
            number: long(16),
            identity: u128::from(long(24)) | u128::from(long(32)) << 64,
            first: long(40),
            base,
        })
    }

    /// The initial value for the checksums of its records.
    pub(crate) fn seed(&self) -> u32 {
        crc32c(&self.write())
    }

    /// All records up to this one were safe when the segment got its name.
    fn vouches_for(&self) -> u64 {
        self.first - 1 + u64::from(self.base.is_some())
    }
}

/// The name of a segment.
pub(crate) fn name(number: u64) -> String {
    format!("{number:08}.wal")
}

/// The number of the segment with this name, if it is one.
pub(crate) fn number(name: &str) -> Option<u64> {
    let digits = name.strip_suffix(".wal")?;
    let number = digits.parse().ok().filter(|number| *number > 0)?;
    (self::name(number) == name).then_some(number)
}

/// The contents of a segment behind its header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Contents {
    /// The end of the records.
    pub(crate) end: usize,
    /// The number of the next record.
    pub(crate) next: u64,
    /// The end of the records that a mark or a later record proves safe.
    pub(crate) safe: usize,
    pub(crate) tail: Tail,
}

/// The bytes behind the last record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Tail {
    /// Zeros, perhaps after a mark.
    Clean,
    /// A seal: the log goes on in the next segment.
    Sealed,
    /// Bytes that were never safe: their end, and the number of whole records in them.
    Torn { end: usize, records: u64 },
    /// A safe record is missing: the reason.
    Damaged(&'static str),
}

/// Examines a segment, and shows each record.
pub(crate) fn examine<'b>(
    bytes: &'b [u8],
    header: &Header,
    mut show: impl FnMut(Frame<'b>),
) -> Contents {
    let seed = header.seed();
    let (mut end, mut safe, mut next) = (HEADER, HEADER, header.first);
    let found = loop {
        let found = read(&bytes[end..], seed);
        let Found::Frame(frame) = found else { break found };
        if frame.sequence != next || !is_record(&frame, header) {
            break found;
        }
        // The log wrote this record when all records before it were synced.
        if frame.unsynced == 0 {
            safe = end;
        }
        show(frame);
        end += frame.size();
        next += 1;
    };
    let tail = judge(bytes, header, (end, next), found);
    if let Found::Frame(Frame { kind: Kind::Mark | Kind::Sealed, sequence, .. }) = found
        && sequence == next
    {
        safe = end;
    }
    Contents { end, next, safe, tail }
}

/// Whether the frame is a record of the expected kind: a checkpoint is the first record of a base,
/// and no other record is one.
fn is_record(frame: &Frame<'_>, header: &Header) -> bool {
    let is_first_of_base = header.base.is_some() && frame.sequence == header.first;
    frame.kind == if is_first_of_base { Kind::Checkpoint } else { Kind::Record }
}

/// The verdict on the bytes behind the last record, where `found` is.
fn judge(bytes: &[u8], header: &Header, (end, next): (usize, u64), found: Found<'_>) -> Tail {
    let (used, why) = match found {
        Found::Frame(Frame { kind: Kind::Sealed, sequence, .. }) if sequence == next => {
            return Tail::Sealed;
        }
        Found::Frame(Frame { kind: Kind::Mark, sequence, .. }) if sequence == next => {
            (end + HEAD, "a mark is in the place of a record")
        }
        Found::Frame(_) => (end, "a record is in the place of another"),
        Found::Nothing => (end, "there are zeros in the place of a record"),
        Found::Bad(why) => (end, why),
    };
    let mut vouched = header.vouches_for();
    let mut records = 0;
    // Zeros up to the end were never written.
    let last = bytes[used..].iter().rposition(|byte| *byte != 0).map(|last| used + last + 1);
    for frame in last.into_iter().flat_map(|last| frames(bytes, end..last, header)) {
        if frame.sequence >= next {
            vouched = vouched.max(frame.vouches_for());
            records += u64::from(matches!(frame.kind, Kind::Record | Kind::Checkpoint));
        }
    }
    match last {
        // A later frame proves that record `next` was safe, and it is missing.
        _ if vouched >= next => Tail::Damaged(why),
        None => Tail::Clean,
        Some(last) => Tail::Torn { end: last, records },
    }
}

/// All frames in this range, also behind bytes that are none.
fn frames<'b>(
    bytes: &'b [u8],
    within: Range<usize>,
    header: &Header,
) -> impl Iterator<Item = Frame<'b>> + use<'b> {
    let seed = header.seed();
    let mut at = within.start;
    std::iter::from_fn(move || {
        while at < within.end {
            if let Found::Frame(frame) = read(&bytes[at..], seed) {
                at += frame.size();
                return Some(frame);
            }
            // Every frame is aligned, so these are all places where one can begin.
            at += ALIGNMENT;
        }
        None
    })
}

/// The length of a segment that holds one record of this length.
pub(crate) fn room_for(length: usize) -> u64 {
    (HEADER + size_of(length) + HEAD) as u64
}
