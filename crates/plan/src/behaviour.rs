//! What is assumed of a container, and how the model is made to play it.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::{fmt, time::Duration};

use lighterman_calls::{CreateRequest, HealthTest};

/// Exit code of a container that SIGTERM ends: that of a program which does nothing about the signal, under a shell
/// or an init process.
const TERMINATED: u8 = 143;

/// The program of the model's image, and the file that its health check looks for.
const PROGRAM: &str = "/testbox";
const HEALTH_FILE: &str = "/healthy";

/// Longer than any plan: failures within it do not count.
const FOR_EVER: Duration = Duration::from_secs(100 * 365 * 86_400);

/// What is assumed of a container. The default: its image is there, it runs until it is stopped, and its health check,
/// where it has one, finds it well from the first probe on.
///
/// SIGTERM ends it at once with 143, whatever else is assumed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Behaviour {
    /// How it ends by itself; `None`: never. The same on every start.
    pub exit: Option<Exit>,
    /// What its health check finds; without a check it means nothing.
    pub health: HealthCourse,
    /// How long the pull of its image takes; `None`: it is there already.
    pub pull: Option<Duration>,
}

/// An end by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Exit {
    /// The exit code.
    pub code: u8,
    /// From the start on.
    pub after: Duration,
}

/// What the health check of a container finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HealthCourse {
    /// Its probes succeed from this long after the start on, and fail before.
    HealthyAfter(Duration),
    /// Every probe fails and counts: it turns UNHEALTHY.
    Unhealthy,
    /// No probe succeeds and none counts: there is never a verdict.
    Never,
}

impl Default for HealthCourse {
    fn default() -> Self {
        Self::HealthyAfter(Duration::ZERO)
    }
}

impl Behaviour {
    /// Makes the model play it: another program and another test are in the container than the definition says.
    pub(crate) fn dress(&self, request: &mut CreateRequest) {
        request.config.entrypoint = Some(Vec::from([PROGRAM.to_string()]));
        request.config.cmd = Some(self.program());
        let Some(check) = &mut request.config.healthcheck else { return };
        if check.test != HealthTest::Disabled {
            let arguments = ["healthy", HEALTH_FILE].map(ToString::to_string).into();
            check.test = HealthTest::Exec { program: PROGRAM.to_string(), arguments };
            if self.health == HealthCourse::Never {
                check.start_period = FOR_EVER;
            }
        }
    }

    /// The steps of the test program.
    fn program(&self) -> Vec<String> {
        let mut steps = Vec::from([format!("trap {TERMINATED}"), format!("remove {HEALTH_FILE}")]);
        let healthy_after = match self.health {
            HealthCourse::HealthyAfter(after) => Some(after),
            HealthCourse::Unhealthy | HealthCourse::Never => None,
        };
        let ends_first = |after: Duration| self.exit.is_some_and(|exit| exit.after < after);
        let healthy_after = healthy_after.filter(|after| !ends_first(*after));
        if let Some(after) = healthy_after {
            steps.push(sleep(after));
            steps.push(format!("put {HEALTH_FILE} 1"));
        }
        match self.exit {
            Some(exit) => {
                steps.push(sleep(exit.after.saturating_sub(healthy_after.unwrap_or_default())));
                steps.push(format!("exit {}", exit.code));
            }
            None => steps.push(format!("on-term {TERMINATED}")),
        }
        steps.join(" + ").split(' ').map(Into::into).collect()
    }

    /// The latest instant at which something happens in it that is not Docker's doing.
    pub(crate) fn lasts(&self) -> Duration {
        let health = match self.health {
            HealthCourse::HealthyAfter(after) => after,
            HealthCourse::Unhealthy | HealthCourse::Never => Duration::ZERO,
        };
        health.max(self.exit.map_or(Duration::ZERO, |exit| exit.after))
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.after {
            Duration::ZERO => write!(f, "exits with {} at once", self.code),
            after => write!(f, "exits with {} after {after:?}", self.code),
        }
    }
}

impl fmt::Display for HealthCourse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HealthyAfter(Duration::ZERO) => f.write_str("its health check succeeds"),
            Self::HealthyAfter(after) => write!(f, "its health check succeeds after {after:?}"),
            Self::Unhealthy => f.write_str("its health check fails"),
            Self::Never => f.write_str("its health check comes to no verdict"),
        }
    }
}

fn sleep(time: Duration) -> String {
    format!("sleep {}.{:09}", time.as_secs(), time.subsec_nanos())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(exit: Option<(u8, u64)>, health: HealthCourse) -> String {
        let exit = exit.map(|(code, after)| Exit { code, after: Duration::from_secs(after) });
        let words = Behaviour { exit, health, pull: None }.program();
        words.join(" ").replace("trap 143 + remove /healthy + ", "").replace(".000000000", "")
    }

    #[test]
    fn a_program_ends_and_turns_well_at_the_assumed_instants() {
        let healthy = |after| HealthCourse::HealthyAfter(Duration::from_secs(after));
        for (exit, health, expected) in [
            (None, HealthCourse::default(), "sleep 0 + put /healthy 1 + on-term 143"),
            (None, healthy(5), "sleep 5 + put /healthy 1 + on-term 143"),
            (None, HealthCourse::Unhealthy, "on-term 143"),
            (None, HealthCourse::Never, "on-term 143"),
            (Some((3, 7)), healthy(5), "sleep 5 + put /healthy 1 + sleep 2 + exit 3"),
            (Some((3, 4)), healthy(5), "sleep 4 + exit 3"),
            (Some((0, 0)), HealthCourse::Unhealthy, "sleep 0 + exit 0"),
        ] {
            assert_eq!(program(exit, health), expected);
        }
    }
}
