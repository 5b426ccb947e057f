//! How containers end.

use std::time::Duration;

use lighterman_calls::{LostCause, Outcome, Phase, RefusalClass, Signal};
use lighterman_contracts::{ContainerRuntime, LogSource};
use tokio::time::{Instant, timeout};

use super::{AMPLE, Contract, class};

/// The exit code of a program is what an inspect shows once the end was told.
///
/// # Panics
/// The rule is broken.
pub async fn exit_code_is_reported<R: ContainerRuntime + LogSource>(contract: &Contract<'_, R>) {
    let mut watch = contract.watch(None).await;
    for code in [0, 1, 42, 255] {
        let name = format!("exit-{code}");
        let id = contract.run(&name, &format!("exit {code}")).await;
        watch.until_ended(&id).await;
        assert_eq!(contract.facts(&name).await.phase, Phase::Exited { code: Some(code) });
        assert_eq!(watch.story(&id), ["create", "start", &format!("die {code}")]);
    }
}

/// A program that does not react to the stop signal is killed after the grace, not before; the stop answers then.
///
/// # Panics
/// The rule is broken.
pub async fn stop_grace_then_kill<R: ContainerRuntime + LogSource>(contract: &Contract<'_, R>) {
    contract.run_until_ready("stubborn", "ignore-term 0").await;
    let begun = Instant::now();
    assert_eq!(contract.stop("stubborn", Duration::from_secs(1)).await, Outcome::Done(()));
    assert!(begun.elapsed() >= Duration::from_secs(1), "{:?}", begun.elapsed());
    assert_eq!(contract.facts("stubborn").await.phase, Phase::Exited { code: Some(137) });
}

/// A program that reacts to the stop signal ends by itself, long before the grace is over.
///
/// # Panics
/// The rule is broken.
pub async fn a_handler_ends_a_stop_early<R: ContainerRuntime + LogSource>(contract: &Contract<'_, R>) {
    contract.run_until_ready("polite", "trap 9").await;
    let stop = contract.stop("polite", Duration::from_secs(600));
    assert_eq!(timeout(AMPLE, stop).await.expect("it reacts at once"), Outcome::Done(()));
    assert_eq!(contract.facts("polite").await.phase, Phase::Exited { code: Some(9) });
}

/// A signal to what does not run is a conflict; a kill answers when the container has ended.
///
/// # Panics
/// The rule is broken.
pub async fn kill_needs_a_running_container<R: ContainerRuntime + LogSource>(contract: &Contract<'_, R>) {
    contract.create(&contract.request("kill", "ignore-term")).await;
    assert_eq!(class(&contract.kill("kill", Signal::Kill).await), RefusalClass::Conflict);
    assert_eq!(contract.start("kill").await, Outcome::Done(()));
    assert_eq!(contract.kill("kill", Signal::Term).await, Outcome::Done(()));
    assert_eq!(contract.facts("kill").await.phase, Phase::Running);
    assert_eq!(contract.kill("kill", Signal::Kill).await, Outcome::Done(()));
    assert_eq!(contract.facts("kill").await.phase, Phase::Exited { code: Some(137) });
    assert_eq!(class(&contract.kill("kill", Signal::Term).await), RefusalClass::Conflict);
}

/// A call that is given up is unknown, and goes on inside the runtime.
///
/// # Panics
/// The rule is broken.
pub async fn a_call_given_up_takes_its_course<R: ContainerRuntime + LogSource>(contract: &Contract<'_, R>) {
    let mut watch = contract.watch(None).await;
    let id = contract.run("course", "ignore-term").await;
    let limit = Duration::from_millis(300);
    let outcome = contract.runtime.stop(&contract.target("course"), Duration::from_secs(1), limit).await;
    let Outcome::Unknown(lost) = outcome else { panic!("it cannot have ended: {outcome:?}") };
    assert_eq!(lost.cause, LostCause::TimedOut(limit));
    assert_eq!(contract.facts("course").await.phase, Phase::Running);
    watch.until_ended(&id).await;
    assert_eq!(contract.facts("course").await.phase, Phase::Exited { code: Some(137) });
}

/// A stop that meets a start waits for it, and then stops.
///
/// # Panics
/// The rule is broken.
pub async fn a_stop_during_a_start_waits_for_it<R: ContainerRuntime + LogSource>(contract: &Contract<'_, R>) {
    contract.create(&contract.request("meet", "ignore-term")).await;
    let mut start = Box::pin(contract.start("meet"));
    // The start is under way: it takes longer than this on any engine, and less on none we know.
    let begun = timeout(Duration::from_millis(30), &mut start).await;
    let stop = contract.stop("meet", Duration::ZERO);
    let (started, stopped) = match begun {
        Ok(started) => (started, stop.await),
        Err(_) => tokio::join!(start, stop),
    };
    assert_eq!((started, stopped), (Outcome::Done(()), Outcome::Done(())));
    assert_eq!(contract.facts("meet").await.phase, Phase::Exited { code: Some(137) });
}
