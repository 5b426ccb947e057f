//! Environment variables of a container.

use alloc::{
    collections::{BTreeMap, btree_map},
    string::String,
};
use core::{fmt, ops::Deref};

/// Environment variables by name. People keep passwords in them, so `Debug` shows names only (B-053).
///
/// ```
/// use lighterman_calls::Environment;
///
/// let env: Environment = [("PASSWORD".to_string(), "hunter2".to_string())].into_iter().collect();
/// assert_eq!(format!("{env:?}"), r#"{"PASSWORD"}"#);
/// assert_eq!(env["PASSWORD"], "hunter2");
/// ```
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Environment(BTreeMap<String, String>);

impl Environment {
    /// No variables.
    #[must_use]
    pub const fn new() -> Self {
        Self(BTreeMap::new())
    }
}

impl Deref for Environment {
    type Target = BTreeMap<String, String>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl From<BTreeMap<String, String>> for Environment {
    fn from(values: BTreeMap<String, String>) -> Self {
        Self(values)
    }
}

impl FromIterator<(String, String)> for Environment {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(values: I) -> Self {
        Self(values.into_iter().collect())
    }
}

impl IntoIterator for Environment {
    type Item = (String, String);
    type IntoIter = btree_map::IntoIter<String, String>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
