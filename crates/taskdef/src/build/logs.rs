//! Where output goes, and who takes it (taskdef.md 2.7).

use alloc::{
    collections::BTreeMap,
    format,
    string::{String, ToString},
};

use super::{Build, missing};
use crate::{
    definition::{LogConfiguration, LogDriver, LogRouter, RouterKind},
    field::Field,
    finding::{allowed, quoted},
};

impl Build<'_> {
    /// The driver of V69.
    pub(super) fn log_configuration(&mut self, log: &Field) -> Option<LogConfiguration> {
        let secret_options = self.secrets(log, "secretOptions");
        let Some((word, _)) = log.text("logDriver") else {
            missing(self.findings, 69, log, "logDriver", &LogDriver::WORDS.join(", "));
            return None;
        };
        Some(LogConfiguration {
            driver: LogDriver::from_word(word)?,
            options: text_map(log, "options"),
            secret_options,
        })
    }

    /// V70, for the router alone.
    pub(super) fn log_router(&mut self, router: &Field) -> Option<LogRouter> {
        const CHOICES: [(&str, &[&str]); 2] =
            [("enable-ecs-log-metadata", &["true", "false"]), ("config-file-type", &["s3", "file"])];
        for (option, value, place) in router.map("options") {
            let choice = CHOICES.iter().find(|(known, _)| *known == option);
            if let Some((_, words)) = choice.filter(|(_, words)| !words.contains(&value)) {
                let message = format!("{option} {}", quoted(value));
                self.findings.error(70, place, message, allowed(words.join(", ")));
            }
        }
        let options = text_map(router, "options");
        let (kind, value) = (options.get("config-file-type"), options.get("config-file-value"));
        if kind.is_some() != value.is_some() {
            let message = "only one of config-file-type and config-file-value";
            self.findings.error(70, &router.place_of("options"), message, allowed("both, or neither"));
        }
        let Some((word, _)) = router.text("type") else {
            missing(self.findings, 70, router, "type", &RouterKind::WORDS.join(", "));
            return None;
        };
        Some(LogRouter { kind: RouterKind::from_word(word)?, options })
    }
}

pub(super) fn text_map(object: &Field, key: &str) -> BTreeMap<String, String> {
    object.map(key).map(|(key, value, _)| (key.to_string(), value.to_string())).collect()
}
