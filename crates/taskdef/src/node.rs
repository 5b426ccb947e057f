//! What JSON and TOML have in common: a tree of values that knows where each of them stood.

use alloc::{boxed::Box, vec::Vec};

use crate::finding::Place;

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
    /// In the spelling of the Register call, once the shape is known.
    pub(crate) key: Box<str>,
    pub(crate) key_at: Offset,
    pub(crate) node: Node,
    pub(crate) spelling: Spelling,
}

/// How the document has a key, so that paths name the original place (taskdef.md 3.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Spelling {
    /// As it is.
    Same,
    /// Otherwise.
    Other(Box<str>),
    /// Not at all: the shape implies it.
    Implied,
}

impl Member {
    pub(crate) const fn new(key: Box<str>, key_at: Offset, node: Node) -> Self {
        Self { key, key_at, node, spelling: Spelling::Same }
    }

    /// A member that the shape implies; it stands where its value stands.
    pub(crate) fn implied(key: &str, node: Node) -> Self {
        Self { key: key.into(), key_at: node.at, node, spelling: Spelling::Implied }
    }

    /// The key as the document has it.
    pub(crate) fn written(&self) -> &str {
        if let Spelling::Other(written) = &self.spelling { written } else { &self.key }
    }

    /// The place of its value.
    pub(crate) fn place_in(&self, parent: &Place) -> Place {
        let path = parent.path.as_ref();
        let path = match &self.spelling {
            Spelling::Implied => path.cloned(),
            Spelling::Same | Spelling::Other(_) => path.map(|path| path.key(self.written())),
        };
        Place { at: self.node.at, path }
    }
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

    /// The function of a template that still has to be carried out, such as `Fn::Sub`.
    pub(crate) fn intrinsic(&self) -> Option<&str> {
        let [member] = self.members()? else { return None };
        let key = member.written();
        (key == "Ref" || key.starts_with("Fn::")).then_some(key)
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
