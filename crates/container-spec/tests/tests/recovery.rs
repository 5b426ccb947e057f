//! The recovery label: what it keeps, how large it gets, what hostile ones do.

use std::time::Duration;

use lighterman_container_spec::{
    SpecWarning,
    recover::{Kept, MAX_LABEL, RecoverError, label, read},
};
use lighterman_ids::{ContainerName, ImageRef};
use lighterman_taskdef::{ContainerDefinition, EnvironmentValue, TaskDefinition};
use proptest::prelude::*;

use crate::helpers::{image, spec_with, task};

fn secretive() -> TaskDefinition {
    task(
        r#""environment": [{"name": "PASSWORD", "value": "hunter2"}], "stopTimeout": 7, "command": ["httpd"],
           "dockerLabels": {"team": "hunter2"}, "healthCheck": {"command": ["CMD", "true"]},
           "logConfiguration": {"logDriver": "splunk", "options": {"splunk-token": "hunter2", "splunk-url": "x"}}"#,
    )
}

/// Text that does not compress, so that sizes are what they seem.
fn noise(seed: u64, length: usize) -> String {
    let mut state = seed.wrapping_mul(2).wrapping_add(1);
    let letter = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let letters = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
        char::from(letters[usize::try_from(state >> 58).unwrap()])
    };
    (0..length).map(letter).collect()
}

fn many(count: u64, name_length: usize) -> TaskDefinition {
    let mut task = task("");
    let container = |n| {
        let name = ContainerName::parse(&noise(n, name_length)).unwrap();
        let mut container = ContainerDefinition::new(name, ImageRef::parse("busybox:test").unwrap());
        container.stop_timeout = Some(Duration::from_secs(n + 1));
        container.command = vec![noise(n, 2_000)];
        container
    };
    task.containers = (0..count).map(container).collect();
    task
}

#[test]
fn all_but_values_comes_back() {
    let task = secretive();
    let label = label(&task, &task.containers[0].name);
    assert_eq!(label.kept, Kept::Definition);
    let recovered = read(&label.text).unwrap();
    let mut expected = task;
    let container = &mut expected.containers[0];
    container.environment.clear();
    container.docker_labels.clear();
    container.log_configuration.as_mut().unwrap().options.clear();
    assert_eq!((recovered.definition, recovered.kept), (expected, Kept::Definition));
}

#[test]
fn no_value_that_may_be_secret_is_in_any_label() {
    let task = secretive();
    let spec = spec_with(&task, &image(), None).unwrap();
    let labels = spec.request.config.labels;
    let ours = labels.iter().filter(|(key, _)| key.starts_with("dev.lighterman."));
    assert_eq!(ours.clone().count(), 5);
    for (key, value) in ours {
        assert!(!value.contains("hunter2"), "{key}");
    }
    let recovered = read(&labels["dev.lighterman.recover"]).unwrap();
    assert!(!recovered.definition.to_register_json().contains("hunter2"));
}

#[test]
fn what_does_not_fit_keeps_names_order_and_timeouts() {
    let task = many(30, 20);
    let label = label(&task, &task.containers[0].name);
    assert_eq!(label.kept, Kept::Outline);
    assert!(label.text.len() <= MAX_LABEL);
    let recovered = read(&label.text).unwrap();
    let kept = |task: &TaskDefinition| -> Vec<_> {
        task.containers.iter().map(|c| (c.name.clone(), c.stop_timeout, c.essential)).collect()
    };
    assert_eq!(kept(&recovered.definition), kept(&task));
    let spec = spec_with(&task, &image(), None).unwrap();
    assert_eq!(spec.warnings, [SpecWarning::RecoverShortened(Kept::Outline)]);
}

#[test]
fn the_largest_task_still_gets_a_label() {
    let task = many(1_000, 255);
    let own = task.containers[500].name.clone();
    let label = label(&task, &own);
    assert_eq!(label.kept, Kept::OwnOutline);
    assert!(label.text.len() <= MAX_LABEL);
    let recovered = read(&label.text).unwrap().definition;
    assert_eq!(recovered.containers.len(), 1);
    assert_eq!(
        (&recovered.containers[0].name, recovered.containers[0].stop_timeout),
        (&own, Some(Duration::from_secs(501)))
    );
}

#[test]
fn hostile_labels_are_refused_in_bounded_memory() {
    let task = secretive();
    let good = label(&task, &task.containers[0].name).text;
    let cut = &good[..good.len() - 5];
    for (text, error) in [
        ("", RecoverError::UnknownForm),
        ("v1", RecoverError::UnknownForm),
        ("v2.definition.AAAA", RecoverError::UnknownForm),
        ("v1.everything.AAAA", RecoverError::UnknownForm),
        ("v1.definition.", RecoverError::Damaged),
        ("v1.definition.ä", RecoverError::Damaged),
        ("v1.definition.AAAA", RecoverError::Damaged),
        (cut, RecoverError::Damaged),
        (&"v".repeat(MAX_LABEL + 1), RecoverError::TooLong),
        // 8 MiB of blanks pack into 8 KiB, which is a label of legal size.
        (&packed(&vec![b' '; 8 << 20]), RecoverError::Damaged),
        (&packed(b"{}"), RecoverError::NoDefinition),
        (&packed(&[0xff, 0xfe]), RecoverError::NoDefinition),
        (&packed("[".repeat(1_000).as_bytes()), RecoverError::NoDefinition),
    ] {
        assert_eq!(read(text).unwrap_err(), error, "{}", &text[..text.len().min(40)]);
    }
}

/// The form of a label around these bytes.
fn packed(bytes: &[u8]) -> String {
    use base64::Engine;
    let packed = miniz_oxide::deflate::compress_to_vec_zlib(bytes, 9);
    format!("v1.definition.{}", base64::engine::general_purpose::STANDARD_NO_PAD.encode(packed))
}

proptest! {
    #[test]
    fn a_changed_label_is_refused_or_still_a_definition(at: u16, with in "[A-Za-z0-9+/.]") {
        let task = secretive();
        let mut text = label(&task, &task.containers[0].name).text;
        let at = usize::from(at) % text.len();
        text.replace_range(at..=at, &with);
        if let Ok(recovered) = read(&text) {
            prop_assert!(!recovered.definition.containers.is_empty());
        }
    }

    #[test]
    fn every_label_fits_and_reads_back(words in proptest::collection::vec("\\PC{0,400}", 0..60), values: u16) {
        let mut task = secretive();
        task.containers[0].command = words;
        for n in 0..values % 100 {
            task.containers[0].environment.insert(format!("N{n}"), EnvironmentValue::new("x"));
        }
        let label = label(&task, &task.containers[0].name);
        prop_assert!(label.text.len() <= MAX_LABEL && label.text.is_ascii());
        let recovered = read(&label.text).map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(recovered.kept, label.kept);
        prop_assert_eq!(recovered.definition.containers[0].stop_timeout, task.containers[0].stop_timeout);
    }
}
