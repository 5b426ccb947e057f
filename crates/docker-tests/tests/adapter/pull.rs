//! Pulls, from a registry on a local port.

use std::time::Duration;

use futures_util::StreamExt as _;
use lighterman_calls::{LostCause, Outcome, PullLimits, PullProgress, PullStep, RefusalClass};
use lighterman_contracts::ContainerRuntime;
use lighterman_docker_tests::{AMPLE, Fixture, on_engine};
use lighterman_ids::ImageRef;
use lighterman_images::{ImageArchive, ImageBuilder};

use crate::{
    life::refused,
    registry::{Manner, Registry},
};

const LIMITS: PullLimits = PullLimits { first_progress: AMPLE, inactivity: AMPLE };

/// An image that no engine has, with a layer large enough to be cut in two.
fn image(fixture: &Fixture) -> ImageArchive {
    let content = fixture.instance().as_str().repeat(20_000);
    let name = ImageRef::parse("lighterman/offered:1").unwrap();
    ImageBuilder::new().file("/content", 0o644, content).build(&name).unwrap()
}

async fn pulled(fixture: &Fixture, image: &ImageRef, limits: PullLimits) -> (Vec<PullProgress>, Outcome<()>) {
    let mut steps = fixture.docker().pull(image, None, limits, AMPLE).collect::<Vec<_>>().await;
    let Some(PullStep::End(end)) = steps.pop() else { panic!("{steps:?}") };
    let progress = steps.into_iter().map(|step| match step {
        PullStep::Progress(progress) => progress,
        PullStep::End(end) => panic!("{end:?} before the end"),
    });
    (progress.collect(), end)
}

#[tokio::test]
async fn a_pull_shows_its_progress_and_brings_the_image() {
    on_engine(async |fixture| {
        let archive = image(fixture);
        let registry = Registry::offering(&archive, Manner::Serve).await;
        let name = registry.image();
        let (progress, end) = registry.while_serving(pulled(fixture, &name, LIMITS)).await;
        assert_eq!(end, Outcome::Done(()), "{progress:?}");
        let facts = fixture.docker().inspect_image(&name, AMPLE).await;
        assert_eq!(fixture.raw().delete(&format!("/images/{name}")).await.status, 200);
        let Outcome::Done(facts) = facts else { panic!("{facts:?}") };
        assert_eq!(&facts.id, archive.image_id());
        assert_eq!(facts.repo_digests, [format!("{}@{}", name.name(), registry.digest())]);
        assert!(progress.iter().any(|step| step.layer.len() == 12 && step.status == "Pull complete"), "{progress:?}");
        assert!(progress.iter().any(|step| step.current > Some(0) && step.total > Some(100_000)), "{progress:?}");
    })
    .await;
}

#[tokio::test]
async fn a_pull_by_digest_brings_what_the_digest_says() {
    on_engine(async |fixture| {
        let registry = Registry::offering(&image(fixture), Manner::Serve).await;
        // The tag does not exist: the digest wins over it.
        let pinned = ImageRef::parse(&format!("{}:nowhere@{}", registry.image().name(), registry.digest())).unwrap();
        let (progress, end) = registry.while_serving(pulled(fixture, &pinned, LIMITS)).await;
        assert_eq!(end, Outcome::Done(()), "{progress:?}");
        let by_digest = format!("{}@{}", registry.image().name(), registry.digest());
        assert_eq!(fixture.raw().delete(&format!("/images/{by_digest}")).await.status, 200);
    })
    .await;
}

#[tokio::test]
async fn what_a_registry_says_is_told_by_its_class() {
    on_engine(async |fixture| {
        let archive = image(fixture);
        for (status, code, expected) in [
            (404, "MANIFEST_UNKNOWN", RefusalClass::NotFound),
            (401, "UNAUTHORIZED", RefusalClass::Unauthorised),
            (403, "DENIED", RefusalClass::Unauthorised),
            (429, "TOOMANYREQUESTS", RefusalClass::RateLimited),
            (500, "UNKNOWN", RefusalClass::PeerFault),
        ] {
            let registry = Registry::offering(&archive, Manner::Refuse(status, code)).await;
            let (_, end) = registry.while_serving(pulled(fixture, &registry.image(), LIMITS)).await;
            let (class, text) = refused(end);
            assert_eq!(class, expected, "{status} {code}: {text}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_registry_that_is_not_there_is_no_missing_image() {
    on_engine(async |fixture| {
        let registry = Registry::offering(&image(fixture), Manner::Serve).await;
        let name = registry.image();
        drop(registry);
        let (class, text) = refused(pulled(fixture, &name, LIMITS).await.1);
        assert_eq!(class, RefusalClass::PeerFault, "{text}");
        assert!(text.contains("connection refused"), "{text}");
    })
    .await;
}

#[tokio::test]
async fn b034_a_pull_that_stalls_is_given_up_and_brings_nothing() {
    on_engine(async |fixture| {
        let registry = Registry::offering(&image(fixture), Manner::Stall).await;
        let name = registry.image();
        let limits = PullLimits { inactivity: Duration::from_secs(2), ..LIMITS };
        let (progress, end) = registry.while_serving(pulled(fixture, &name, limits)).await;
        let Outcome::Unknown(lost) = end else { panic!("{end:?} after {progress:?}") };
        assert_eq!(lost.cause, LostCause::TimedOut(limits.inactivity), "{}", lost.text);
        assert!(!progress.is_empty());
        assert_eq!(fixture.docker().inspect_image(&name, AMPLE).await, Outcome::Gone);
    })
    .await;
}
