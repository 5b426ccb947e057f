//! What the user assumes of containers.

use std::{collections::BTreeMap, time::Duration};

use lighterman_config::{DurationError, parse_duration};
use lighterman_ids::ContainerName;
use lighterman_plan::{Behaviour, Exit, HealthCourse};
use lighterman_taskdef::{ContainerDefinition, TaskDefinition};

/// What can be assumed, for messages.
const ALLOWED: &str = "exit:N, exit:N@5s, healthy:5s, unhealthy, never-healthy, pull:5s";

/// The longest time that can be assumed: what comes later is no plan but waiting.
const LONGEST: Duration = Duration::from_secs(24 * 3_600);

/// Why an assumption makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AssumptionError {
    /// It does not have the form of one.
    #[error("{text:?} is no assumption: write NAME=WHAT, such as web=exit:1@5s")]
    Form {
        /// What was found.
        text: String,
    },
    /// The definition has no such container.
    #[error("{text:?}: the definition has no container {name:?}; it has: {known}")]
    Container {
        /// What was found.
        text: String,
        /// The name.
        name: String,
        /// The names there are.
        known: String,
    },
    /// Nothing of that name can be assumed.
    #[error("{text:?}: {what:?} cannot be assumed; allowed: {ALLOWED}")]
    What {
        /// What was found.
        text: String,
        /// Behind the equals sign.
        what: String,
    },
    /// Not an exit code.
    #[error("{text:?}: {code:?} is no exit code; allowed: 0 to 255")]
    Code {
        /// What was found.
        text: String,
        /// Where the code should stand.
        code: String,
    },
    /// Not a duration.
    #[error("{text:?}: {source}")]
    Time {
        /// What was found.
        text: String,
        /// What is wrong with it.
        source: DurationError,
    },
    /// A longer time than a plan covers.
    #[error("{text:?}: a plan covers a day; allowed: up to 24h")]
    TooLong {
        /// What was found.
        text: String,
    },
    /// A second one about the same thing.
    #[error("{text:?}: the {about} of this container is assumed already")]
    Twice {
        /// What was found.
        text: String,
        /// What both are about.
        about: &'static str,
    },
    /// The container has no health check.
    #[error("{text:?}: this container has no health check")]
    NoCheck {
        /// What was found.
        text: String,
    },
}

/// One assumption.
enum Assumption {
    Exit(Exit),
    Health(HealthCourse),
    Pull(Duration),
}

impl Assumption {
    const fn about(&self) -> &'static str {
        match self {
            Self::Exit(_) => "end",
            Self::Health(_) => "health",
            Self::Pull(_) => "image",
        }
    }
}

/// Reads all assumptions about the containers of a definition.
pub(super) fn read(
    texts: &[String],
    definition: &TaskDefinition,
) -> Result<BTreeMap<ContainerName, Behaviour>, AssumptionError> {
    let mut behaviours: BTreeMap<ContainerName, Behaviour> = BTreeMap::new();
    let mut seen: Vec<(&ContainerName, &'static str)> = Vec::new();
    for text in texts {
        let (name, what) = text.split_once('=').ok_or_else(|| AssumptionError::Form { text: text.clone() })?;
        let container = named(text, name, definition)?;
        let assumption = parse(text, what)?;
        if matches!(assumption, Assumption::Health(_)) && container.health_check.is_none() {
            return Err(AssumptionError::NoCheck { text: text.clone() });
        }
        let place = (&container.name, assumption.about());
        if seen.contains(&place) {
            return Err(AssumptionError::Twice { text: text.clone(), about: assumption.about() });
        }
        seen.push(place);
        let behaviour = behaviours.entry(container.name.clone()).or_default();
        match assumption {
            Assumption::Exit(exit) => behaviour.exit = Some(exit),
            Assumption::Health(health) => behaviour.health = health,
            Assumption::Pull(takes) => behaviour.pull = Some(takes),
        }
    }
    Ok(behaviours)
}

fn named<'a>(
    text: &str,
    name: &str,
    definition: &'a TaskDefinition,
) -> Result<&'a ContainerDefinition, AssumptionError> {
    let containers = &definition.containers;
    containers.iter().find(|container| container.name.as_str() == name).ok_or_else(|| {
        let known: Vec<&str> = containers.iter().map(|container| container.name.as_str()).collect();
        AssumptionError::Container { text: text.into(), name: name.into(), known: known.join(", ") }
    })
}

fn parse(text: &str, what: &str) -> Result<Assumption, AssumptionError> {
    match what.split_once(':') {
        Some(("exit", how)) => exit(text, how).map(Assumption::Exit),
        Some(("healthy", after)) => time(text, after).map(HealthCourse::HealthyAfter).map(Assumption::Health),
        Some(("pull", takes)) => time(text, takes).map(Assumption::Pull),
        None if what == "unhealthy" => Ok(Assumption::Health(HealthCourse::Unhealthy)),
        None if what == "never-healthy" => Ok(Assumption::Health(HealthCourse::Never)),
        Some(_) | None => Err(AssumptionError::What { text: text.into(), what: what.into() }),
    }
}

fn exit(text: &str, how: &str) -> Result<Exit, AssumptionError> {
    let (code, after) = how.split_once('@').unwrap_or((how, "0"));
    let bad_code = |_| AssumptionError::Code { text: text.into(), code: code.into() };
    Ok(Exit { code: code.parse().map_err(bad_code)?, after: time(text, after)? })
}

fn time(text: &str, time: &str) -> Result<Duration, AssumptionError> {
    let time = parse_duration(time).map_err(|source| AssumptionError::Time { text: text.into(), source })?;
    if time > LONGEST { Err(AssumptionError::TooLong { text: text.into() }) } else { Ok(time) }
}

#[cfg(test)]
mod tests {
    use lighterman_ids::{Family, ImageRef};
    use lighterman_taskdef::{HealthCheck, HealthTest};

    use super::*;

    fn definition() -> TaskDefinition {
        let container =
            |name| ContainerDefinition::new(ContainerName::parse(name).unwrap(), ImageRef::parse("web:1").unwrap());
        let mut web = container("web");
        let words = ["CMD", "true"].map(String::from);
        web.health_check = Some(HealthCheck::new(HealthTest::parse(&words).unwrap()));
        TaskDefinition::new(Family::parse("site").unwrap(), vec![web, container("job")])
    }

    fn read_all(texts: &[&str]) -> Result<BTreeMap<ContainerName, Behaviour>, String> {
        let texts: Vec<String> = texts.iter().map(ToString::to_string).collect();
        read(&texts, &definition()).map_err(|error| error.to_string())
    }

    #[test]
    fn assumptions_of_one_container_add_up() {
        let read = read_all(&["web=exit:3@1m30s", "job=exit:0", "web=healthy:5s", "web=pull:2s"]).unwrap();
        let exit = |code, after| Some(Exit { code, after: Duration::from_secs(after) });
        let web = Behaviour {
            exit: exit(3, 90),
            health: HealthCourse::HealthyAfter(Duration::from_secs(5)),
            pull: Some(Duration::from_secs(2)),
        };
        let job = Behaviour { exit: exit(0, 0), ..Behaviour::default() };
        assert!(read.values().eq([&job, &web]), "{read:?}");
        let health = |text| read_all(&[text]).unwrap().values().next().unwrap().health;
        assert_eq!(health("web=unhealthy"), HealthCourse::Unhealthy);
        assert_eq!(health("web=never-healthy"), HealthCourse::Never);
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_what_would() {
        for (texts, message) in [
            (&["web"][..], r#""web" is no assumption: write NAME=WHAT, such as web=exit:1@5s"#),
            (&["db=exit:1"], r#""db=exit:1": the definition has no container "db"; it has: web, job"#),
            (
                &["web=ends"],
                r#""web=ends": "ends" cannot be assumed; allowed: exit:N, exit:N@5s, healthy:5s, unhealthy, never-healthy, pull:5s"#,
            ),
            (
                &["web=unhealthy:5s"],
                r#""web=unhealthy:5s": "unhealthy:5s" cannot be assumed; allowed: exit:N, exit:N@5s, healthy:5s, unhealthy, never-healthy, pull:5s"#,
            ),
            (&["web=exit:256"], r#""web=exit:256": "256" is no exit code; allowed: 0 to 255"#),
            (&["web=exit:-1@2s"], r#""web=exit:-1@2s": "-1" is no exit code; allowed: 0 to 255"#),
            (&["web=exit:1@5"], r#""web=exit:1@5": "5" is not a duration: 5 has no unit; write for example 5s or 5ms"#),
            (&["web=healthy:25h"], r#""web=healthy:25h": a plan covers a day; allowed: up to 24h"#),
            (
                &["web=unhealthy", "web=healthy:1s"],
                r#""web=healthy:1s": the health of this container is assumed already"#,
            ),
            (&["job=unhealthy"], r#""job=unhealthy": this container has no health check"#),
        ] {
            assert_eq!(read_all(texts).unwrap_err(), message);
        }
    }
}
