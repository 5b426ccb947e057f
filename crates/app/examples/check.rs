//! Checks task definitions: `cargo run -p lighterman-app --example check -- docs/demo/task.json`.
#![expect(clippy::print_stdout, reason = "an example shows its result")]

use std::path::PathBuf;

fn main() {
    let given: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let demo = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/demo/task.json").into();
    let files = if given.is_empty() { vec![demo] } else { given };
    let (checked, code) = lighterman_app::validate(&files);
    for checked in checked {
        println!("{}: {} errors, {} warnings", checked.file.display(), checked.errors.len(), checked.warnings.len());
    }
    println!("exit code {}", code.code());
}
