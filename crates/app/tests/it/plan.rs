//! `lighterman plan`.

use std::path::{Path, PathBuf};

use lighterman_app::{Drawing, PlanOptions, PlanOutcome, graph, plan};
use lighterman_config::{ExitCode, RunSettings};
use lighterman_ui::PlanPage;

fn planned(file: &str, assume: &[&str]) -> PlanOutcome {
    let assume = assume.iter().map(ToString::to_string).collect();
    plan(&PlanOptions { file: PathBuf::from(file), assume, settings: RunSettings::RUN }).unwrap()
}

fn page(file: &str, assume: &[&str]) -> PlanPage {
    match planned(file, assume) {
        PlanOutcome::Made(page) => *page,
        PlanOutcome::Refused(checked) => panic!("{:?}", checked.errors),
    }
}

const DEMO: &str = "../../docs/demo/task.json";

#[test]
fn the_demo_ends_as_it_is_assumed_to() {
    let page = page(DEMO, &["hello=exit:0@2s"]);
    insta::assert_snapshot!("demo", page.to_text());
    insta::assert_snapshot!("demo_json", page.to_json());
}

#[test]
fn the_demo_stays_when_nothing_is_assumed() {
    insta::assert_snapshot!("demo_stays", page(DEMO, &[]).to_text());
}

#[test]
fn a_refused_definition_is_shown_as_validate_shows_it() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("task.json");
    std::fs::write(&file, r#"{"family": "x", "containerDefinitions": [{"name": "a", "image": "a b", "memory": 4}]}"#)
        .unwrap();
    let outcome = planned(file.to_str().unwrap(), &[]);
    assert_eq!(outcome.exit_code(), ExitCode::Refused);
    let PlanOutcome::Refused(checked) = outcome else { panic!("there is a plan") };
    let (validated, code) = lighterman_app::validate(&[file]);
    assert_eq!((checked.to_json(), ExitCode::Refused), (validated[0].to_json(), code));
    assert!(!checked.errors.is_empty());
}

#[test]
fn a_graph_is_drawn_in_every_form() {
    let drawn = |drawing| graph(Path::new(DEMO), drawing).unwrap();
    assert_eq!(drawn(Drawing::Text), "hello  NONE\n");
    assert_eq!(drawn(Drawing::Tree), "hello  NONE\n");
    let dot = drawn(Drawing::Dot);
    assert!(dot.starts_with("digraph \"demo\" {") && dot.contains("\"hello\""), "{dot}");
    let missing = graph(Path::new("/nowhere/task.json"), Drawing::Text).unwrap_err();
    assert!(missing.errors[0].contains("/nowhere/task.json cannot be read"), "{missing:?}");
}
