//! A `clippy.toml` in a package replaces the root's as a whole: it has to repeat what it keeps.

use std::path::Path;

use anyhow::{Context as _, Result};
use toml::{Table, Value};

use super::TextFile;
use crate::finding::Finding;

const FILE: &str = "clippy.toml";
const BANS: &str = "disallowed-methods";

/// What the bans of the root are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Subject {
    Clock,
    Waiting,
    Spawning,
    Environment,
}

/// Packages that may leave out bans on these subjects: no others have a file of their own.
const MAY_LEAVE_OUT: &[(&str, &[Subject])] = &[
    ("bin/testbox", &[Subject::Clock, Subject::Waiting, Subject::Spawning]),
    ("crates/bench", &[Subject::Clock, Subject::Spawning]),
    ("crates/docker-tests", &[Subject::Clock, Subject::Spawning]),
    ("crates/driver", &[Subject::Clock, Subject::Waiting, Subject::Spawning]),
    ("crates/testkit", &[Subject::Clock, Subject::Spawning]),
    ("xtask", &[Subject::Clock, Subject::Spawning]),
];

pub(super) fn check(files: &[TextFile]) -> Result<Vec<Finding>> {
    let root = files.iter().find(|file| file.path == Path::new(FILE)).context("there is no clippy.toml at the root")?;
    let root = parse(root)?;
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| file.path.ends_with(FILE) && file.path != Path::new(FILE)) {
        let texts = check_package(&root, &parse(file)?, &file.path);
        findings.extend(texts.into_iter().map(|text| Finding::on(&file.path, "bans", text)));
    }
    Ok(findings)
}

fn parse(file: &TextFile) -> Result<Table> {
    file.text.parse().with_context(|| format!("cannot read {}", file.path.display()))
}

fn check_package(root: &Table, own: &Table, path: &Path) -> Vec<String> {
    let folder = path.parent().unwrap_or(path);
    let Some((_, left_out)) = MAY_LEAVE_OUT.iter().find(|(package, _)| folder == Path::new(package)) else {
        return vec!["this package has no reason to differ from the root's bans".to_owned()];
    };
    let mut texts = Vec::new();
    for (key, value) in root.iter().filter(|(key, _)| *key != BANS) {
        if own.get(key) != Some(value) {
            texts.push(format!("`{key}` differs from the root's"));
        }
    }
    for ban in bans(root) {
        let method = method(ban);
        if !left_out.contains(&subject(method)) && !bans(own).contains(ban) {
            texts.push(format!("the ban on `{method}` is not repeated"));
        }
    }
    texts
}

fn bans(config: &Table) -> &[Value] {
    config.get(BANS).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn method(ban: &Value) -> &str {
    ban.get("path").and_then(Value::as_str).unwrap_or_default()
}

/// By the method's path; what is none of the others counts as environment, which nobody may leave out.
fn subject(method: &str) -> Subject {
    if method.contains("spawn") {
        Subject::Spawning
    } else if method.contains("sleep") || method.contains("interval") {
        Subject::Waiting
    } else if method.contains("time::") {
        Subject::Clock
    } else {
        Subject::Environment
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: &str = r#"
allow-unwrap-in-tests = true
disallowed-methods = [
    { path = "std::time::Instant::now", reason = "a" },
    { path = "std::thread::sleep", reason = "b" },
    { path = "tokio::spawn", reason = "c" },
    { path = "std::env::set_var", reason = "d" },
]
"#;

    fn found(path: &str, text: &str) -> usize {
        let files = [TextFile::planted(FILE, ROOT), TextFile::planted(path, text)];
        check(&files).unwrap().len()
    }

    fn without(words: &[&str]) -> String {
        ROOT.lines().filter(|line| !words.iter().any(|word| line.contains(word))).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_package_may_leave_out_its_own_subjects_only() {
        assert_eq!(found("crates/driver/clippy.toml", &without(&["Instant", "sleep", "spawn"])), 0);
        assert_eq!(found("crates/testkit/clippy.toml", &without(&["Instant", "spawn"])), 0);
        assert_eq!(found("crates/testkit/clippy.toml", &without(&["Instant", "sleep", "spawn"])), 1);
        assert_eq!(found("crates/driver/clippy.toml", &without(&["set_var"])), 1);
        assert_eq!(found("crates/driver/clippy.toml", &without(&["allow-unwrap"])), 1);
        assert_eq!(found("crates/engine/clippy.toml", ROOT), 1);
    }

    #[test]
    fn the_root_needs_a_file() {
        assert!(check(&[]).is_err());
    }
}
