//! What the engine refuses at create (seen on 20.10.24), in the order in which it looks.

use alloc::{format, string::String, vec::Vec};
use core::time::Duration;

use lighterman_calls::{CreateRequest, HealthcheckConfig, HostConfig, NetworkMode, Refusal, RefusalClass, UtsMode};

use crate::{container::command_of, image::LocalImage};

/// The least memory limit, 6 MiB.
const LEAST_MEMORY: u64 = 6 << 20;
/// The least time in a health check.
const LEAST_TIME: Duration = Duration::from_millis(1);

/// Why the engine would not make this container from any image, if so.
pub(crate) fn refusal(request: &CreateRequest) -> Option<Refusal> {
    network(request)
        .or_else(|| directory(request))
        .or_else(|| request.config.healthcheck.as_ref().and_then(check))
        .or_else(|| memory(&request.host))
        .or_else(|| score(&request.host))
        .map(invalid)
}

/// Why not from this image.
pub(crate) fn no_command(request: &CreateRequest, image: &LocalImage) -> Option<Refusal> {
    command_of(request, image).is_empty().then(|| invalid("No command specified".into()))
}

/// What is taken without effect, and told.
pub(crate) fn warnings(request: &CreateRequest) -> Vec<String> {
    let discarded = request.host.network_mode == Some(NetworkMode::Host) && !request.host.port_bindings.is_empty();
    let warning = discarded.then(|| "Published ports are discarded when using host network mode".into());
    warning.into_iter().collect()
}

fn invalid(text: String) -> Refusal {
    Refusal::new(RefusalClass::Invalid, text)
}

/// What does not go together with the network of another container, or of the host.
fn network(request: &CreateRequest) -> Option<String> {
    let (config, host) = (&request.config, &request.host);
    let rows = match host.network_mode {
        Some(NetworkMode::Container(_)) => &[
            (config.hostname.is_some(), "hostname and the network mode"),
            (
                !host.links.is_empty(),
                "container type network can't be used with links. This would result in undefined behavior",
            ),
            (!host.dns.is_empty(), "dns and the network mode"),
            (!host.extra_hosts.is_empty(), "custom host-to-IP mapping and the network mode"),
            (!host.port_bindings.is_empty(), "port publishing and the container type network mode"),
            (!config.exposed_ports.is_empty(), "port exposing and the container type network mode"),
        ][..],
        Some(NetworkMode::Host) => &[(
            !host.links.is_empty(),
            "host type networking can't be used with links. This would result in undefined behavior",
        )],
        Some(NetworkMode::Bridge | NetworkMode::None | NetworkMode::Named(_)) | None => &[],
    };
    let uts = (host.uts_mode == Some(UtsMode::Host) && config.hostname.is_some(), "hostname and the UTS mode");
    let (_, conflict) = rows.iter().chain([&uts]).find(|(holds, _)| *holds)?;
    Some(format!("conflicting options: {conflict}"))
}

fn memory(host: &HostConfig) -> Option<String> {
    let (limit, swap, reservation) = (host.memory, host.memory_swap, host.memory_reservation);
    let text = match (limit, swap, host.memory_swappiness, reservation) {
        (Some(limit), ..) if limit < LEAST_MEMORY => "Minimum memory limit allowed is 6MB".into(),
        (Some(limit), Some(swap), ..) if swap < limit => {
            "Minimum memoryswap limit should be larger than memory limit, see usage".into()
        }
        (None, Some(_), ..) => "You should always set the Memory limit when using Memoryswap limit, see usage".into(),
        (_, _, Some(swappiness), _) if swappiness > 100 => {
            format!("Invalid value: {swappiness}, valid memory swappiness range is 0-100")
        }
        (.., Some(reservation)) if reservation < LEAST_MEMORY => "Minimum memory reservation allowed is 6MB".into(),
        (Some(limit), .., Some(reservation)) if reservation > limit => {
            "Minimum memory limit can not be less than memory reservation limit, see usage".into()
        }
        _ => return None,
    };
    Some(text)
}

fn score(host: &HostConfig) -> Option<String> {
    let score = host.oom_score_adj.filter(|score| !(-1_000..=1_000).contains(score))?;
    Some(format!("Invalid value {score}, range for oom score adj is [-1000, 1000]"))
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
