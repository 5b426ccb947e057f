//! Statuses as text (engine.md 1.13).

use lighterman_status::{
    ContainerKind, ContainerStatus, Health, ManagedAgentStatus, ResourceStatus, StatusTextError, TaskStatus, TextFault,
};

#[track_caller]
fn check<T: PartialEq + std::fmt::Debug>(
    read: fn(&str) -> Result<T, StatusTextError>,
    good: &[(&str, T)],
    bad: &[(&str, TextFault)],
) {
    for (token, status) in good {
        assert_eq!(read(token).as_ref(), Ok(status), "{token}");
    }
    for (token, fault) in bad {
        assert_eq!(read(token).unwrap_err().fault, *fault, "{token}");
    }
}

#[test]
fn e006_container_status_of_an_old_state_file() {
    check(
        ContainerStatus::read_json,
        &[
            ("\"DEAD\"", ContainerStatus::Stopped),
            ("\"UNKNOWN\"", ContainerStatus::None),
            ("null", ContainerStatus::None),
            ("NULL", ContainerStatus::None),
            ("\"0\"", ContainerStatus::None),
            ("\"1\"", ContainerStatus::Pulled),
            ("\"2\"", ContainerStatus::Created),
            ("\"3\"", ContainerStatus::Running),
            ("\"4\"", ContainerStatus::ResourcesProvisioned),
            ("\"5\"", ContainerStatus::Stopped),
        ],
        &[
            ("RUNNING", TextFault::NotQuoted),
            ("3", TextFault::NotQuoted),
            ("true", TextFault::NotQuoted),
            ("", TextFault::NotQuoted),
            ("\"", TextFault::NotQuoted),
            ("\"RUNNING", TextFault::NotQuoted),
            ("\"RUNING\"", TextFault::UnknownName),
            ("\"running\"", TextFault::UnknownName),
            ("\"null\"", TextFault::UnknownName),
            ("\"\"", TextFault::UnknownName),
            ("\"7\"", TextFault::UnknownName),
            ("\"03\"", TextFault::UnknownName),
            ("\"-1\"", TextFault::UnknownName),
            ("\"6\"", TextFault::Impossible),
        ],
    );
}

#[test]
fn task_status_of_an_old_state_file() {
    check(
        TaskStatus::read_json,
        &[
            ("null", TaskStatus::None),
            ("Null", TaskStatus::None),
            ("\"UNKNOWN\"", TaskStatus::None),
            ("\"DEAD\"", TaskStatus::Stopped),
            ("\"MANIFEST_PULLED\"", TaskStatus::ManifestPulled),
        ],
        &[
            ("STOPPED", TextFault::NotQuoted),
            ("\"3\"", TextFault::UnknownName),
            ("\"PULLED\"", TextFault::UnknownName),
            ("\"RESOURCES_PROVISIONED\"", TextFault::UnknownName),
        ],
    );
}

#[test]
fn resource_status_of_an_old_state_file() {
    check(
        ResourceStatus::read_json,
        &[("null", ResourceStatus::None), ("\"REMOVED\"", ResourceStatus::Removed)],
        &[
            ("CREATED", TextFault::NotQuoted),
            ("\"UNKNOWN\"", TextFault::UnknownName),
            ("\"DEAD\"", TextFault::UnknownName),
            ("\"1\"", TextFault::UnknownName),
        ],
    );
}

#[test]
fn container_kind_of_an_old_state_file_may_be_a_boolean() {
    check(
        ContainerKind::read_json,
        &[
            ("true", ContainerKind::EmptyHostVolume),
            ("false", ContainerKind::Normal),
            ("null", ContainerKind::Normal),
            ("\"CNI_PAUSE\"", ContainerKind::CniPause),
            ("\"SERVICE_CONNECT_RELAY\"", ContainerKind::ServiceConnectRelay),
        ],
        &[
            ("NORMAL", TextFault::NotQuoted),
            ("1", TextFault::NotQuoted),
            ("TRUE", TextFault::NotQuoted),
            ("\"true\"", TextFault::UnknownName),
            ("\"PAUSE\"", TextFault::UnknownName),
        ],
    );
}

#[test]
fn health_words_of_ours_are_exact() {
    check(
        Health::parse,
        &[("UNKNOWN", Health::Unknown), ("HEALTHY", Health::Healthy), ("UNHEALTHY", Health::Unhealthy)],
        &[("healthy", TextFault::UnknownName), ("", TextFault::UnknownName)],
    );
}

#[test]
fn what_is_written_is_read_back() {
    macro_rules! round_trip {
        ($status:ty) => {
            for status in <$status>::ALL {
                assert_eq!(<$status>::parse(status.as_str()), Ok(*status));
                assert_eq!(status.to_string(), status.as_str());
            }
        };
    }
    round_trip!(ContainerStatus);
    round_trip!(TaskStatus);
    round_trip!(ResourceStatus);
    round_trip!(ManagedAgentStatus);
    round_trip!(ContainerKind);
    round_trip!(Health);
    for status in ContainerStatus::ALL {
        assert_eq!(ContainerStatus::read_json(&format!("\"{status}\"")), Ok(*status));
    }
    for status in ResourceStatus::ALL {
        assert_eq!(ResourceStatus::read_json(&format!("\"{status}\"")), Ok(*status));
    }
    // A task at the threshold PULLED comes back as NONE; no task is ever there.
    for status in TaskStatus::ALL {
        let back = TaskStatus::read_json(&format!("\"{}\"", status.json_text()));
        assert_eq!(back, Ok(if *status == TaskStatus::Pulled { TaskStatus::None } else { *status }));
    }
}

#[test]
fn an_error_says_what_was_found_and_keeps_it_short() {
    let error = ContainerStatus::read_json("\"RUNING\"").unwrap_err();
    assert_eq!(error.to_string(), "\"RUNING\" is not a container status: unknown name");
    let error = ContainerStatus::read_json("RUNNING").unwrap_err();
    assert_eq!(error.to_string(), "\"RUNNING\" is not a container status: not a quoted name");
    let long = "ö".repeat(1000);
    assert_eq!(TaskStatus::parse(&long).unwrap_err().text.chars().count(), 80);
}
