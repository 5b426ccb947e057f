//! The environment as a value.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    path::PathBuf,
};

/// Variables by name. An empty value counts as not set, as everywhere in the reference (config.md 1).
///
/// Values are kept as the system has them: a home directory need not be UTF-8. A variable whose *name* is not is
/// left out; no setting has such a name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment(BTreeMap<String, OsString>);

impl Environment {
    /// Takes variables as `std::env::vars_os` gives them.
    #[must_use]
    pub fn new(variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        let named = |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value));
        Self(variables.into_iter().filter_map(named).collect())
    }

    /// Value of a variable; `None` when it is not set or empty.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.0.get(name).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }

    /// Value as text; bytes that are not UTF-8 are replaced, so that an error can show what was found.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<String> {
        self.get(name).map(|value| value.to_string_lossy().into_owned())
    }

    /// Value as an absolute path; `None` when it is not set, empty or relative.
    #[must_use]
    pub fn absolute_path(&self, name: &str) -> Option<PathBuf> {
        self.get(name).map(PathBuf::from).filter(|path| path.is_absolute())
    }

    /// Names that begin with `prefix` and have a value, in order.
    pub fn names_with_prefix<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = &'a str> {
        let names = self.0.range(prefix.to_owned()..).map(|(name, _)| name.as_str());
        names.take_while(move |name| name.starts_with(prefix)).filter(|name| self.get(name).is_some())
    }
}

impl<const N: usize> From<[(&str, &str); N]> for Environment {
    fn from(variables: [(&str, &str); N]) -> Self {
        Self::new(variables.map(|(name, value)| (name.into(), value.into())))
    }
}
