//! The order of dependencies in manifests: ours first, then the others, each in alphabetical order.

use std::path::Path;

use crate::finding::Finding;

/// Tables whose keys are kept in order.
const SORTED: &[&str] = &["[dependencies]", "[dev-dependencies]", "[build-dependencies]", "[workspace.dependencies]"];

/// One finding for each key that stands too late.
pub(super) fn check(path: &Path, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut table = None;
    let mut previous = "";
    for (index, line) in text.lines().enumerate() {
        if line.starts_with('[') {
            table = sorted_table(line);
            previous = "";
        } else if let (Some(table), Some(key)) = (table, key_of(line)) {
            if rank(key) < rank(previous) {
                let text = format!("{table}: `{key}` stands after `{previous}`: run `cargo xtask tidy --write`");
                findings.push(Finding::at(path, index + 1, "sorted-manifest", text));
            }
            previous = key;
        }
    }
    findings
}

/// The text with its tables in order. Entries are moved within a paragraph only, comments with the entry below them.
pub(super) fn sort(text: &str) -> String {
    let mut sorted = String::with_capacity(text.len());
    let mut paragraph = Paragraph::default();
    let mut in_table = false;
    for line in text.split_inclusive('\n') {
        let ends_paragraph = line.trim().is_empty() || line.starts_with('[');
        if ends_paragraph || !in_table {
            paragraph.flush(&mut sorted);
            sorted.push_str(line);
        } else {
            paragraph.add(line);
        }
        if line.starts_with('[') {
            in_table = sorted_table(line).is_some();
        }
    }
    paragraph.flush(&mut sorted);
    sorted
}

/// Entries between two blank lines.
#[derive(Default)]
struct Paragraph<'a> {
    /// Key and lines of each entry.
    entries: Vec<(&'a str, String)>,
    /// Comments that wait for the entry below them.
    pending: String,
}

impl<'a> Paragraph<'a> {
    fn add(&mut self, line: &'a str) {
        match (key_of(line), self.entries.last_mut()) {
            (Some(key), _) => {
                let lines = std::mem::take(&mut self.pending) + line;
                self.entries.push((key, lines));
            }
            (None, Some((_, lines))) if !line.starts_with('#') => lines.push_str(line),
            (None, _) => self.pending.push_str(line),
        }
    }

    fn flush(&mut self, sorted: &mut String) {
        self.entries.sort_by(|(a, _), (b, _)| rank(a).cmp(&rank(b)));
        for (_, lines) in self.entries.drain(..) {
            sorted.push_str(&lines);
        }
        sorted.push_str(&std::mem::take(&mut self.pending));
    }
}

fn sorted_table(line: &str) -> Option<&'static str> {
    SORTED.iter().copied().find(|table| line.trim_end() == *table)
}

fn key_of(line: &str) -> Option<&str> {
    let begins = line.starts_with(|c: char| c.is_ascii_alphanumeric());
    begins.then(|| line.split(['.', '=', ' ']).next()).flatten()
}

/// The empty name stands before all others.
fn rank(name: &str) -> (u8, &str) {
    match name {
        "" => (0, name),
        ours if ours.starts_with("lighterman") => (1, name),
        _ => (2, name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIXED: &str = "[package]\nname = \"b\"\nauthor = \"a\"\n\n[dependencies]\n# For z.\nzip = [\n    \"y\",\n    \"x\",\n]\n\
                         bytes.workspace = true\nlighterman-view.workspace = true\nlighterman-ids.workspace = true\n\n\
                         [dev-dependencies]\ninsta = { workspace = true }\n# The last word.\n";

    const SORTED_TEXT: &str = "[package]\nname = \"b\"\nauthor = \"a\"\n\n[dependencies]\nlighterman-ids.workspace = true\n\
                               lighterman-view.workspace = true\nbytes.workspace = true\n# For z.\nzip = [\n    \"y\",\n    \
                               \"x\",\n]\n\n[dev-dependencies]\ninsta = { workspace = true }\n# The last word.\n";

    #[test]
    fn what_stands_too_late_is_found() {
        let found = check(Path::new("Cargo.toml"), MIXED);
        let lines: Vec<String> = found.iter().map(|finding| finding.to_string()).collect();
        assert_eq!(lines.len(), 3, "{lines:?}");
        assert!(lines[0].contains("Cargo.toml:11: [dependencies]: `bytes` stands after `zip`"), "{lines:?}");
    }

    #[test]
    fn sorting_mends_it_and_changes_nothing_more() {
        assert_eq!(sort(MIXED), SORTED_TEXT);
        assert_eq!(sort(SORTED_TEXT), SORTED_TEXT);
        assert_eq!(check(Path::new("Cargo.toml"), SORTED_TEXT), []);
    }

    #[test]
    fn paragraphs_stay_where_they_are() {
        let text = "[workspace.dependencies]\nlighterman-b = 1\nlighterman-a = 1\n\nz = 1\na = 1\n";
        let expected = "[workspace.dependencies]\nlighterman-a = 1\nlighterman-b = 1\n\na = 1\nz = 1\n";
        assert_eq!(sort(text), expected);
    }
}
