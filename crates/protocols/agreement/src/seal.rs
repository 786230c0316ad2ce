//! Signatures: no process can change a signed statement, or sign in the name of another.
//!
//! There are two kinds. *Ideal* signatures are those of proofs: a note that names the signer and
//! the statement, which only [`Sealer::sign`] makes. They are small and cost nothing, so they are
//! for exploring and simulating, where only the algorithms themselves write messages. *Ed25519*
//! signatures are real ones: a receiver can check a message that arrived over a socket.
//!
//! In the laboratory the keys of a group are made from a number, so that every run can be repeated;
//! a process that knows the number has all keys. A group that runs for real has keys of its own,
//! made elsewhere: [`Sealer::with_keys`].
//!
//! Source: D. J. Bernstein, N. Duif, T. Lange, P. Schwabe, B.-Y. Yang: High-speed high-security
//! signatures. Journal of Cryptographic Engineering 2, 2012.

use ed25519_dalek::{Signer, SigningKey, VerifyingKey};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use synod_core::card::Parameter;
use synod_core::{ProcessId, Setup, SetupError};

/// The parameter that names the kind of signature.
pub const SEAL: Parameter = Parameter {
    name: "seal",
    meaning: "how statements are signed: ideal (a note that no process can forge), or ed25519 \
              (default: ideal)",
};

/// The parameter that keys are made from.
pub const KEYS: Parameter =
    Parameter { name: "keys", meaning: "the number that all keys are made from (default: 0)" };

/// The proof that a process signed a statement.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Signature(Kind);

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
enum Kind {
    /// The signer, and a digest of the statement.
    Ideal(ProcessId, u64),
    /// The two halves of an Ed25519 signature.
    Ed25519(Box<([u8; 32], [u8; 32])>),
}

impl fmt::Debug for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Ideal(by, _) => write!(f, "signed by {by}"),
            Kind::Ed25519(halves) => {
                let [a, b, c, d, ..] = halves.0;
                write!(f, "signed {a:02x}{b:02x}{c:02x}{d:02x}…")
            }
        }
    }
}

/// A SHA-256 digest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// The digest of a text.
    pub fn of(text: &str) -> Digest {
        Digest(Sha256::digest(text.as_bytes()).into())
    }

    /// The digest of data in its serialised form.
    pub fn of_data<S: Serialize + ?Sized>(data: &S) -> Digest {
        Digest(Sha256::digest(bytes(data)).into())
    }

    /// The digest in hexadecimal digits.
    pub fn hex(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// The first digits are enough to tell one from another in a trace.
impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.hex()[..8])
    }
}

/// Signs for one process of a group, and checks the signatures of the others.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Sealer {
    me: ProcessId,
    scheme: Scheme,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Scheme {
    Ideal,
    Ed25519(Keys),
}

/// The own secret key, and the public keys of all.
#[derive(Clone, Serialize, Deserialize)]
#[serde(try_from = "Origin", into = "Origin")]
struct Keys {
    origin: Origin,
    secret: Arc<SigningKey>,
    public: Arc<[VerifyingKey]>,
}

/// Where keys come from: equal origins are equal keys.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Origin {
    /// They are made from a number.
    Made { me: ProcessId, n: usize, number: u64 },
    /// They were given: the own secret key, and the public keys of all.
    Given { secret: [u8; 32], public: Vec<[u8; 32]> },
}

/// Says which keys they are, and no secret.
impl fmt::Debug for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Made { me, n, number } => {
                let mut origin = f.debug_struct("Origin");
                origin.field("me", me).field("n", n).field("number", number).finish()
            }
            Origin::Given { public, .. } => write!(f, "the keys of {} processes", public.len()),
        }
    }
}

/// A public key that is none: no point of the curve has these bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the public key of p{of} is no Ed25519 key; check how it was copied")]
pub struct BadKey {
    /// Whose.
    pub of: usize,
}

impl Sealer {
    /// One sealer for each process of a group, by the parameters [`SEAL`] and [`KEYS`].
    pub fn group(setup: &Setup) -> Result<Vec<Sealer>, SetupError> {
        Sealer::keyed(setup, setup.number(KEYS.name, 0)?)
    }

    /// One sealer for each process, with keys that are made from this number.
    pub fn keyed(setup: &Setup, number: u64) -> Result<Vec<Sealer>, SetupError> {
        if setup.choice(SEAL.name, &["ideal", "ed25519"])? == "ideal" {
            let ideal = |me| Sealer { me, scheme: Scheme::Ideal };
            return Ok(ProcessId::all(setup.n).map(ideal).collect());
        }
        let public = public_keys(setup.n, number);
        let real = |me| {
            let origin = Origin::Made { me, n: setup.n, number };
            let secret = Arc::new(secret_key(me, number));
            Sealer { me, scheme: Scheme::Ed25519(Keys { origin, secret, public: public.clone() }) }
        };
        Ok(ProcessId::all(setup.n).map(real).collect())
    }

    /// Signs for this process with its Ed25519 key; `public` has the key of every process, in the
    /// order of their numbers. The secret key becomes part of the state of the process: a copy of
    /// that state is a copy of the key.
    pub fn with_keys(
        me: ProcessId,
        secret: [u8; 32],
        public: Vec<[u8; 32]>,
    ) -> Result<Sealer, BadKey> {
        let keys = Keys::try_from(Origin::Given { secret, public })?;
        Ok(Sealer { me, scheme: Scheme::Ed25519(keys) })
    }

    /// For whom it signs.
    pub fn me(&self) -> ProcessId {
        self.me
    }

    /// Our signature under a statement. The statement must name its context: a signature under
    /// "yes" answers every question.
    pub fn sign<S: Serialize + ?Sized>(&self, statement: &S) -> Signature {
        let bytes = bytes(statement);
        Signature(match &self.scheme {
            Scheme::Ideal => Kind::Ideal(self.me, digest(&bytes)),
            Scheme::Ed25519(keys) => {
                let signature = keys.secret.sign(&bytes);
                Kind::Ed25519(Box::new((*signature.r_bytes(), *signature.s_bytes())))
            }
        })
    }

    /// Whether the process `by` signed this statement. The arguments may come from the network: the
    /// answer for names outside the group, or for nonsense, is no.
    pub fn is_signed<S: Serialize + ?Sized>(
        &self,
        by: ProcessId,
        statement: &S,
        signature: &Signature,
    ) -> bool {
        match (&self.scheme, &signature.0) {
            (Scheme::Ideal, Kind::Ideal(signer, signed)) => {
                *signer == by && *signed == digest(&bytes(statement))
            }
            (Scheme::Ed25519(keys), Kind::Ed25519(halves)) => {
                let signature = ed25519_dalek::Signature::from_components(halves.0, halves.1);
                keys.public
                    .get(by.index())
                    .is_some_and(|key| key.verify_strict(&bytes(statement), &signature).is_ok())
            }
            _ => false,
        }
    }
}

impl TryFrom<Origin> for Keys {
    type Error = BadKey;

    fn try_from(origin: Origin) -> Result<Self, BadKey> {
        let (secret, public) = match &origin {
            Origin::Made { me, n, number } => (secret_key(*me, *number), public_keys(*n, *number)),
            Origin::Given { secret, public } => {
                let key = |(of, bytes): (usize, &[u8; 32])| {
                    VerifyingKey::from_bytes(bytes).map_err(|_| BadKey { of })
                };
                let public: Result<Arc<[_]>, BadKey> = public.iter().enumerate().map(key).collect();
                (SigningKey::from_bytes(secret), public?)
            }
        };
        Ok(Keys { origin, secret: Arc::new(secret), public })
    }
}

impl From<Keys> for Origin {
    fn from(keys: Keys) -> Self {
        keys.origin
    }
}

impl PartialEq for Keys {
    fn eq(&self, other: &Self) -> bool {
        self.origin == other.origin
    }
}

impl Eq for Keys {}

impl Hash for Keys {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.origin.hash(state);
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.origin.fmt(f)
    }
}

fn public_keys(n: usize, number: u64) -> Arc<[VerifyingKey]> {
    ProcessId::all(n).map(|process| secret_key(process, number).verifying_key()).collect()
}

fn secret_key(of: ProcessId, number: u64) -> SigningKey {
    let mut secret = [0; 32];
    for (place, word) in secret.chunks_exact_mut(8).enumerate() {
        word.copy_from_slice(&digest(&bytes(&(number, of, place))).to_le_bytes());
    }
    SigningKey::from_bytes(&secret)
}

fn bytes<S: Serialize + ?Sized>(statement: &S) -> Vec<u8> {
    // The format can fail only on lists of unknown length and on foreign impls of Serialize.
    postcard::to_allocvec(statement).expect("statements are plain data")
}

/// FNV-1a, which gives the same digest on every machine. It resists no attack, and need not: ideal
/// signatures are for worlds in which no process searches for statements with equal digests.
fn digest(bytes: &[u8]) -> u64 {
    let step = |digest: u64, byte: &u8| (digest ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    const P0: ProcessId = ProcessId(0);
    const P1: ProcessId = ProcessId(1);

    fn group(seal: &str, keys: &str) -> Vec<Sealer> {
        let setup = Setup::new(3).with("seal", seal).with("keys", keys);
        Sealer::group(&setup).expect("the setup is valid")
    }

    #[test]
    fn everybody_sees_who_signed_what_and_nobody_else_did() {
        for seal in ["ideal", "ed25519"] {
            let group = group(seal, "7");
            let signature = group[0].sign("attack");
            for sealer in &group {
                assert!(sealer.is_signed(P0, "attack", &signature));
                assert!(!sealer.is_signed(P0, "retreat", &signature));
                assert!(!sealer.is_signed(P1, "attack", &signature));
                assert!(!sealer.is_signed(ProcessId(77), "attack", &signature));
            }
        }
    }

    #[test]
    fn a_signature_of_the_other_kind_or_with_keys_of_another_group_is_worth_nothing() {
        let (ideal, real, other) =
            (group("ideal", "0"), group("ed25519", "0"), group("ed25519", "1"));
        assert!(!real[1].is_signed(P0, "attack", &ideal[0].sign("attack")));
        assert!(!ideal[1].is_signed(P0, "attack", &real[0].sign("attack")));
        assert!(!real[1].is_signed(P0, "attack", &other[0].sign("attack")));
    }

    #[test]
    fn halves_that_are_no_signature_are_refused() {
        let nonsense = Signature(Kind::Ed25519(Box::new(([255; 32], [255; 32]))));
        assert!(!group("ed25519", "0")[1].is_signed(P0, "attack", &nonsense));
    }

    #[test]
    fn a_sealer_and_a_signature_can_be_stored_and_read_back() {
        for seal in ["ideal", "ed25519"] {
            let sealer = group(seal, "3").remove(1);
            let stored = postcard::to_allocvec(&(&sealer, sealer.sign("attack")));
            let (again, signature): (Sealer, Signature) =
                postcard::from_bytes(&stored.expect("it is data")).expect("it was just written");
            assert_eq!(again, sealer);
            assert!(again.is_signed(P1, "attack", &signature));
            assert_eq!(again.sign("attack"), signature);
        }
    }

    #[test]
    fn keys_that_were_made_elsewhere_sign_and_are_stored_and_never_printed() {
        let secrets = [[1; 32], [2; 32]];
        let public = |secret| SigningKey::from_bytes(secret).verifying_key().to_bytes();
        let all: Vec<[u8; 32]> = secrets.iter().map(public).collect();
        let sealer = |me: u32| {
            Sealer::with_keys(ProcessId(me), secrets[me as usize], all.clone()).expect("keys")
        };
        let signature = sealer(0).sign("attack");
        assert!(sealer(1).is_signed(P0, "attack", &signature));
        assert!(!sealer(1).is_signed(P1, "attack", &signature));
        let stored = postcard::to_allocvec(&sealer(0)).expect("it is data");
        assert_eq!(postcard::from_bytes(&stored), Ok(sealer(0)));
        assert!(format!("{:?}", sealer(0)).contains("the keys of 2 processes"));
        let mut bad = all.clone();
        bad[1] = [2; 32];
        let refused = Sealer::with_keys(P0, secrets[0], bad);
        assert_eq!(refused.map(drop), Err(BadKey { of: 1 }));
    }

    #[test]
    fn a_seal_that_nobody_knows_is_refused() {
        assert!(Sealer::group(&Setup::new(2).with("seal", "wax")).is_err());
        assert!(Sealer::group(&Setup::new(2).with("keys", "x")).is_err());
    }
}
