//! CHANGELOG.md in the manner of Keep a Changelog.

use std::path::Path;

use crate::finding::Finding;

const KINDS: &[&str] = &["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"];

pub(super) fn check(text: &str) -> Vec<Finding> {
    let mut checker = Checker::default();
    for (index, line) in text.lines().enumerate() {
        checker.line(index + 1, line);
    }
    checker.end_of_kind();
    if checker.releases == 0 {
        checker.find(1, "there is no `## [Unreleased]`");
    }
    checker.findings
}

#[derive(Default)]
struct Checker {
    releases: usize,
    /// Kinds of the release that is being read.
    kinds: Vec<String>,
    /// Line of the last `###`, and whether an entry stood below it.
    open_kind: Option<(usize, bool)>,
    findings: Vec<Finding>,
}

impl Checker {
    fn line(&mut self, number: usize, line: &str) {
        if number == 1 && line != "# Changelog" {
            self.find(number, "the first line is `# Changelog`");
        }
        if let Some(release) = line.strip_prefix("## ") {
            self.end_of_kind();
            self.release(number, release);
        } else if let Some(kind) = line.strip_prefix("### ") {
            self.end_of_kind();
            self.kind(number, kind);
        } else if line.starts_with("- ")
            && let Some((_, has_entry)) = &mut self.open_kind
        {
            *has_entry = true;
        }
    }

    fn release(&mut self, number: usize, release: &str) {
        let is_first = self.releases == 0;
        if is_first && release != "[Unreleased]" {
            self.find(number, "the first release is `## [Unreleased]`");
        }
        if !is_first && !is_dated(release) {
            self.find(number, "a release is `## [1.2.3] - 2030-12-31`");
        }
        self.releases += 1;
        self.kinds.clear();
    }

    fn kind(&mut self, number: usize, kind: &str) {
        if self.releases == 0 {
            self.find(number, "a kind of change stands under a release");
        }
        if !KINDS.contains(&kind) {
            self.find(number, &format!("`{kind}` is none of {}", KINDS.join(", ")));
        }
        if self.kinds.iter().any(|known| known == kind) {
            self.find(number, &format!("`{kind}` stands there twice"));
        }
        self.kinds.push(kind.to_owned());
        self.open_kind = Some((number, false));
    }

    fn end_of_kind(&mut self) {
        if let Some((number, false)) = self.open_kind.take() {
            self.find(number, "no entry below this heading");
        }
    }

    fn find(&mut self, line: usize, text: &str) {
        self.findings.push(Finding::at(Path::new("CHANGELOG.md"), line, "changelog", text));
    }
}

/// `[1.2.3] - 2030-12-31`.
fn is_dated(release: &str) -> bool {
    let Some((version, date)) = release.split_once(" - ") else { return false };
    let Some(version) = version.strip_prefix('[').and_then(|version| version.strip_suffix(']')) else { return false };
    are_numbers(version, '.', &[]) && are_numbers(date, '-', &[4, 2, 2])
}

/// Three numbers; with as many digits as `widths` says, if it does.
fn are_numbers(text: &str, separator: char, widths: &[usize]) -> bool {
    let numbers: Vec<&str> = text.split(separator).collect();
    let are_digits =
        numbers.iter().all(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()));
    numbers.len() == 3 && are_digits && widths.iter().zip(&numbers).all(|(width, number)| number.len() == *width)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "# Changelog\n\nText.\n\n## [Unreleased]\n\n### Added\n\n- One.\n\n### Fixed\n\n- Two.\n\n\
                        ## [0.1.0] - 2030-12-31\n\n### Added\n\n- Three.\n";

    #[test]
    fn a_good_changelog_passes() {
        assert_eq!(check(GOOD), []);
        assert_eq!(check("# Changelog\n\n## [Unreleased]\n"), []);
    }

    #[test]
    fn planted_faults_are_found_one_by_one() {
        let faults = [
            ("# Changelog\n", "# Changes\n", "first line"),
            ("## [Unreleased]", "## [0.2.0] - 2031-01-01", "first release"),
            ("## [0.1.0] - 2030-12-31", "## 0.1.0", "a release is"),
            ("## [0.1.0] - 2030-12-31", "## [0.1] - 2030-12-31", "a release is"),
            ("## [0.1.0] - 2030-12-31", "## [0.1.0] - 31-12-2030", "a release is"),
            ("### Fixed", "### Mended", "none of"),
            ("### Fixed", "### Added", "twice"),
            ("- Two.\n", "", "no entry"),
            ("- Three.\n", "", "no entry"),
            ("Text.\n", "### Added\n\n- Zero.\n", "under a release"),
        ];
        for (good, bad, expected) in faults {
            let findings = check(&GOOD.replacen(good, bad, 1));
            assert!(matches!(&findings[..], [finding] if finding.text.contains(expected)), "{bad}: {findings:?}");
        }
        assert_eq!(check("# Changelog\n").len(), 1);
    }
}
