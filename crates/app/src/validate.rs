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
        self.findings.push(json!({ "level": "error", "message": text }));
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
    json!({
        "level": level,
        "rule": finding.rule.to_string(),
        "message": finding.message,
        "path": finding.path,
        "line": finding.line,
        "column": finding.column,
        "text": finding.to_string(),
    })
}
