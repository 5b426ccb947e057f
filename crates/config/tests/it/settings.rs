//! The table of settings and how it is read.

use std::{fmt::Write as _, time::Duration};

use lighterman_config::{
    Below, Effective, Environment, Field, Reference, RunSettings, SETTINGS, SettingError, SettingWarning, Source,
};

fn load<const N: usize>(variables: [(&str, &str); N]) -> Effective {
    Effective::load(&variables.into()).expect("acceptable variables")
}

#[test]
fn e151_values_below_the_minimum_of_the_reference_are_raised() {
    let effective = load([("ECS_CONTAINER_START_TIMEOUT", "10s"), ("ECS_CONTAINER_STOP_TIMEOUT", "0.1s")]);
    let settings = effective.settings;
    let seconds = [settings.start, settings.stop_timeout].map(|limit| limit.as_secs());
    assert_eq!(seconds, [45, 1]);
    let warnings: Vec<String> = effective.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        [
            "ECS_CONTAINER_START_TIMEOUT: \"10s\" is below the minimum; using 45s",
            "ECS_CONTAINER_STOP_TIMEOUT: \"0.1s\" is below the minimum; using 1s",
        ]
    );
}

#[test]
fn every_variable_of_the_reference_is_taken_clamped_and_ignored_by_its_rule() {
    for setting in SETTINGS {
        let Some(Reference { variable, least, below }) = setting.reference else { continue };
        let value = |text: &str| {
            let effective = load([(variable, text)]);
            let row = effective.row(setting.key).unwrap().clone();
            (row.value, row.source, effective.warnings.len())
        };
        let default = load([]).row(setting.key).unwrap().value.clone();
        let ours = || Source::Environment(variable.into());
        assert_eq!(value("2h1m0s"), ("2h1m0s".into(), ours(), 0), "{variable}");
        assert_eq!(value("721h"), ("720h0m0s".into(), ours(), 1), "{variable}");
        assert_eq!(value("soon"), (default.clone(), Source::Default, 1), "{variable}");
        assert_eq!(value("10"), (default.clone(), Source::Default, 1), "{variable}");
        assert_eq!(value("0s"), (default.clone(), Source::Default, 1), "{variable}: zero is unset (config.md 1)");
        assert_eq!(value(""), (default, Source::Default, 0), "{variable}: empty is unset (config.md 1)");
        if !least.is_zero() {
            assert_eq!(below, Below::Raised);
            assert_eq!(value("1us"), (lighterman_config::format_duration(least), ours(), 1), "{variable}");
        }
    }
}

#[test]
fn our_variable_wins_over_that_of_the_reference() {
    let effective = load([("ECS_CONTAINER_STOP_TIMEOUT", "20s"), ("LIGHTERMAN_RUNTIME_STOP_TIMEOUT", "300ms")]);
    assert_eq!(effective.settings.stop_timeout, Duration::from_millis(300));
    assert_eq!(effective.warnings, [], "ours has no minimum of a second");
    let source = &effective.row("runtime.stop_timeout").unwrap().source;
    assert_eq!(source.to_string(), "LIGHTERMAN_RUNTIME_STOP_TIMEOUT");
}

/// Each row of the table is about its own field and no other, and knows both ends of its range.
#[test]
fn every_setting_sets_exactly_its_field_within_its_range() {
    for setting in SETTINGS {
        let variable = setting.variable();
        let set = |text: &str| Effective::load(&[(&*variable, text)].into());
        let (inside, ends, outside) = match setting.field {
            Field::Time { least, .. } if least.is_zero() => ("7s", ["0", "720h"], ["721h", "999999h"]),
            Field::Time { .. } => ("7s", ["100ms", "720h"], ["99ms", "721h"]),
            Field::Count { most: 256, .. } => ("7", ["1", "256"], ["0", "257"]),
            Field::Count { .. } => ("7", ["1", "64"], ["0", "65"]),
        };
        let changed = set(inside).unwrap();
        for row in &changed.rows {
            let expected = if row.key == setting.key { inside } else { &row.default };
            assert_eq!(row.value, expected, "{variable} and {}", row.key);
            assert_eq!(row.source == Source::Default, row.key != setting.key);
        }
        assert_ne!(changed.settings, RunSettings::RUN, "{variable} moves a field");
        for text in ends {
            assert!(set(text).is_ok(), "{variable}={text}");
        }
        for text in outside {
            let errors = set(text).unwrap_err();
            assert!(matches!(&*errors, [SettingError::OutOfRange { .. }]), "{variable}={text}: {errors:?}");
        }
    }
}

#[test]
fn all_errors_are_collected_and_name_variable_and_range() {
    let env: Environment = [
        ("LIGHTERMAN_RUNTIME_MAX_CALLS", "many"),
        ("LIGHTERMAN_RUNTIME_STOP_TIMEOUT", "10"),
        ("LIGHTERMAN_TASKS_CLEANUP_WAIT", "1000h"),
    ]
    .into();
    let errors = Effective::load(&env).unwrap_err();
    let mut text = String::new();
    for error in &errors {
        writeln!(text, "{error}").unwrap();
    }
    insta::assert_snapshot!(text);
}

#[test]
fn an_unknown_variable_with_our_prefix_warns_and_names_the_one_that_was_meant() {
    let effective = load([
        ("LIGHTERMAN_RUNTIME_STOP_TIMEUOT", "5s"),
        ("LIGHTERMAN_ELSEWHERE", "1"),
        ("LIGHTERMAN_EMPTY", ""),
        ("LIGHTERMANS", "1"),
    ]);
    assert_eq!(
        effective.warnings,
        [
            SettingWarning::Unknown { variable: "LIGHTERMAN_ELSEWHERE".into(), meant: None },
            SettingWarning::Unknown {
                variable: "LIGHTERMAN_RUNTIME_STOP_TIMEUOT".into(),
                meant: Some("LIGHTERMAN_RUNTIME_STOP_TIMEOUT".into())
            },
        ]
    );
}

#[test]
fn the_clean_up_wait_of_an_agent_does_not_keep_a_run() {
    let effective = load([("ECS_ENGINE_TASK_CLEANUP_WAIT_DURATION", "1h")]);
    assert_eq!(effective.settings.cleanup_wait, Duration::ZERO);
}

/// The whole table as `config show` will print it, and how `run` differs from the reference.
#[test]
fn the_table_of_settings() {
    let effective = load([]);
    assert_eq!(effective.settings, RunSettings::default());
    let mut text = String::new();
    for (row, setting) in effective.rows.iter().zip(SETTINGS) {
        let reference = setting.field.print(&RunSettings::REFERENCE);
        let differs = if reference == row.default { String::new() } else { format!(" (reference {reference})") };
        writeln!(text, "{} = {}{differs}, {}: {}", row.key, row.default, row.range, row.about).unwrap();
        let also = setting.reference.map_or(String::new(), |reference| format!(", {}", reference.variable));
        writeln!(text, "    {}{also}", setting.variable()).unwrap();
    }
    insta::assert_snapshot!(text);
}
