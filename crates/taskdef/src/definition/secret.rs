//! Where secrets are; never what they are (taskdef.md 2.9).

use alloc::string::{String, ToString};

/// A value that is fetched when the container is created.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Secret {
    /// Variable or log option that gets it.
    pub name: String,
    /// Where it is.
    pub value_from: SecretReference,
}

/// Where a secret is: an ARN of a parameter or secret, or the name of a parameter.
///
/// ```
/// use lighterman_taskdef::{SecretReference, SecretSource};
///
/// let key = SecretReference::parse("arn:aws:secretsmanager:us-west-2:111122223333:secret:db-AbCdEf:password::").unwrap();
/// let SecretSource::Secret { id, json_key, .. } = key.source() else { panic!("a secret") };
/// assert_eq!((id, json_key), ("arn:aws:secretsmanager:us-west-2:111122223333:secret:db-AbCdEf", Some("password")));
/// assert!(SecretReference::parse("arn:aws:kms:us-west-2:111122223333:key/1").is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SecretReference(String);

/// The parts of a [`SecretReference`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SecretSource<'r> {
    /// A parameter, by the name after its `parameter/` or by the text itself.
    Parameter {
        /// `None`: the region of the task.
        region: Option<&'r str>,
        /// With or without a leading `/`, as it was written.
        name: &'r str,
    },
    /// A secret, or a part of it.
    Secret {
        /// Its ARN, with or without the random suffix.
        id: &'r str,
        /// Key of a JSON object in it; `None`: all of it.
        json_key: Option<&'r str>,
        /// Label of a version; never together with `version_id`.
        stage: Option<&'r str>,
        /// A version.
        version_id: Option<&'r str>,
    },
}

/// Why a text does not say where a secret is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum SecretReferenceError {
    /// There is nothing.
    #[error("the reference is empty")]
    Empty,
    /// An ARN of something else, named by its service.
    #[error("the reference is an ARN of service {0:?}")]
    OtherService(String),
    /// An ARN that is not complete.
    #[error("the reference is no complete ARN")]
    Incomplete,
    /// Both a stage and a version are asked for.
    #[error("the reference has a stage and a version")]
    StageAndVersion,
}

impl SecretReference {
    /// Checks the form, and takes a copy.
    ///
    /// # Errors
    /// It is none of the forms of taskdef.md 2.9.
    pub fn parse(text: &str) -> Result<Self, SecretReferenceError> {
        parts(text)?;
        Ok(Self(text.to_string()))
    }

    /// As it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What it refers to.
    ///
    /// # Panics
    /// Never: the form was checked when it was made.
    #[must_use]
    pub fn source(&self) -> SecretSource<'_> {
        parts(&self.0).expect("checked by parse")
    }
}

fn parts(text: &str) -> Result<SecretSource<'_>, SecretReferenceError> {
    use SecretReferenceError::{Empty, Incomplete, OtherService};
    if text.trim().is_empty() {
        return Err(Empty);
    }
    if !text.starts_with("arn:") {
        return Ok(SecretSource::Parameter { region: None, name: text });
    }
    let arn: [&str; 6] = split(text).ok_or(Incomplete)?;
    let [_, partition, service, region, _, resource] = arn;
    match service {
        "ssm" | "secretsmanager" if partition.is_empty() || region.is_empty() => Err(Incomplete),
        "ssm" => match resource.strip_prefix("parameter/") {
            Some(name) if !name.is_empty() => Ok(SecretSource::Parameter { region: Some(region), name }),
            Some(_) | None => Err(Incomplete),
        },
        "secretsmanager" => secret(text, resource),
        _ => Err(OtherService(service.chars().take(40).collect())),
    }
}

/// `secret:<id>`, or `secret:<id>:<json key>:<stage>:<version id>` with all colons.
fn secret<'t>(arn: &'t str, resource: &'t str) -> Result<SecretSource<'t>, SecretReferenceError> {
    let parts = resource.strip_prefix("secret:").ok_or(SecretReferenceError::Incomplete)?;
    let (name, rest) = parts.split_once(':').map_or((parts, None), |(name, rest)| (name, Some(rest)));
    if name.is_empty() {
        return Err(SecretReferenceError::Incomplete);
    }
    let Some(rest) = rest else {
        return Ok(SecretSource::Secret { id: arn, json_key: None, stage: None, version_id: None });
    };
    let id = &arn[..arn.len() - rest.len() - 1];
    let [json_key, stage, version_id]: [&str; 3] = split(rest).ok_or(SecretReferenceError::Incomplete)?;
    let given = |part: &'t str| Some(part).filter(|part| !part.is_empty());
    if version_id.contains(':') {
        return Err(SecretReferenceError::Incomplete);
    }
    if !stage.is_empty() && !version_id.is_empty() {
        return Err(SecretReferenceError::StageAndVersion);
    }
    Ok(SecretSource::Secret { id, json_key: given(json_key), stage: given(stage), version_id: given(version_id) })
}

/// Exactly so many parts; the last one may hold colons.
fn split<const N: usize>(text: &str) -> Option<[&str; N]> {
    let mut parts = text.splitn(N, ':');
    let found: [Option<&str>; N] = core::array::from_fn(|_| parts.next());
    found.iter().all(Option::is_some).then(|| found.map(Option::unwrap_or_default))
}

/// A file of variables.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EnvironmentFile {
    /// ARN of an object in a bucket; ends with `.env`.
    S3(String),
    /// A path of the host; ends with `.env`. Not in the API of the service.
    Local(String),
}

impl EnvironmentFile {
    /// What the file says.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::S3(text) | Self::Local(text) => text,
        }
    }
}
