//! Known, desired and applied (engine.md 1.9).

use lighterman_status::{ContainerStatus, InFlight, Progress, ResourceStatus};

fn under_way(known: ContainerStatus, applied: ContainerStatus) -> Progress<ContainerStatus> {
    let mut progress = Progress::restored(known, ContainerStatus::Running);
    progress.begin(applied).unwrap();
    progress
}

#[test]
fn e009_a_transition_in_flight_is_not_started_again() {
    let mut progress = under_way(ContainerStatus::Pulled, ContainerStatus::Created);
    let before = progress;
    assert_eq!(progress.begin(ContainerStatus::Created), Err(InFlight { applied: ContainerStatus::Created }));
    assert_eq!(progress.begin(ContainerStatus::Stopped), Err(InFlight { applied: ContainerStatus::Created }));
    assert_eq!(progress, before);
}

#[test]
fn e010_a_failed_create_leaves_nothing_in_flight() {
    let mut progress = under_way(ContainerStatus::Pulled, ContainerStatus::Created);
    progress.give_up(ContainerStatus::Created);
    assert!(progress.desire(ContainerStatus::Stopped));
    assert_eq!(progress, Progress::restored(ContainerStatus::Pulled, ContainerStatus::Stopped));
}

#[test]
fn ap3_a_fact_ends_the_transitions_that_lead_to_it_or_below() {
    for known in ContainerStatus::ALL.iter().copied() {
        for applied in ContainerStatus::ALL.iter().copied() {
            for fact in ContainerStatus::ALL.iter().copied() {
                let mut progress = under_way(known, applied);
                let moved = progress.learn(fact);
                assert_eq!(moved, fact.is_after(known), "{known} {applied} {fact}");
                assert_eq!(progress.known(), known.later_of(fact), "{known} {applied} {fact}");
                let ended = moved && fact.at_least(applied);
                let left = if ended { ContainerStatus::None } else { applied };
                assert_eq!(progress.applied(), left, "{known} {applied} {fact}");
                assert_eq!(progress.desired(), ContainerStatus::Running);
            }
        }
    }
}

#[test]
fn ap4_giving_up_never_moves_known_and_ends_no_later_transition() {
    for applied in ContainerStatus::ALL.iter().copied() {
        for target in ContainerStatus::ALL.iter().copied() {
            let mut progress = under_way(ContainerStatus::Created, applied);
            progress.give_up(target);
            assert_eq!(progress.known(), ContainerStatus::Created);
            let left = if target.at_least(applied) { ContainerStatus::None } else { applied };
            assert_eq!(progress.applied(), left, "{applied} {target}");
        }
    }
}

#[test]
fn ap5_the_next_step_may_start_once_an_event_reached_the_target() {
    let mut progress = under_way(ContainerStatus::Pulled, ContainerStatus::Created);
    assert!(progress.learn(ContainerStatus::Created), "the event comes before the answer");
    progress.begin(ContainerStatus::Running).unwrap();
    progress.give_up(ContainerStatus::Created);
    assert_eq!(progress.applied(), ContainerStatus::Running, "the late answer ends nothing of the next step");
}

#[test]
fn desired_only_rises() {
    for first in ResourceStatus::ALL.iter().copied() {
        for second in ResourceStatus::ALL.iter().copied() {
            let mut progress = Progress::restored(ResourceStatus::None, first);
            assert_eq!(progress.desire(second), second.is_after(first));
            assert_eq!(progress.desired(), first.later_of(second));
            assert_eq!(progress.known(), ResourceStatus::None);
        }
    }
}

#[test]
fn nothing_is_in_flight_after_a_restore() {
    assert_eq!(Progress::<ResourceStatus>::new(), Progress::restored(ResourceStatus::None, ResourceStatus::None));
    assert_eq!(Progress::<ResourceStatus>::default().applied(), ResourceStatus::None);
}
