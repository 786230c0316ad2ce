//! The format of messages on the sockets.
//!
//! A stream begins with a greeting: version, run, sender, and the number of the sender's start.
//! Parcels follow. A datagram begins with a head (version, run, sender) and holds at least one
//! parcel. A parcel is
//!
//! ```text
//! length of the rest | number, and whether it is an application's | [receivers] | body
//! ```
//!
//! with whole numbers in seven bits per byte, least significant first. Only a parcel of IP
//! multicast names its receivers, because every member receives it. All bytes come from the
//! network: the readers check them and never panic.

use synod_core::ProcessId;

/// The version of this format.
pub(crate) const VERSION: u8 = 2;
/// The largest message.
pub(crate) const LARGEST_BODY: usize = 8 << 20;
/// The largest parcel: a message and the numbers before it.
pub(crate) const LARGEST_PARCEL: usize = LARGEST_BODY + 40;
/// The longest encoding of a whole number, in bytes.
const LONGEST_NUMBER: usize = 10;

const MAGIC: &[u8; 5] = b"synod";
/// The length of a greeting.
pub(crate) const GREETING: usize = MAGIC.len() + HEAD + 4;
/// The length of the head of a datagram.
pub(crate) const HEAD: usize = 1 + 8 + 4;

/// Bytes that no member of this run sends, with the rest of a sentence about their sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Garbage(pub(crate) &'static str);

/// The first bytes of a stream.
pub(crate) fn greeting(run: u64, from: ProcessId, start: u32) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend(head(run, from));
    bytes.extend(start.to_le_bytes());
    bytes
}

/// The sender of a greeting of this run, and the number of its start.
pub(crate) fn read_greeting(bytes: &[u8], run: u64) -> Result<(ProcessId, u32), Garbage> {
    let Some(head) = bytes.strip_prefix(MAGIC) else { return Err(Garbage("does not greet")) };
    let (from, start) = read_head(head, run)?;
    let start = start.first_chunk().ok_or(Garbage("is cut off"))?;
    Ok((from, u32::from_le_bytes(*start)))
}

/// The first bytes of a datagram.
pub(crate) fn head(run: u64, from: ProcessId) -> Vec<u8> {
    let mut bytes = vec![VERSION];
    bytes.extend(run.to_le_bytes());
    bytes.extend(from.0.to_le_bytes());
    bytes
}

/// The sender of a datagram of this run, and the bytes after the head.
pub(crate) fn read_head(bytes: &[u8], run: u64) -> Result<(ProcessId, &[u8]), Garbage> {
    let Some((head, rest)) = bytes.split_first_chunk::<HEAD>() else {
        return Err(Garbage("is cut off"));
    };
    if head[0] != VERSION {
        return Err(Garbage("speaks another version"));
    }
    let (theirs, from) = head[1..].split_at(8);
    if theirs != run.to_le_bytes() {
        return Err(Garbage("belongs to another run"));
    }
    let from = from.try_into().map_err(|_| Garbage("is cut off"))?;
    Ok((ProcessId(u32::from_le_bytes(from)), rest))
}

/// One message on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parcel<'a> {
    /// The sender numbers its messages; a multicast takes one number per receiver.
    pub(crate) number: u64,
    /// Whether it is a message between applications, outside the algorithm.
    pub(crate) tell: bool,
    /// The encoded message.
    pub(crate) body: &'a [u8],
}

/// Writes a parcel. With `receivers`, a set of process numbers below 64, it is for all of them.
#[inline]
pub(crate) fn write_parcel(bytes: &mut Vec<u8>, parcel: Parcel<'_>, receivers: Option<u64>) {
    let number = parcel.number << 1 | u64::from(parcel.tell);
    let length = length_of(number) + receivers.map_or(0, length_of) + parcel.body.len();
    write_number(bytes, length as u64);
    write_number(bytes, number);
    if let Some(receivers) = receivers {
        write_number(bytes, receivers);
    }
    bytes.extend_from_slice(parcel.body);
}

/// An upper bound for the bytes of a parcel with a body of this length.
pub(crate) fn room_for(body: usize) -> usize {
    body + 3 * LONGEST_NUMBER
}

/// Reads the first parcel and its length; None if it has not arrived completely.
#[inline]
pub(crate) fn read_parcel(bytes: &[u8]) -> Result<Option<(Parcel<'_>, usize)>, Garbage> {
    let Some((rest, length)) = read_length(bytes)? else { return Ok(None) };
    let (number, used) = read_number(rest)?.ok_or(Garbage("is cut off"))?;
    Ok(Some((unpack(number, &rest[used..]), length)))
}

/// The same for a parcel of IP multicast, which names its receivers.
pub(crate) fn read_shared(bytes: &[u8]) -> Result<Option<(Parcel<'_>, u64, usize)>, Garbage> {
    let Some((rest, length)) = read_length(bytes)? else { return Ok(None) };
    let (number, used) = read_number(rest)?.ok_or(Garbage("is cut off"))?;
    let rest = &rest[used..];
    let (receivers, used) = read_number(rest)?.ok_or(Garbage("is cut off"))?;
    Ok(Some((unpack(number, &rest[used..]), receivers, length)))
}

#[inline]
fn unpack(number: u64, body: &[u8]) -> Parcel<'_> {
    Parcel { number: number >> 1, tell: number & 1 == 1, body }
}

/// The bytes that the first length covers, and their end.
#[inline]
fn read_length(bytes: &[u8]) -> Result<Option<(&[u8], usize)>, Garbage> {
    let Some((length, used)) = read_number(bytes)? else { return Ok(None) };
    if length > LARGEST_PARCEL as u64 {
        return Err(Garbage("sends a message that is too large"));
    }
    let end = used + length as usize;
    Ok(bytes.get(used..end).map(|rest| (rest, end)))
}

#[inline]
pub(crate) fn write_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

#[inline]
fn length_of(number: u64) -> usize {
    (64 - (number | 1).leading_zeros() as usize).div_ceil(7)
}

/// Reads a whole number and its length; None if it has not arrived completely.
#[inline]
pub(crate) fn read_number(bytes: &[u8]) -> Result<Option<(u64, usize)>, Garbage> {
    let mut number = 0;
    for (index, &byte) in bytes.iter().take(LONGEST_NUMBER).enumerate() {
        number |= u64::from(byte & 0x7f) << (7 * index);
        if byte < 0x80 {
            return Ok(Some((number, index + 1)));
        }
    }
    match bytes.len() < LONGEST_NUMBER {
        true => Ok(None),
        false => Err(Garbage("sends a number without an end")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_parcel_is_read_as_it_was_written(
            number in 0..u64::MAX >> 1,
            tell: bool,
            body in prop::collection::vec(any::<u8>(), 0..300),
            receivers: u64,
        ) {
            let parcel = Parcel { number, tell, body: &body };
            let mut bytes = Vec::new();
            write_parcel(&mut bytes, parcel, None);
            prop_assert_eq!(read_parcel(&bytes), Ok(Some((parcel, bytes.len()))));
            prop_assert!(bytes.len() <= room_for(body.len()));
            let mut bytes = Vec::new();
            write_parcel(&mut bytes, parcel, Some(receivers));
            prop_assert_eq!(read_shared(&bytes), Ok(Some((parcel, receivers, bytes.len()))));
            prop_assert!(bytes.len() <= room_for(body.len()));
        }

        #[test]
        fn a_parcel_that_has_not_arrived_as_a_whole_is_waited_for(
            body in prop::collection::vec(any::<u8>(), 0..300),
            part in 0.0..1.0,
        ) {
            let mut bytes = Vec::new();
            write_parcel(&mut bytes, Parcel { number: 7, tell: false, body: &body }, None);
            let arrived = (bytes.len() as f64 * part) as usize;
            prop_assert_eq!(read_parcel(&bytes[..arrived]), Ok(None));
        }

        #[test]
        fn whatever_arrives_is_read_without_panic(
            bytes in prop::collection::vec(any::<u8>(), 0..100),
        ) {
            let _ = (read_parcel(&bytes), read_shared(&bytes), read_greeting(&bytes, 1));
            let _ = read_head(&bytes, 1);
        }
    }

    #[test]
    fn a_greeting_of_another_run_or_version_is_turned_away() {
        let hello = greeting(5, ProcessId(3), 2);
        assert_eq!(hello.len(), GREETING);
        assert_eq!(read_greeting(&hello, 5), Ok((ProcessId(3), 2)));
        assert_eq!(read_greeting(&hello, 6), Err(Garbage("belongs to another run")));
        let mut other = hello.clone();
        other[MAGIC.len()] = VERSION + 1;
        assert_eq!(read_greeting(&other, 5), Err(Garbage("speaks another version")));
        assert_eq!(read_greeting(b"GET / HTTP/1.1\r\n\r\n", 5), Err(Garbage("does not greet")));
        assert_eq!(read_greeting(&hello[..9], 5), Err(Garbage("is cut off")));
    }

    #[test]
    fn a_length_beyond_all_measure_is_garbage_and_not_waited_for() {
        let mut bytes = Vec::new();
        write_number(&mut bytes, LARGEST_PARCEL as u64 + 1);
        assert!(read_parcel(&bytes).is_err());
        assert!(read_parcel(&[0xff; 10]).is_err());
        assert_eq!(read_parcel(&[0xff; 9]), Ok(None));
    }
}
