//! Steps that start children, each of them this program again.

use std::{
    env,
    os::unix::process::ExitStatusExt,
    process::{Child, Command, ExitStatus},
    time::Duration,
};

use crate::{
    Failure,
    act::{print, print_line},
};

fn this_program(words: &[&str]) -> Result<Command, Failure> {
    let mut command = Command::new(env::current_exe().map_err(Failure::to("find this program"))?);
    command.args(words);
    Ok(command)
}

/// The child offers itself to the kernel first, then allocates.
pub(crate) fn allocate(mib: u32) -> Result<(), Failure> {
    let words = ["put", "/proc/self/oom_score_adj", "1000", "+", "alloc", &mib.to_string()];
    let status = this_program(&words)?.status().map_err(Failure::to("start a child"))?;
    print_line(format!("child {}", in_words(status)).as_ref())
}

fn in_words(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exited {code}"),
        (None, Some(signal)) => format!("killed by signal {signal}"),
        (None, None) => format!("ended otherwise: {status}"),
    }
}

/// Children that sleep.
pub(crate) struct Sleepers(Vec<Child>);

pub(crate) fn start(count: u32, time: Duration) -> Result<Sleepers, Failure> {
    let seconds = format!("{}.{:09}", time.as_secs(), time.subsec_nanos());
    let mut sleepers = Sleepers(Vec::new());
    for number in 1..=count {
        match this_program(&["sleep", &seconds])?.spawn() {
            Ok(child) => sleepers.0.push(child),
            Err(error) => {
                sleepers.kill()?;
                return Err(Failure::to(format!("start child {number} of {count}"))(error));
            }
        }
    }
    print(format!("started {count}\n").as_bytes())?;
    Ok(sleepers)
}

impl Sleepers {
    /// Waits for all to end, however they do.
    pub(crate) fn wait(self) -> Result<(), Failure> {
        for mut child in self.0 {
            child.wait().map_err(Failure::to("wait for a child"))?;
        }
        Ok(())
    }

    /// Lets them be.
    pub(crate) fn leave(self) {
        drop(self.0);
    }

    fn kill(mut self) -> Result<(), Failure> {
        for child in &mut self.0 {
            child.kill().map_err(Failure::to("kill a child"))?;
        }
        self.wait()
    }
}
