//! What waits for what, and what is started again (taskdef.md 2.2).

use alloc::{format, vec::Vec};
use core::time::Duration;

use lighterman_ids::ContainerName;

use super::{Build, missing};
use crate::{
    definition::{Condition, Dependency, RestartPolicy, VolumesFrom},
    field::Field,
    finding::{allowed, hint},
};

impl Build<'_> {
    /// V40, V41, for single values.
    pub(super) fn depends_on(&mut self, container: &Field) -> Vec<Dependency> {
        container.list("dependsOn").iter().filter_map(|dependency| self.dependency(dependency)).collect()
    }

    fn dependency(&mut self, dependency: &Field) -> Option<Dependency> {
        let target = self.required(dependency, "containerName", 40, "a container of the task");
        let target = target.and_then(|target| self.reference(40, target, "dependsOn", ContainerName::parse));
        let Some((word, place)) = dependency.text("condition") else {
            missing(self.findings, 41, dependency, "condition", "START, COMPLETE, SUCCESS, HEALTHY");
            return None;
        };
        let condition = Condition::from_word(word)?;
        if condition == Condition::Create {
            let advice = hint("the service does not have it; write START");
            self.findings.warning(4, place, "condition \"CREATE\" is internal", advice);
        }
        Some(Dependency { container: target?, condition })
    }

    /// V47. A policy that is switched off is none.
    pub(super) fn restart_policy(&mut self, policy: &Field) -> Option<RestartPolicy> {
        const MOST_CODES: usize = 50;
        if policy.get("enabled").is_none() {
            missing(self.findings, 47, policy, "enabled", "true, false");
        }
        let seconds = self.number_of(policy, "restartAttemptPeriod", 60..=1_800, 47);
        let codes = policy.list("ignoredExitCodes");
        if codes.len() > MOST_CODES {
            let message = format!("{} ignoredExitCodes", codes.len());
            self.findings.error(47, &policy.place_of("ignoredExitCodes"), message, allowed("up to 50"));
        }
        let mut ignored_exit_codes = Vec::new();
        for (code, place) in policy.integers("ignoredExitCodes") {
            match i32::try_from(code) {
                Ok(fits) => ignored_exit_codes.push(fits),
                Err(_) => self.findings.error(47, place, format!("exit code {code}"), allowed("0 to 255")),
            }
            if (-2_147_483_648..0).contains(&code) || (256..=2_147_483_647).contains(&code) {
                let advice = hint("no program ends with it; allowed: 0 to 255");
                self.findings.warning(47, place, format!("exit code {code}"), advice);
            }
        }
        let attempt_period =
            seconds.map_or(RestartPolicy::DEFAULT_PERIOD, |seconds| Duration::from_secs(seconds.into()));
        policy.boolean("enabled").unwrap_or(false).then_some(RestartPolicy { ignored_exit_codes, attempt_period })
    }

    /// V64, for single values.
    pub(super) fn volumes_from(&mut self, container: &Field) -> Vec<VolumesFrom> {
        let mut all = Vec::new();
        for entry in container.list("volumesFrom") {
            let Some(source) = self.required(entry, "sourceContainer", 64, "a container of the task") else { continue };
            if let Some(source_container) = self.reference(64, source, "volumesFrom", ContainerName::parse) {
                all.push(VolumesFrom { source_container, read_only: entry.boolean("readOnly").unwrap_or(false) });
            }
        }
        all
    }
}
