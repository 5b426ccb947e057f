//! `lighterman validate`: checking definitions without running anything.

use std::path::{Path, PathBuf};

use lighterman_config::ExitCode;
use lighterman_taskdef::Finding;
use serde_json::{Value, json};

use crate::definition::{Definition, DefinitionError};

/// What was found in one file.
#[derive(Debug)]
pub struct Checked {
    /// The file as it was named.
    pub file: PathBuf,
    /// Why it is refused; empty when it is not.
    pub errors: Vec<String>,
    /// What a person should know.
    pub warnings: Vec<String>,
    findings: Vec<Value>,
    digest: Option<String>,
}

impl Checked {
    /// One JSON object: file, whether it is accepted, digest, findings.
    #[must_use]
    pub fn to_json(&self) -> String {
        json!({
            "file": self.file.display().to_string(),
            "accepted": self.errors.is_empty(),
            "definition": self.digest,
            "findings": self.findings,
        })
        .to_string()
    }

    /// A file that there is no definition of.
    pub(crate) fn refused(file: &Path, error: DefinitionError) -> Self {
        match error {
            DefinitionError::Refused(findings) => Self::of(file, &findings.errors, &findings.warnings),
            DefinitionError::Unreadable { .. } => Self::of(file, &[], &[]).with_error(error.to_string()),
        }
    }

    /// A definition whose containers cannot be brought into an order.
    pub(crate) fn disordered(file: &Path, definition: &Definition, problems: &[String]) -> Self {
        let in_file = |problem: &String| format!("{}: error: {problem}", file.display());
        let checked = Self::of(file, &[], &definition.warnings.warnings);
        problems.iter().map(in_file).fold(checked, Self::with_error)
    }

    fn with_error(mut self, text: String) -> Self {
        self.findings.push(entry("error", &text, &text, None));
        self.errors.push(text);
        self
    }

    fn of(file: &Path, errors: &[Finding], warnings: &[Finding]) -> Self {
        let json_of = |level, list: &[Finding]| list.iter().map(|f| finding(level, f)).collect::<Vec<_>>();
        let texts = |list: &[Finding]| list.iter().map(ToString::to_string).collect();
        Self {
            file: file.into(),
            errors: texts(errors),
            warnings: texts(warnings),
            findings: [json_of("error", errors), json_of("warning", warnings)].concat(),
            digest: None,
        }
    }
}

/// Checks every file; the code says whether all are accepted.
#[must_use]
pub fn validate(files: &[PathBuf]) -> (Vec<Checked>, ExitCode) {
    let checked: Vec<Checked> = files.iter().map(|file| check(file)).collect();
    let accepted = checked.iter().all(|checked| checked.errors.is_empty());
    (checked, if accepted { ExitCode::SUCCESS } else { ExitCode::Refused })
}

fn check(file: &Path) -> Checked {
    let definition = match Definition::load(file) {
        Ok(definition) => definition,
        Err(error) => return Checked::refused(file, error),
    };
    match definition.admit() {
        Ok(_) => {
            let digest = Some(definition.digest.to_string());
            Checked { digest, ..Checked::of(file, &[], &definition.warnings.warnings) }
        }
        Err(problems) => Checked::disordered(file, &definition, &problems),
    }
}

fn finding(level: &str, finding: &Finding) -> Value {
    entry(level, &finding.message, &finding.to_string(), Some(finding))
}

/// Every field is always there (`docs/json-events.md`); a file that cannot be read has no place in it.
fn entry(level: &str, message: &str, text: &str, place: Option<&Finding>) -> Value {
    json!({
        "level": level,
        "rule": place.map(|finding| finding.rule.to_string()),
        "message": message,
        "path": place.and_then(|finding| finding.path.as_deref()),
        "line": place.map(|finding| finding.line),
        "column": place.map(|finding| finding.column),
        "text": text,
    })
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, path::Path};

    use super::*;

    const PAGE: &str = include_str!("../../../docs/json-events.md");

    fn keys(value: &Value) -> BTreeSet<&str> {
        value.as_object().expect("an object").keys().map(String::as_str).collect()
    }

    #[test]
    fn the_page_lists_the_fields_of_validate_also_of_a_file_that_cannot_be_read() {
        let checked: Value = serde_json::from_str(&check(Path::new("/no/such/file.json")).to_json()).unwrap();
        let unreadable = &checked["findings"][0];
        let refused = lighterman_taskdef::read("t.json", b"{}").unwrap_err();
        assert_eq!(keys(unreadable), keys(&finding("error", &refused.errors[0])));
        assert!(unreadable["line"].is_null() && unreadable["text"].is_string(), "{unreadable}");
        let section = PAGE.split("## `validate --json`").nth(1).and_then(|rest| rest.split("\n## ").next()).unwrap();
        let listed = section.lines().filter_map(|line| line.strip_prefix("- `")?.split('`').next());
        assert_eq!(listed.collect::<BTreeSet<_>>(), &keys(&checked) | &keys(unreadable));
    }
}
