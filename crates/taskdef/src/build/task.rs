//! The smaller parts of a task: platform, proxy, placement, isolation (taskdef.md 2.1).

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use lighterman_ids::ContainerName;

use super::Build;
use crate::{
    definition::{
        CpuArchitecture, InferenceAccelerator, IsolationMode, OperatingSystem, ProxyConfiguration, RuntimePlatform,
    },
    field::Field,
    finding::{allowed, quoted},
};

impl Build<'_> {
    pub(super) fn runtime_platform(&self, root: &Field) -> RuntimePlatform {
        let platform = root.get("runtimePlatform");
        let word = |key| platform.and_then(|platform| platform.text(key)).map(|(word, _)| word);
        RuntimePlatform {
            cpu_architecture: word("cpuArchitecture").and_then(CpuArchitecture::from_word),
            operating_system: word("operatingSystemFamily")
                .and_then(OperatingSystem::from_word)
                .unwrap_or(OperatingSystem::Linux),
        }
    }

    /// V71, for single values.
    pub(super) fn proxy(&mut self, proxy: &Field) -> Option<ProxyConfiguration> {
        let mut properties = alloc::collections::BTreeMap::new();
        for property in proxy.list("properties") {
            let Some((name, _)) = self.required(property, "name", 71, "a property such as AppPorts") else { continue };
            let value = property.text("value").map_or("", |(value, _)| value);
            properties.insert(name.to_string(), value.to_string());
        }
        let name = self.required(proxy, "containerName", 71, "a container of the task")?;
        let container = self.reference(71, name, "proxyConfiguration", ContainerName::parse)?;
        Some(ProxyConfiguration { container, properties })
    }

    /// V84.
    pub(super) fn placement_constraints(&mut self, root: &Field) -> Vec<String> {
        const MOST: usize = 10;
        let constraints = root.list("placementConstraints");
        if constraints.len() > MOST {
            let message = format!("{} placement constraints", constraints.len());
            self.findings.error(84, &root.place_of("placementConstraints"), message, allowed("10"));
        }
        let mut expressions = Vec::new();
        for constraint in constraints {
            self.required(constraint, "type", 84, "memberOf");
            if let Some((expression, _)) = self.required(constraint, "expression", 84, "an expression") {
                expressions.push(expression.to_string());
            }
        }
        expressions
    }

    /// V80, for the declarations.
    pub(super) fn inference_accelerators(&mut self, root: &Field) -> Vec<InferenceAccelerator> {
        let mut all = Vec::new();
        for accelerator in root.list("inferenceAccelerators") {
            let name = self.required(accelerator, "deviceName", 80, "a name");
            let kind = self.required(accelerator, "deviceType", 80, "a type");
            if let (Some((name, _)), Some((kind, _))) = (name, kind) {
                all.push(InferenceAccelerator { device_name: name.to_string(), device_type: kind.to_string() });
            }
        }
        all
    }

    /// V82, but for the range.
    pub(super) fn ephemeral_storage(&mut self, root: &Field) -> Option<u32> {
        let storage = root.get("ephemeralStorage").filter(|field| !field.members().is_empty())?;
        self.number_of(storage, "sizeInGiB", 1..=u32::MAX, 82)
    }

    /// V85.
    pub(super) fn isolation(&mut self, root: &Field) -> IsolationMode {
        let trusted = root.get("trustedExecutionConfiguration").filter(|field| !field.members().is_empty());
        let word = trusted.and_then(|trusted| {
            self.required(trusted, "isolationMode", 85, &IsolationMode::WORDS.join(", ")).map(|(word, _)| word)
        });
        let mode = word.and_then(IsolationMode::from_word).unwrap_or(IsolationMode::Shared);
        if let Some(trusted) = trusted.filter(|_| mode == IsolationMode::ConfidentialSandbox)
            && trusted.filled_text("attestationPolicy").is_none()
            && !trusted.is_broken("attestationPolicy")
        {
            let place = trusted.place_of("attestationPolicy");
            let message = "attestationPolicy is missing";
            self.findings.error(85, &place, message, allowed("base64 text, required with CONFIDENTIAL_SANDBOX"));
        }
        mode
    }

    /// V85.
    pub(super) fn attestation_policy(&mut self, root: &Field) -> Option<String> {
        let (policy, place) = root.get("trustedExecutionConfiguration")?.filled_text("attestationPolicy")?;
        if !is_base64(policy) {
            let message = format!("attestationPolicy {}", quoted(policy));
            self.findings.error(85, place, message, allowed("base64 text"));
        }
        Some(policy.to_string())
    }
}

/// Groups of four of the standard alphabet, the last one filled up.
fn is_base64(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    let legal = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/');
    text.len().is_multiple_of(4) && text.len() - body.len() <= 2 && body.bytes().all(legal)
}
