//! How a call ends.

use alloc::string::String;
use core::{fmt, time::Duration};

/// The four ways a call can end (design.md §1). An adapter never retries and never guesses.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Outcome<T> {
    /// The runtime did it, or it was already so (a 304 is plain success).
    Done(T),
    /// The runtime understood and said no; nothing changed.
    Refused(Refusal),
    /// The object that the call addresses does not exist.
    Gone,
    /// It is not known whether the call had an effect: look before doing anything else.
    Unknown(Lost),
}

impl<T> Outcome<T> {
    /// Whether the call succeeded.
    pub const fn is_done(&self) -> bool {
        matches!(self, Self::Done(_))
    }

    /// The same outcome with another value inside `Done`.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Outcome<U> {
        match self {
            Self::Done(value) => Outcome::Done(f(value)),
            Self::Refused(refusal) => Outcome::Refused(refusal),
            Self::Gone => Outcome::Gone,
            Self::Unknown(lost) => Outcome::Unknown(lost),
        }
    }
}

/// Why a runtime said no.
#[derive(Clone, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[error("{text}")]
pub struct Refusal {
    /// The cause, as far as status code and text tell.
    pub class: RefusalClass,
    /// The runtime's own words, white space collapsed, at most 4,096 bytes.
    pub text: String,
}

impl Refusal {
    /// A refusal of this class in these words.
    pub fn new(class: RefusalClass, text: impl Into<String>) -> Self {
        Self { class, text: text.into() }
    }
}

/// The cause of a refusal; whether to try again is the core's decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RefusalClass {
    /// Something the call names, other than its own object, does not exist (an image, a link target).
    NotFound,
    /// Another object has the name that was asked for.
    NameInUse,
    /// The object is in a state in which this cannot be done (running, being removed, paused).
    Conflict,
    /// Credentials are missing, wrong or not sufficient.
    Unauthorised,
    /// Too many requests; later may work.
    RateLimited,
    /// The runtime, or a registry behind it, failed while serving a correct call.
    PeerFault,
    /// No room left where the runtime keeps its data.
    NoSpace,
    /// The call itself is not acceptable.
    Invalid,
    /// The runtime does not speak a version or feature that the call needs.
    Unsupported,
}

impl RefusalClass {
    /// Every class.
    pub const ALL: [Self; 9] = [
        Self::NotFound,
        Self::NameInUse,
        Self::Conflict,
        Self::Unauthorised,
        Self::RateLimited,
        Self::PeerFault,
        Self::NoSpace,
        Self::Invalid,
        Self::Unsupported,
    ];

    /// The class in words, for logs and people.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotFound => "not found",
            Self::NameInUse => "name in use",
            Self::Conflict => "conflict",
            Self::Unauthorised => "unauthorised",
            Self::RateLimited => "rate limited",
            Self::PeerFault => "runtime fault",
            Self::NoSpace => "no space",
            Self::Invalid => "invalid",
            Self::Unsupported => "unsupported",
        }
    }
}

impl fmt::Display for RefusalClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A call whose effect is not known.
#[derive(Clone, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[error("{text}")]
pub struct Lost {
    /// How contact was lost.
    pub cause: LostCause,
    /// Details in words, at most 4,096 bytes.
    pub text: String,
}

impl Lost {
    /// Contact lost this way, in these words.
    pub fn new(cause: LostCause, text: impl Into<String>) -> Self {
        Self { cause, text: text.into() }
    }
}

/// How contact with the runtime was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LostCause {
    /// The limit of the call passed; the call may go on inside the runtime.
    TimedOut(Duration),
    /// No connection could be made (socket missing or refused): this call certainly had no effect.
    Unreachable,
    /// The connection ended before the answer was complete.
    ConnectionLost,
    /// An answer came that is not of the protocol.
    Garbled,
}
