//! The format of messages on a connection, and the handshake.
//!
//! A connection begins with a [`Hello`] of the dialler and a [`Welcome`] of the other side. Frames
//! follow: a length in four bytes, least significant first, a channel in one byte, and the message.
//! All bytes come from the network: the readers check them and never panic.

use super::Channel;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt;
use synod_core::ProcessId;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// The version of this format.
const VERSION: u8 = 1;
const MAGIC: [u8; 7] = *b"synod-n";
/// The bytes before a message.
pub(super) const HEAD: usize = 5;
/// The longest message.
pub(super) const LONGEST: usize = 16 << 20;
/// The longest greeting.
const LONGEST_GREETING: usize = 1 << 10;

/// The name of a cluster: nodes of different clusters never connect.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct ClusterId(pub(crate) u64);

impl fmt::Display for ClusterId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl fmt::Debug for ClusterId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The dialler says who it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Hello {
    pub(super) cluster: ClusterId,
    pub(super) from: ProcessId,
    pub(super) incarnation: u32,
}

/// The other side answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Welcome {
    /// It takes messages from here on.
    Yes(Hello),
    /// It does not, and says why.
    No(String),
}

/// Why a connection is given up.
#[derive(Debug, thiserror::Error)]
pub(super) enum Broken {
    #[error("the connection broke: {0}")]
    Io(#[from] std::io::Error),
    #[error("the other side is no synod node, or one of another version")]
    Magic,
    #[error("the other side sends what cannot be read")]
    Garbage,
    #[error("the other side refused: {0}")]
    Refused(String),
    #[error("another node answers at this address")]
    Stranger,
    #[error("no answer in time")]
    Silent,
}

/// Appends a frame.
pub(super) fn write(buffer: &mut Vec<u8>, channel: Channel, body: &[u8]) {
    buffer.extend_from_slice(&(body.len() as u32).to_le_bytes());
    buffer.push(channel as u8);
    buffer.extend_from_slice(body);
}

/// A message with its channel, and the bytes of its frame.
type Framed<'b> = (Channel, &'b [u8], usize);

/// The first frame; none if it is not there as a whole.
pub(super) fn read(bytes: &[u8]) -> Result<Option<Framed<'_>>, Broken> {
    let Some((head, rest)) = bytes.split_first_chunk::<HEAD>() else { return Ok(None) };
    let length = u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize;
    if length > LONGEST {
        return Err(Broken::Garbage);
    }
    let channel = match head[4] {
        1 => Channel::Group,
        2 => Channel::Registry,
        _ => return Err(Broken::Garbage),
    };
    Ok(rest.get(..length).map(|body| (channel, body, HEAD + length)))
}

/// Sends a greeting.
pub(super) async fn greet<T: Serialize>(
    stream: &mut (impl AsyncWrite + Unpin),
    greeting: &T,
) -> Result<(), Broken> {
    let body = postcard::to_allocvec(greeting).map_err(|_| Broken::Garbage)?;
    let mut bytes = MAGIC.to_vec();
    bytes.push(VERSION);
    bytes.extend((body.len() as u16).to_le_bytes());
    bytes.extend(body);
    Ok(stream.write_all(&bytes).await?)
}

/// Receives a greeting.
pub(super) async fn greeting<T: DeserializeOwned>(
    stream: &mut (impl AsyncRead + Unpin),
) -> Result<T, Broken> {
    let mut head = [0; MAGIC.len() + 3];
    stream.read_exact(&mut head).await?;
    if head[..MAGIC.len()] != MAGIC || head[MAGIC.len()] != VERSION {
        return Err(Broken::Magic);
    }
    let length = usize::from(u16::from_le_bytes([head[8], head[9]]));
    if length > LONGEST_GREETING {
        return Err(Broken::Garbage);
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    postcard::from_bytes(&body).map_err(|_| Broken::Garbage)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use synod_core::Protocol;

    type GroupMessage = <crate::board::GroupProcess as Protocol>::Message;
    type RegistryMessage = <crate::registry::Voter as Protocol>::Message;

    #[test]
    fn a_frame_is_read_as_it_was_written_and_waited_for_until_it_is_whole() {
        let mut bytes = Vec::new();
        write(&mut bytes, Channel::Registry, b"hello");
        for part in 0..bytes.len() {
            assert!(matches!(read(&bytes[..part]), Ok(None)));
        }
        let (channel, body, length) =
            read(&bytes).expect("it is well-formed").expect("it is whole");
        assert_eq!((channel, body, length), (Channel::Registry, &b"hello"[..], bytes.len()));
    }

    proptest! {
        #[test]
        fn bytes_of_any_kind_are_read_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            let _ = read(&bytes);
        }

        /// What passes for a message must be decoded, or refused.
        #[test]
        fn messages_of_any_kind_are_decoded_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = postcard::from_bytes::<GroupMessage>(&bytes);
            let _ = postcard::from_bytes::<RegistryMessage>(&bytes);
            let _ = postcard::from_bytes::<Hello>(&bytes);
        }
    }

    #[test]
    fn lengths_beyond_all_measure_and_unknown_channels_are_garbage() {
        assert!(matches!(read(&[0xff; HEAD]), Err(Broken::Garbage)));
        assert!(matches!(read(&[0, 0, 0, 0, 9]), Err(Broken::Garbage)));
    }
}
