//! Tells the program which commit it is built from.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=../../.git/HEAD");
    println!("cargo:rerun-if-env-changed=LIGHTERMAN_COMMIT");
    let commit = std::env::var("LIGHTERMAN_COMMIT").ok().or_else(from_git).unwrap_or_else(|| "unknown".into());
    println!("cargo:rustc-env=LIGHTERMAN_COMMIT={commit}");
}

/// `None` outside a checkout, such as in a source archive.
fn from_git() -> Option<String> {
    let output = Command::new("git").args(["rev-parse", "--short=12", "HEAD"]).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
