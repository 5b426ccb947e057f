//! Health checks, and the last guard before one is sent (taskdef.md 2.5, V55).

use alloc::string::String;
use core::time::Duration;

use lighterman_calls::{HealthTest, HealthcheckConfig, ImageFacts};
use lighterman_taskdef::{ContainerDefinition, HealthCheck};

use crate::request::{SpecError, SpecWarning};

/// The smallest the engine takes; a sent 0 would keep the image's start period (seen on 20.10).
const SMALLEST: Duration = Duration::from_millis(1);

/// What is sent as `Healthcheck`; `None` leaves the image's check in force.
pub(crate) fn healthcheck(
    container: &ContainerDefinition,
    image: &ImageFacts,
) -> Result<(Option<HealthcheckConfig>, Option<SpecWarning>), SpecError> {
    match &container.health_check {
        Some(check) => Ok((Some(from_definition(check)?), None)),
        None if image.health_test.as_deref().is_some_and(is_dangerous) => {
            Ok((Some(switched_off()), Some(SpecWarning::ImageHealthCheckSwitchedOff)))
        }
        None => Ok((None, None)),
    }
}

fn from_definition(check: &HealthCheck) -> Result<HealthcheckConfig, SpecError> {
    let test = HealthTest::parse(&check.test.words()).ok_or(SpecError::HealthTest)?;
    Ok(HealthcheckConfig {
        test,
        interval: check.interval.max(SMALLEST),
        timeout: check.timeout.max(SMALLEST),
        start_period: check.start_period.max(SMALLEST),
        retries: check.retries,
    })
}

fn switched_off() -> HealthcheckConfig {
    HealthcheckConfig {
        test: HealthTest::Disabled,
        interval: Duration::from_secs(30),
        timeout: Duration::from_secs(5),
        start_period: SMALLEST,
        retries: 3,
    }
}

/// A test that names a way to run and nothing to run: `["CMD"]` ends the engine at its first probe.
/// Other words that the engine does not know are never probed, and harmless.
fn is_dangerous(words: &[String]) -> bool {
    let runs = words.first().is_some_and(|kind| kind == "CMD" || kind == "CMD-SHELL");
    runs && HealthTest::parse(words).is_none()
}
