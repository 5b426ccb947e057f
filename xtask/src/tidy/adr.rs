//! Records of decisions: numbered without gaps, one page, four headings.

use std::path::Path;

use super::TextFile;
use crate::finding::Finding;

const FOLDER: &str = "docs/adr";
const HEADINGS: &[&str] = &["## Context", "## Choice", "## Turned down", "## How we would notice that it was wrong"];

/// One page.
const MAX_LINES: usize = 100;

pub(super) fn check(files: &[TextFile]) -> Vec<Finding> {
    let mut records: Vec<&TextFile> = files.iter().filter(|file| is_record(&file.path)).collect();
    records.sort_by(|a, b| a.path.cmp(&b.path));
    let mut findings = Vec::new();
    for (index, file) in records.into_iter().enumerate() {
        let texts = check_record(file, index + 1);
        findings.extend(texts.into_iter().map(|text| Finding::on(&file.path, "adr", text)));
    }
    findings
}

fn is_record(path: &Path) -> bool {
    path.starts_with(FOLDER) && path.extension().is_some_and(|extension| extension == "md")
}

fn check_record(file: &TextFile, number: usize) -> Vec<String> {
    let mut texts = Vec::new();
    let name = file.path.file_name().unwrap_or_default().to_string_lossy();
    if !name.starts_with(&format!("{number:04}-")) {
        texts.push(format!("the next number is {number:04}"));
    }
    if !file.text.starts_with(&format!("# {number:04} ")) {
        texts.push(format!("the title is `# {number:04} …`"));
    }
    let headings: Vec<&str> = file.text.lines().filter(|line| line.starts_with("## ")).collect();
    if headings != HEADINGS {
        texts.push(format!("the headings are {}", HEADINGS.join(", ")));
    }
    let lines = file.text.lines().count();
    if lines > MAX_LINES {
        texts.push(format!("{lines} lines are more than a page ({MAX_LINES})"));
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(path: &str, number: &str) -> TextFile {
        TextFile::planted(path, &format!("# {number} Title\n\n{}\n", HEADINGS.join("\n\nText.\n\n")))
    }

    #[test]
    fn planted_faults_are_found() {
        let first = || record("docs/adr/0001-a.md", "0001");
        assert_eq!(check(&[record("docs/adr/0002-b.md", "0002"), first()]), []);
        assert_eq!(check(&[first(), record("docs/adr/0003-b.md", "0003")]).len(), 2, "a gap");
        assert_eq!(check(&[record("docs/adr/0001-a.md", "0002")]).len(), 1, "another title");
        let long = TextFile { text: first().text + &"\n".repeat(MAX_LINES), ..first() };
        assert_eq!(check(&[long]).len(), 1, "more than a page");
        let bare = TextFile { text: first().text.replace("## Turned down", "## Losers"), ..first() };
        assert_eq!(check(&[bare]).len(), 1, "a heading");
    }
}
