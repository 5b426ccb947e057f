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
const TOOLS: &[(&str, &str)] = &[
    ("cargo-deny", "`deps --advisories`, and more checks in `deps`"),
    ("cargo-nextest", "runs tests side by side; without it `ci` uses `cargo test`"),
];

/// A program that some step starts.
struct Program {
    name: &'static str,
    /// The Debian package that brings it.
    package: &'static str,
    /// What wants it.
    use_of_it: &'static str,
}

const fn program(name: &'static str, package: &'static str, use_of_it: &'static str) -> Program {
    Program { name, package, use_of_it }
}

const PROGRAMS: &[Program] = &[
    program("dockerd", "docker.io", "`demo`, `docker-tests` and `bench`: the Docker engine"),
    program("mkfs.ext4", "e2fsprogs", "tests of a full disk, as root"),
    program("losetup", "mount", "tests of a full disk, as root"),
    program("ip", "iproute2", "tests with a second engine in a network of its own, as root"),
];

/// Programs for root live here and need not be in `PATH`.
const SBIN: &[&str] = &["/usr/sbin", "/sbin"];

pub(crate) fn run(args: &Args, sheet: &mut Sheet) -> Result<()> {
    let missing: Vec<&Program> = PROGRAMS.iter().filter(|program| !is_there(program.name)).collect();
    for Program { name, package, use_of_it } in &missing {
        println!("{package} brings {name}: {use_of_it}");
    }
    let packages: Vec<&str> = missing.iter().map(|program| program.package).collect();
    let mut commands = debian(&packages, is_root(), in_path("apt-get"), sheet);
    for (tool, use_of_it) in TOOLS.iter().filter(|(tool, _)| !in_path(tool)) {
        println!("{tool}: {use_of_it}");
        commands.push((tool.to_string(), install(tool)));
    }
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
