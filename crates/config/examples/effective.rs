//! Prints the settings in effect for the environment of this process.
#![expect(clippy::print_stdout, reason = "an example shows its result")]

use std::process::ExitCode;

use lighterman_config::{Effective, Environment};

fn main() -> ExitCode {
    match Effective::load(&Environment::new(std::env::vars_os())) {
        Ok(effective) => {
            for row in &effective.rows {
                println!("{:<32} {:<8} {:<24} {}", row.key, row.value, row.source.to_string(), row.about);
            }
            for warning in &effective.warnings {
                println!("warning: {warning}");
            }
            ExitCode::SUCCESS
        }
        Err(errors) => {
            for error in &errors {
                println!("error: {error}");
            }
            lighterman_config::ExitCode::OwnError.into()
        }
    }
}
