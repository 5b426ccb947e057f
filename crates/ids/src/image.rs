//! Image references and ids.

use alloc::{
    format,
    string::{String, ToString},
};
use core::fmt;

use crate::name::{NameError, text_id};

fn is_sha256(text: &str) -> bool {
    text.strip_prefix("sha256:")
        .is_some_and(|hex| hex.len() == 64 && hex.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')))
}

text_id!(
    /// Content digest of an image manifest.
    Digest,
    "image digest",
    "sha256: and 64 lower-case hex digits",
    is_sha256
);
text_id!(
    /// Id of an image in the runtime: the digest of its configuration.
    ImageId,
    "image id",
    "sha256: and 64 lower-case hex digits",
    is_sha256
);

/// An image reference as a task definition writes it: `[host[:port]/]path[:tag][@digest]`.
///
/// Kept as written; [`ImageRef::pull_name`] adds the default tag.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ImageRef {
    text: String,
    /// Where the name ends and `:tag` or `@digest` begins.
    name_end: usize,
    /// Where `@digest` begins.
    digest_at: Option<usize>,
}

const ALLOWED: &str = "[host[:port]/]path[:tag][@sha256:…], lower case, at most 255 before any @";

impl ImageRef {
    /// Checks the grammar of the engine and taskdef.md V13.
    ///
    /// # Errors
    /// The reference is empty, too long, has upper case in its repository, or a part breaks the grammar.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        let refuse = || NameError::new("image reference", text, ALLOWED);
        let (rest, digest) = match text.split_once('@') {
            Some((rest, digest)) => (rest, Some(digest)),
            None => (text, None),
        };
        if rest.is_empty() || rest.len() > 255 || digest.is_some_and(|d| !is_sha256(d)) {
            return Err(refuse());
        }
        let last = rest.rfind('/').map_or(0, |slash| slash + 1);
        let colon = rest[last..].find(':').map(|at| last + at);
        let name = &rest[..colon.unwrap_or(rest.len())];
        if colon.is_some_and(|at| !is_tag(&rest[at + 1..])) || !is_repository(name) {
            return Err(refuse());
        }
        Ok(Self { text: text.to_string(), name_end: name.len(), digest_at: digest.map(|_| rest.len()) })
    }

    /// The reference as written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Host and path, without tag and digest.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.text[..self.name_end]
    }

    /// The tag, where one is written.
    #[must_use]
    pub fn tag(&self) -> Option<&str> {
        let end = self.digest_at.unwrap_or(self.text.len());
        self.text[self.name_end..end].strip_prefix(':')
    }

    /// The digest, where one is written.
    #[must_use]
    pub fn digest(&self) -> Option<&str> {
        self.digest_at.map(|at| &self.text[at + 1..])
    }

    /// What to pull: a reference without tag and digest gets `:latest` (engine.md 4.7.5).
    #[must_use]
    pub fn pull_name(&self) -> String {
        if self.tag().is_none() && self.digest().is_none() {
            format!("{}:latest", self.text)
        } else {
            self.text.clone()
        }
    }
}

fn is_tag(tag: &str) -> bool {
    (1..=128).contains(&tag.len())
        && !tag.starts_with(['.', '-'])
        && tag.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-'))
}

fn is_repository(name: &str) -> bool {
    let (host, path) = match name.split_once('/') {
        Some((host, path)) if host.contains(['.', ':']) || host == "localhost" => (Some(host), path),
        _ => (None, name),
    };
    host.is_none_or(is_host) && path.split('/').all(is_path_component)
}

fn is_host(host: &str) -> bool {
    let (name, port) = host.split_once(':').map_or((host, None), |(name, port)| (name, Some(port)));
    !name.is_empty()
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-'))
        && port.is_none_or(|p| p.parse::<u16>().is_ok())
}

fn is_path_component(part: &str) -> bool {
    let edge = |b: Option<u8>| b.is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    edge(part.bytes().next())
        && edge(part.bytes().last())
        && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'_' | b'.' | b'-'))
}

impl fmt::Display for ImageRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for ImageRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_fall_into_their_parts() {
        let digest = format!("sha256:{}", "ab".repeat(32));
        let full = format!("registry.test:5000/team/web:1.2@{digest}");
        let image = ImageRef::parse(&full).unwrap();
        assert_eq!(
            (image.name(), image.tag(), image.digest()),
            ("registry.test:5000/team/web", Some("1.2"), Some(&*digest))
        );
        let plain = ImageRef::parse("busybox").unwrap();
        assert_eq!((plain.tag(), plain.digest(), &*plain.pull_name()), (None, None, "busybox:latest"));
        let host_only = ImageRef::parse("localhost:5000/web").unwrap();
        assert_eq!((host_only.name(), host_only.tag()), ("localhost:5000/web", None));
    }

    #[test]
    fn broken_references_are_refused() {
        for text in
            ["", "Web:1", "a b", "a:", ":1", "a@sha256:12", "a/../b", "a//b", "/a", "a:-x", "a?x=1", "a:b:c", "${TAG}"]
        {
            assert!(ImageRef::parse(text).is_err(), "{text:?} must be refused");
        }
        assert!(ImageRef::parse(&"a".repeat(256)).is_err());
    }
}
