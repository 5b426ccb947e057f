//! One event as one line.

use std::fmt::Write as _;

use jiff::Timestamp;
use lighterman_ids::Wall;
use tracing::Metadata;

use crate::fields::{Fields, RESERVED, Value};

/// The form of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// `level=info time=2026-11-30T12:00:00.000Z target=… msg="…" name=value …`
    #[default]
    Logfmt,
    /// `{"level":"info","time":"2026-11-30T12:00:00.000Z","target":"…","msg":"…","name":value,…}`
    Json,
}

impl Format {
    /// The line of an event, with its line feed.
    pub(crate) fn line(self, now: Wall, metadata: &Metadata<'_>, fields: &Fields) -> String {
        let level = metadata.level().as_str().to_lowercase();
        let message = fields.message.as_deref().unwrap_or_default();
        let head = [level, time(now), metadata.target().to_owned(), message.to_owned()];
        let head = RESERVED.into_iter().map(String::from).zip(head.map(Value::Text));
        let rest = fields.rest.iter().map(|(name, value)| (free(name), value.clone()));
        self.join(head.chain(rest))
    }

    fn join(self, fields: impl Iterator<Item = (String, Value)>) -> String {
        let pairs: Vec<String> = fields.map(|(name, value)| self.pair(&name, &value)).collect();
        match self {
            Self::Logfmt => pairs.join(" ") + "\n",
            Self::Json => format!("{{{}}}\n", pairs.join(",")),
        }
    }

    fn pair(self, name: &str, value: &Value) -> String {
        match (self, value) {
            (Self::Logfmt, Value::Bare(value)) => format!("{name}={value}"),
            (Self::Logfmt, Value::Text(text)) if is_plain(text) => format!("{name}={text}"),
            (Self::Logfmt, Value::Text(text)) => format!("{name}={}", quoted(text)),
            (Self::Json, Value::Bare(value)) => format!("{}:{value}", quoted(name)),
            (Self::Json, Value::Text(text)) => format!("{}:{}", quoted(name), quoted(text)),
        }
    }
}

/// A field must not take the place of what every line has.
fn free(name: &str) -> String {
    if RESERVED.contains(&name) { format!("field.{name}") } else { name.into() }
}

/// RFC 3339 in UTC with milliseconds.
fn time(now: Wall) -> String {
    let time = Timestamp::from_nanosecond(i128::from(now.0)).expect("2^63 nanoseconds reach to the year 2262");
    format!("{time:.3}")
}

/// Whether a value needs no quotes.
fn is_plain(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| !c.is_whitespace() && !c.is_control() && !matches!(c, '"' | '=' | '\\'))
}

/// A JSON string in which no control character is left, those beyond ASCII included.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') => {
                write!(out, "\\u{:04x}", u32::from(c)).expect("writing to a string does not fail");
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
