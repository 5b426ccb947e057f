//! Each table as text, so that a change of rules is a readable difference.

use std::fmt::{Display, Write as _};

use lighterman_status::{
    ContainerKind, ContainerStatus, EventStatus, Health, ManagedAgentStatus, ResourceKind, ResourceStatus, SteadyState,
    TaskStatus, container_desired_from,
};

fn row(table: &mut String, cells: &[&dyn Display]) {
    let cells: Vec<String> = cells.iter().map(|cell| format!("{:<22}", cell.to_string())).collect();
    writeln!(table, "{}", cells.join("").trim_end()).unwrap();
}

fn or_dash<T: Display>(value: Option<T>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
}

fn word(yes: bool, word: &'static str) -> &'static str {
    if yes { word } else { "-" }
}

#[test]
fn containers_as_in_1_1() {
    let mut table = String::new();
    row(&mut table, &[&"number", &"name", &"terminal", &"running", &"backend"]);
    for status in ContainerStatus::ALL {
        let (terminal, running) = (word(status.is_terminal(), "terminal"), word(status.is_running(), "running"));
        row(&mut table, &[&status.number(), status, &terminal, &running, &status.backend_text()]);
    }
    insta::assert_snapshot!(table);
}

#[test]
fn containers_by_steady_state_as_in_1_1_and_1_3_and_1_5() {
    let mut table = String::new();
    row(&mut table, &[&"steady", &"known", &"next", &"task status", &"event"]);
    for steady in SteadyState::ALL {
        assert_eq!(SteadyState::from_status(steady.status()), Some(*steady));
        for known in ContainerStatus::ALL {
            assert_eq!(known.is_steady(*steady), *known == steady.status());
            let event = known.event_status(*steady).map(EventStatus::backend_text);
            row(
                &mut table,
                &[
                    &steady.status(),
                    known,
                    &or_dash(known.next(*steady)),
                    &known.task_status(*steady),
                    &format!("{} {}", or_dash(known.event_status(*steady).map(|e| format!("{e:?}"))), or_dash(event)),
                ],
            );
        }
    }
    insta::assert_snapshot!(table);
}

#[test]
fn only_three_statuses_are_steady_states() {
    let steady: Vec<_> = ContainerStatus::ALL.iter().filter_map(|s| SteadyState::from_status(*s)).collect();
    assert_eq!(steady, SteadyState::ALL);
    assert_eq!(SteadyState::default(), SteadyState::Running);
}

#[test]
fn e005_next_status_depends_on_the_steady_state() {
    let next = |steady| ContainerStatus::Running.next(steady);
    assert_eq!(next(SteadyState::Running), Some(ContainerStatus::Stopped));
    assert_eq!(next(SteadyState::ResourcesProvisioned), Some(ContainerStatus::ResourcesProvisioned));
}

#[test]
fn every_container_ends_stopped_and_passes_its_steady_state() {
    for steady in SteadyState::ALL {
        let way: Vec<_> =
            core::iter::successors(Some(ContainerStatus::None), |status| status.next(*steady)).take(10).collect();
        assert!(way.contains(&steady.status()), "{way:?}");
        assert_eq!(way.last(), Some(&ContainerStatus::Stopped), "{way:?}");
        assert!(way.windows(2).all(|pair| pair[0].is_before(pair[1])), "{way:?}");
    }
}

#[test]
fn tasks_as_in_1_2_and_1_4_and_1_6() {
    let mut table = String::new();
    row(
        &mut table,
        &[
            &"number",
            &"name",
            &"json",
            &"terminal",
            &"running",
            &"backend",
            &"recognised",
            &"steady CREATED",
            &"steady RUNNING",
            &"steady PROVISIONED",
            &"resources",
        ],
    );
    for status in TaskStatus::ALL {
        row(
            &mut table,
            &[
                &status.number(),
                status,
                &status.json_text(),
                &word(status.is_terminal(), "terminal"),
                &word(status.is_running(), "running"),
                &status.backend_text(),
                &word(status.is_recognised_by_backend(), "recognised"),
                &status.container_desired(SteadyState::Created),
                &status.container_desired(SteadyState::Running),
                &status.container_desired(SteadyState::ResourcesProvisioned),
                &or_dash(status.resource_desired()),
            ],
        );
    }
    insta::assert_snapshot!(table);
}

#[test]
fn container_desired_only_rises() {
    for task in TaskStatus::ALL {
        for steady in SteadyState::ALL {
            for current in ContainerStatus::ALL {
                let asked = task.container_desired(*steady);
                let desired = container_desired_from(*current, *task, *steady);
                assert!(desired.at_least(*current) && desired.at_least(asked), "{task} {steady:?} {current}");
                assert!(desired == *current || desired == asked, "{task} {steady:?} {current}");
            }
        }
    }
}

#[test]
fn resources_as_in_1_6() {
    let mut table = String::new();
    row(&mut table, &[&"desired", &"next", &"terminal", &"task desires", &"desired becomes"]);
    for status in ResourceStatus::ALL {
        for task in TaskStatus::ALL {
            let terminal = word(status.is_terminal(), "terminal");
            row(&mut table, &[status, &or_dash(status.next()), &terminal, task, &status.desired_under(*task)]);
        }
    }
    insta::assert_snapshot!(table);
}

#[test]
fn e011_resources_follow_the_task() {
    let wanted = ResourceStatus::None.desired_under(TaskStatus::Running);
    assert_eq!(wanted, ResourceStatus::Created);
    assert_eq!(wanted.desired_under(TaskStatus::Stopped), ResourceStatus::Removed);
}

#[test]
fn resource_kinds_as_in_1_6() {
    let mut table = String::new();
    for kind in ResourceKind::ALL {
        assert_eq!(ResourceKind::parse(kind.as_str()), Ok(*kind));
        row(&mut table, &[kind, &format!("{:?}", kind.role_need()), &format!("{:?}", kind.network_need())]);
        writeln!(table, "    reason: {}", kind.failure_reason().unwrap_or("-")).unwrap();
        for known in TaskStatus::ALL {
            let reset: Vec<_> = TaskStatus::ALL.iter().filter(|d| kind.is_reset_on_restore(*known, **d)).collect();
            if !reset.is_empty() {
                let desired: Vec<_> = reset.iter().map(ToString::to_string).collect();
                writeln!(table, "    reset when known {known} and desired {}", desired.join(" ")).unwrap();
            }
        }
    }
    insta::assert_snapshot!(table);
    assert!(ResourceKind::parse("fsxwindowsfileserver").is_err(), "unsupported on Linux");
}

#[test]
fn container_kinds_as_in_1_13() {
    let mut table = String::new();
    for kind in ContainerKind::ALL {
        assert_eq!(ContainerKind::parse(kind.as_str()), Ok(*kind));
        row(&mut table, &[kind, &word(kind.is_internal(), "internal"), &kind.steady_state().status()]);
    }
    insta::assert_snapshot!(table);
}

#[test]
fn health_and_managed_agents_as_in_1_7_and_1_8() {
    let mut table = String::new();
    for health in Health::ALL {
        assert_eq!(Health::parse(health.as_str()), Ok(*health));
        row(&mut table, &[&"health", health]);
    }
    for status in ManagedAgentStatus::ALL {
        row(&mut table, &[&"managed agent", status, &or_dash(status.event_text()), &status.backend_text()]);
    }
    insta::assert_snapshot!(table);
}
