//! Logs as files: a line that says what was run, the steps, a line that says how it ended.

use crate::{
    run::{Keep, Report, run},
    scenario::{Crashes, Scenario},
};

const TITLE: &str = "lighterman simulation log 1";

/// A run as a file.
#[must_use]
pub fn write(seed: u64, crash_at: Option<u64>, report: &Report) -> String {
    let crash = crash_at.map_or_else(String::new, |at| format!(" crash-at {at}"));
    let mut text = format!("{TITLE}: seed {seed}{crash}\n");
    for line in report.lines.iter().chain([&ending(report)]) {
        text.push_str(line);
        text.push('\n');
    }
    text
}

fn ending(report: &Report) -> String {
    match &report.failed {
        Some(failed) => format!("{} s  FAILED   {}: {}", failed.at, failed.checker, failed.text.replace('\n', " ")),
        None => format!("{} s  passed", report.end),
    }
}

/// What a replay found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replay {
    /// The recorded steps, in order.
    pub steps: Vec<String>,
    /// The first step that is different now: its number from 1, as recorded, as it is now.
    pub difference: Option<(usize, String, String)>,
}

/// Why a file cannot be replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotALog;

/// Reads a log, runs the same again, and compares step by step.
///
/// # Errors
/// The text does not begin like a log of this version.
pub fn replay(text: &str) -> Result<Replay, NotALog> {
    let mut lines = text.lines();
    let (seed, crash_at) = lines.next().and_then(parse_title).ok_or(NotALog)?;
    let mut scenario = Scenario::draw(seed);
    if let Some(at) = crash_at {
        scenario.crashes = Crashes::At(at);
    }
    let report = run(scenario, Keep { log: true, stats: false });
    let steps: Vec<String> = lines.map(Into::into).collect();
    let mut again = report.lines.clone();
    again.push(ending(&report));
    Ok(Replay { difference: first_difference(&steps, &again), steps })
}

fn first_difference(recorded: &[String], again: &[String]) -> Option<(usize, String, String)> {
    let none = || "(nothing)".to_owned();
    (0..recorded.len().max(again.len())).find_map(|nth| {
        let (old, new) = (recorded.get(nth), again.get(nth));
        (old != new).then(|| (nth + 1, old.cloned().unwrap_or_else(none), new.cloned().unwrap_or_else(none)))
    })
}

fn parse_title(line: &str) -> Option<(u64, Option<u64>)> {
    let rest = line.strip_prefix(TITLE)?.strip_prefix(": seed ")?;
    match rest.split_once(" crash-at ") {
        Some((seed, at)) => Some((seed.parse().ok()?, Some(at.parse().ok()?))),
        None => Some((rest.parse().ok()?, None)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_replays_as_the_same_run_and_a_changed_line_shows() {
        let report = run(Scenario::draw(3), Keep { log: true, stats: false });
        let text = write(3, None, &report);
        assert_eq!(replay(&text).map(|replay| replay.difference), Ok(None));
        let changed = text.replacen("agent", "nobody", 1);
        let difference = replay(&changed).ok().and_then(|replay| replay.difference);
        assert!(difference.is_some_and(|(_, old, new)| old.contains("nobody") && new.contains("agent")));
        assert_eq!(replay("something else"), Err(NotALog));
    }
}
