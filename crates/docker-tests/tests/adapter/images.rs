//! Images from memory.

use lighterman_calls::{ImageTarget, Outcome, Platform, RefusalClass};
use lighterman_contracts::{ContainerRuntime, ImageStore};
use lighterman_docker_tests::{AMPLE, Fixture, on_engine};
use lighterman_ids::{ImageId, ImageRef};
use lighterman_images::{HealthCheck, ImageBuilder};

use crate::{
    life::refused,
    registry::{Manner, Registry},
};

/// Loads an image that no other test has, under a name that no other has.
async fn loaded(fixture: &Fixture) -> (ImageRef, ImageId) {
    let name = ImageRef::parse(&format!("lighterman/own:{}", fixture.instance())).unwrap();
    let content = fixture.instance().as_str();
    let archive = ImageBuilder::new().file("/own", 0o755, content).entrypoint(["/own"]).build(&name).unwrap();
    let id = archive.image_id().clone();
    assert!(fixture.docker().load_image(archive.into_bytes(), AMPLE).await.is_done());
    (name, id)
}

#[tokio::test]
async fn an_image_is_loaded_under_its_name_with_its_id_known() {
    on_engine(async |fixture| {
        let name = ImageRef::parse(&format!("lighterman/loaded:{}", fixture.instance())).unwrap();
        let archive = ImageBuilder::new()
            .file("/hello", 0o644, fixture.instance().as_str())
            .entrypoint(["/hello"])
            .env("LANG", "C=x")
            .env("EMPTY", "")
            .health_check(HealthCheck::exec("/hello", ["now"]))
            .build(&name)
            .unwrap();
        let docker = fixture.docker();
        assert_eq!(docker.inspect_image(&name, AMPLE).await, Outcome::Gone);
        let id = archive.image_id().clone();
        for _ in 0..2 {
            assert_eq!(docker.load_image(archive.bytes().to_vec(), AMPLE).await, Outcome::Done(()));
        }
        let facts = docker.inspect_image(&name, AMPLE).await;
        let removed = fixture.raw().delete(&format!("/images/{name}")).await;
        assert_eq!(removed.status, 200, "{}", removed.text());
        let Outcome::Done(facts) = facts else { panic!("{facts:?}") };
        assert_eq!((facts.id, facts.repo_digests), (id, vec![]));
        assert_eq!(facts.env_names, ["LANG", "EMPTY"]);
        assert_eq!(facts.health_test, Some(["CMD", "/hello", "now"].map(String::from).to_vec()));
    })
    .await;
}

#[tokio::test]
async fn what_is_no_image_is_refused() {
    on_engine(async |fixture| {
        for archive in [b"this is no archive".to_vec(), vec![0; 10_240]] {
            let outcome = fixture.docker().load_image(archive, AMPLE).await;
            assert!(matches!(outcome, Outcome::Refused(_)), "{outcome:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn b064_an_image_that_a_container_uses_keeps_its_last_name() {
    on_engine(async |fixture| {
        let docker = fixture.docker();
        let (name, id) = loaded(fixture).await;
        let (by_name, by_id) = (ImageTarget::Name(name.clone()), ImageTarget::Id(id.clone()));
        let mut request = fixture.request("user", &[]);
        request.config.image = name.clone();
        let container = fixture.create(&request).await;
        let image = &id.as_str()["sha256:".len()..][..12];
        let user = &container.as_str()[..12];

        let (class, text) = refused(docker.remove_image(&by_name, AMPLE).await);
        let words = format!(
            "conflict: unable to remove repository reference \"{name}\" (must force) - container {user} is using its \
             referenced image {image}"
        );
        assert_eq!((class, text), (RefusalClass::Conflict, words));
        let (class, text) = refused(docker.remove_image(&by_id, AMPLE).await);
        let words = format!(
            "conflict: unable to delete {image} (must be forced) - image is being used by stopped container {user}"
        );
        assert_eq!((class, text), (RefusalClass::Conflict, words));

        // Another name can go.
        let other = ImageRef::parse(&format!("lighterman/other:{}", fixture.instance())).unwrap();
        assert_eq!(docker.tag_image(&by_id, &other, AMPLE).await, Outcome::Done(()));
        let (class, text) = refused(docker.remove_image(&by_id, AMPLE).await);
        let words = format!(
            "conflict: unable to delete {image} (must be forced) - image is referenced in multiple repositories"
        );
        assert_eq!((class, text), (RefusalClass::Conflict, words));
        assert_eq!(docker.remove_image(&ImageTarget::Name(other), AMPLE).await, Outcome::Done(()));
        assert_eq!(docker.remove(&container, AMPLE).await, Outcome::Done(()));
        assert_eq!(docker.remove_image(&by_id, AMPLE).await, Outcome::Done(()));
        assert_eq!(docker.remove_image(&by_id, AMPLE).await, Outcome::Gone);
        assert_eq!(docker.inspect_image(&name, AMPLE).await, Outcome::Gone);
    })
    .await;
}

#[tokio::test]
async fn an_image_whose_name_another_takes_is_listed_without() {
    on_engine(async |fixture| {
        let docker = fixture.docker();
        let (name, id) = loaded(fixture).await;
        let test = ImageTarget::Name(fixture.image().clone());
        assert_eq!(docker.tag_image(&test, &name, AMPLE).await, Outcome::Done(()));
        let Outcome::Done(list) = docker.list_images(AMPLE).await else { panic!("no list") };
        let nameless = list.iter().find(|image| image.id == id).expect("it is still there");
        assert_eq!((nameless.names.len(), nameless.repo_digests.len()), (0, 0), "{nameless:?}");
        assert!(nameless.size > 0 && nameless.created_at.is_some(), "{nameless:?}");
        assert_eq!(docker.remove_image(&ImageTarget::Name(name), AMPLE).await, Outcome::Done(()));
        assert_eq!(docker.remove_image(&ImageTarget::Id(id), AMPLE).await, Outcome::Done(()));
    })
    .await;
}

#[tokio::test]
async fn a_container_is_made_for_the_platform_of_its_image_only() {
    on_engine(async |fixture| {
        let mut request = fixture.request("platform", &["exit", "0"]);
        request.platform = Some(Platform::Arm64);
        let (class, text) = refused(fixture.docker().create(&request, AMPLE).await);
        assert_eq!(class, RefusalClass::NotFound, "{text}");
        assert!(text.contains("does not match the specified platform"), "{text}");
        request.platform = Some(Platform::Amd64);
        assert!(fixture.docker().create(&request, AMPLE).await.is_done());
    })
    .await;
}

#[tokio::test]
async fn a_registry_tells_the_digest_of_what_it_has() {
    on_engine(async |fixture| {
        let name = ImageRef::parse("lighterman/offered:1").unwrap();
        let archive = ImageBuilder::new().file("/x", 0o644, fixture.instance().as_str()).build(&name).unwrap();
        let registry = Registry::offering(&archive, Manner::Serve).await;
        let image = registry.image();
        let outcome = registry.while_serving(fixture.docker().resolve_digest(&image, AMPLE)).await;
        let Outcome::Done(remote) = outcome else { panic!("{outcome:?}") };
        assert_eq!(remote.digest.as_str(), registry.digest());
        assert_eq!(remote.media_type, "application/vnd.docker.distribution.manifest.v2+json");
        // Asking brings nothing.
        assert_eq!(fixture.docker().inspect_image(&image, AMPLE).await, Outcome::Gone);

        for (status, code, expected) in [
            (404, "MANIFEST_UNKNOWN", RefusalClass::NotFound),
            (401, "UNAUTHORIZED", RefusalClass::Unauthorised),
            (403, "DENIED", RefusalClass::Unauthorised),
            (429, "TOOMANYREQUESTS", RefusalClass::RateLimited),
            (500, "UNKNOWN", RefusalClass::PeerFault),
        ] {
            let registry = Registry::offering(&archive, Manner::Refuse(status, code)).await;
            let image = registry.image();
            let outcome = registry.while_serving(fixture.docker().resolve_digest(&image, AMPLE)).await;
            let (class, text) = refused(outcome);
            assert_eq!(class, expected, "{status} {code}: {text}");
        }
    })
    .await;
}
