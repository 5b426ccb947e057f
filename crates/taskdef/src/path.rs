//! Where a value stands in the document, as people write it.

use alloc::{rc::Rc, string::String};
use core::fmt;

use crate::finding::quoted;

/// A JSON path such as `containerDefinitions[0].dockerLabels["a.b"]`; the root is `$`.
///
/// Linked towards the root, so that a list of a million objects shares one prefix.
#[derive(Clone, Debug, Default)]
pub(crate) struct Path(Option<Rc<Link>>);

#[derive(Debug)]
struct Link {
    parent: Path,
    step: Step,
}

#[derive(Debug)]
enum Step {
    Key(String),
    Index(usize),
}

impl Path {
    pub(crate) fn key(&self, key: &str) -> Self {
        self.step(Step::Key(key.into()))
    }

    pub(crate) fn index(&self, index: usize) -> Self {
        self.step(Step::Index(index))
    }

    fn step(&self, step: Step) -> Self {
        Self(Some(Rc::new(Link { parent: self.clone(), step })))
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(link) = &self.0 else { return f.write_str("$") };
        let at_root = link.parent.0.is_none();
        if !at_root {
            link.parent.fmt(f)?;
        }
        match &link.step {
            Step::Index(index) => write!(f, "[{index}]"),
            Step::Key(key) if !is_plain(key) => write!(f, "[{}]", quoted(key)),
            Step::Key(key) if at_root => f.write_str(key),
            Step::Key(key) => write!(f, ".{key}"),
        }
    }
}

fn is_plain(key: &str) -> bool {
    (1..=80).contains(&key.len()) && key.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn paths_read_as_people_write_them() {
        let container = Path::default().key("containerDefinitions").index(0);
        assert_eq!(Path::default().to_string(), "$");
        assert_eq!(container.key("memory").to_string(), "containerDefinitions[0].memory");
        assert_eq!(
            container.key("dockerLabels").key("a.b\n").to_string(),
            r#"containerDefinitions[0].dockerLabels["a.b\n"]"#
        );
        assert_eq!(Path::default().index(2).to_string(), "[2]");
    }
}
