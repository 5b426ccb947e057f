//! `testbox`: the test program. Its library holds the grammar, `README.md` the list of commands.

use std::{
    env,
    io::{self, Write},
    process::ExitCode,
};

use lighterman_testbox::{Command, command::USAGE, parse};

mod act;
mod children;
mod http;
mod term;

/// Exit code of words that are no program: `EX_USAGE` of sysexits.
const NOT_UNDERSTOOD: u8 = 64;

/// Exit code of a step that failed.
const FAILED: u8 = 1;

fn main() -> ExitCode {
    let words: Vec<_> = env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    match parse(&words) {
        Ok(steps) => run(&steps),
        Err(error) => {
            say_on_stderr(&format!("{error}\n{}", help()));
            NOT_UNDERSTOOD.into()
        }
    }
}

fn run(steps: &[Command]) -> ExitCode {
    let mut term = term::Term::default();
    for step in steps {
        let acted = term.follow(step.term_rule()).and_then(|()| act::act(step));
        match acted {
            Ok(act::Then::Next) => {}
            Ok(act::Then::End(code)) => return code.into(),
            Err(failure) => {
                say_on_stderr(&format!("testbox: {failure}"));
                return FAILED.into();
            }
        }
    }
    ExitCode::SUCCESS
}

fn help() -> String {
    format!("usage: testbox COMMAND [+ COMMAND]...\n  {}", USAGE.join("\n  "))
}

/// Standard error is the last resort: where it is closed, the exit code has to do.
fn say_on_stderr(text: &str) {
    writeln!(io::stderr(), "{text}").ok();
}

/// Why a step failed, in words.
#[derive(Debug)]
struct Failure(String);

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl Failure {
    /// For `map_err`: says what could not be done, and why.
    fn to<E: std::fmt::Display>(what: impl Into<String>) -> impl FnOnce(E) -> Self {
        let what = what.into();
        move |why| Self(format!("cannot {what}: {why}"))
    }
}
