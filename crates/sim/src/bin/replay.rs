//! `replay FILE`: steps through the log of a run, and tells whether the same run is the same now.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for people")]

use std::{
    fs,
    io::{BufRead, IsTerminal, stdin},
    path::PathBuf,
    process::ExitCode,
};

use clap::Parser;
use lighterman_sim::logbook;

#[derive(Debug, Parser)]
#[command(about = "Steps through a recorded run of the simulation, and runs it again to compare")]
struct Args {
    /// The log.
    file: PathBuf,
    /// Show only lines with this word.
    #[arg(long)]
    only: Option<String>,
    /// Wait for the return key after each step.
    #[arg(long)]
    step: bool,
}

fn main() -> ExitCode {
    let args = Args::parse();
    std::panic::set_hook(Box::new(|_| {}));
    let text = match fs::read_to_string(&args.file) {
        Ok(text) => text,
        Err(error) => {
            eprintln!("cannot read {}: {error}", args.file.display());
            return ExitCode::from(2);
        }
    };
    let Ok(replay) = logbook::replay(&text) else {
        eprintln!("{} is no log of a simulation of this version", args.file.display());
        return ExitCode::from(2);
    };
    let stepping = args.step && stdin().is_terminal();
    let mut keys = stdin().lock().lines();
    for (nth, step) in replay.steps.iter().enumerate() {
        if args.only.as_ref().is_none_or(|word| step.contains(word.as_str())) {
            println!("{:>5}  {step}", nth + 1);
            if stepping && keys.next().is_none() {
                break;
            }
        }
    }
    match replay.difference {
        None => {
            println!("the run is the same now");
            ExitCode::SUCCESS
        }
        Some((nth, old, new)) => {
            println!("step {nth} is different now:\n  was {old}\n  is  {new}");
            ExitCode::from(6)
        }
    }
}
