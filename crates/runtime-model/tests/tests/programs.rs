//! The test program as the model plays it.

use lighterman_calls::{Outcome, Phase};
use lighterman_ids::ImageRef;
use lighterman_runtime_model::LocalImage;

use crate::rig::{Rig, container, image_id, secs};

/// Runs the words for a minute: exit code and output.
fn play(words: &str) -> (Option<i32>, String) {
    let mut rig = Rig::new();
    rig.run(container("web", words));
    rig.pass(secs(60));
    let code = match rig.inspect("web").phase {
        Phase::Exited { code } => code,
        Phase::Created | Phase::Running | Phase::Dead { .. } => None,
    };
    (code, rig.written)
}

#[test]
fn steps_follow_each_other() {
    for (words, code, output) in [
        ("exit 3", Some(3), ""),
        ("print a + print b + eprint c", Some(0), "a\nb\nc\n"),
        ("sleep 1 + exit 4 + print never", Some(4), ""),
        ("put /f text + read /f + exit 2", Some(2), "text"),
        ("remove /f + read /f", Some(1), "testbox: cannot open /f: No such file or directory (os error 2)\n"),
        ("healthy /f", Some(1), "unhealthy\n"),
        ("put /f x + healthy /f", Some(0), "healthy\n"),
        ("flip /f 1 3 + healthy /f", Some(0), "healthy\n"),
        ("flip /f 1 2 + healthy /f", Some(1), "unhealthy\n"),
        ("flip /f 1", None, ""),
        ("fork 2 1 + exit 5", Some(5), "started 2\n"),
        ("spawn 2 100 + exit 5", Some(5), "started 2\n"),
        ("alloc 10 1", Some(0), "allocated 10 MiB\n"),
        ("burn 0.5 + exit 6", Some(6), ""),
        ("pwd", Some(0), "/\n"),
        ("serve 8080", None, "listening on 8080\n"),
        ("sleep 300", None, ""),
        ("on-term 0", None, ""),
        ("term-after 1", None, ""),
        ("ignore-term", None, ""),
        ("ignore-term 1 + exit 2", Some(2), ""),
        ("trap 3 + exit 2", Some(2), ""),
        ("fetch http://web.test/", Some(1), "testbox: cannot fetch from web.test: the model has no network\n"),
    ] {
        assert_eq!(play(words), (code, output.to_string()), "{words}");
    }
}

#[test]
fn words_that_are_no_program_end_with_64_and_the_help() {
    for (words, complaint) in [
        ("nonsense", "no command is called \"nonsense\""),
        ("exit 300", "exit: CODE is 0 to 255, and \"300\" is not"),
        ("", "no command"),
    ] {
        let (code, output) = play(words);
        assert_eq!(code, Some(64));
        assert!(output.starts_with(&format!("{complaint}\nusage: testbox COMMAND")), "{output}");
    }
}

#[test]
fn lines_are_written_at_their_rate() {
    let (code, output) = play("write 100 3 20 + exit 1");
    assert_eq!((code, output.lines().count()), (Some(1), 15));
    assert_eq!(output.lines().last(), Some("0000000014 xxxxxxxx"));
    assert_eq!(play("write 0 2 + exit 1"), (Some(1), String::new()), "full speed is silent in the model");
}

#[test]
fn the_environment_is_the_engines_the_images_and_the_requests() {
    let mut rig = Rig::new();
    let image = ImageRef::parse("env:1").unwrap();
    let mut local = LocalImage::testbox(image_id('e'));
    local.env = [("A".into(), "image".into()), ("B".into(), "image".into())].into();
    rig.model.add_image(&image, local);
    let mut request = container("web", "env");
    request.config.image = image;
    request.config.env = [("B".to_string(), "ours".to_string())].into_iter().collect();
    request.config.hostname = Some("host".into());
    rig.run(request);
    rig.pass(secs(1));
    let path = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    assert_eq!(rig.written.lines().collect::<Vec<_>>(), ["A=image", "B=ours", "HOME=/", "HOSTNAME=host", path]);
}

#[test]
fn files_outlive_a_run() {
    let mut rig = Rig::new();
    rig.run(container("web", "flip /f 1 1 + healthy /f"));
    rig.pass(secs(2));
    assert_eq!(rig.inspect("web").phase, Phase::Exited { code: Some(0) });
    assert_eq!(rig.start("web"), Outcome::Done(()));
    rig.pass(secs(2));
    assert_eq!(rig.inspect("web").phase, Phase::Exited { code: Some(1) });
}

#[test]
fn pause_ends_with_0_when_asked() {
    let mut rig = Rig::new();
    let image = ImageRef::parse("pause:1").unwrap();
    rig.model.add_image(&image, LocalImage::pause(image_id('d')));
    let mut request = container("pause", "");
    request.config.image = image;
    request.config.cmd = None;
    rig.run(request);
    rig.pass(secs(60));
    assert_eq!(rig.inspect("pause").phase, Phase::Running);
    assert_eq!(rig.stop("pause", secs(5)), Outcome::Done(()));
    assert_eq!(rig.inspect("pause").phase, Phase::Exited { code: Some(0) });
}
