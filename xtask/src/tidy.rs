//! `cargo xtask tidy`: house rules that no compiler checks.
//!
//! Each module holds one kind of rule as a function over text, so that a test can plant a fault.

mod adr;
mod bans;
mod changelog;
mod examples;
mod fields;
mod generated;
mod manifests;
mod order;
mod sources;
mod words;

use std::path::PathBuf;

use anyhow::Result;

use crate::command::Cmd;
use crate::finding::{self, Finding};
use crate::sheet::Sheet;
use crate::workspace::{Workspace, read};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Sort the manifests and write the generated pages before the check.
    #[arg(long)]
    write: bool,
}

/// A text file of the project, by its path from the root.
#[derive(Debug)]
struct TextFile {
    path: PathBuf,
    text: String,
}

pub(crate) fn run(args: &Args, sheet: &mut Sheet) -> Result<()> {
    let workspace = Workspace::load()?;
    if args.write {
        sheet.must("sorted manifests", || sort_manifests(&workspace))?;
        sheet.must("generated pages", || generated::write(&workspace))?;
    }
    sheet.attempt("tidy", || check(&workspace));
    Ok(())
}

/// All rules; an error if any of them finds something.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let files = text_files(workspace)?;
    let mut findings: Vec<Finding> = Vec::new();
    for file in &files {
        findings.extend(words::check(file));
        findings.extend(sources::check(file));
        findings.extend(manifests::check(file)?);
    }
    findings.extend(adr::check(&files));
    findings.extend(bans::check(&files)?);
    findings.extend(changelog::check(&workspace.read("CHANGELOG.md")?));
    findings.extend(examples::check(workspace));
    findings.extend(generated::check(workspace)?);
    finding::report(findings)
}

fn sort_manifests(workspace: &Workspace) -> Result<()> {
    for file in text_files(workspace)?.iter().filter(|file| file.path.ends_with("Cargo.toml")) {
        let sorted = order::sort(&file.text);
        if sorted != file.text {
            std::fs::write(workspace.root.join(&file.path), sorted)?;
            println!("sorted {}", file.path.display());
        }
    }
    Ok(())
}

/// What belongs to the project: tracked, or new and not ignored. Binary files are left out.
fn text_files(workspace: &Workspace) -> Result<Vec<TextFile>> {
    let listing = Cmd::new("git")
        .arg("-C")
        .arg(&workspace.root)
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .output_quietly()?;
    let mut files = Vec::new();
    for path in String::from_utf8(listing)?.split_terminator('\0').map(PathBuf::from) {
        let whole = workspace.root.join(&path);
        let is_text = whole.is_file() && !std::fs::read(&whole)?.contains(&0);
        if is_text {
            files.push(TextFile { path, text: read(&whole)? });
        }
    }
    Ok(files)
}

#[cfg(test)]
impl TextFile {
    fn planted(path: &str, text: &str) -> Self {
        Self { path: path.into(), text: text.into() }
    }
}
