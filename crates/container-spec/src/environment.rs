//! Environment of a container (engine.md 4.4.3).

use alloc::{
    collections::BTreeMap,
    string::{String, ToString},
};

use lighterman_taskdef::ContainerDefinition;

use crate::request::Surroundings;

const REGION: [&str; 2] = ["AWS_REGION", "AWS_DEFAULT_REGION"];

/// The user's variables, and the region where nobody sets one.
///
/// The metadata and agent URIs are absent as long as no endpoint is served.
pub(crate) fn environment(container: &ContainerDefinition, around: &Surroundings<'_>) -> BTreeMap<String, String> {
    let written = container.environment.iter();
    let mut environment: BTreeMap<_, _> =
        written.map(|(name, value)| (name.clone(), value.as_str().to_string())).collect();
    let region_is_set = REGION
        .iter()
        .any(|name| environment.contains_key(*name) || around.image.env_names.iter().any(|of_image| of_image == name));
    if let Some(region) = around.region.filter(|_| !region_is_set) {
        environment.extend(REGION.map(|name| (name.to_string(), region.to_string())));
    }
    environment
}
