//! Shows how a container's command is read.
#![expect(clippy::print_stdout, reason = "an example shows its result")]

use lighterman_testbox::{ParseError, parse};

fn main() -> Result<(), ParseError> {
    let command = ["sleep", "0.5", "+", "put", "/tmp/healthy", "yes", "+", "on-term", "0"];
    for step in parse(&command)? {
        println!("{step:?}, SIGTERM from here on: {:?}", step.term_rule());
    }
    Ok(())
}
