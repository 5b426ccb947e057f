//! `cargo xtask setup`: installs what some steps want and a fresh machine does not have.

use anyhow::Result;

use crate::command::{Cmd, in_path};
use crate::host::is_root;
use crate::sheet::Sheet;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Say what would be installed, and install nothing.
    #[arg(long)]
    dry_run: bool,
}

/// A cargo tool and what it is for.
const TOOLS: &[&str] = &["cargo-deny", "cargo-nextest"];

/// A program that some step starts, and the Debian package that brings it.
const PROGRAMS: &[(&str, &str)] = &[
    ("dockerd", "docker.io"),
    ("busybox", "busybox-static"),
    ("mkfs.ext4", "e2fsprogs"),
    ("losetup", "mount"),
    ("ip", "iproute2"),
];

/// Programs for root live here and need not be in `PATH`.
const SBIN: &[&str] = &["/usr/sbin", "/sbin"];

pub(crate) fn run(args: &Args, sheet: &mut Sheet) -> Result<()> {
    let mut commands = debian(&missing_packages(is_there), is_root(), in_path("apt-get"), sheet);
    commands.extend(TOOLS.iter().filter(|tool| !in_path(tool)).map(|tool| (tool.to_string(), install(tool))));
    if commands.is_empty() {
        println!("Nothing to install.");
    }
    for (name, command) in commands {
        if args.dry_run {
            println!("would run: {}", command.line());
        } else {
            sheet.attempt(&name, || command.run());
        }
    }
    Ok(())
}

fn is_there(program: &str) -> bool {
    in_path(program) || SBIN.iter().any(|dir| std::path::Path::new(dir).join(program).is_file())
}

fn missing_packages(is_there: impl Fn(&str) -> bool) -> Vec<&'static str> {
    PROGRAMS.iter().filter(|(program, _)| !is_there(program)).map(|(_, package)| *package).collect()
}

/// The commands that install Debian's packages; noted as not run where we cannot.
fn debian(packages: &[&str], is_root: bool, has_apt: bool, sheet: &mut Sheet) -> Vec<(String, Cmd)> {
    if packages.is_empty() {
        return Vec::new();
    }
    if !(is_root && has_apt) {
        sheet.not_run(&packages.join(", "), "installing Debian packages needs root and apt-get", false);
        return Vec::new();
    }
    let install = Cmd::new("apt-get").args(["install", "--yes", "--no-install-recommends"]).args(packages);
    vec![
        ("apt-get update".to_owned(), Cmd::new("apt-get").arg("update")),
        (packages.join(", "), install.env("DEBIAN_FRONTEND", "noninteractive")),
    ]
}

fn install(tool: &str) -> Cmd {
    Cmd::cargo("install").args(["--locked", tool])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_missing_programs_bring_their_package() {
        assert_eq!(missing_packages(|_| true), [""; 0]);
        assert_eq!(missing_packages(|program| program != "mkfs.ext4"), ["e2fsprogs"]);
        assert_eq!(missing_packages(|_| false).len(), PROGRAMS.len());
    }

    #[test]
    fn debian_packages_need_root_and_apt() {
        let mut sheet = Sheet::default();
        let commands = debian(&["e2fsprogs"], true, true, &mut sheet);
        assert!(commands[1].1.line().contains("apt-get install --yes --no-install-recommends e2fsprogs"));
        for (is_root, has_apt) in [(false, true), (true, false)] {
            assert!(debian(&["e2fsprogs"], is_root, has_apt, &mut sheet).is_empty());
        }
        assert!(debian(&[], false, false, &mut sheet).is_empty());
    }
}
