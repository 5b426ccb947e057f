//! The envelope around every record.
//!
//! | bytes | what |
//! | --- | --- |
//! | 0–3 | magic `LMR1` |
//! | 4–5 | schema version, little-endian; a reader refuses one above its own |
//! | 6 | kind of record |
//! | 7 | reserved, 0 |
//! | 8–15 | generation of the commit that wrote it, little-endian |
//! | 16–19 | length of the payload in bytes, little-endian |
//! | 20–35 | checksum: the first 16 bytes of SHA-256 over key length, key, bytes 0–19 and payload |
//! | 36– | payload |

use alloc::vec::Vec;

use sha2::{Digest, Sha256};

/// The schema that this version writes and the highest that it reads.
pub const SCHEMA: u16 = 1;

const MAGIC: [u8; 4] = *b"LMR1";
const HEADER: usize = 36;
const CHECKSUM_AT: usize = 20;

/// What kind of record an envelope holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// The head: what the store as a whole must look like.
    Head,
    /// The host.
    Host,
    /// A task definition.
    Definition,
    /// A task.
    Task,
    /// A container.
    Container,
    /// An image.
    Image,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 6] = [Self::Head, Self::Host, Self::Definition, Self::Task, Self::Container, Self::Image];

    const fn code(self) -> u8 {
        match self {
            Self::Head => 1,
            Self::Host => 2,
            Self::Definition => 3,
            Self::Task => 4,
            Self::Container => 5,
            Self::Image => 6,
        }
    }

    /// The kind in one word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Head => "head",
            Self::Host => "host",
            Self::Definition => "definition",
            Self::Task => "task",
            Self::Container => "container",
            Self::Image => "image",
        }
    }
}

/// A record taken out of its envelope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened<'a> {
    /// What kind it is.
    pub kind: Kind,
    /// Which commit wrote it.
    pub generation: u64,
    /// What the head's digest counts for it.
    pub checksum: u128,
    /// Its payload.
    pub payload: &'a [u8],
}

/// Why bytes are not an envelope that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EnvelopeError {
    /// They do not begin like one, or have another length than they say.
    #[error("it is not a record of ours")]
    Shape,
    /// The checksum does not fit.
    #[error("its checksum does not fit")]
    Checksum,
    /// A newer program wrote it.
    #[error("it has schema {0}, and this version reads up to {SCHEMA}")]
    Newer(u16),
    /// The kind is not known, though the checksum fits.
    #[error("it is of the unknown kind {0}")]
    Kind(u8),
}

/// Puts a payload into its envelope; returns it with its checksum.
///
/// # Panics
/// The payload has 4 GiB or more.
#[must_use]
pub fn seal(key: &[u8], kind: Kind, generation: u64, payload: &[u8]) -> (Vec<u8>, u128) {
    let length = u32::try_from(payload.len()).expect("a record is far below 4 GiB");
    let mut bytes = Vec::with_capacity(HEADER + payload.len());
    bytes.extend_from_slice(&MAGIC);
    bytes.extend_from_slice(&SCHEMA.to_le_bytes());
    bytes.extend_from_slice(&[kind.code(), 0]);
    bytes.extend_from_slice(&generation.to_le_bytes());
    bytes.extend_from_slice(&length.to_le_bytes());
    let checksum = checksum(key, &bytes, payload);
    bytes.extend_from_slice(&checksum.to_le_bytes());
    bytes.extend_from_slice(payload);
    (bytes, checksum)
}

/// Takes a record out of its envelope.
///
/// # Errors
/// See [`EnvelopeError`].
pub fn open<'a>(key: &[u8], bytes: &'a [u8]) -> Result<Opened<'a>, EnvelopeError> {
    let (header, payload) = bytes.split_at_checked(HEADER).ok_or(EnvelopeError::Shape)?;
    if header[..4] != MAGIC || header[7] != 0 {
        return Err(EnvelopeError::Shape);
    }
    let schema = u16::from_le_bytes([header[4], header[5]]);
    let length = u32::from_le_bytes([header[16], header[17], header[18], header[19]]);
    let told = u128::from_le_bytes(header[CHECKSUM_AT..].try_into().map_err(|_| EnvelopeError::Shape)?);
    if usize::try_from(length) != Ok(payload.len()) {
        return Err(EnvelopeError::Shape);
    }
    if checksum(key, &header[..CHECKSUM_AT], payload) != told {
        return Err(EnvelopeError::Checksum);
    }
    // Only after the checksum: a flipped bit must not look like a newer program.
    if schema > SCHEMA {
        return Err(EnvelopeError::Newer(schema));
    }
    let kind = Kind::ALL.into_iter().find(|kind| kind.code() == header[6]).ok_or(EnvelopeError::Kind(header[6]))?;
    let generation = u64::from_le_bytes(header[8..16].try_into().map_err(|_| EnvelopeError::Shape)?);
    Ok(Opened { kind, generation, checksum: told, payload })
}

fn checksum(key: &[u8], header: &[u8], payload: &[u8]) -> u128 {
    let mut hash = Sha256::new();
    hash.update((key.len() as u64).to_le_bytes());
    hash.update(key);
    hash.update(header);
    hash.update(payload);
    let digest = hash.finalize();
    let mut first = [0; 16];
    first.copy_from_slice(&digest[..16]);
    u128::from_le_bytes(first)
}
