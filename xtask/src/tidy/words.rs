//! Words that belong to somebody's machine or to a registry, not to the project.

use super::TextFile;
use crate::finding::Finding;

const RULE: &str = "forbidden-word";

/// In two halves, so that this file does not find itself.
const FORBIDDEN: &[((&str, &str), &str)] = &[
    (("/wo", "rk/"), "a path of one machine"),
    (("/fa", "rm/"), "a path of one machine"),
    (("/tmp", "/lm"), "a path of one machine"),
    (("../sha", "red/"), "a path outside the repository"),
    (("crates", ".io"), "the host of a package registry"),
    (("deb.debian", ".org"), "the host of a package registry"),
    (("pypi", ".org"), "the host of a package registry"),
];

pub(super) fn check(file: &TextFile) -> Vec<Finding> {
    // The lock file names the registry of every package; cargo writes it.
    if file.path.ends_with("Cargo.lock") {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        for ((head, tail), what) in FORBIDDEN {
            let word = format!("{head}{tail}");
            if line.contains(&word) {
                findings.push(Finding::at(&file.path, index + 1, RULE, format!("`{word}` is {what}")));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_forbidden_word_is_found_with_its_line() {
        for ((head, tail), _) in FORBIDDEN {
            let findings = check(&TextFile::planted("docs/x.md", &format!("first\nsee {head}{tail}x\n")));
            assert_eq!(findings.len(), 1, "{head}{tail}");
            assert!(findings[0].to_string().starts_with("docs/x.md:2: "), "{}", findings[0]);
        }
        assert_eq!(check(&TextFile::planted("docs/x.md", "plain\n")), []);
    }

    #[test]
    fn the_lock_file_may_name_its_registry() {
        let (head, tail) = FORBIDDEN[4].0;
        assert_eq!(check(&TextFile::planted("Cargo.lock", &format!("registry+{head}{tail}"))), []);
    }
}
