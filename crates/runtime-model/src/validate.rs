//! What the engine refuses at create (seen on 20.10.24).

use core::time::Duration;

use alloc::{format, string::String};

use lighterman_calls::{CreateRequest, HealthcheckConfig, Refusal, RefusalClass};

use crate::{container::command_of, image::LocalImage};

/// The least memory limit, 6 MiB.
const LEAST_MEMORY: u64 = 6 << 20;
/// The least time in a health check.
const LEAST_TIME: Duration = Duration::from_millis(1);

/// Why the engine would not make this container from this image, if so.
pub(crate) fn refusal(request: &CreateRequest, image: &LocalImage) -> Option<Refusal> {
    let text = memory(request)
        .or_else(|| directory(request))
        .or_else(|| request.config.healthcheck.as_ref().and_then(check))
        .or_else(|| command_of(request, image).is_empty().then(|| "No command specified".into()))?;
    Some(Refusal::new(RefusalClass::Invalid, text))
}

fn memory(request: &CreateRequest) -> Option<String> {
    let (limit, reservation) = (request.host.memory?, request.host.memory_reservation);
    if limit < LEAST_MEMORY {
        return Some("Minimum memory limit allowed is 6MB".into());
    }
    (reservation? > limit)
        .then(|| "Minimum memory limit can not be less than memory reservation limit, see usage".into())
}

fn directory(request: &CreateRequest) -> Option<String> {
    let directory = request.config.working_dir.as_ref().filter(|path| !path.starts_with('/'))?;
    Some(format!("the working directory '{directory}' is invalid, it needs to be an absolute path"))
}

fn check(check: &HealthcheckConfig) -> Option<String> {
    let times = [("Interval", check.interval), ("Timeout", check.timeout), ("StartPeriod", check.start_period)];
    let (name, _) = times.into_iter().find(|(_, time)| !time.is_zero() && *time < LEAST_TIME)?;
    Some(format!("{name} in Healthcheck cannot be less than 1ms"))
}
