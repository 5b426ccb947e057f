//! The digest by which two definitions are told apart.

use alloc::{format, string::String};
use core::fmt::Write;

use lighterman_ids::DefinitionDigest;
use sha2::{Digest, Sha256};

/// SHA-256 of the canonical text of what the user wrote (`Reading::canonical_text`).
///
/// Not of the typed definition: a version that knows one more field or another default must find
/// the same digest for the same file, or it would replace every container (B-099).
///
/// # Panics
/// Never: the digest of any text is well-formed.
#[must_use]
pub fn definition_digest(canonical_text: &str) -> DefinitionDigest {
    let mut hex = String::new();
    for byte in Sha256::digest(canonical_text.as_bytes()) {
        write!(hex, "{byte:02x}").expect("writing to a String does not fail");
    }
    DefinitionDigest::parse(&format!("sha256:{hex}")).expect("64 hex digits")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b099_the_digest_is_sha256_of_the_text() {
        assert_eq!(
            definition_digest("abc").as_str(),
            "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }
}
