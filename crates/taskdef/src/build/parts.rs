//! What a container is and runs: user, directory, labels, limits, security options.

use alloc::{
    collections::BTreeMap,
    format,
    string::{String, ToString},
    vec::Vec,
};

use super::{Build, missing};
use crate::{
    definition::{ContainerDefinition, Ulimit, UlimitName},
    field::Field,
    finding::{allowed, hint, quoted},
};

/// Prefix of the labels that prove ownership (design.md R10).
pub(super) const OUR_LABELS: &str = "dev.lighterman.";

impl Build<'_> {
    /// V54: the engine has nothing to run, or an empty program name.
    pub(super) fn entry_point(&mut self, field: &Field, container: &ContainerDefinition) {
        let place = field.place_of("entryPoint");
        match container.entry_point.as_slice() {
            [first] if first.is_empty() => {
                let runs = container.command.first().is_some_and(|program| !program.is_empty());
                if !runs && !field.is_broken("command") {
                    let message = "entryPoint is one empty text and command is missing";
                    self.findings.error(54, &place, message, allowed("a command, or leave entryPoint out"));
                }
            }
            [first, _, ..] if first.is_empty() => {
                self.findings.error(54, &place, "entryPoint begins with an empty text", allowed("a program"));
            }
            _ => {}
        }
    }

    /// V77: `user`, `user:group`, `uid`, `uid:gid`, `user:gid`, `uid:group`.
    pub(super) fn user(&mut self, container: &Field) -> Option<String> {
        let (user, place) = container.filled_text("user")?;
        let part_fits = |part: &str| {
            let numeric = part.bytes().all(|b| b.is_ascii_digit());
            let fits = !numeric || part.parse::<u32>().is_ok_and(|id| id <= 2_147_483_647);
            !part.is_empty() && fits && !part.chars().any(|c| c.is_whitespace() || c.is_control())
        };
        if user.split(':').count() <= 2 && user.split(':').all(part_fits) {
            return Some(user.to_string());
        }
        let advice = allowed("user, user:group, with names or numbers 0 to 2147483647");
        self.findings.error(77, place, format!("user {}", quoted(user)), advice);
        None
    }

    /// V77.
    pub(super) fn working_directory(&mut self, container: &Field) -> Option<String> {
        let (directory, place) = container.filled_text("workingDirectory")?;
        if !directory.starts_with('/') {
            let message = format!("workingDirectory {} is not absolute", quoted(directory));
            self.findings.error(77, place, message, allowed("/…"));
        }
        Some(directory.to_string())
    }

    /// V76: 65 bytes fail at start (taskdef.md 2.3).
    pub(super) fn hostname(&mut self, container: &Field) -> Option<String> {
        let (hostname, place) = container.filled_text("hostname")?;
        let legal = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
        if hostname.len() > 64 || !hostname.bytes().all(legal) {
            let message = format!("hostname {}", quoted(hostname));
            self.findings.error(76, place, message, allowed("1 to 64 of A-Z a-z 0-9 . _ -"));
        }
        Some(hostname.to_string())
    }

    /// V78.
    pub(super) fn docker_labels(&mut self, container: &Field) -> BTreeMap<String, String> {
        let mut labels = BTreeMap::new();
        for (key, value, place) in container.map("dockerLabels") {
            if key.is_empty() {
                self.findings.error(78, place, "label with an empty key", allowed("one or more characters"));
            } else if key.starts_with(OUR_LABELS) {
                let advice = allowed(format!("keys not starting with {OUR_LABELS}"));
                self.findings.error(78, place, format!("label {} is the agent's own", quoted(key)), advice);
            } else if key.starts_with("com.amazonaws.ecs.") {
                self.findings.warning(78, place, format!("label {} may be overwritten", quoted(key)), None);
            }
            labels.insert(key.to_string(), value.to_string());
        }
        labels
    }

    /// V72, for one limit.
    pub(super) fn ulimit(&mut self, ulimit: &Field) -> Option<Ulimit> {
        const NUMBER: &str = "-1 for unlimited, 0 or more";
        let Some((word, _)) = ulimit.text("name") else {
            missing(self.findings, 72, ulimit, "name", "a limit such as nofile");
            return None;
        };
        let name = UlimitName::from_word(word)?;
        let mut limit = |key| match ulimit.integer(key) {
            Some((number, place)) if number < -1 => {
                self.findings.error(72, place, format!("{key} {number}"), allowed(NUMBER));
                None
            }
            Some((number, _)) => Some(number),
            None => {
                missing(self.findings, 72, ulimit, key, NUMBER);
                None
            }
        };
        let (soft, hard) = (limit("softLimit"), limit("hardLimit"));
        let (soft, hard) = (soft?, hard?);
        let height = |number: i64| if number == -1 { i64::MAX } else { number };
        if height(soft) > height(hard) {
            let message = format!("ulimit {name} soft {soft} above hard {hard}");
            self.findings.error(72, &ulimit.place, message, allowed("soft up to hard; -1 is the highest"));
        }
        Some(Ulimit { name, soft, hard })
    }

    /// V79.
    pub(super) fn security_options(&mut self, container: &Field) -> Vec<String> {
        const ALLOWED: &str = "no-new-privileges, apparmor:PROFILE, label:VALUE";
        let mut options = Vec::new();
        for (option, place) in container.placed_texts("dockerSecurityOptions") {
            let (kind, value) = option.split_once(':').map_or((option, None), |(kind, value)| (kind, Some(value)));
            let named = format!("security option {}", quoted(option));
            match (kind, value) {
                ("no-new-privileges", None) | ("apparmor" | "label", Some(_)) if value != Some("") => {
                    options.push(option.to_string());
                }
                ("apparmor" | "label", _) => {
                    self.findings.error(79, place, format!("{named} has no value"), allowed(ALLOWED));
                }
                ("credentialspec", _) => {
                    let advice = hint("joining a domain needs a daemon that is not here");
                    self.findings.error(86, place, format!("{named} is refused"), advice);
                }
                _ => self.findings.error(79, place, named, allowed(ALLOWED)),
            }
        }
        options
    }

    /// V79.
    pub(super) fn credential_specs(&mut self, container: &Field) -> Vec<String> {
        let specs = container.texts("credentialSpecs");
        if specs.len() > 1 {
            let message = format!("{} credential specs", specs.len());
            self.findings.error(79, &container.place_of("credentialSpecs"), message, allowed("one"));
        }
        for (spec, place) in container.placed_texts("credentialSpecs") {
            let arn = spec.strip_prefix("credentialspec:").or_else(|| spec.strip_prefix("credentialspecdomainless:"));
            if !arn.is_some_and(|arn| arn.starts_with("arn:")) {
                let advice = allowed("credentialspec:ARN, credentialspecdomainless:ARN");
                self.findings.error(79, place, format!("credential spec {}", quoted(spec)), advice);
            }
        }
        specs.to_vec()
    }
}
