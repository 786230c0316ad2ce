//! How requests and answers travel: a greeting of eight bytes from each side, then frames. A frame
//! is a length in four bytes, least significant first, and a number and a value in postcard's
//! format. All bytes come from outside: a reader checks them and never panics.

use crate::api::VERSION;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The first bytes that a client sends.
pub const CLIENT_GREETING: [u8; 8] = *b"synodc\0\x01";
/// The first bytes that a node sends.
pub const NODE_GREETING: [u8; 8] = *b"synodn\0\x01";

const _: () = assert!(CLIENT_GREETING[7] as u16 == VERSION && NODE_GREETING[7] as u16 == VERSION);

/// The bytes of a length.
pub const LENGTH_BYTES: usize = 4;
/// The longest frame.
pub const LONGEST_FRAME: usize = 8 << 20;

/// Bytes that are no frame of this protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Garbage {
    /// The other side is no synod, or another version.
    #[error("the other side does not speak this version of synod's protocol")]
    Greeting,
    /// A length beyond all measure.
    #[error("a frame of {0} bytes is longer than the longest that is allowed, {LONGEST_FRAME}")]
    TooLong(usize),
    /// The content cannot be read.
    #[error("a frame cannot be read")]
    Content,
}

/// Appends a frame.
pub fn write_frame<T: Serialize>(
    buffer: &mut Vec<u8>,
    number: u64,
    value: &T,
) -> Result<(), Garbage> {
    let start = buffer.len();
    buffer.extend([0; LENGTH_BYTES]);
    let rest = std::mem::take(buffer);
    *buffer = postcard::to_extend(&(number, value), rest).map_err(|_| Garbage::Content)?;
    let length = buffer.len() - start - LENGTH_BYTES;
    if length > LONGEST_FRAME {
        buffer.truncate(start);
        return Err(Garbage::TooLong(length));
    }
    buffer[start..start + LENGTH_BYTES].copy_from_slice(&(length as u32).to_le_bytes());
    Ok(())
}

/// Reads the first frame, and the number of its bytes; none if it has not arrived as a whole.
pub fn read_frame<T: DeserializeOwned>(bytes: &[u8]) -> Result<Option<(u64, T, usize)>, Garbage> {
    let Some((length, rest)) = bytes.split_first_chunk::<LENGTH_BYTES>() else { return Ok(None) };
    let length = u32::from_le_bytes(*length) as usize;
    if length > LONGEST_FRAME {
        return Err(Garbage::TooLong(length));
    }
    let Some(content) = rest.get(..length) else { return Ok(None) };
    let (number, value) = postcard::from_bytes(content).map_err(|_| Garbage::Content)?;
    Ok(Some((number, value, LENGTH_BYTES + length)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::{PoolSpec, Request};
    use proptest::prelude::*;

    #[test]
    fn a_frame_is_read_as_it_was_written_and_waited_for_until_it_is_whole() {
        let request = Request::CreatePool("ports".into(), PoolSpec::range(20_000, 100));
        let mut bytes = Vec::new();
        write_frame(&mut bytes, 7, &request).expect("it is short");
        let whole = bytes.len();
        for part in 0..whole {
            assert_eq!(read_frame::<Request>(&bytes[..part]), Ok(None));
        }
        assert_eq!(read_frame(&bytes), Ok(Some((7, request, whole))));
    }

    proptest! {
        #[test]
        fn bytes_of_any_kind_are_read_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = read_frame::<Request>(&bytes);
            let _ = read_frame::<crate::api::Answer>(&bytes);
        }

        /// A length that fits, and garbage behind it: this reaches the decoder.
        #[test]
        fn a_frame_with_any_content_is_read_without_panic(body in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut bytes = (body.len() as u32).to_le_bytes().to_vec();
            bytes.extend(body);
            let _ = read_frame::<Request>(&bytes);
            let _ = read_frame::<crate::api::Answer>(&bytes);
        }
    }

    #[test]
    fn a_frame_beyond_all_measure_is_garbage_and_not_waited_for() {
        let bytes = (LONGEST_FRAME as u32 + 1).to_le_bytes();
        assert_eq!(read_frame::<Request>(&bytes), Err(Garbage::TooLong(LONGEST_FRAME + 1)));
        assert_eq!(read_frame::<Request>(&[1, 0, 0, 0, 255]), Err(Garbage::Content));
    }
}
