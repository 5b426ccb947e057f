//! Statuses in the JSON of the state files that older agents wrote (engine.md 1.13).
//!
//! The readers take the raw token as it stands in the file, quotes included, because what is quoted
//! and what is bare decides. New state always uses the names.

use alloc::string::String;

use crate::{ContainerKind, ContainerStatus, ResourceStatus, TaskStatus};

/// Why a text is not a status.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a {what}: {fault}")]
pub struct StatusTextError {
    /// What was to be read, in words.
    pub what: &'static str,
    /// What was found, cut to 80 characters.
    pub text: String,
    /// What is wrong with it.
    pub fault: TextFault,
}

/// What is wrong with the text of a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TextFault {
    /// A bare word or number where a quoted name or `null` belongs.
    #[error("not a quoted name")]
    NotQuoted,
    /// A name this type does not have.
    #[error("unknown name")]
    UnknownName,
    /// The impossible maximum of the old numbering (`"6"`): no container ever was in it.
    #[error("a status no container can have")]
    Impossible,
}

impl StatusTextError {
    pub(crate) fn new(what: &'static str, text: &str, fault: TextFault) -> Self {
        Self { what, text: text.chars().take(80).collect(), fault }
    }
}

impl ContainerStatus {
    /// Reads one JSON token of an old state file.
    ///
    /// # Errors
    /// The token is bare and not `null`, or names no status.
    pub fn read_json(token: &str) -> Result<Self, StatusTextError> {
        let fail = |fault| Err(StatusTextError::new(Self::WHAT, token, fault));
        match unquote(token) {
            Token::Null => Ok(Self::None),
            Token::Bare => fail(TextFault::NotQuoted),
            Token::Quoted("UNKNOWN" | "0") => Ok(Self::None),
            Token::Quoted("DEAD" | "5") => Ok(Self::Stopped),
            // The numbers are from before MANIFEST_PULLED.
            Token::Quoted("1") => Ok(Self::Pulled),
            Token::Quoted("2") => Ok(Self::Created),
            Token::Quoted("3") => Ok(Self::Running),
            Token::Quoted("4") => Ok(Self::ResourcesProvisioned),
            Token::Quoted("6") => fail(TextFault::Impossible),
            Token::Quoted(name) => Self::parse(name),
        }
    }
}

impl TaskStatus {
    /// Reads one JSON token of an old state file.
    ///
    /// # Errors
    /// The token is bare and not `null`, or names no status. `"PULLED"` is refused: it was never written.
    pub fn read_json(token: &str) -> Result<Self, StatusTextError> {
        let fail = |fault| Err(StatusTextError::new(Self::WHAT, token, fault));
        match unquote(token) {
            Token::Null | Token::Quoted("UNKNOWN") => Ok(Self::None),
            Token::Bare => fail(TextFault::NotQuoted),
            Token::Quoted("DEAD") => Ok(Self::Stopped),
            Token::Quoted("PULLED") => fail(TextFault::UnknownName),
            Token::Quoted(name) => Self::parse(name),
        }
    }

    /// What stands for this status in JSON: its name, and `NONE` for `PULLED`, which is only a threshold.
    #[must_use]
    pub const fn json_text(self) -> &'static str {
        match self {
            Self::Pulled => Self::None.as_str(),
            Self::None | Self::ManifestPulled | Self::Created | Self::Running | Self::Stopped => self.as_str(),
        }
    }
}

impl ResourceStatus {
    /// Reads one JSON token of an old state file.
    ///
    /// # Errors
    /// The token is bare and not `null`, or names no status.
    pub fn read_json(token: &str) -> Result<Self, StatusTextError> {
        match unquote(token) {
            Token::Null => Ok(Self::None),
            Token::Bare => Err(StatusTextError::new(Self::WHAT, token, TextFault::NotQuoted)),
            Token::Quoted(name) => Self::parse(name),
        }
    }
}

impl ContainerKind {
    /// Reads one JSON token of the field `IsInternal`, which once was a boolean.
    ///
    /// # Errors
    /// The token is bare and none of `null`, `true`, `false`, or names no kind.
    pub fn read_json(token: &str) -> Result<Self, StatusTextError> {
        match (unquote(token), token) {
            (Token::Null, _) | (Token::Bare, "false") => Ok(Self::Normal),
            (Token::Bare, "true") => Ok(Self::EmptyHostVolume),
            (Token::Bare, _) => Err(StatusTextError::new(Self::WHAT, token, TextFault::NotQuoted)),
            (Token::Quoted(name), _) => Self::parse(name),
        }
    }
}

enum Token<'a> {
    Null,
    Bare,
    Quoted(&'a str),
}

fn unquote(token: &str) -> Token<'_> {
    if token.eq_ignore_ascii_case("null") {
        return Token::Null;
    }
    match token.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(name) => Token::Quoted(name),
        None => Token::Bare,
    }
}
