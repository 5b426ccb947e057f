//! Generated pages: each is compared with what its source gives today.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use crate::finding::Finding;
use crate::layers;
use crate::settings;
use crate::tidy::fields;
use crate::workspace::Workspace;

/// A page and how it is made.
struct Page {
    path: &'static str,
    render: fn(&Workspace) -> Result<String>,
}

const PAGES: &[Page] = &[
    Page { path: "docs/crates.md", render: |workspace| Ok(layers::page(&workspace.members)) },
    Page { path: "docs/fields.md", render: |_| Ok(fields::page()) },
    Page { path: "docs/settings.md", render: |_| Ok(settings::page()) },
];

pub(super) fn check(workspace: &Workspace) -> Result<Vec<Finding>> {
    check_pages(workspace, PAGES)
}

pub(super) fn write(workspace: &Workspace) -> Result<()> {
    write_pages(workspace, PAGES)
}

fn check_pages(workspace: &Workspace, pages: &[Page]) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for page in pages {
        let file = workspace.root.join(page.path);
        let is_current = file.is_file() && workspace.read(page.path)? == (page.render)(workspace)?;
        if !is_current {
            let text = "not what its source gives today: run `cargo xtask tidy --write`";
            findings.push(Finding::on(Path::new(page.path), "generated", text));
        }
    }
    Ok(findings)
}

fn write_pages(workspace: &Workspace, pages: &[Page]) -> Result<()> {
    for page in pages {
        let file = workspace.root.join(page.path);
        fs::write(&file, (page.render)(workspace)?).with_context(|| format!("cannot write {}", file.display()))?;
        println!("wrote {}", page.path);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn a_missing_or_stale_page_is_found_and_writing_mends_it() {
        let root = std::env::temp_dir().join(format!("xtask-generated-{}", std::process::id()));
        fs::create_dir_all(&root).unwrap();
        let workspace = Workspace {
            root: root.clone(),
            target_dir: root.join("target"),
            members: Vec::new(),
            foreign: Vec::new(),
            resolved: BTreeMap::new(),
        };
        let pages = [Page { path: "page.md", render: |_| Ok("today\n".into()) }];
        assert_eq!(check_pages(&workspace, &pages).unwrap().len(), 1, "missing");
        fs::write(root.join("page.md"), "yesterday\n").unwrap();
        assert_eq!(check_pages(&workspace, &pages).unwrap().len(), 1, "stale");
        write_pages(&workspace, &pages).unwrap();
        assert_eq!(check_pages(&workspace, &pages).unwrap(), []);
        fs::remove_dir_all(&root).unwrap();
    }
}
