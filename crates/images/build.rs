//! Compiles the pause program by calling the compiler directly, so that no profile of the workspace
//! reaches it (crates.md §5). The result is `OUT_DIR/pause`.

use std::{
    env,
    error::Error,
    path::{Path, PathBuf},
    process::Command,
};

const SOURCE: &str = "../../bin/pause/pause.rs";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={SOURCE}");
    let output = PathBuf::from(env::var("OUT_DIR")?).join("pause");
    let status = compiler(&output)?.status()?;
    if !status.success() {
        return Err(format!("compiling {SOURCE} failed: {status}").into());
    }
    Ok(())
}

fn compiler(output: &Path) -> Result<Command, Box<dyn Error>> {
    let mut command = Command::new(env::var_os("RUSTC").ok_or("cargo names no compiler")?);
    command.args(["--edition=2024", "--crate-name=pause", "--crate-type=bin", "-Dwarnings"]);
    command.arg(format!("--target={}", env::var("TARGET")?));
    // A stripped program of one segment of text at a fixed address, without tables for unwinding.
    for option in [
        "opt-level=s",
        "panic=abort",
        "codegen-units=1",
        "relocation-model=static",
        "force-unwind-tables=no",
        "strip=symbols",
    ] {
        command.arg(format!("-C{option}"));
    }
    // No libc and no start files; no page is padded, and no id varies with the linker.
    for option in ["-nostartfiles", "-nostdlib", "-static", "-Wl,-z,noseparate-code", "-Wl,--build-id=none"] {
        command.arg(format!("-Clink-arg={option}"));
    }
    if let Some(linker) = env::var_os("RUSTC_LINKER") {
        command.arg("-C").arg(format!("linker={}", linker.to_string_lossy()));
    }
    command.arg("-o").arg(output).arg(SOURCE);
    Ok(command)
}
