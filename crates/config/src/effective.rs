//! Settings read from the environment, each with its source.

use std::time::Duration;

use crate::{
    Below, DurationError, Environment, Field, Reference, RunSettings, SETTINGS, Setting, Source, format_duration,
    parse_duration, setting::PREFIX,
};

/// What is in effect, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effective {
    /// The values.
    pub settings: RunSettings,
    /// One row per setting, in the order of [`SETTINGS`].
    pub rows: Vec<Row>,
    /// What was not taken as it was written.
    pub warnings: Vec<SettingWarning>,
}

/// One setting as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its key.
    pub key: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// The value in effect, as it would be written.
    pub value: String,
    /// The value when nobody sets it.
    pub default: String,
    /// What is allowed.
    pub range: String,
    /// Where the value came from.
    pub source: Source,
}

/// A variable of ours that cannot be taken: `run` does not begin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// It is not a duration.
    #[error("{variable}: {problem}; allowed: {range}")]
    Duration {
        /// The variable.
        variable: String,
        /// What is allowed.
        range: String,
        /// What is wrong with its value.
        problem: DurationError,
    },
    /// It is not a whole number.
    #[error("{variable}: {value:?} is not a whole number; allowed: {range}")]
    Count {
        /// The variable.
        variable: String,
        /// What was found, cut to 80 characters.
        value: String,
        /// What is allowed.
        range: String,
    },
    /// It lies outside the range.
    #[error("{variable}: {value:?} is out of range; allowed: {range}")]
    OutOfRange {
        /// The variable.
        variable: String,
        /// What was found, cut to 80 characters.
        value: String,
        /// What is allowed.
        range: String,
    },
}

/// A variable that was not taken as it was written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingWarning {
    /// A variable of the reference that cannot be read; it has no effect.
    #[error("{variable}: {problem}; using {using}")]
    Unreadable {
        /// The variable.
        variable: &'static str,
        /// What is wrong with its value.
        problem: DurationError,
        /// The value in effect.
        using: String,
    },
    /// A variable of the reference below its minimum.
    #[error("{variable}: {value:?} is below the minimum; using {using}")]
    Below {
        /// The variable.
        variable: &'static str,
        /// What was found, cut to 80 characters.
        value: String,
        /// The value in effect.
        using: String,
    },
    /// A variable of the reference above our maximum.
    #[error("{variable}: {value:?} is above the maximum; using {using}")]
    Above {
        /// The variable.
        variable: &'static str,
        /// What was found, cut to 80 characters.
        value: String,
        /// The value in effect.
        using: String,
    },
    /// Our prefix, but no setting of that name.
    #[error("{variable}: there is no such setting{}", meant.as_ref().map(|name| format!("; did you mean {name}?")).unwrap_or_default())]
    Unknown {
        /// The variable.
        variable: String,
        /// The one that was probably meant.
        meant: Option<String>,
    },
}

impl Effective {
    /// Reads all settings. Nothing else than `env` is looked at.
    ///
    /// # Errors
    /// Every variable of ours that cannot be taken, together.
    pub fn load(env: &Environment) -> Result<Self, Vec<SettingError>> {
        let mut effective = Self { settings: RunSettings::RUN, rows: Vec::new(), warnings: Vec::new() };
        let mut errors = Vec::new();
        for setting in SETTINGS {
            match effective.read(setting, env) {
                Ok(source) => effective.rows.push(effective.row_of(setting, source)),
                Err(error) => errors.push(error),
            }
        }
        effective.warnings.extend(unknown(env));
        if errors.is_empty() { Ok(effective) } else { Err(errors) }
    }

    /// The row of a key.
    #[must_use]
    pub fn row(&self, key: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.key == key)
    }

    fn read(&mut self, setting: &Setting, env: &Environment) -> Result<Source, SettingError> {
        let variable = setting.variable();
        if let Some(text) = env.text(&variable) {
            set(&mut self.settings, setting.field, &variable, &text)?;
            return Ok(Source::Environment(variable));
        }
        if let Some(reference) = setting.reference
            && let Some(text) = env.text(reference.variable)
        {
            return Ok(self.read_reference(setting.field, reference, &text));
        }
        Ok(Source::Default)
    }

    fn read_reference(&mut self, field: Field, reference: Reference, text: &str) -> Source {
        let Field::Time { of, most, .. } = field else { return Source::Default };
        let slot = of(&mut self.settings);
        match clamp(reference, most, *slot, text) {
            Clamped::Taken(value) => *slot = value,
            Clamped::Adjusted(value, warning) => {
                *slot = value;
                self.warnings.push(warning);
            }
            Clamped::Ignored(warning) => {
                self.warnings.push(warning);
                return Source::Default;
            }
        }
        Source::Environment(reference.variable.into())
    }

    fn row_of(&self, setting: &Setting, source: Source) -> Row {
        Row {
            key: setting.key,
            about: setting.about,
            value: setting.field.print(&self.settings),
            default: setting.field.print(&RunSettings::RUN),
            range: setting.field.range(),
            source,
        }
    }
}

/// What the reference makes of a value (engine.md 9, E151).
enum Clamped {
    Taken(Duration),
    Adjusted(Duration, SettingWarning),
    /// The default counts.
    Ignored(SettingWarning),
}

fn clamp(reference: Reference, most: Duration, default: Duration, text: &str) -> Clamped {
    let Reference { variable, least, below } = reference;
    let value = || cut(text);
    let parsed = match parse_duration(text) {
        Ok(parsed) => parsed,
        Err(problem) => {
            return Clamped::Ignored(SettingWarning::Unreadable { variable, problem, using: format_duration(default) });
        }
    };
    // Zero means "not set" to the reference (config.md 1), and so does a value below some of the minima.
    if parsed.is_zero() || (parsed < least && below == Below::Default) {
        let using = format_duration(default);
        return Clamped::Ignored(SettingWarning::Below { variable, value: value(), using });
    }
    if parsed < least {
        return Clamped::Adjusted(
            least,
            SettingWarning::Below { variable, value: value(), using: format_duration(least) },
        );
    }
    if parsed > most {
        return Clamped::Adjusted(
            most,
            SettingWarning::Above { variable, value: value(), using: format_duration(most) },
        );
    }
    Clamped::Taken(parsed)
}

/// Sets a field from a variable of ours.
fn set(settings: &mut RunSettings, field: Field, variable: &str, text: &str) -> Result<(), SettingError> {
    let (variable, value, range) = (variable.to_owned(), cut(text), field.range());
    match field {
        Field::Time { of, least, most } => match parse_duration(text) {
            Err(problem) => Err(SettingError::Duration { variable, range, problem }),
            Ok(parsed) if parsed < least || parsed > most => Err(SettingError::OutOfRange { variable, value, range }),
            Ok(parsed) => {
                *of(settings) = parsed;
                Ok(())
            }
        },
        Field::Count { of, least, most } => match text.trim().parse() {
            Err(_) => Err(SettingError::Count { variable, value, range }),
            Ok(parsed) if parsed < least || parsed > most => Err(SettingError::OutOfRange { variable, value, range }),
            Ok(parsed) => {
                *of(settings) = parsed;
                Ok(())
            }
        },
    }
}

/// A slip of the pen must not look like a setting that was taken.
fn unknown(env: &Environment) -> Vec<SettingWarning> {
    let known: Vec<String> = SETTINGS.iter().map(Setting::variable).collect();
    let unknown = env.names_with_prefix(PREFIX).filter(|name| !known.iter().any(|known| known == name));
    unknown.map(|name| SettingWarning::Unknown { variable: cut(name), meant: nearest(name, &known) }).collect()
}

/// The known name that the fewest changes make of `name`, if few enough that it was probably meant.
fn nearest(name: &str, known: &[String]) -> Option<String> {
    const FEW: usize = 3;
    let ranked = known.iter().map(|known| (distance(name, known), known));
    ranked.filter(|(changes, _)| *changes <= FEW).min().map(|(_, known)| known.clone())
}

/// How many characters have to be put in, taken out or changed (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, right) in b.iter().enumerate() {
            let changed = diagonal + usize::from(left != *right);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

fn cut(text: &str) -> String {
    text.chars().take(80).collect()
}
