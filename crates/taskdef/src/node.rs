//! What JSON and TOML have in common: a tree of values that knows where each of them stood.

use alloc::{boxed::Box, vec::Vec};

/// Byte offset into the text; the text is at most [`MAX_TEXT`](crate::limits::MAX_TEXT) long.
pub(crate) type Offset = u32;

/// A value and where it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) at: Offset,
    pub(crate) value: Value,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// JSON only.
    Null,
    Boolean(bool),
    /// The source text of the token, so that `1.10` stays `1.10`.
    Number(Box<str>),
    Text(Box<str>),
    /// TOML only; fits no field.
    #[cfg_attr(not(feature = "reader"), expect(dead_code, reason = "TOML is read with the feature only"))]
    Date(Box<str>),
    List(Vec<Node>),
    /// In file order, keys unique.
    Object(Vec<Member>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) key: Box<str>,
    pub(crate) key_at: Offset,
    pub(crate) node: Node,
}

impl Node {
    /// The members, if it is an object.
    pub(crate) fn members(&self) -> Option<&[Member]> {
        match &self.value {
            Value::Object(members) => Some(members),
            Value::Null | Value::Boolean(_) | Value::Number(_) | Value::Text(_) | Value::Date(_) | Value::List(_) => {
                None
            }
        }
    }

    /// The member of exactly that key.
    pub(crate) fn member(&self, key: &str) -> Option<&Member> {
        self.members()?.iter().find(|member| &*member.key == key)
    }

    /// What it is, for messages.
    pub(crate) const fn kind(&self) -> &'static str {
        match &self.value {
            Value::Null => "null",
            Value::Boolean(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::Text(_) => "text",
            Value::Date(_) => "a date",
            Value::List(_) => "a list",
            Value::Object(_) => "an object",
        }
    }
}
