//! What is wrong with a definition, where, and what would be right (taskdef.md 3.1).

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::{error::Error, fmt};

use crate::{limits::MAX_FINDINGS, node::Offset, path::Path};

/// A rule of taskdef.md 3.2, printed `V31`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleId(pub u8);

impl fmt::Display for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "V{}", self.0)
    }
}

/// Whether a finding stops the task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Nothing is created.
    Error,
    /// Stops only under the strict switch.
    Warning,
}

/// What to do about a finding.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Advice {
    /// What would be accepted in this place.
    Allowed(String),
    /// Anything else that helps, as an imperative.
    Hint(String),
}

/// One thing that is wrong, or was read otherwise than it is written.
///
/// Never holds environment values or other text that may be secret.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Finding {
    /// Whether it stops the task.
    pub level: Level,
    /// The rule that was broken.
    pub rule: RuleId,
    /// What is wrong, in lower case, without the place.
    pub message: String,
    /// JSON path of the original place, such as `containerDefinitions[0].memory`; `None` where the
    /// text could not be parsed.
    pub path: Option<String>,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// What would be right.
    pub advice: Option<Advice>,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.path {
            Some(path) => write!(f, "{} at {path} (line {}, column {})", self.message, self.line, self.column)?,
            None => write!(f, "{} at line {}, column {}", self.message, self.line, self.column)?,
        }
        match &self.advice {
            Some(Advice::Allowed(what)) => write!(f, "; allowed: {what}"),
            Some(Advice::Hint(what)) => write!(f, "; {what}"),
            None => Ok(()),
        }
    }
}

/// Everything that was found in one definition: errors first, each list in document order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Findings {
    /// Name of the file, as it was given.
    pub source: String,
    /// What stops the task.
    pub errors: Vec<Finding>,
    /// What does not.
    pub warnings: Vec<Finding>,
    /// How many more there are than the 100 that are kept.
    pub left_out: usize,
}

impl Findings {
    /// Errors, then warnings.
    pub fn iter(&self) -> impl Iterator<Item = &Finding> {
        self.errors.iter().chain(&self.warnings)
    }

    /// Whether nothing at all was found.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.errors.is_empty() && self.warnings.is_empty()
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, finding) in self.iter().enumerate() {
            let level = match finding.level {
                Level::Error => "error",
                Level::Warning => "warning",
            };
            let separator = if number == 0 { "" } else { "\n" };
            write!(f, "{separator}{}: {level}: {finding} [{}]", self.source, finding.rule)?;
        }
        if self.left_out > 0 {
            write!(f, "\n… and {} more", self.left_out)?;
        }
        Ok(())
    }
}

impl Error for Findings {}

/// A place in the text, before it is turned into words.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) at: Offset,
    /// `None`: the text did not parse.
    pub(crate) path: Option<Path>,
}

impl Place {
    /// A place that has no path yet.
    pub(crate) const fn offset(at: Offset) -> Self {
        Self { at, path: None }
    }

    /// A member of the object at this place that is not there: points to the object.
    pub(crate) fn missing(&self, key: &str) -> Self {
        Self { at: self.at, path: self.path.as_ref().map(|path| path.key(key)) }
    }

    /// The path as text, for messages that name a second place.
    pub(crate) fn path_text(&self) -> String {
        self.path.as_ref().map_or_else(|| "$".to_string(), ToString::to_string)
    }
}

struct Note {
    level: Level,
    rule: RuleId,
    message: String,
    place: Place,
    advice: Option<Advice>,
}

/// Kept per level while reading: what is beyond can no longer be among the 100 shown in a
/// definition that a person wrote, and hostile ones must not fill the memory.
const MAX_KEPT: usize = 1_000;

/// Collects findings in the order in which they are come upon.
#[derive(Default)]
pub(crate) struct Collector {
    errors: Vec<Note>,
    warnings: Vec<Note>,
    dropped: usize,
}

impl Collector {
    pub(crate) fn error(&mut self, rule: u8, place: &Place, message: impl Into<String>, advice: Option<Advice>) {
        self.push(Note {
            level: Level::Error,
            rule: RuleId(rule),
            message: message.into(),
            place: place.clone(),
            advice,
        });
    }

    pub(crate) fn warning(&mut self, rule: u8, place: &Place, message: impl Into<String>, advice: Option<Advice>) {
        self.push(Note {
            level: Level::Warning,
            rule: RuleId(rule),
            message: message.into(),
            place: place.clone(),
            advice,
        });
    }

    fn push(&mut self, note: Note) {
        let kept = match note.level {
            Level::Error => &mut self.errors,
            Level::Warning => &mut self.warnings,
        };
        if kept.len() < MAX_KEPT { kept.push(note) } else { self.dropped += 1 }
    }

    /// Whether a further one would not be kept.
    pub(crate) const fn is_full(&self, level: Level) -> bool {
        let kept = match level {
            Level::Error => &self.errors,
            Level::Warning => &self.warnings,
        };
        kept.len() >= MAX_KEPT
    }

    pub(crate) const fn has_errors(&self) -> bool {
        !self.errors.is_empty()
    }

    /// Sorts, cuts to the limit, and turns offsets into lines and columns of `text`.
    pub(crate) fn finish(self, source: &str, text: &str) -> Findings {
        let Self { mut errors, mut warnings, dropped } = self;
        let total = errors.len() + warnings.len() + dropped;
        // Stable: of two findings in one place the one that was come upon first stays first.
        errors.sort_by_key(|note| note.place.at);
        warnings.sort_by_key(|note| note.place.at);
        errors.truncate(MAX_FINDINGS);
        warnings.truncate(MAX_FINDINGS - errors.len());
        let left_out = total - errors.len() - warnings.len();
        let resolve = |notes: Vec<Note>| notes.into_iter().map(|note| note.resolve(text)).collect();
        Findings { source: source.to_string(), errors: resolve(errors), warnings: resolve(warnings), left_out }
    }
}

impl Note {
    fn resolve(self, text: &str) -> Finding {
        let (line, column) = line_and_column(text, self.place.at);
        Finding {
            level: self.level,
            rule: self.rule,
            message: self.message,
            path: self.place.path.map(|path| path.to_string()),
            line,
            column,
            advice: self.advice,
        }
    }
}

/// Both from 1, the column in characters.
pub(crate) fn line_and_column(text: &str, at: Offset) -> (u32, u32) {
    let before = usize::try_from(at).ok().and_then(|at| text.get(..at)).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX).saturating_add(1);
    (count(before.bytes().filter(|b| *b == b'\n').count()), count(before[line_start..].chars().count()))
}

/// `; allowed: …`.
#[expect(clippy::unnecessary_wraps, reason = "it is written where an optional advice goes")]
pub(crate) fn allowed(what: impl Into<String>) -> Option<Advice> {
    Some(Advice::Allowed(what.into()))
}

/// `; …`.
#[expect(clippy::unnecessary_wraps, reason = "it is written where an optional advice goes")]
pub(crate) fn hint(what: impl Into<String>) -> Option<Advice> {
    Some(Advice::Hint(what.into()))
}

/// The digits of a number, cut as [`quoted`] is: they may be a million.
pub(crate) fn digits(text: &str) -> String {
    match text.get(..LONGEST) {
        Some(cut) if cut.len() < text.len() => format!("{cut}…"),
        Some(_) | None => text.into(),
    }
}

/// Most characters of what was found that are shown.
const LONGEST: usize = 60;

/// Text in quotes, escaped, cut to 60 characters: what is found may be long or hold control characters.
pub(crate) fn quoted(text: &str) -> String {
    let cut: String = text.chars().take(LONGEST).collect();
    if cut.len() < text.len() { format!("{cut:?}…") } else { format!("{cut:?}") }
}
