//! The way from text to definition: parse, recognise the shape, hold against the field table,
//! build, check the rules, and at last refuse what is not built.

use alloc::{format, string::String};

use crate::{
    TaskDefinition, build, canonical, conform,
    fields::{Levels, TASK_FIELDS},
    finding::{Collector, Findings, Place, allowed},
    json,
    limits::MAX_TEXT,
    node::Node,
    rules,
    shape::{self, Shape},
    support,
};

/// A definition that was read without an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// What is to run.
    pub definition: TaskDefinition,
    /// What the user wrote, as one text for every spelling of it: sorted keys, no `null`, no blanks.
    ///
    /// The digest of a definition is taken from this, so that a version that knows one more field
    /// or another default finds the same digest for the same file (B-099). Holds environment values.
    pub canonical_text: String,
    /// In which form it was written.
    pub shape: Shape,
    /// No errors; the warnings in document order.
    pub warnings: Findings,
}

/// For whom is read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A person wrote it: everything is checked.
    File,
    /// We wrote it: it only has to be readable.
    Stored,
}

pub(crate) fn stored(source: &str, text: &str, levels: Levels) -> Result<Reading, Findings> {
    let mut findings = Collector::default();
    let root = within_limit(text.len(), &mut findings).then(|| json::parse(text, 0, &mut findings)).flatten();
    finish(source, text, root, Purpose::Stored, levels, findings)
}

/// V1: the limit on text.
pub(crate) fn within_limit(bytes: usize, findings: &mut Collector) -> bool {
    if bytes > MAX_TEXT {
        let advice = allowed(format!("up to {MAX_TEXT}"));
        findings.error(1, &Place::offset(0), format!("{bytes} bytes of text"), advice);
    }
    bytes <= MAX_TEXT
}

/// Everything behind the parser.
pub(crate) fn finish(
    source: &str,
    text: &str,
    root: Option<Node>,
    purpose: Purpose,
    levels: Levels,
    mut findings: Collector,
) -> Result<Reading, Findings> {
    let shaped = root.and_then(|root| shape::recognise(root, source, &mut findings));
    let read = shaped.map(|shaped| {
        let canonical_text = canonical::text(&shaped.task);
        let members = shaped.task.members().unwrap_or(&[]);
        let root = conform::object(members, TASK_FIELDS, &shaped.place, &mut findings);
        let definition = build::task(&root, shaped.shape, &mut findings);
        if purpose == Purpose::File {
            rules::check(&root, &definition, shaped.shape, &canonical_text, &mut findings);
            support::several_containers(&root, levels, &mut findings);
        }
        support::fields(&root, TASK_FIELDS, levels, &mut findings);
        (definition, canonical_text, shaped.shape)
    });
    let refused = findings.has_errors();
    let findings = findings.finish(source, text);
    match read {
        Some((definition, canonical_text, shape)) if !refused => {
            Ok(Reading { definition, canonical_text, shape, warnings: findings })
        }
        _ => Err(findings),
    }
}
