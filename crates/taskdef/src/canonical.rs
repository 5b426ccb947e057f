//! One text for every way of writing the same document.

use alloc::{string::String, vec::Vec};
use core::fmt::Write;

use crate::node::{Member, Node, Value};

/// Compact JSON with sorted keys and without `null`; numbers keep their source text.
///
/// It depends on the document alone, not on which fields we know or what their defaults are, so
/// that a newer version finds the same text in the same file (B-099).
pub(crate) fn text(node: &Node) -> String {
    let mut out = String::new();
    write(node, &mut out);
    out
}

fn write(node: &Node, out: &mut String) {
    match &node.value {
        Value::Null => out.push_str("null"),
        Value::Boolean(true) => out.push_str("true"),
        Value::Boolean(false) => out.push_str("false"),
        Value::Number(text) => out.push_str(text),
        Value::Text(text) | Value::Date(text) => write_text(text, out),
        Value::List(items) => {
            out.push('[');
            let present = items.iter().filter(|item| item.value != Value::Null);
            separated(present, out, write);
            out.push(']');
        }
        Value::Object(members) => {
            out.push('{');
            let mut present: Vec<&Member> = members.iter().filter(|member| member.node.value != Value::Null).collect();
            present.sort_by(|a, b| a.key.cmp(&b.key));
            separated(present.into_iter(), out, |member, out| {
                write_text(&member.key, out);
                out.push(':');
                write(&member.node, out);
            });
            out.push('}');
        }
    }
}

fn separated<T>(items: impl Iterator<Item = T>, out: &mut String, mut each: impl FnMut(T, &mut String)) {
    for (number, item) in items.enumerate() {
        if number > 0 {
            out.push(',');
        }
        each(item, out);
    }
}

/// A JSON string: only what must be escaped is.
pub(crate) fn write_text(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\0'..='\u{1f}' => {
                // Writing to a String cannot fail.
                let _infallible = write!(out, "\\u{:04x}", u32::from(c));
            }
            _ => out.push(c),
        }
    }
    out.push('"');
}
