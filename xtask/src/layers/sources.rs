//! What stands in the code of a crate and does not belong into its layer: clocks, I/O, waiting, decisions.
//!
//! Only code that ships is read: no tests, comments or literals. Exceptions are rows of [`ALLOWED`], each with its
//! reason; a row that nothing needs any more is a finding too.

use std::path::Path;

use anyhow::Result;

use super::table::Layer;
use crate::finding::Finding;
use crate::source::{SourceFile, lines_with_path, mask, parts, shipped_files, words};
use crate::workspace::{Package, Workspace};

/// Something that may not stand in the code of some layers.
struct Rule {
    name: &'static str,
    applies: fn(Layer) -> bool,
    forbids: Forbidden,
    why: &'static str,
}

enum Forbidden {
    /// Paths, matched as whole segments.
    Paths(&'static [&'static str]),
    /// Identifiers, matched whole.
    Identifiers(&'static [&'static str]),
    /// Words inside identifiers: `retry` is found in `RetryPolicy` and `max_retry`. Two words follow each other.
    Words(&'static [&'static [&'static str]]),
}

const RULES: &[Rule] = &[
    Rule {
        name: "clock",
        applies: |layer| layer.ships() && layer != Layer::Driver,
        forbids: Forbidden::Paths(&["Instant::now", "SystemTime", "UNIX_EPOCH", "std::time::Instant"]),
        why: "time is an input; only the driver reads a clock (ADR 0005)",
    },
    Rule {
        name: "waiting",
        applies: |layer| layer.ships() && !layer.is_pure() && layer != Layer::Driver,
        forbids: Forbidden::Words(&[&["sleep"], &["sleeps"], &["sleeping"]]),
        why: "deadlines belong to the core, waiting for them to the driver (ADR 0005)",
    },
    Rule {
        name: "io",
        applies: |layer| layer.is_pure() || layer == Layer::Contracts,
        forbids: Forbidden::Paths(&[
            "std::env",
            "std::fs",
            "std::io",
            "std::net",
            "std::os",
            "std::process",
            "std::thread",
            "std::time",
            "tokio",
            "println",
            "eprintln",
        ]),
        why: "this layer does no I/O (ADR 0001)",
    },
    Rule {
        name: "shared-state",
        applies: Layer::is_pure,
        forbids: Forbidden::Identifiers(&[
            "async",
            "await",
            "Cell",
            "HashMap",
            "HashSet",
            "LazyCell",
            "Mutex",
            "OnceCell",
            "RefCell",
            "RwLock",
            "UnsafeCell",
        ]),
        why: "the core is a plain value: no locks, no interior mutability, no async, ordered maps only",
    },
    Rule {
        name: "decision",
        applies: |layer| matches!(layer, Layer::Adapter | Layer::Driver),
        forbids: Forbidden::Words(&[
            &["retry"],
            &["retries"],
            &["retried"],
            &["retrying"],
            &["retryable"],
            &["backoff"],
            &["back", "off"],
        ]),
        why: "whether and when to try again is decided by the core (ADR 0004)",
    },
    Rule {
        name: "status",
        applies: |layer| matches!(layer, Layer::Adapter | Layer::Driver),
        forbids: Forbidden::Identifiers(&[
            "ContainerStatus",
            "DesiredStatus",
            "KnownStatus",
            "ResourceStatus",
            "TaskStatus",
        ]),
        why: "adapters and driver report facts; what a fact makes of a status is decided by the core",
    },
];

/// Attributes that the crate root of a pure crate carries.
const PURE_ATTRIBUTES: &[&str] =
    &["#![no_std]", "#![forbid(unsafe_code)]", "#![warn(clippy::wildcard_enum_match_arm)]"];

/// Something that a rule forbids and that is right all the same in one file, and why.
struct Allowed {
    path: &'static str,
    rule: &'static str,
    what: &'static str,
    reason: &'static str,
}

const ALLOWED: &[Allowed] = &[
    Allowed {
        path: "crates/docker/src/body.rs",
        rule: "decision",
        what: "retries",
        reason: "the field of a health check in the create request: the engine counts, not we",
    },
    Allowed {
        path: "crates/images/src/health.rs",
        rule: "decision",
        what: "retries",
        reason: "the field of a health check in an image: the engine counts, not we",
    },
];

pub(super) fn check_all(workspace: &Workspace) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for package in &workspace.members {
        if let Some(layer) = package.layer().and_then(Layer::parse) {
            findings.extend(check_package(workspace, package, layer)?);
        }
    }
    Ok(settle(findings, ALLOWED))
}

fn check_package(workspace: &Workspace, package: &Package, layer: Layer) -> Result<Vec<Finding>> {
    let dir = package.dir().join("src");
    let files = SourceFile::all(&workspace.root, &dir)?;
    let mut findings: Vec<Finding> =
        shipped_files(&files).into_iter().flat_map(|file| check_file(file, layer)).collect();
    if layer.is_pure() {
        let root = workspace.relative(&dir).join("lib.rs");
        let text = files.iter().find(|file| file.path == root).map_or("", |file| &file.text);
        findings.extend(check_attributes(&root, text));
    }
    Ok(findings)
}

fn check_file(file: &SourceFile, layer: Layer) -> Vec<Finding> {
    let code = file.shipped_code();
    let rules = RULES.iter().filter(|rule| (rule.applies)(layer));
    rules.flat_map(|rule| rule.check(&file.path, &code)).collect()
}

fn check_attributes(root: &Path, text: &str) -> Vec<Finding> {
    let code: String = mask(text).chars().filter(|c| !c.is_whitespace()).collect();
    let missing = PURE_ATTRIBUTES.iter().filter(|attribute| {
        let squeezed: String = attribute.chars().filter(|c| !c.is_whitespace()).collect();
        !code.contains(&squeezed)
    });
    missing
        .map(|attribute| Finding::on(root, "pure-attribute", format!("a pure crate begins with `{attribute}`")))
        .collect()
}

/// Takes out what is allowed, and adds the exceptions that nothing needs.
fn settle(mut findings: Vec<Finding>, allowed: &[Allowed]) -> Vec<Finding> {
    for exception in allowed {
        let before = findings.len();
        findings.retain(|finding| !exception.covers(finding));
        if findings.len() == before {
            let Allowed { rule, what, reason, .. } = exception;
            let text = format!("nothing needs the exception of `{what}` from `{rule}` any more: {reason}");
            findings.push(Finding::on(Path::new(exception.path), "stale-exception", text));
        }
    }
    findings
}

impl Allowed {
    fn covers(&self, finding: &Finding) -> bool {
        let is_about_it = finding.text.starts_with(&format!("`{}`", self.what));
        finding.rule == self.rule && finding.is_in(self.path) && is_about_it
    }
}

impl Rule {
    fn check(&self, path: &Path, code: &str) -> Vec<Finding> {
        let hits: Vec<(usize, String)> = match self.forbids {
            Forbidden::Paths(paths) => paths
                .iter()
                .flat_map(|path| lines_with_path(code, path).into_iter().map(|line| (line, (*path).to_owned())))
                .collect(),
            Forbidden::Identifiers(names) => words(code)
                .filter(|word| names.contains(&word.text))
                .map(|word| (word.line, word.text.to_owned()))
                .collect(),
            Forbidden::Words(phrases) => words(code)
                .filter(|word| phrases.iter().any(|phrase| contains(&parts(word.text), phrase)))
                .map(|word| (word.line, word.text.to_owned()))
                .collect(),
        };
        let finding =
            |(line, what): (usize, String)| Finding::at(path, line, self.name, format!("`{what}`: {}", self.why));
        hits.into_iter().map(finding).collect()
    }
}

fn contains(parts: &[String], phrase: &[&str]) -> bool {
    parts.windows(phrase.len()).any(|window| window.iter().zip(phrase).all(|(part, word)| part == word))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rules broken by this code in a crate of this layer.
    fn broken(layer: Layer, code: &str) -> Vec<&'static str> {
        let file = SourceFile { path: "crates/x/src/lib.rs".into(), text: code.into() };
        check_file(&file, layer).into_iter().map(|finding| finding.rule).collect()
    }

    #[test]
    fn planted_violations_are_found_where_they_do_not_belong() {
        let planted: &[(Layer, &str, &[&str])] = &[
            (Layer::Decisions, "let t = Instant::now();", &["clock"]),
            (Layer::Decisions, "use std::fs::File;", &["io"]),
            (Layer::Vocabulary, "let m: RefCell<u8>;", &["shared-state"]),
            (Layer::Decisions, "async fn f() {}", &["shared-state"]),
            (Layer::Decisions, "use std::collections::HashMap;", &["shared-state"]),
            (Layer::Contracts, "use std::net::TcpStream;", &["io"]),
            (Layer::Contracts, "fn f() { tokio::spawn(x) }", &["io"]),
            (Layer::Adapter, "std::time::SystemTime::now()", &["clock"]),
            (Layer::Adapter, "tokio::time::sleep(d).await", &["waiting"]),
            (Layer::Adapter, "struct RetryPolicy;", &["decision"]),
            (Layer::Adapter, "let max_retries = 3;", &["decision"]),
            (Layer::Driver, "fn back_off() {}", &["decision"]),
            (Layer::Driver, "use lighterman_backoff::Backoff;", &["decision", "decision"]),
            (Layer::Driver, "if known == ContainerStatus::Running {}", &["status"]),
            (Layer::Adapter, "fn f(s: TaskStatus) {}", &["status"]),
            (Layer::Edge, "let now = SystemTime::now();", &["clock"]),
            (Layer::Composition, "thread::sleep(d)", &["waiting"]),
        ];
        for (layer, code, rules) in planted {
            assert_eq!(broken(*layer, code), *rules, "{layer}: {code}");
        }
    }

    #[test]
    fn every_rule_has_a_planted_violation_above() {
        let seen = ["clock", "waiting", "io", "shared-state", "decision", "status"];
        let names: Vec<&str> = RULES.iter().map(|rule| rule.name).collect();
        assert_eq!(names, seen, "a new rule needs a planted violation");
    }

    #[test]
    fn what_belongs_there_is_not_found() {
        let clean: &[(Layer, &str)] = &[
            (Layer::Driver, "tokio::time::sleep_until(Instant::now())"),
            (Layer::Decisions, "fn retry_with(backoff: Backoff) {}"),
            (Layer::Decisions, "let unretryable = asleep;"),
            (Layer::Adapter, "// we never retry\nlet s = \"retry\";"),
            (Layer::Adapter, "#[cfg(test)]\nmod tests { fn f() { Instant::now(); retry(); } }"),
            (Layer::Edge, "fn show(status: TaskStatus) {}"),
            (Layer::Adapter, "tokio::time::timeout(limit, call)"),
            (Layer::Proof, "Instant::now(); thread::sleep(d)"),
        ];
        for (layer, code) in clean {
            assert_eq!(broken(*layer, code), [""; 0], "{layer}: {code}");
        }
    }

    #[test]
    fn a_pure_crate_without_its_attributes_is_found() {
        let root = Path::new("crates/x/src/lib.rs");
        let whole = "//! Doc.\n#![no_std]\n#![forbid( unsafe_code )]\n#![warn(clippy::wildcard_enum_match_arm)]\n";
        assert_eq!(check_attributes(root, whole), []);
        for attribute in PURE_ATTRIBUTES {
            let without =
                whole.replace("( unsafe_code )", "(unsafe_code)").replace(attribute, &format!("// {attribute}"));
            assert_eq!(check_attributes(root, &without).len(), 1, "{attribute}");
        }
    }

    #[test]
    fn an_exception_takes_out_its_finding_and_goes_stale_without_one() {
        let path = "crates/x/src/lib.rs";
        let exception = [Allowed { path, rule: "clock", what: "SystemTime", reason: "planted" }];
        let finding = Finding::at(Path::new(path), 3, "clock", "`SystemTime`: planted");
        let elsewhere = Finding::at(Path::new("crates/y/src/lib.rs"), 3, "clock", "`SystemTime`: planted");
        let other = Finding::at(Path::new(path), 3, "clock", "`Instant::now`: planted");
        assert_eq!(settle(vec![finding.clone(), other.clone()], &exception), [other]);
        assert_eq!(settle(vec![finding, elsewhere.clone()], &exception), std::slice::from_ref(&elsewhere));
        let stale = settle(vec![elsewhere], &exception);
        assert_eq!(stale.iter().filter(|finding| finding.rule == "stale-exception").count(), 1);
    }
}
