//! `cargo xtask deps`: bans, licences, sources, duplicates and unused dependencies.
//!
//! [`policy`] reads deny.toml and holds it against `cargo metadata`, so that the essential rules are checked where
//! cargo-deny is not installed; cargo-deny, which takes minutes to install, runs where it is there and knows more
//! (licence texts, advisories).

mod policy;
mod spdx;
mod unused;

use anyhow::Result;

use crate::command::Cmd;
use crate::finding;
use crate::host::Host;
use crate::sheet::Sheet;
use crate::workspace::Workspace;

/// Said wherever cargo-deny was wanted and is missing.
pub(crate) const DENY_MISSING: &str = "cargo-deny is not installed: `cargo xtask setup` installs it (minutes of CPU)";

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Look for advisories too: needs cargo-deny and its database.
    #[arg(long)]
    advisories: bool,
}

pub(crate) fn run(args: &Args, sheet: &mut Sheet) -> Result<()> {
    let workspace = Workspace::load()?;
    sheet.attempt("policy and unused", || check(&workspace));
    if Host::look().has_deny {
        sheet.attempt("cargo deny", || deny(args.advisories).run());
    } else {
        sheet.not_run("cargo deny", DENY_MISSING, args.advisories);
    }
    Ok(())
}

/// Our own reading of deny.toml, and dependencies that nothing uses; an error if anything is found.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let policy = policy::Policy::parse(&workspace.read("deny.toml")?)?;
    let mut findings = policy.check(workspace);
    findings.extend(unused::check(workspace)?);
    finding::report(findings)
}

/// cargo-deny, without network unless advisories are asked for.
pub(crate) fn deny(advisories: bool) -> Cmd {
    let command = Cmd::cargo("deny").args(["check", "bans", "licenses", "sources"]);
    if advisories { command.arg("advisories") } else { command }
}
