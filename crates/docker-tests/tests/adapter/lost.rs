//! A call that is given up goes on inside the engine (crates.md §2, point 5).

use std::time::Duration;

use lighterman_calls::{ContainerTarget, LostCause, Outcome, Phase};
use lighterman_contracts::ContainerRuntime;
use lighterman_docker_tests::{AMPLE, on_engine};

#[track_caller]
fn cause<T: std::fmt::Debug>(outcome: Outcome<T>) -> LostCause {
    match outcome {
        Outcome::Unknown(lost) => lost.cause,
        other @ (Outcome::Done(_) | Outcome::Refused(_) | Outcome::Gone) => panic!("{other:?} must be unknown"),
    }
}

#[tokio::test]
async fn a_create_that_timed_out_can_be_found_by_its_name() {
    on_engine(async |fixture| {
        let request = fixture.request("late", &["exit", "0"]);
        let limit = Duration::from_millis(2);
        assert_eq!(cause(fixture.docker().create(&request, limit).await), LostCause::TimedOut(limit));
        // The engine works on it: looking or making again meets it, sooner or later.
        let name = ContainerTarget::Name(request.name.clone());
        let found = tokio::time::timeout(AMPLE, async {
            loop {
                if let Outcome::Done(facts) = fixture.docker().inspect(&name, AMPLE).await {
                    return facts;
                }
            }
        });
        assert_eq!(found.await.unwrap().phase, Phase::Created);
    })
    .await;
}

#[tokio::test]
async fn b026_a_start_that_timed_out_runs_all_the_same() {
    on_engine(async |fixture| {
        let container = fixture.create(&fixture.request("late", &["sleep", "600"])).await;
        let limit = Duration::from_millis(20);
        assert_eq!(cause(fixture.docker().start(&container, limit).await), LostCause::TimedOut(limit));
        fixture.until(&container, |facts| (facts.phase == Phase::Running).then_some(())).await;
    })
    .await;
}

#[tokio::test]
async fn a_stop_that_timed_out_goes_on_to_its_end() {
    on_engine(async |fixture| {
        let container = fixture.run("deaf", &["print", "ready", "+", "ignore-term"]).await;
        fixture.until_said(&container, "ready").await;
        let limit = Duration::from_millis(200);
        let outcome = fixture.docker().stop(&container, Duration::from_secs(1), limit).await;
        assert_eq!(cause(outcome), LostCause::TimedOut(limit));
        assert_eq!(fixture.facts(&container).await.phase, Phase::Running);
        assert_eq!(fixture.until_ended(&container).await, Some(137));
    })
    .await;
}
