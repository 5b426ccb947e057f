//! A task's statuses from those of its containers (engine.md 1.10, 1.11).

use ContainerStatus as C;
use TaskStatus as T;
use lighterman_status::{
    ContainerStatus, Member, SteadyState, StopCause, TaskKnown, TaskStatus, task_known_from, task_must_stop,
};

const fn member(known: C, essential: bool) -> Member {
    Member { known, desired: C::Running, steady: SteadyState::Running, essential }
}

#[test]
fn e001_an_essential_container_stopped_early() {
    let members = [member(C::Created, false), member(C::Stopped, true), member(C::Running, false)];
    assert_eq!(task_known_from(T::None, members), TaskKnown::Risen(T::Created));
    assert_eq!(task_must_stop(T::Running, members), Some(StopCause::EssentialStopped));
}

#[test]
fn e002_running_is_not_announced_on_the_way_down() {
    let members = [member(C::Running, true), member(C::Stopped, true), member(C::Running, false)];
    assert_eq!(task_known_from(T::Created, members), TaskKnown::Unchanged);
    assert_eq!(task_must_stop(T::Running, members), Some(StopCause::EssentialStopped));
}

#[test]
fn e003_a_non_essential_container_does_not_matter() {
    let members = [member(C::Stopped, false), member(C::Running, true)];
    assert_eq!(task_known_from(T::Running, members), TaskKnown::Unchanged);
    assert_eq!(task_must_stop(T::Running, members), None);
}

#[test]
fn e004_the_task_stops_after_its_pause_container() {
    let pause =
        |known| Member { known, desired: C::Stopped, steady: SteadyState::ResourcesProvisioned, essential: true };
    let members = [member(C::Stopped, true), pause(C::ResourcesProvisioned)];
    assert_eq!(task_known_from(T::Running, members), TaskKnown::Unchanged);
    assert_eq!(task_must_stop(T::Running, members), Some(StopCause::EssentialStopped));
    let members = [member(C::Stopped, true), pause(C::Stopped)];
    assert_eq!(task_known_from(T::Running, members), TaskKnown::Risen(T::Stopped));
}

#[test]
fn a_task_without_containers_says_so() {
    for known in T::ALL {
        assert_eq!(task_known_from(*known, []), TaskKnown::NoContainers);
        assert_eq!(task_must_stop(*known, []), None);
    }
}

#[test]
fn on_ties_the_first_container_counts() {
    // Both are RUNNING; only for the first is that the steady state.
    let up = member(C::Running, false);
    let half_up = Member { steady: SteadyState::ResourcesProvisioned, ..up };
    let gone = member(C::Stopped, true);
    assert_eq!(task_known_from(T::None, [up, half_up, gone]), TaskKnown::Unchanged);
    assert_eq!(task_known_from(T::None, [half_up, up, gone]), TaskKnown::Risen(T::Created));
}

/// The rules of 1.10 word by word, over lists.
fn by_the_book(known: T, members: &[Member]) -> TaskKnown {
    if members.is_empty() {
        return TaskKnown::NoContainers;
    }
    let smallest = members.iter().map(|m| m.known.number()).min().unwrap();
    let first = members.iter().find(|m| m.known.number() == smallest).unwrap();
    if members.iter().any(|m| m.essential && m.known == C::Stopped) && first.known == first.steady.status() {
        return TaskKnown::Unchanged;
    }
    let mapped = members.iter().map(|m| m.known.task_status(m.steady).number()).min().unwrap();
    if mapped > known.number() { TaskKnown::Risen(T::ALL[usize::from(mapped)]) } else { TaskKnown::Unchanged }
}

#[test]
fn known_status_over_all_tasks_of_up_to_three_containers() {
    let mut all = Vec::new();
    for known in C::ALL.iter().copied() {
        for steady in SteadyState::ALL.iter().copied() {
            for essential in [false, true] {
                all.push(Member { known, desired: C::Running, steady, essential });
            }
        }
    }
    let check = |members: &[Member]| {
        for known in T::ALL.iter().copied() {
            let answer = task_known_from(known, members.iter().copied());
            assert_eq!(answer, by_the_book(known, members), "{known} {members:?}");
            if answer == TaskKnown::Risen(T::Stopped) {
                assert!(members.iter().all(|m| m.known == C::Stopped), "{members:?}");
            }
        }
    };
    for a in &all {
        check(&[*a]);
        for b in &all {
            check(&[*a, *b]);
            for c in &all {
                check(&[*a, *b, *c]);
            }
        }
    }
}

#[test]
fn a_task_must_stop_over_all_pairs_of_one_container() {
    for task in T::ALL.iter().copied() {
        for known in C::ALL.iter().copied() {
            for desired in C::ALL.iter().copied() {
                for essential in [false, true] {
                    let member = Member { known, desired, steady: SteadyState::Running, essential };
                    let expected = match (task, essential, known, desired) {
                        (T::Stopped, _, _, _) | (_, false, _, _) => None,
                        (_, true, C::Stopped, _) => Some(StopCause::EssentialStopped),
                        (_, true, _, C::Stopped) => Some(StopCause::EssentialStopping),
                        (_, true, _, _) => None,
                    };
                    assert_eq!(task_must_stop(task, [member]), expected, "{task} {member:?}");
                }
            }
        }
    }
}

#[test]
fn one_that_has_stopped_is_the_cause_before_one_that_is_to_stop() {
    let stopping = Member { desired: C::Stopped, ..member(C::Running, true) };
    let stopped = member(C::Stopped, true);
    for members in [[stopping, stopped], [stopped, stopping]] {
        let cause = task_must_stop(T::Running, members).unwrap();
        assert_eq!(cause.reason(), Some("Essential container in task exited"));
    }
    assert_eq!(task_must_stop(T::Running, [stopping]).unwrap().reason(), None);
}
