//! What is fetched from elsewhere: secrets, files of variables, the key of a registry (taskdef.md 2.2, 2.9).

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use super::Build;
use crate::{
    definition::{EnvironmentFile, Secret, SecretReference, SecretReferenceError},
    field::Field,
    finding::{Place, allowed, hint, quoted},
};

impl Build<'_> {
    /// V49, V50, for single values.
    pub(super) fn secrets(&mut self, object: &Field, key: &str) -> Vec<Secret> {
        object.list(key).iter().filter_map(|secret| self.secret(secret)).collect()
    }

    fn secret(&mut self, secret: &Field) -> Option<Secret> {
        let name = self.required(secret, "name", 49, "one or more characters");
        if let Some((name, place)) = name.filter(|(name, _)| name.contains('=')) {
            let message = format!("secret name {} holds \"=\"", quoted(name));
            self.findings.error(49, place, message, allowed("no \"=\""));
        }
        let (reference, place) =
            self.required(secret, "valueFrom", 49, "a parameter, or the ARN of a parameter or secret")?;
        let value_from = self.secret_reference(reference, place);
        Some(Secret { name: name?.0.to_string(), value_from: value_from? })
    }

    fn secret_reference(&mut self, text: &str, place: &Place) -> Option<SecretReference> {
        let error = match SecretReference::parse(text) {
            Ok(reference) => return Some(reference),
            Err(error) => error,
        };
        let (what, advice) = match error {
            SecretReferenceError::Empty => ("valueFrom is empty".to_string(), "an ARN, or the name of a parameter"),
            SecretReferenceError::OtherService(service) => (
                format!("valueFrom is an ARN of service {}", quoted(&service)),
                "ssm parameter or secretsmanager secret",
            ),
            SecretReferenceError::Incomplete => (
                "valueFrom is no complete ARN".to_string(),
                "arn:…:parameter/NAME, arn:…:secret:ID or arn:…:secret:ID:KEY:STAGE:VERSION with all colons",
            ),
            SecretReferenceError::StageAndVersion => ("valueFrom has a stage and a version".to_string(), "one of them"),
        };
        self.findings.error(50, place, what, allowed(advice));
        None
    }

    /// V53.
    pub(super) fn environment_files(&mut self, container: &Field) -> Vec<EnvironmentFile> {
        const MOST: usize = 10;
        let files = container.list("environmentFiles");
        if files.len() > MOST {
            let message = format!("{} environment files", files.len());
            self.findings.error(53, &container.place_of("environmentFiles"), message, allowed("up to 10"));
        }
        files.iter().filter_map(|file| self.environment_file(file)).collect()
    }

    fn environment_file(&mut self, file: &Field) -> Option<EnvironmentFile> {
        const FORM: &str = "arn:aws:s3:::bucket/key.env";
        self.required(file, "type", 53, "s3");
        let (value, place) = self.required(file, "value", 53, FORM)?;
        let named = format!("environment file {}", quoted(value));
        if !value.ends_with(".env") {
            self.findings.error(53, place, named, allowed("names ending .env"));
            return None;
        }
        if !value.starts_with("arn:") {
            let advice = hint("it is read as a file of this host; the service takes ARNs only");
            self.findings.warning(4, place, format!("{named} is no ARN"), advice);
            return Some(EnvironmentFile::Local(value.to_string()));
        }
        let parts: Vec<&str> = value.splitn(6, ':').collect();
        let is_object = matches!(parts[..], ["arn", _, "s3", "", "", object] if object.split_once('/')
            .is_some_and(|(bucket, key)| !bucket.is_empty() && !key.is_empty()));
        if !is_object {
            self.findings.error(53, place, format!("{named} is no ARN of an object"), allowed(FORM));
            return None;
        }
        Some(EnvironmentFile::S3(value.to_string()))
    }

    pub(super) fn repository_credentials(&mut self, container: &Field) -> Option<String> {
        let credentials = container.get("repositoryCredentials").filter(|field| !field.members().is_empty())?;
        let (text, _) = self.required(credentials, "credentialsParameter", 3, "ARN or name of a secret")?;
        Some(text.to_string())
    }
}
