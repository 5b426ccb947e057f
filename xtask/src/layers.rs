//! `cargo xtask layers`: prints the crate graph and holds it against the table of layers (ADR 0001).
//!
//! Three checks, each over data so that a test can plant a violation: [`edges`] (who depends on whom, and on which
//! foreign crates), [`closure`] (what the pure crates pull in at any depth) and [`sources`] (clocks, I/O and decisions
//! where they do not belong). The rules themselves are data in [`table`].

mod closure;
mod edges;
mod graph;
mod sources;
mod table;

use anyhow::Result;

use crate::finding::{self, Finding};
use crate::sheet::Sheet;
use crate::workspace::Workspace;

pub(crate) use graph::page;
#[cfg(test)]
pub(crate) use table::WRAPPED;

pub(crate) fn run(sheet: &mut Sheet) -> Result<()> {
    let workspace = Workspace::load()?;
    println!("{}", graph::draw(&workspace.members));
    sheet.attempt("layers", || check(&workspace));
    Ok(())
}

/// All three checks; an error if any of them finds something.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let mut findings: Vec<Finding> = edges::check(workspace);
    findings.extend(closure::check(workspace));
    findings.extend(sources::check_all(workspace)?);
    finding::report(findings)
}
