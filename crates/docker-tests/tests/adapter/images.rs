//! Images from memory.

use lighterman_calls::Outcome;
use lighterman_contracts::{ContainerRuntime, ImageStore};
use lighterman_docker_tests::{AMPLE, on_engine};
use lighterman_ids::ImageRef;
use lighterman_images::{HealthCheck, ImageBuilder};

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
