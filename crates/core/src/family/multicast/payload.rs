//! The payload of a multicast.

use crate::card::Parameter;
use crate::setup::{Setup, SetupError};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// A payload: a number, and bytes if the message is to have a size.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Payload {
    /// The number of this multicast among those of its sender to this group, from 1.
    pub number: u32,
    /// Ballast, for measurements on real networks. Copies share it.
    #[serde(with = "bytes")]
    pub body: Option<Arc<[u8]>>,
}

impl Payload {
    /// Just a number.
    pub fn numbered(number: u32) -> Self {
        Payload { number, body: None }
    }
}

impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.body {
            None => write!(f, "{}", self.number),
            Some(body) => write!(f, "{} ({} bytes)", self.number, body.len()),
        }
    }
}

/// The parameter that gives payloads a size.
pub const PAYLOAD: Parameter = Parameter {
    name: "payload",
    meaning: "how many bytes each message carries beside its number (default: 0)",
};

/// A larger payload would not fit into one datagram with the headers of all layers.
const LARGEST_BODY: u64 = 60_000;

/// The bytes of every payload, as the parameter [`PAYLOAD`] wants them.
pub fn body(setup: &Setup) -> Result<Option<Arc<[u8]>>, SetupError> {
    match setup.number(PAYLOAD.name, 0)? {
        0 => Ok(None),
        length @ 1..=LARGEST_BODY => Ok(Some(vec![0; length as usize].into())),
        _ => Err(setup.bad(PAYLOAD.name, format!("at most {LARGEST_BODY} bytes fit"))),
    }
}

/// Written as bytes, which is much faster than as a list of numbers; no bytes if there is no body.
mod bytes {
    use serde::de::{Deserializer, Error, SeqAccess, Visitor};
    use serde::ser::Serializer;
    use std::fmt;
    use std::sync::Arc;

    pub(super) fn serialize<S: Serializer>(
        body: &Option<Arc<[u8]>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(body.as_deref().unwrap_or(&[]))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Arc<[u8]>>, D::Error> {
        deserializer.deserialize_bytes(Bytes)
    }

    struct Bytes;

    impl<'de> Visitor<'de> for Bytes {
        type Value = Option<Arc<[u8]>>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("bytes")
        }

        fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Self::Value, E> {
            Ok((!bytes.is_empty()).then(|| bytes.into()))
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
            let mut bytes = Vec::new();
            while let Some(byte) = list.next_element::<u8>()? {
                bytes.push(byte);
            }
            self.visit_bytes(&bytes)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_is_written_as_its_number_and_its_bytes() {
        let written = |payload: &Payload| postcard::to_allocvec(payload).expect("it can be");
        let small = Payload::numbered(7);
        assert_eq!(written(&small), [7, 0]);
        let large = Payload { number: 7, body: Some(vec![9; 3].into()) };
        assert_eq!(written(&large), [7, 3, 9, 9, 9]);
        for payload in [small, large] {
            assert_eq!(postcard::from_bytes(&written(&payload)), Ok(payload));
        }
    }

    #[test]
    fn a_payload_that_fits_into_no_datagram_is_refused() {
        let body = |length: &str| body(&Setup::new(1).with("payload", length));
        assert_eq!(body("0"), Ok(None));
        assert_eq!(body("64").expect("it fits").map(|body| body.len()), Some(64));
        assert!(body("60001").expect_err("it is too large").to_string().contains("60000"));
    }
}
