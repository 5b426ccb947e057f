//! Doing one step.

use std::{
    env, fs,
    hint::black_box,
    io::{self, ErrorKind, Write},
    os::unix::ffi::OsStrExt,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use lighterman_testbox::{Command, Writing};

use crate::{Failure, children, http};

/// What follows a step that did not fail.
pub(crate) enum Then {
    /// The next step, or the end with 0.
    Next,
    /// The end, with this exit code.
    End(u8),
}

pub(crate) fn act(step: &Command) -> Result<Then, Failure> {
    match step {
        Command::Exit { code } => return Ok(Then::End(*code)),
        Command::Healthy { path } => return healthy(path),
        Command::Sleep { time } | Command::IgnoreTerm { time: Some(time) } => thread::sleep(*time),
        Command::OnTerm { .. } | Command::TermAfter { .. } | Command::IgnoreTerm { time: None } => wait_for_ever(),
        Command::Trap { .. } => {}
        Command::Serve { port, text } => http::serve(*port, text)?,
        Command::Fetch { url } => http::fetch(url)?,
        Command::Env => print_environment()?,
        Command::Pwd => print_line(env::current_dir().map_err(Failure::to("find out the directory"))?.as_os_str())?,
        Command::Print { text } => print_line(text.as_ref())?,
        Command::Eprint { text } => writeln!(io::stderr(), "{text}").map_err(Failure::to("write to standard error"))?,
        Command::Read { path } => read(path)?,
        Command::Put { path, text } => fs::write(path, text).map_err(Failure::to(format!("write {path}")))?,
        Command::Remove { path } => remove(path)?,
        Command::Flip { path, interval, times } => flip(path, *interval, *times)?,
        Command::Write(writing) => write(writing)?,
        Command::Alloc { mib, time } => allocate(*mib, *time)?,
        Command::AllocChild { mib } => children::allocate(*mib)?,
        Command::Burn { time } => burn(*time),
        Command::Fork { children, time } => children::start(*children, *time)?.wait()?,
        Command::Spawn { children, time } => children::start(*children, *time)?.leave(),
    }
    Ok(Then::Next)
}

/// Standard output, at once.
pub(crate) fn print(bytes: &[u8]) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes).and_then(|()| stdout.flush()).map_err(Failure::to("write to standard output"))
}

pub(crate) fn print_line(text: &std::ffi::OsStr) -> Result<(), Failure> {
    print(&[text.as_bytes(), b"\n"].concat())
}

fn wait_for_ever() {
    loop {
        thread::park();
    }
}

fn print_environment() -> Result<(), Failure> {
    let mut lines: Vec<_> =
        env::vars_os().map(|(name, value)| [name.as_bytes(), b"=", value.as_bytes(), b"\n"].concat()).collect();
    lines.sort_unstable();
    print(&lines.concat())
}

fn read(path: &str) -> Result<(), Failure> {
    let mut file = fs::File::open(path).map_err(Failure::to(format!("open {path}")))?;
    io::copy(&mut file, &mut io::stdout().lock()).map_err(Failure::to(format!("copy {path} to standard output")))?;
    print(b"")
}

fn healthy(path: &str) -> Result<Then, Failure> {
    let healthy = exists(path)?;
    print_line(if healthy { "healthy" } else { "unhealthy" }.as_ref())?;
    Ok(if healthy { Then::Next } else { Then::End(1) })
}

fn exists(path: &str) -> Result<bool, Failure> {
    Path::new(path).try_exists().map_err(Failure::to(format!("look for {path}")))
}

fn remove(path: &str) -> Result<(), Failure> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(Failure::to(format!("remove {path}"))(error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn flip(path: &str, interval: Duration, times: Option<u32>) -> Result<(), Failure> {
    let mut left = times;
    while left != Some(0) {
        thread::sleep(interval);
        if exists(path)? {
            remove(path)?;
        } else {
            fs::write(path, "").map_err(Failure::to(format!("create {path}")))?;
        }
        left = left.map(|left| left - 1);
    }
    Ok(())
}

/// Writes in blocks where the lines come too fast to be written one by one.
fn write(writing: &Writing) -> Result<(), Failure> {
    /// A pipe's usual capacity: more at once would only wait in pieces.
    const BLOCK: usize = 65_536;
    let begin = Instant::now();
    let (mut number, mut block) = (0, Vec::with_capacity(BLOCK));
    while let Some(due) = lines_due(writing, begin, number) {
        while number < due && (block.is_empty() || block.len() < BLOCK) {
            block.extend(writing.line(number).bytes());
            number += 1;
        }
        print(&block)?;
        block.clear();
    }
    Ok(())
}

/// How many lines must have been written when this returns, at least one more than now; `None` at the end.
///
/// Waits for the next line to be due, and at the end for the rest of the time.
fn lines_due(writing: &Writing, begin: Instant, written: u64) -> Option<u64> {
    let over = writing.time.is_some_and(|time| begin.elapsed() >= time);
    if writing.rate == 0 {
        return (!over).then_some(u64::MAX);
    }
    if writing.lines().is_some_and(|all| written >= all) {
        wait_until(begin, writing.time.unwrap_or_default());
        return None;
    }
    wait_until(begin, writing.due(written));
    let all = writing.lines().unwrap_or(u64::MAX);
    Some(writing.lines_after(begin.elapsed()).clamp(written + 1, all))
}

fn wait_until(begin: Instant, after: Duration) {
    thread::sleep(after.saturating_sub(begin.elapsed()));
}

fn allocate(mib: u32, time: Duration) -> Result<(), Failure> {
    const MIB: usize = 1 << 20;
    let what = || format!("take {mib} MiB of memory");
    let size = usize::try_from(mib).ok().and_then(|mib| mib.checked_mul(MIB));
    let size = size.ok_or_else(|| Failure::to(what())("more than can be addressed"))?;
    let mut memory = Vec::new();
    memory.try_reserve_exact(size).map_err(Failure::to(what()))?;
    memory.resize(size, 0x5a_u8);
    print_line(format!("allocated {mib} MiB").as_ref())?;
    thread::sleep(time);
    black_box(memory);
    Ok(())
}

fn burn(time: Duration) {
    let begin = Instant::now();
    let mut value = 1_u64;
    while begin.elapsed() < time {
        for _ in 0..100_000 {
            value = black_box(value.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
        }
    }
}
