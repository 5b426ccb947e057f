//! The document after leniency: known fields only, each of its type, each with its place.

use alloc::{string::String, vec::Vec};

use crate::finding::Place;

/// A known field that is present.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) place: Place,
    pub(crate) value: FieldValue,
}

#[derive(Clone, Debug)]
pub(crate) enum FieldValue {
    /// Was refused: there is a finding already, and no second one is wanted.
    Broken,
    Text(String),
    Integer(i64),
    Boolean(bool),
    /// As many places as texts.
    Texts {
        texts: Vec<String>,
        places: Vec<Place>,
    },
    /// Free keys.
    Map(Vec<(String, Field)>),
    List(Vec<Field>),
    /// Keys of the field table.
    Object(Vec<(&'static str, Field)>),
}

impl FieldValue {
    pub(crate) fn as_text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }
}

impl Field {
    /// The member of an object; `None` when absent, or when this is no object.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        match &self.value {
            FieldValue::Object(members) => members.iter().find(|(name, _)| *name == key).map(|(_, field)| field),
            FieldValue::Broken
            | FieldValue::Text(_)
            | FieldValue::Integer(_)
            | FieldValue::Boolean(_)
            | FieldValue::Texts { .. }
            | FieldValue::Map(_)
            | FieldValue::List(_) => None,
        }
    }

    /// Where a member is, or would be.
    pub(crate) fn place_of(&self, key: &str) -> Place {
        self.get(key).map_or_else(|| self.place.missing(key), |field| field.place.clone())
    }

    /// Text of a member that is present and whole.
    pub(crate) fn text(&self, key: &str) -> Option<(&str, &Place)> {
        let field = self.get(key)?;
        Some((field.value.as_text()?, &field.place))
    }

    /// The same, where an empty text means absent (taskdef.md 1.7).
    pub(crate) fn filled_text(&self, key: &str) -> Option<(&str, &Place)> {
        self.text(key).filter(|(text, _)| !text.is_empty())
    }

    pub(crate) fn integer(&self, key: &str) -> Option<(i64, &Place)> {
        let field = self.get(key)?;
        if let FieldValue::Integer(number) = field.value { Some((number, &field.place)) } else { None }
    }

    pub(crate) fn boolean(&self, key: &str) -> Option<bool> {
        let field = self.get(key)?;
        if let FieldValue::Boolean(value) = field.value { Some(value) } else { None }
    }

    pub(crate) fn texts(&self, key: &str) -> &[String] {
        match self.get(key).map(|field| &field.value) {
            Some(FieldValue::Texts { texts, .. }) => texts,
            _ => &[],
        }
    }

    /// The same, each with its place.
    pub(crate) fn placed_texts(&self, key: &str) -> impl Iterator<Item = (&str, &Place)> {
        let (texts, places): (&[String], &[Place]) = match self.get(key).map(|field| &field.value) {
            Some(FieldValue::Texts { texts, places }) => (texts, places),
            _ => (&[], &[]),
        };
        texts.iter().map(String::as_str).zip(places)
    }

    /// Elements of a list of objects.
    pub(crate) fn list(&self, key: &str) -> &[Self] {
        match self.get(key).map(|field| &field.value) {
            Some(FieldValue::List(items)) => items,
            _ => &[],
        }
    }

    /// Entries of a map, in file order, each with the place of its value.
    pub(crate) fn map(&self, key: &str) -> impl Iterator<Item = (&str, &str, &Place)> {
        let entries: &[(String, Self)] = match self.get(key).map(|field| &field.value) {
            Some(FieldValue::Map(entries)) => entries,
            _ => &[],
        };
        entries.iter().filter_map(|(key, field)| Some((key.as_str(), field.value.as_text()?, &field.place)))
    }

    /// Whole numbers of a list, each with its place.
    pub(crate) fn integers(&self, key: &str) -> impl Iterator<Item = (i64, &Place)> {
        self.list(key).iter().filter_map(|field| {
            if let FieldValue::Integer(number) = field.value { Some((number, &field.place)) } else { None }
        })
    }

    /// Whether a member is present, and whole.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.get(key).is_some() && !self.is_broken(key)
    }

    /// Members of an object.
    pub(crate) fn members(&self) -> &[(&'static str, Self)] {
        if let FieldValue::Object(members) = &self.value { members } else { &[] }
    }

    /// Whether there is a finding on this member already.
    pub(crate) fn is_broken(&self, key: &str) -> bool {
        self.get(key).is_some_and(|field| matches!(field.value, FieldValue::Broken))
    }
}
