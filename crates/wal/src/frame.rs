//! The format of a record on the disk.
//!
//! ```text
//!  0        4        8                 16         20       24
//!  ├────────┼────────┼─────────────────┼──────────┼────────┼─────────────┬─────────┐
//!  │ crc32c │ length │ sequence number │ unsynced │ kind   │ content …   │ 0 … 0   │
//!  └────────┴────────┴─────────────────┴──────────┴────────┴─────────────┴─────────┘
//! ```
//! All numbers are little-endian. The checksum covers the header of the segment, and then all bytes
//! of the frame that follow the checksum, up to the zeros that make the length a multiple of 8.

use crc32c::crc32c_append;

/// The largest record, in bytes.
pub const LARGEST_RECORD: usize = 64 << 20;

/// The bytes of a frame beside its content.
pub(crate) const HEAD: usize = 24;
/// Every frame begins at a multiple of this.
pub(crate) const ALIGNMENT: usize = 8;

/// The kind of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A record.
    Record = 1,
    /// A record that stands for all before it.
    Checkpoint = 2,
    /// No record: all records before it are synced. The next record is written over it.
    Mark = 3,
    /// No record: the log goes on in the next segment.
    Sealed = 4,
}

/// One frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame<'a> {
    pub(crate) kind: Kind,
    /// The number of this record, from 1; of a mark, that of the next record.
    pub(crate) sequence: u64,
    /// The number of records right before it that were not known to be safe when it was written.
    pub(crate) unsynced: u32,
    pub(crate) content: &'a [u8],
}

/// The find at some place of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found<'a> {
    Frame(Frame<'a>),
    /// Zeros, or the end of the file.
    Nothing,
    /// Bytes that are no frame, with the reason.
    Bad(&'static str),
}

impl Frame<'_> {
    /// All records up to this one were safe when the frame was written.
    pub(crate) fn vouches_for(&self) -> u64 {
        (self.sequence - 1).saturating_sub(self.unsynced.into())
    }

    /// Its size in bytes.
    pub(crate) fn size(&self) -> usize {
        size_of(self.content.len())
    }

    /// Appends the frame to `bytes`.
    pub(crate) fn write(&self, seed: u32, bytes: &mut Vec<u8>) {
        let start = bytes.len();
        bytes.extend_from_slice(&[0; 4]);
        bytes.extend_from_slice(&(self.content.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&self.sequence.to_le_bytes());
        bytes.extend_from_slice(&self.unsynced.to_le_bytes());
        bytes.extend_from_slice(&(self.kind as u32).to_le_bytes());
        bytes.extend_from_slice(self.content);
        bytes.resize(start + self.size(), 0);
        let checksum = crc32c_append(seed, &bytes[start + 4..]);
        bytes[start..start + 4].copy_from_slice(&checksum.to_le_bytes());
    }
}

/// The size in bytes of a record of this length.
pub(crate) fn size_of(length: usize) -> usize {
    (HEAD + length).next_multiple_of(ALIGNMENT)
}

/// The find at the beginning of these bytes, in a segment with this seed.
pub(crate) fn read(bytes: &[u8], seed: u32) -> Found<'_> {
    let Some(head) = bytes.first_chunk::<HEAD>() else {
        return match bytes.iter().all(|byte| *byte == 0) {
            true => Found::Nothing,
            false => Found::Bad("a record is cut off"),
        };
    };
    // No kind of frame is 0, so zeros are no frame.
    if head.iter().all(|byte| *byte == 0) {
        return Found::Nothing;
    }
    let kind = match word(&head[20..]) {
        1 => Kind::Record,
        2 => Kind::Checkpoint,
        3 => Kind::Mark,
        4 => Kind::Sealed,
        _ => return Found::Bad("a record of no known kind"),
    };
    let length = word(&head[4..]) as usize;
    // A damaged length must not overflow the size: no segment reaches to `usize::MAX`.
    let end = if length <= LARGEST_RECORD { size_of(length) } else { usize::MAX };
    let Some(whole) = bytes.get(..end) else {
        return Found::Bad("a record is longer than its segment");
    };
    if crc32c_append(seed, &whole[4..]) != word(head) {
        return Found::Bad("the checksum of a record is wrong");
    }
    let sequence = u64::from(word(&head[8..])) | u64::from(word(&head[12..])) << 32;
    // `vouches_for` subtracts 1 from it.
    if sequence == 0 {
        return Found::Bad("a record has number 0");
    }
    let content = &whole[HEAD..HEAD + length];
    Found::Frame(Frame { kind, sequence, unsynced: word(&head[16..]), content })
}

/// The first four bytes as a number.
pub(crate) fn word(bytes: &[u8]) -> u32 {
    bytes.first_chunk().map_or(0, |word| u32::from_le_bytes(*word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(content: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        Frame { kind: Kind::Record, sequence: 7, unsynced: 2, content }.write(5, &mut bytes);
        bytes
    }

    #[test]
    fn a_frame_is_read_as_it_was_written() {
        for length in 0..40 {
            let content = vec![9; length];
            let frame = Frame { kind: Kind::Record, sequence: 7, unsynced: 2, content: &content };
            let bytes = written(&content);
            assert_eq!(read(&bytes, 5), Found::Frame(frame));
            assert_eq!((bytes.len(), bytes.len() % ALIGNMENT), (frame.size(), 0));
            assert_eq!(frame.vouches_for(), 4);
        }
    }

    #[test]
    fn a_frame_of_another_segment_is_none() {
        assert!(matches!(read(&written(b"stale"), 6), Found::Bad(_)));
    }

    #[test]
    fn a_frame_with_any_bit_flipped_or_any_end_cut_off_is_none() {
        let whole = written(b"content");
        for bit in 0..whole.len() * 8 {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(matches!(read(&bytes, 5), Found::Bad(_)), "bit {bit}");
        }
        for length in 1..whole.len() {
            assert!(!matches!(read(&whole[..length], 5), Found::Frame(_)), "length {length}");
        }
        assert_eq!(read(&[], 5), Found::Nothing);
    }
}
