//! The engine's health check of a container.

use core::time::Duration;

use lighterman_calls::{EventAction, ExitCode, HealthTest, HealthWord, HealthcheckConfig};

use crate::{
    container::{Container, Health},
    model::{Model, RunKey, Timer},
    process::{Probed, probe},
    text,
};

/// What the engine takes for a time or count of zero.
const DEFAULT_TIME: Duration = Duration::from_secs(30);
const DEFAULT_RETRIES: u32 = 3;

impl Model {
    /// A run begins, or the engine came back to one: health starts anew.
    pub(crate) fn watch_health(&mut self, key: &RunKey) {
        let now = self.clock.mono;
        let Some(container) = self.of_run(key) else { return };
        let Some(interval) = container.active_check().map(|check| or_default(check.interval)) else { return };
        container.health = Some(Health::starting(container.health.take(), now));
        self.timer(interval, Timer::Probe(key.clone()));
    }

    pub(crate) fn probe(&mut self, key: &RunKey) {
        let overhead = self.settings.latencies.probe;
        let Some(container) = self.of_run(key).filter(|container| container.is_alive()) else { return };
        let Some(check) = container.active_check().cloned() else { return };
        let probed = match container.forced_health {
            Some(code) => Probed { takes: Duration::ZERO, code, output: alloc::string::String::new() },
            None => run_probe(container, &check),
        };
        let takes = probed.takes.saturating_add(overhead);
        self.other_events(2); // exec_create, exec_start
        self.timer(takes, Timer::Probed(key.clone(), alloc::boxed::Box::new(probed)));
    }

    pub(crate) fn probed(&mut self, key: &RunKey, probed: Probed) {
        let now = self.clock.mono;
        let Some(container) = self.of_run(key).filter(|container| container.is_alive()) else { return };
        let Some(check) = container.active_check().cloned() else { return };
        let Some(health) = container.health.as_mut() else { return };
        let before = health.word.clone();
        health.output = probed.output;
        health.exit_code = Some(probed.code);
        judge(health, &check, probed.code, now.since(health.began).saturating_sub(probed.takes));
        let after = health.word.clone();
        self.other_events(1); // exec_die
        if before != after {
            self.event(&key.container, EventAction::HealthStatus(word(&after).into()));
        }
        self.timer(or_default(check.interval), Timer::Probe(key.clone()));
    }
}

/// One more probe; `age` is how long the run had lasted when it began.
fn judge(health: &mut Health, check: &HealthcheckConfig, code: ExitCode, age: Duration) {
    if code == 0 {
        health.failures = 0;
        health.word = HealthWord::Healthy;
        return;
    }
    // Failures of the start period do not count while there is no verdict yet.
    if health.word == HealthWord::Starting && age < check.start_period {
        return;
    }
    health.failures += 1;
    let retries = if check.retries == 0 { DEFAULT_RETRIES } else { check.retries };
    if health.failures >= retries {
        health.word = HealthWord::Unhealthy;
    }
}

fn run_probe(container: &mut Container, check: &HealthcheckConfig) -> Probed {
    let limit = or_default(check.timeout);
    let (program, arguments) = match &check.test {
        HealthTest::Exec { program, arguments } => (program.as_str(), arguments.as_slice()),
        // None of our images holds a shell.
        HealthTest::Shell { .. } | HealthTest::Disabled => ("/bin/sh", &[][..]),
    };
    match container.programs.get(program) {
        Some(kind) => probe(*kind, arguments, limit, &mut container.world),
        None => Probed { takes: Duration::ZERO, code: -1, output: text::missing_probe(program) },
    }
}

const fn or_default(time: Duration) -> Duration {
    if time.is_zero() { DEFAULT_TIME } else { time }
}

fn word(word: &HealthWord) -> &str {
    match word {
        HealthWord::Starting => "starting",
        HealthWord::Healthy => "healthy",
        HealthWord::Unhealthy => "unhealthy",
        HealthWord::Unrecognized(other) => other,
    }
}
