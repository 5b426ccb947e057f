//! Images: used where they are, pulled where they are not.

use lighterman_docker_tests::testbox_program;
use lighterman_ids::ImageRef;
use lighterman_images::ImageArchive;
use rustix::process::Signal;

use crate::{
    corner::{Corner, in_corner},
    engine::SOON,
    registry::{Manner, Registry},
};

/// The test program in an image that no engine has.
fn image(corner: &Corner) -> ImageArchive {
    let name = ImageRef::parse("lighterman/offered:1").unwrap();
    let content = corner.token().repeat(20_000);
    testbox_program().unwrap().image().file("/content", 0o644, content).build(&name).unwrap()
}

#[tokio::test]
async fn an_image_that_is_not_there_is_pulled_and_shown() {
    in_corner(async |corner| {
        let registry = Registry::offering(&image(corner), Manner::Serve).await;
        let name = registry.image();
        let task = corner.task(&["print", "pulled", "+", "exit", "3"]).with("image", name.as_str());
        let ended = registry.while_serving(corner.run(&task).start().end()).await;
        assert_eq!(ended.said(), ["pulled"], "{}", ended.story());
        ended.assert_code(3);
        let pulls: Vec<_> = ended.of("pull").collect();
        let last = pulls.last().unwrap_or_else(|| panic!("{}", ended.story()));
        assert_eq!(last["image"], name.as_str());
        // From the engine now: the registry is not there any more.
        corner.run(&task).start().end().await.assert_code(3);
        assert_eq!(corner.engine().raw().delete(&format!("/images/{name}")).await.status, 200);
        corner.nothing_is_left().await;
    })
    .await;
}

#[tokio::test]
async fn b038_a_pull_that_stalls_half_way_is_abandoned_by_an_interrupt() {
    in_corner(async |corner| {
        let registry = Registry::offering(&image(corner), Manner::Stall).await;
        let task = corner.task(&["exit", "0"]).with("image", registry.image().as_str());
        let ended = registry.while_serving(async {
            let mut run = corner.run(&task).start();
            run.until(|event| (event["type"] == "pull").then_some(())).await;
            run.signal(Signal::INT);
            run.end_within(SOON).await.unwrap_or_else(|run| panic!("the pull holds it up: {}", run.story()))
        });
        let ended = ended.await;
        ended.assert_code(130);
        assert!(ended.container()["runtime_name"].is_null(), "{}", ended.story());
        corner.nothing_is_left().await;
    })
    .await;
}

#[tokio::test]
async fn what_the_registry_says_reaches_the_person() {
    in_corner(async |corner| {
        let registry = Registry::offering(&image(corner), Manner::Refuse(401, "UNAUTHORIZED")).await;
        let task = corner.task(&["exit", "0"]).with("image", registry.image().as_str());
        let ended = registry.while_serving(corner.run(&task).start().end()).await;
        ended.assert_code(125);
        let reason = &ended.container()["reason"];
        assert_eq!(reason["name"], "CannotPullContainerError");
        assert!(reason["text"].as_str().unwrap().contains("the registry says UNAUTHORIZED"), "{reason}");
        corner.nothing_is_left().await;
    })
    .await;
}
