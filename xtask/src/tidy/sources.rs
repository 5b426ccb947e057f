//! Every source file: says what it is for, stays readable in one sitting, switches no test off.

use super::TextFile;
use crate::finding::Finding;
use crate::source::mask;

/// Above this look for the seam.
const MAX_LINES: usize = 800;

pub(super) fn check(file: &TextFile) -> Vec<Finding> {
    if file.path.extension().is_none_or(|extension| extension != "rs") {
        return Vec::new();
    }
    let mut findings = Vec::new();
    if !has_module_docs(&file.text) {
        findings.push(Finding::at(&file.path, 1, "module-docs", "begin with `//!`: what the file is for"));
    }
    let lines = file.text.lines().count();
    if lines > MAX_LINES {
        let text = format!("{lines} lines, more than {MAX_LINES}: look for the seam");
        findings.push(Finding::on(&file.path, "file-length", text));
    }
    for (index, line) in mask(&file.text).lines().enumerate() {
        if is_ignored(line) {
            let text = "no test is ignored: assert today's behaviour and mark it FIXME";
            findings.push(Finding::at(&file.path, index + 1, "ignored-test", text));
        }
    }
    findings
}

/// Whether `//!` stands before any code; inner attributes may come first.
fn has_module_docs(text: &str) -> bool {
    let mut open_brackets = 0_isize;
    for line in text.lines().map(str::trim) {
        if line.starts_with("//!") {
            return true;
        }
        let continues = open_brackets > 0;
        if !(line.is_empty() || line.starts_with("#!") || line.starts_with("// ") || continues) {
            return false;
        }
        if line.starts_with("#!") || continues {
            open_brackets += balance(line);
        }
    }
    false
}

fn balance(line: &str) -> isize {
    line.bytes().map(|byte| isize::from(byte == b'[') - isize::from(byte == b']')).sum()
}

/// `#[ignore]`, `#[ignore = ".."]` and the same behind `cfg_attr`.
fn is_ignored(masked_line: &str) -> bool {
    let squeezed: String = masked_line.chars().filter(|c| !c.is_whitespace()).collect();
    let in_cfg_attr = squeezed.contains("#[cfg_attr(") && squeezed.contains(",ignore");
    squeezed.contains("#[ignore]") || squeezed.contains("#[ignore=") || in_cfg_attr
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(path: &str, text: &str) -> Vec<&'static str> {
        check(&TextFile::planted(path, text)).into_iter().map(|finding| finding.rule).collect()
    }

    #[test]
    fn a_file_begins_with_what_it_is_for() {
        let good = [
            "//! Doc.\nfn f() {}",
            "#![no_std]\n\n//! Doc.",
            "#![expect(\n    a,\n    reason = \"x\"\n)]\n//! Doc.",
            "// A licence note.\n//! Doc.",
        ];
        for text in good {
            assert_eq!(rules("a.rs", text), [""; 0], "{text}");
        }
        for text in ["fn f() {}\n//! Doc.", "/// Doc.\nfn f() {}", "", "use a;\n"] {
            assert_eq!(rules("a.rs", text), ["module-docs"], "{text}");
        }
    }

    #[test]
    fn a_file_over_the_bound_is_found() {
        let text = |lines: usize| format!("//! Doc.\n{}", "\n".repeat(lines - 1));
        assert_eq!(rules("a.rs", &text(MAX_LINES)), [""; 0]);
        assert_eq!(rules("a.rs", &text(MAX_LINES + 1)), ["file-length"]);
        assert_eq!(rules("a.md", &text(MAX_LINES + 1)), [""; 0]);
    }

    #[test]
    fn an_ignored_test_is_found() {
        for attribute in ["#[ignore]", "#[ ignore = \"slow\" ]", "#[cfg_attr(miri, ignore)]"] {
            assert_eq!(rules("a.rs", &format!("//! Doc.\n#[test]\n{attribute}\nfn f() {{}}")), ["ignored-test"]);
        }
        assert_eq!(rules("a.rs", "//! Doc.\n// #[ignore]\nlet s = \"#[ignore]\";"), [""; 0]);
    }
}
