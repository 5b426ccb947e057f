//! Fields of spans and events as values.

use std::fmt;

use tracing::field::{Field, Visit};

/// Longest value of a field, in bytes; what is cut is marked. An error text of the engine has at most 4,096.
pub const VALUE_LIMIT: usize = 8_192;

/// Last parts of names whose values are never shown. Such a field is a mistake, and this the last line of defence.
const SECRETS: [&str; 8] =
    ["api_key", "authorization", "credential", "credentials", "password", "private_key", "secret", "token"];

/// Names that every line has already.
pub(crate) const RESERVED: [&str; 4] = ["level", "time", "target", "msg"];

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    /// A number or a boolean, as both formats write it.
    Bare(String),
    Text(String),
}

/// Fields in the order in which their names first came.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fields {
    pub(crate) message: Option<String>,
    pub(crate) rest: Vec<(&'static str, Value)>,
}

impl Fields {
    /// Takes over `inner`; a name that is here already gets the new value.
    pub(crate) fn extend(&mut self, inner: &Self) {
        for (name, value) in &inner.rest {
            self.set(name, value.clone());
        }
    }

    fn set(&mut self, name: &'static str, value: Value) {
        let value = if is_secret(name) { Value::Text("[redacted]".into()) } else { value };
        match self.rest.iter_mut().find(|(known, _)| *known == name) {
            Some((_, old)) => *old = value,
            None => self.rest.push((name, value)),
        }
    }

    fn text(&mut self, field: &Field, text: String) {
        let text = cut(text);
        if field.name() == "message" { self.message = Some(text) } else { self.set(field.name(), Value::Text(text)) }
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.text(field, format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.text(field, value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.set(field.name(), Value::Bare(value.to_string()));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.set(field.name(), Value::Bare(value.to_string()));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.set(field.name(), Value::Bare(value.to_string()));
    }

    /// The whole chain, since an error's own text leaves out its source (style.md §7).
    fn record_error(&mut self, field: &Field, value: &(dyn std::error::Error + 'static)) {
        let chain = std::iter::successors(Some(value), |error| error.source());
        self.text(field, chain.map(ToString::to_string).collect::<Vec<_>>().join(": "));
    }
}

fn is_secret(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or(name);
    SECRETS.contains(&last)
}

fn cut(mut text: String) -> String {
    if text.len() > VALUE_LIMIT {
        let whole = text.len();
        text.truncate(text.floor_char_boundary(VALUE_LIMIT));
        text.push_str(&format!("... [{} bytes cut]", whole - text.len()));
    }
    text
}
