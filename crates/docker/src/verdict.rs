//! What an answer other than success means.

use http::StatusCode;
use lighterman_calls::{Lost, LostCause, Outcome, Refusal, RefusalClass};

use crate::dialect;

/// A call that is not done: the three other ways of [`Outcome`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NotDone {
    Refused(Refusal),
    Gone,
    Unknown(Lost),
}

impl NotDone {
    pub(crate) fn refused(class: RefusalClass, text: impl Into<String>) -> Self {
        Self::Refused(Refusal::new(class, text))
    }

    pub(crate) fn garbled(text: impl Into<String>) -> Self {
        Self::Unknown(Lost::new(LostCause::Garbled, text))
    }

    pub(crate) fn outcome<T>(self) -> Outcome<T> {
        match self {
            Self::Refused(refusal) => Outcome::Refused(refusal),
            Self::Gone => Outcome::Gone,
            Self::Unknown(lost) => Outcome::Unknown(lost),
        }
    }
}

impl From<Lost> for NotDone {
    fn from(lost: Lost) -> Self {
        Self::Unknown(lost)
    }
}

/// What a call addresses, as far as it decides the meaning of its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Addresses<'a> {
    /// No object: ping, version, list, events, load.
    Nothing,
    /// A container that is to be: whatever is missing is something that it names.
    NewContainer,
    /// An image in a registry.
    RemoteImage,
    /// An image in the engine.
    Image,
    /// A container that is started; what else it needs can be missing too.
    Startable(&'a str),
    /// A container; nothing else can be missing.
    Container,
    /// A volume that is to be: only its driver can be missing.
    NewVolume,
    /// A volume; nothing else can be missing.
    Volume,
}

/// The words of an answer that is not a success.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Words {
    /// The message, or the whole body when it is no message of the engine's form.
    pub(crate) text: String,
    /// Whether it came in the engine's own form, `{"message": …}`.
    pub(crate) engine_form: bool,
}

/// The table: status and text to outcome. Texts seen on engine 20.10 unless a row says otherwise.
pub(crate) fn verdict(call: Addresses<'_>, status: StatusCode, words: Words) -> NotDone {
    use RefusalClass::{Invalid, NoSpace, NotFound, PeerFault, RateLimited, Unauthorised, Unsupported};

    let text = words.text.as_str();
    let class = match status.as_u16() {
        // Something in between said it, and does not know what the engine made of the call.
        408 | 502 | 504 => return not_dockers(status, text),
        500..=599 if !words.engine_form => return not_dockers(status, text),
        400.. if is_out_of_space(text) => NoSpace,
        400 if dialect::is_version_refusal(text) => Unsupported,
        // A container that a new one names, and a volume that a start needs, are missed in other words.
        400 if call == Addresses::NewContainer && text.contains("No such container: ") => NotFound,
        500 if matches!(call, Addresses::Startable(_)) && text.ends_with(": no such volume") => NotFound,
        404 => return missing(call, words),
        400 | 500 if call == Addresses::RemoteImage => {
            let otherwise = if status == StatusCode::BAD_REQUEST { Invalid } else { PeerFault };
            registry_class(text).unwrap_or(otherwise)
        }
        401 | 403 | 407 => Unauthorised,
        409 => conflict(call, text),
        429 => RateLimited,
        501 => Unsupported,
        400..=499 => Invalid,
        500..=599 => PeerFault,
        _ => return NotDone::garbled(unanswered(status, text)),
    };
    NotDone::refused(class, words.text)
}

/// The class of an error line inside a stream that began with success.
pub(crate) fn stream_class(call: Addresses<'_>, text: &str) -> RefusalClass {
    if is_out_of_space(text) {
        return RefusalClass::NoSpace;
    }
    let registry = if call == Addresses::RemoteImage { registry_class(text) } else { None };
    registry.unwrap_or(RefusalClass::PeerFault)
}

fn not_dockers(status: StatusCode, text: &str) -> NotDone {
    Lost::new(LostCause::ConnectionLost, unanswered(status, text)).into()
}

/// An answer that Docker does not give, in words; some come without any.
fn unanswered(status: StatusCode, text: &str) -> String {
    let what = match (text, status.canonical_reason()) {
        ("", Some(reason)) => reason,
        ("", None) => "it said no more",
        (text, _) => text,
    };
    let whose = if status.is_redirection() { "redirects elsewhere" } else { "is not Docker" };
    format!("what answered {whose} (status {}: {what})", status.as_u16())
}

fn missing(call: Addresses<'_>, words: Words) -> NotDone {
    // An object is only believed to be gone when the engine itself says so: a wrong address answers 404 to anything.
    if !words.engine_form {
        return NotDone::garbled(unanswered(StatusCode::NOT_FOUND, &words.text));
    }
    if words.text.eq_ignore_ascii_case("page not found") {
        return NotDone::refused(RefusalClass::Unsupported, words.text);
    }
    match call {
        Addresses::Container | Addresses::Image | Addresses::Volume => NotDone::Gone,
        Addresses::Startable(target) if names_only(&words.text, target) => NotDone::Gone,
        Addresses::RemoteImage => {
            NotDone::refused(registry_class(&words.text).unwrap_or(RefusalClass::NotFound), words.text)
        }
        Addresses::Startable(_) | Addresses::NewContainer | Addresses::NewVolume | Addresses::Nothing => {
            NotDone::refused(RefusalClass::NotFound, words.text)
        }
    }
}

/// `No such container: <target>`: the container itself is missing, not one that it needs.
fn names_only(text: &str, target: &str) -> bool {
    const MISSING: &str = "no such container";
    let lower = text.to_ascii_lowercase();
    let Some(at) = lower.find(MISSING) else { return false };
    let rest = text.get(at + MISSING.len()..).unwrap_or_default().trim_start_matches(':').trim();
    rest.is_empty() || rest.trim_start_matches('/') == target
}

fn conflict(call: Addresses<'_>, text: &str) -> RefusalClass {
    let name_taken = text.contains("name") && text.contains("already in use");
    if call == Addresses::NewContainer && name_taken { RefusalClass::NameInUse } else { RefusalClass::Conflict }
}

/// The kernel's words, in whatever letters the engine or a driver hands them on.
fn is_out_of_space(text: &str) -> bool {
    let text = text.to_lowercase();
    ["no space left on device", "disk quota exceeded"].iter().any(|words| text.contains(words))
}

/// What went wrong with a registry: for most faults the engine answers 500 and only the text tells.
///
/// `pull access denied for x, repository does not exist or may require 'docker login'` is
/// `Unauthorised`: registries hide which of the two it is, and credentials are what a person can add.
fn registry_class(text: &str) -> Option<RefusalClass> {
    const TABLE: [(RefusalClass, &[&str]); 4] = [
        (RefusalClass::RateLimited, &["toomanyrequests", "too many requests", "rate limit", "rate exceeded"]),
        (
            RefusalClass::Unauthorised,
            &[
                "unauthorized",
                "authentication required",
                "authorization failed",
                "no basic auth credentials",
                "incorrect username or password",
                "denied",
                "forbidden",
            ],
        ),
        (
            RefusalClass::NotFound,
            &["manifest unknown", "name unknown", "no matching manifest", "not found", "does not exist"],
        ),
        (RefusalClass::Invalid, &["invalid reference format", "invalid tag format"]),
    ];
    let lower = text.to_ascii_lowercase();
    TABLE.iter().find(|(_, words)| words.iter().any(|word| lower.contains(word))).map(|(class, _)| *class)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0123456789ab";

    fn words(text: &str) -> Words {
        Words { text: text.into(), engine_form: true }
    }

    /// What the table says, in one word.
    fn judged(call: Addresses<'_>, status: u16, text: &str) -> String {
        match verdict(call, StatusCode::from_u16(status).unwrap(), words(text)) {
            NotDone::Refused(refusal) => {
                assert_eq!(refusal.text, text, "the runtime's own words");
                refusal.class.to_string()
            }
            NotDone::Gone => "gone".into(),
            NotDone::Unknown(lost) => format!("{:?}", lost.cause),
        }
    }

    #[test]
    fn status_and_text_tell_the_outcome() {
        use Addresses::{Container, Image, NewContainer, NewVolume, Nothing, RemoteImage, Startable, Volume};
        let rows: &[(Addresses<'_>, u16, &str, &str)] = &[
            // 404: the addressed object, or another one.
            (Container, 404, "No such container: 0123456789ab", "gone"),
            (Image, 404, "No such image: web:1", "gone"),
            (Startable(ID), 404, "No such container: 0123456789ab", "gone"),
            (Startable(ID), 404, "no container with name or ID \"0123456789ab\" found: no such container", "gone"),
            (Startable(ID), 404, "No such container: ba9876543210", "not found"),
            (Startable(ID), 404, "network 5f3c not found", "not found"),
            (NewContainer, 404, "No such image: web:1", "not found"),
            (NewContainer, 404, "No such container: pause", "not found"),
            (Nothing, 404, "no such thing", "not found"),
            (Volume, 404, "get site: no such volume", "gone"),
            (NewVolume, 404, "create site: error looking up volume plugin x: plugin \"x\" not found", "not found"),
            // What a container needs, missed in other words than 404.
            (NewContainer, 400, "No such container: store", "not found"),
            (NewContainer, 400, "could not get container for store: No such container: store", "not found"),
            (Startable(ID), 500, "get site: no such volume", "not found"),
            (Container, 404, "page not found", "unsupported"),
            // 409.
            (
                NewContainer,
                409,
                "Conflict. The container name \"/web\" is already in use by container \"ab\". You have to remove (or \
                 rename) that container to be able to reuse that name.",
                "name in use",
            ),
            (NewContainer, 409, "cannot join network of a non running container: ab", "conflict"),
            (Container, 409, "You cannot remove a running container ab. Stop the container before", "conflict"),
            (Container, 409, "removal of container ab is already in progress", "conflict"),
            (Container, 409, "Cannot kill container: ab: Container ab is not running", "conflict"),
            (Startable(ID), 409, "cannot join network of a non running container: ab", "conflict"),
            (Volume, 409, "remove site: volume is in use - [ab, cd]", "conflict"),
            (
                Image,
                409,
                "conflict: unable to remove repository reference \"web:1\" (must force) - container ab is using its \
                 referenced image cd",
                "conflict",
            ),
            (
                Image,
                409,
                "conflict: unable to delete cd (must be forced) - image is referenced in multiple",
                "conflict",
            ),
            // A name in use means something only where a name was asked for.
            (Container, 409, "name already in use", "conflict"),
            // The call itself.
            (NewContainer, 400, "invalid reference format", "invalid"),
            (Startable(ID), 400, "OCI runtime create failed: exec: \"nope\": executable file not found", "invalid"),
            (NewContainer, 422, "unprocessable", "invalid"),
            (
                Nothing,
                400,
                "client version 1.41 is too old. Minimum supported API version is 1.44, please upgrade your client",
                "unsupported",
            ),
            (Nothing, 501, "not implemented", "unsupported"),
            // Who asks, and how often.
            (Nothing, 401, "authorization denied by plugin", "unauthorised"),
            (Nothing, 403, "forbidden", "unauthorised"),
            (Nothing, 429, "slow down", "rate limited"),
            // The engine's own trouble.
            (NewContainer, 500, "mkdir /var/lib/docker/x: no space left on device", "no space"),
            (Startable(ID), 400, "write /x: no space left on device", "no space"),
            (NewContainer, 500, "write /x: Disk quota exceeded", "no space"),
            (
                Startable(ID),
                500,
                "driver failed: Bind for 0.0.0.0:80 failed: port is already allocated",
                "runtime fault",
            ),
            (Container, 500, "unauthorized is only a word here", "runtime fault"),
            (Container, 503, "this node is not a swarm manager", "runtime fault"),
            (Startable(ID), 500, "Cannot link to a non running container: /store AS /web/s", "runtime fault"),
            // Somebody in between.
            (Container, 502, "bad gateway", "ConnectionLost"),
            (Container, 504, "gateway timeout", "ConnectionLost"),
            (Container, 302, "over there", "Garbled"),
            // Registries.
            (RemoteImage, 404, "manifest for web:9 not found: manifest unknown: manifest unknown", "not found"),
            (
                RemoteImage,
                404,
                "pull access denied for web, repository does not exist or may require 'docker login': denied",
                "unauthorised",
            ),
            (RemoteImage, 404, "no such thing", "not found"),
            (RemoteImage, 500, "Get https://r.test/v2/: unauthorized: incorrect username or password", "unauthorised"),
            (RemoteImage, 500, "Head https://r.test/v2/web: no basic auth credentials", "unauthorised"),
            (RemoteImage, 500, "toomanyrequests: You have reached your pull rate limit", "rate limited"),
            (RemoteImage, 500, "Get https://r.test/v2/: dial tcp: lookup r.test: no such host", "runtime fault"),
            (
                RemoteImage,
                500,
                "Get https://r.test/v2/: dial tcp 10.0.0.1:443: connect: connection refused",
                "runtime fault",
            ),
            (
                RemoteImage,
                500,
                "Get https://r.test/v2/: x509: certificate signed by unknown authority",
                "runtime fault",
            ),
            (RemoteImage, 500, "failed to register layer: no space left on device", "no space"),
            (RemoteImage, 400, "invalid reference format: repository name must be lowercase", "invalid"),
        ];
        for (call, status, text, expected) in rows {
            assert_eq!(judged(*call, *status, text), *expected, "{call:?} {status} {text}");
        }
    }

    #[test]
    fn a_404_that_is_not_the_engines_own_never_means_gone() {
        for text in ["404 page not found", "<html>Not Found</html>", ""] {
            let foreign = Words { text: text.into(), engine_form: false };
            for call in [Addresses::Container, Addresses::Image, Addresses::Startable(ID), Addresses::NewContainer] {
                let NotDone::Unknown(lost) = verdict(call, StatusCode::NOT_FOUND, foreign.clone()) else {
                    panic!("{call:?} {text:?} must stay unknown");
                };
                assert_eq!(lost.cause, LostCause::Garbled);
            }
        }
    }

    #[test]
    fn a_server_error_that_is_not_the_engines_own_tells_nothing_of_the_call() {
        let calls = [Addresses::Nothing, Addresses::NewContainer, Addresses::Startable(ID), Addresses::RemoteImage];
        let texts = ["upstream connect error", "<html>Internal Server Error</html>", "no space left on device", ""];
        for (call, status, text) in calls.iter().flat_map(|call| {
            let statuses = [500, 501, 502, 503, 504, 520, 599];
            statuses.into_iter().flat_map(move |status| texts.map(|text| (*call, status, text)))
        }) {
            let foreign = Words { text: text.into(), engine_form: false };
            let NotDone::Unknown(lost) = verdict(call, StatusCode::from_u16(status).unwrap(), foreign) else {
                panic!("{call:?} {status} {text:?} must stay unknown");
            };
            assert_eq!(lost.cause, LostCause::ConnectionLost);
            assert!(lost.text.contains(&status.to_string()) && lost.text.contains(text), "{lost}");
        }
    }

    #[test]
    fn an_answer_without_words_is_told_by_its_status() {
        let bare = |status| match verdict(
            Addresses::Nothing,
            StatusCode::from_u16(status).unwrap(),
            Words { text: String::new(), engine_form: false },
        ) {
            NotDone::Unknown(lost) => lost.text,
            other => panic!("{other:?}"),
        };
        assert_eq!(bare(301), "what answered redirects elsewhere (status 301: Moved Permanently)");
        assert_eq!(bare(503), "what answered is not Docker (status 503: Service Unavailable)");
        assert_eq!(bare(599), "what answered is not Docker (status 599: it said no more)");
    }

    #[test]
    fn an_error_line_is_classed_by_its_text() {
        let rows = [
            (Addresses::RemoteImage, "toomanyrequests: slow down", RefusalClass::RateLimited),
            (Addresses::RemoteImage, "unexpected EOF", RefusalClass::PeerFault),
            (Addresses::RemoteImage, "write /x: no space left on device", RefusalClass::NoSpace),
            (Addresses::Nothing, "open /x: file not found", RefusalClass::PeerFault),
        ];
        for (call, text, class) in rows {
            assert_eq!(stream_class(call, text), class, "{text}");
        }
    }
}
