//! What a check found: where, which rule, and what to do about it.

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

/// One violation. Checks return all they find, sorted by place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    path: PathBuf,
    /// From 1; 0 where the finding is about the file or package as a whole.
    line: usize,
    /// The rule's short name, in kebab case.
    pub(crate) rule: &'static str,
    pub(crate) text: String,
}

impl Finding {
    pub(crate) fn at(path: &Path, line: usize, rule: &'static str, text: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, rule, text: text.into() }
    }

    pub(crate) fn on(path: &Path, rule: &'static str, text: impl Into<String>) -> Self {
        Self::at(path, 0, rule, text)
    }

    pub(crate) fn is_in(&self, path: &str) -> bool {
        self.path == Path::new(path)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        write!(f, ": {} [{}]", self.text, self.rule)
    }
}

/// Prints the findings; an error if there are any.
pub(crate) fn report(mut findings: Vec<Finding>) -> Result<()> {
    findings.sort();
    findings.dedup();
    for finding in &findings {
        println!("{finding}");
    }
    match findings.len() {
        0 => Ok(()),
        1 => bail!("1 finding"),
        n => bail!("{n} findings"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_reads_as_place_text_and_rule() {
        let finding = Finding::at(Path::new("a/b.rs"), 3, "no-clock", "reads a clock");
        assert_eq!(finding.to_string(), "a/b.rs:3: reads a clock [no-clock]");
        assert_eq!(Finding::on(Path::new("a"), "r", "t").to_string(), "a: t [r]");
    }

    #[test]
    fn one_finding_fails_the_report() {
        assert!(report(Vec::new()).is_ok());
        assert!(report(vec![Finding::on(Path::new("a"), "r", "t")]).is_err());
    }
}
