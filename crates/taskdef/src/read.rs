//! Files of people: format, encoding, limits.

use alloc::format;

use crate::{
    fields::Levels,
    finding::{Collector, Findings, Place, allowed, hint},
    json,
    node::{Node, Offset},
    pipeline::{self, Purpose, Reading},
    toml_source,
};

/// Reads a task definition.
///
/// `name` is the file's name, for messages and for its suffix; `-` for standard input. `.json` and
/// `.toml` decide the format; otherwise a first `{` or `[` means JSON, everything else TOML.
///
/// # Errors
/// Everything that is wrong with it, at once, in document order; nothing may then be created.
pub fn read(name: &str, bytes: &[u8]) -> Result<Reading, Findings> {
    read_with(name, bytes, Levels::Built)
}

/// The same, for whoever does not run what is read, or runs it elsewhere.
///
/// # Errors
/// As [`read`], for these levels.
pub fn read_with(name: &str, bytes: &[u8], levels: Levels) -> Result<Reading, Findings> {
    let mut findings = Collector::default();
    if !pipeline::within_limit(bytes.len(), &mut findings) {
        return Err(findings.finish(name, ""));
    }
    let Some(text) = utf8(bytes, &mut findings) else {
        return Err(findings.finish(name, readable_start(bytes)));
    };
    let root = parse(name, text, &mut findings);
    pipeline::finish(name, text, root, Purpose::File, levels, findings)
}

fn utf8<'b>(bytes: &'b [u8], findings: &mut Collector) -> Option<&'b str> {
    match core::str::from_utf8(bytes) {
        Ok(text) => Some(text),
        Err(error) => {
            let at = error.valid_up_to();
            let place = Place::offset(Offset::try_from(at).unwrap_or(Offset::MAX));
            let byte = bytes.get(at).copied().unwrap_or_default();
            findings.error(1, &place, format!("byte 0x{byte:02X} is not UTF-8"), allowed("UTF-8"));
            None
        }
    }
}

/// What comes before the first byte that is not UTF-8.
fn readable_start(bytes: &[u8]) -> &str {
    let end = core::str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), str::len);
    bytes.get(..end).and_then(|start| core::str::from_utf8(start).ok()).unwrap_or_default()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Json,
    Toml,
}

fn parse(name: &str, text: &str, findings: &mut Collector) -> Option<Node> {
    const BYTE_ORDER_MARK: &str = "\u{feff}";
    let start = if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
    match format(name, &text[start..], findings)? {
        Format::Json => json::parse(text, start, findings),
        Format::Toml => toml_source::parse(text, start, findings),
    }
}

fn format(name: &str, text: &str, findings: &mut Collector) -> Option<Format> {
    let blank = |c: char| matches!(c, ' ' | '\t' | '\r' | '\n');
    let content = text.trim_start_matches(blank);
    let first = Place::offset(Offset::try_from(text.len() - content.len()).unwrap_or_default());
    if content.is_empty() {
        findings.error(1, &first, "the text is empty", allowed("a task definition"));
        return None;
    }
    let suffix = name.rsplit_once('.').map_or("", |(_, suffix)| suffix).to_ascii_lowercase();
    let looks_like_json = content.starts_with(['{', '[']);
    match &*suffix {
        "json" if !looks_like_json => {
            findings.error(1, &first, "named .json, but it does not begin like JSON,", allowed("\"{\" or \"[\""));
            None
        }
        // A TOML table header begins with "[" too.
        "toml" if content.starts_with('{') => {
            findings.error(1, &first, "named .toml, but it begins like JSON,", hint("name it .json"));
            None
        }
        "yaml" | "yml" | "hcl" | "tf" => {
            findings.error(1, &first, format!("\".{suffix}\" files are not read"), allowed("JSON, TOML"));
            None
        }
        "json" => Some(Format::Json),
        "toml" => Some(Format::Toml),
        _ if looks_like_json => Some(Format::Json),
        _ => Some(Format::Toml),
    }
}
