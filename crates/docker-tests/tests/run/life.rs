//! One task from its file to its end.

use lighterman_docker_tests::AMPLE;

use crate::{
    corner::in_corner,
    engine::{SOON, times},
    launch::text,
};

#[tokio::test]
async fn a_task_runs_to_its_end_and_leaves_nothing() {
    in_corner(async |corner| {
        let watch = corner.engine().watch().await;
        let task = corner.task(&["print", "hello", "+", "eprint", "trouble", "+", "exit", "3"]);
        let ended = corner.run(&task).start().end().await;
        ended.assert_code(3);
        assert_eq!(ended.events.last().unwrap()["kind"], "task");
        let mut lines: Vec<_> = ended.of("log").map(|line| (text(line, "stream"), text(line, "line"))).collect();
        // Which of two streams comes first is up to the engine.
        lines.sort();
        let expected = [("stderr".to_owned(), "trouble".to_owned()), ("stdout".into(), "hello".into())];
        assert_eq!(lines, expected, "{}", ended.story());
        assert_eq!(ended.container()["exit_code"], 3);
        let stories = watch.until_all_gone().await;
        assert_eq!(stories.len(), 1, "{stories:?}");
        for story in stories.values() {
            let counts = ["create", "start", "die", "kill", "destroy"].map(|action| times(story, action));
            assert_eq!(counts, [1, 1, 1, 0, 1], "{story:?}");
        }
        corner.nothing_is_left().await;
    })
    .await;
}

#[tokio::test]
async fn b005_the_exit_code_of_a_one_shot_is_there_within_two_seconds() {
    in_corner(async |corner| {
        let watch = corner.engine().watch().await;
        let run = corner.run(&corner.task(&["exit", "3"])).start();
        watch.until(|stories| stories.values().any(|story| times(story, "die") == 1).then_some(())).await;
        let ended = run.end_within(std::time::Duration::from_secs(2)).await;
        let ended = ended.unwrap_or_else(|_| panic!("it takes longer than two seconds"));
        ended.assert_code(3);
        assert_eq!(ended.of("task").last().unwrap()["reason"], "Essential container in task exited");
    })
    .await;
}

#[tokio::test]
async fn the_exit_code_is_that_of_the_container() {
    in_corner(async |corner| {
        let runs = [0, 1, 64, 125, 130, 255].map(|code| {
            let task = corner.task(&["exit", &code.to_string()]);
            (code, corner.run(&task).start())
        });
        for (code, run) in runs {
            let ended = run.end().await;
            ended.assert_code(code);
            assert_eq!(ended.events.last().unwrap()["kind"], "task", "{}", ended.story());
        }
        corner.nothing_is_left().await;
    })
    .await;
}

#[tokio::test]
async fn a_container_that_was_killed_from_outside_tells_so() {
    in_corner(async |corner| {
        let mut run = corner.run(&corner.task(&["print", "ready", "+", "sleep", "600"])).start();
        run.until_said("ready").await;
        let container = corner.engine().the_container().await;
        corner.engine().kill(&container.id, "KILL").await;
        run.end().await.assert_code(137);
        corner.nothing_is_left().await;
    })
    .await;
}

#[tokio::test]
async fn b001_a_container_that_was_removed_from_outside_has_no_exit_code() {
    in_corner(async |corner| {
        let mut run = corner.run(&corner.task(&["print", "ready", "+", "sleep", "600"])).start();
        run.until_said("ready").await;
        corner.engine().remove(&corner.engine().the_container().await.id).await;
        let ended = run.end_within(SOON).await.unwrap_or_else(|_| panic!("it is not noticed"));
        // Whether the engine told the exit code before it removed the container is a race of the engine's own.
        let code = ended.container()["exit_code"].as_i64();
        match code {
            Some(code) => {
                assert_eq!(code, 137, "{}", ended.story());
                ended.assert_code(137);
            }
            None => {
                assert_eq!(ended.container()["reason"]["name"], "ContainerVanishedError", "{}", ended.story());
                ended.assert_code(125);
            }
        }
        corner.nothing_is_left().await;
    })
    .await;
}

#[tokio::test]
async fn b003_signals_and_execs_from_outside_are_no_end() {
    in_corner(async |corner| {
        // As process 1 the program takes no notice of a signal that it does not handle.
        let mut run = corner.run(&corner.task(&["print", "ready", "+", "on-term", "7"])).start();
        run.until_said("ready").await;
        let container = corner.engine().the_container().await;
        for _ in 0..20 {
            corner.engine().kill(&container.id, "USR1").await;
            assert_eq!(corner.engine().raw().exec(&container.id, &["/testbox", "exit", "0"]).await, 0);
        }
        corner.engine().kill(&container.id, "TERM").await;
        let ended = run.end().await;
        ended.assert_code(7);
        assert_eq!(ended.statuses(), ["PULLED", "CREATED", "RUNNING", "STOPPED"], "{}", ended.story());
        assert_eq!(ended.stderr, "", "nothing worth a line happened");
    })
    .await;
}

#[tokio::test]
async fn standard_input_is_read_for_a_dash() {
    in_corner(async |corner| {
        let task = corner.task(&["print", "from a pipe", "+", "exit", "5"]);
        let ended = corner.lighterman(&["run", "--json", "-"]).input(task.to_string()).start().end().await;
        ended.assert_code(5);
        assert_eq!(ended.said(), ["from a pipe"]);
        corner.nothing_is_left().await;
    })
    .await;
}

#[tokio::test]
async fn what_is_written_in_the_file_reaches_the_container() {
    in_corner(async |corner| {
        let environment = serde_json::json!([{ "name": "GREETING", "value": "hello, world" }]);
        let task = corner
            .task(&["env", "+", "pwd"])
            .with("environment", environment)
            .with("workingDirectory", "/tmp")
            .with("hostname", "somewhere");
        let ended = corner.run(&task).start().end().await;
        ended.assert_code(0);
        let said = ended.said();
        for line in ["GREETING=hello, world", "HOSTNAME=somewhere", "/tmp"] {
            assert!(said.iter().any(|said| said == line), "{line}: {}", ended.story());
        }
    })
    .await;
}

#[tokio::test]
async fn the_text_for_people_has_output_apart_from_statuses() {
    in_corner(async |corner| {
        // Long enough to be seen running.
        let task = corner.task(&["print", "hello", "+", "sleep", "1", "+", "exit", "3"]);
        let output = corner.lighterman(&["run"]).argument(corner.file(&task)).output().await;
        assert_eq!(output.code, Some(3), "{}", output.stderr);
        assert_eq!(output.stdout, "main   | hello\n");
        for word in ["instance ", "CREATED", "RUNNING", "STOPPED", "exit code 3", "removed"] {
            assert!(output.stderr.contains(word), "{word}: {}", output.stderr);
        }
        assert!(!output.stderr.contains("does not answer"), "nothing went wrong: {}", output.stderr);
        assert!(output.took < AMPLE);
    })
    .await;
}
