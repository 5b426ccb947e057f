//! Names and ids that are text.

use alloc::{
    format,
    string::{String, ToString},
};
use core::fmt;

/// Why a text is not a name of the kind asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not {article} {kind}; allowed: {allowed}", article = article(kind))]
pub struct NameError {
    /// The kind of name that was expected, in words.
    pub kind: &'static str,
    /// What was found, cut to 80 characters.
    pub text: String,
    /// What would have been accepted.
    pub allowed: &'static str,
}

impl NameError {
    pub(crate) fn new(kind: &'static str, text: &str, allowed: &'static str) -> Self {
        let text = text.chars().take(80).collect();
        Self { kind, text, allowed }
    }
}

fn article(noun: &str) -> &'static str {
    if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
}

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident, $kind:literal, $allowed:literal, $check:expr) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// Checks `text` and takes a copy.
            ///
            /// # Errors
            /// The text breaks the rule of this kind of name; the error says which and what is allowed.
            pub fn parse(text: &str) -> Result<Self, NameError> {
                let check: fn(&str) -> bool = $check;
                if check(text) { Ok(Self(text.to_string())) } else { Err(NameError::new($kind, text, $allowed)) }
            }

            /// The name as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}
pub(crate) use text_id;

fn is_word(text: &str, longest: usize) -> bool {
    (1..=longest).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

fn is_lower_hex(text: &str) -> bool {
    text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

/// The engine's own rule for container and volume names, seen on 20.10.
fn is_runtime_name(text: &str) -> bool {
    let Some(first) = text.bytes().next() else { return false };
    (2..=255).contains(&text.len())
        && first.is_ascii_alphanumeric()
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-'))
}

text_id!(
    /// Family of a task definition (taskdef.md 2.1).
    Family,
    "task definition family",
    "1 to 255 of A-Z a-z 0-9 _ -",
    |t| is_word(t, 255)
);
text_id!(
    /// Name of a container inside its task definition (taskdef.md 2.2).
    ContainerName,
    "container name",
    "1 to 255 of A-Z a-z 0-9 _ -",
    |t| is_word(t, 255)
);
text_id!(
    /// Name of a volume inside its task definition (taskdef.md 2.8).
    VolumeName,
    "volume name",
    "1 to 255 of A-Z a-z 0-9 _ -",
    |t| is_word(t, 255)
);
text_id!(
    /// Name of a container or volume in the runtime; safe as one segment of a URL path.
    RuntimeName,
    "runtime container name",
    "2 to 255 of A-Z a-z 0-9 _ . -, the first a letter or digit",
    is_runtime_name
);
text_id!(
    /// Id the runtime gave a container; safe as one segment of a URL path.
    RuntimeId,
    "runtime container id",
    "12 to 64 lower-case hex digits",
    |t| (12..=64).contains(&t.len()) && is_lower_hex(t)
);
text_id!(
    /// Random id of a state directory; label `dev.lighterman.instance` (design.md R10).
    InstanceId,
    "instance id",
    "32 lower-case hex digits",
    |t| t.len() == 32 && is_lower_hex(t)
);
text_id!(
    /// Last part of a task's ARN.
    TaskId,
    "task id",
    "32 lower-case hex digits",
    |t| t.len() == 32 && is_lower_hex(t)
);
text_id!(
    /// Digest of what the user wrote; label `dev.lighterman.def` (design.md R10).
    DefinitionDigest,
    "definition digest",
    "sha256: and 64 lower-case hex digits",
    |t| t.strip_prefix("sha256:").is_some_and(|hex| hex.len() == 64 && is_lower_hex(hex))
);
text_id!(
    /// Amazon resource name of a task: `arn:<partition>:ecs:<region>:<account>:task/<cluster>/<id>`.
    TaskArn,
    "task ARN",
    "arn:<partition>:ecs:<region>:<account>:task/<cluster>/<id>",
    |t| {
        let mut parts = t.splitn(6, ':');
        t.len() <= 512
            && !t.chars().any(|c| c.is_control() || c == ' ')
            && parts.next() == Some("arn")
            && parts.next().is_some_and(|partition| !partition.is_empty())
            && parts.next() == Some("ecs")
            && parts.nth(2).is_some_and(|resource| resource.starts_with("task/") && !resource.ends_with('/'))
    }
);

impl TaskId {
    /// The id with these 128 bits.
    #[must_use]
    pub fn from_bits(bits: u128) -> Self {
        Self(format!("{bits:032x}"))
    }

    /// The ARN a task has when no cluster gave it one (taskdef.md 1.2).
    #[must_use]
    pub fn local_arn(&self, region: Option<&str>) -> TaskArn {
        TaskArn(format!("arn:aws:ecs:{}:000000000000:task/local/{}", region.unwrap_or("us-east-1"), self.0))
    }
}

impl TaskArn {
    /// The part after the last `/`.
    #[must_use]
    pub fn resource_id(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }
}

impl InstanceId {
    /// The id with these 128 bits.
    #[must_use]
    pub fn from_bits(bits: u128) -> Self {
        Self(format!("{bits:032x}"))
    }
}

impl RuntimeId {
    /// The first 12 digits, as the engine's own tools show it.
    #[must_use]
    pub fn short(&self) -> &str {
        self.0.get(..12).unwrap_or(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_to_their_rules() {
        #[track_caller]
        fn check<T: fmt::Display>(parse: fn(&str) -> Result<T, NameError>, good: &[&str], bad: &[&str]) {
            for text in good {
                assert_eq!(parse(text).unwrap().to_string(), *text);
            }
            for text in bad {
                assert!(parse(text).is_err(), "{text:?} must be refused");
            }
        }
        let hex32 = "0f1e2d3c4b5a69788796a5b4c3d2e1f0";
        check(ContainerName::parse, &["a", "web-1", "A_b"], &["", "a b", "a.b", "ä", "a/b", "a\0"]);
        check(RuntimeName::parse, &["ecs-a", "a.b"], &["", "a", "-ab", "..", "a/b", "a?b", "a b", "a%2f"]);
        check(RuntimeId::parse, &["0123456789ab"], &["", "0123456789aB", "../x", "0123"]);
        check(TaskId::parse, &[hex32], &["", "0F1e2d3c4b5a69788796a5b4c3d2e1f0", "0f"]);
        check(
            TaskArn::parse,
            &["arn:aws:ecs:us-west-2:111122223333:task/local/0f"],
            &[
                "",
                "arn:aws:ecs:x:1:service/a",
                "arn:aws:s3:x:1:task/a",
                "arn:aws:ecs:x:1:task/",
                "arn:aws:ecs:x:1:task/a b",
            ],
        );
        assert_eq!(TaskId::parse(hex32).unwrap().local_arn(None).resource_id(), hex32);
    }

    #[test]
    fn an_error_has_the_article_of_its_noun() {
        let text = |error: NameError| error.to_string();
        assert!(text(InstanceId::parse("x").unwrap_err()).starts_with("\"x\" is not an instance id; allowed: "));
        assert!(text(TaskId::parse("x").unwrap_err()).starts_with("\"x\" is not a task id; allowed: "));
    }

    #[test]
    fn an_error_cuts_long_text() {
        let long = "x y".repeat(1_000);
        assert!(Family::parse(&long).unwrap_err().text.len() <= 80);
    }
}
