//! Lines of log, as they reach the writer.

use std::{
    io::{self, Write},
    sync::{Arc, Mutex},
};

use lighterman_ids::Wall;
use lighterman_telemetry::{AlreadySet, Filter, Format, PINNED, VALUE_LIMIT, init, subscriber};

/// A writer that remembers, and that can be made to fail.
#[derive(Clone, Default)]
struct Paper(Arc<Mutex<(String, bool)>>);

impl Paper {
    fn text(&self) -> String {
        self.0.lock().expect("not poisoned").0.clone()
    }

    fn jam(&self, jammed: bool) {
        self.0.lock().expect("not poisoned").1 = jammed;
    }
}

impl Write for Paper {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut paper = self.0.lock().expect("not poisoned");
        if paper.1 {
            return Err(io::Error::other("jammed"));
        }
        paper.0.push_str(std::str::from_utf8(bytes).expect("lines are UTF-8"));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

const NOON: Wall = Wall(1_796_040_000_123_456_789);

/// What `log` writes with this filter.
fn lines(filter: &str, format: Format, log: impl FnOnce()) -> String {
    let paper = Paper::default();
    let filter = Filter::parse(filter).expect("a filter");
    let (subscriber, guard) = subscriber(filter, format, || NOON, paper.clone());
    tracing::subscriber::with_default(subscriber, log);
    assert_eq!(guard.lost(), 0);
    paper.text()
}

#[derive(Debug, thiserror::Error)]
#[error("cannot pull")]
struct Outer(#[source] Inner);

#[derive(Debug, thiserror::Error)]
#[error("the registry answered 503")]
struct Inner;

fn story() {
    let task =
        tracing::info_span!(target: "lighterman_driver", "task", task.id = "0f", attempt = tracing::field::Empty);
    let _task = task.enter();
    task.record("attempt", 1);
    tracing::info!(target: "lighterman_driver", { container.name = "web", status.known = "RUNNING" }, "status changed");
    let call = tracing::info_span!(target: "lighterman_driver", "call", attempt = 2, ok = false);
    let _call = call.enter();
    tracing::warn!(target: "lighterman_driver", error = &Outer(Inner) as &dyn std::error::Error, elapsed_ms = 12_u64, "pull failed");
    tracing::error!(target: "lighterman_driver", text = %"two\nlines \u{1b}[31m\u{9b}2J \"q\" a=b", level = "mine", empty = "", signed = -1);
}

#[test]
fn text_lines_hold_the_fields_of_all_spans_and_quote_what_could_break_out() {
    insta::assert_snapshot!(lines("info", Format::Logfmt, story));
}

#[test]
fn json_lines_hold_the_same() {
    let text = lines("info", Format::Json, story);
    insta::assert_snapshot!(text);
    for line in text.lines() {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(value["time"], "2026-11-30T12:00:00.123Z");
        assert_eq!(value["task.id"], "0f");
    }
    let last: serde_json::Value = serde_json::from_str(text.lines().next_back().unwrap()).unwrap();
    assert_eq!(last["text"], "two\nlines \u{1b}[31m\u{9b}2J \"q\" a=b", "nothing is lost");
}

/// Bodies with environments and credentials are what bollard logs at debug (crates.md §2).
#[test]
fn with_the_most_verbose_filter_pinned_targets_stay_at_info() {
    fn talk() {
        tracing::trace!(target: "bollard", "body");
        tracing::debug!(target: "bollard::docker", "body");
        tracing::debug!(target: "bollard::uri", "body");
        tracing::trace!(target: "hyper::proto::h1::io", "body");
        tracing::debug!(target: "hyper_util::client", "body");
        tracing::debug_span!(target: "bollard::docker", "request")
            .in_scope(|| tracing::info!(target: "bollard::docker", "told"));
        tracing::debug!(target: "bollards", "another crate");
        tracing::trace!(target: "lighterman_docker", "ours");
    }
    for filter in [
        "trace",
        "bollard=trace,hyper=trace,hyper_util=trace,info,lighterman_docker=trace,bollards=debug",
        "bollard::docker=debug,trace",
    ] {
        let text = lines(filter, Format::Logfmt, talk);
        assert!(!text.contains("body"), "{filter}: {text}");
        for wanted in ["told", "another crate", "ours"] {
            assert!(text.contains(wanted), "{filter}: {wanted} in {text}");
        }
    }
    assert!(PINNED.contains(&"bollard"));
}

#[test]
fn a_filter_is_a_level_in_any_case_or_directives() {
    let talk = || {
        tracing::error!(target: "a", "e");
        tracing::info!(target: "a", "i");
        tracing::debug!(target: "b", "d");
    };
    for (filter, expected) in [
        ("none", ""),
        ("OFF", ""),
        ("crit", "e"),
        ("Warn", "e"),
        ("info", "ei"),
        ("debug", "eid"),
        ("off,b=debug", "d"),
    ] {
        let text = lines(filter, Format::Logfmt, talk);
        let seen: String = text.lines().filter_map(|line| line.split("msg=").nth(1)).collect();
        assert_eq!(seen, expected, "{filter}");
    }
    for text in ["a=b=c", "info,lighterman=loud", "=info="] {
        let refused = Filter::parse(text).unwrap_err();
        assert!(refused.to_string().contains("target=level"), "{refused}");
    }
}

#[test]
fn fields_named_like_secrets_never_show_their_value() {
    let text = lines("info", Format::Logfmt, || {
        let span = tracing::info_span!("pull", registry.password = "hunter2", token = "hunter2");
        let _entered = span.enter();
        tracing::info!(authorization = %"hunter2", secret.arn = "arn:aws:x", secret = 5, "pull begins");
    });
    assert!(!text.contains("hunter2") && text.contains("registry.password=[redacted]"), "{text}");
    assert!(text.contains("secret.arn=arn:aws:x"), "an address of a secret is none: {text}");
}

#[test]
fn values_are_cut_and_say_so() {
    let text = lines("info", Format::Logfmt, || tracing::info!(text = "ä".repeat(VALUE_LIMIT), "long"));
    assert!(text.len() < VALUE_LIMIT + 200);
    assert!(text.trim_end().ends_with(r#"... [8192 bytes cut]""#), "{}", &text[text.len() - 40..]);
}

#[test]
fn lines_that_could_not_be_written_are_counted_and_told() {
    let paper = Paper::default();
    let (subscriber, guard) = subscriber(Filter::parse("info").unwrap(), Format::Logfmt, || NOON, paper.clone());
    tracing::subscriber::with_default(subscriber, || {
        paper.jam(true);
        tracing::info!("first");
        tracing::info!("second");
        assert_eq!(guard.lost(), 2);
        paper.jam(false);
        tracing::info!("third");
    });
    assert_eq!(guard.lost(), 0);
    let text = paper.text();
    assert!(text.starts_with("level=warn msg=\"log lines were lost\" lost=2\n") && text.contains("third"), "{text}");
    assert!(!text.contains("second"));
}

#[test]
fn a_second_set_up_is_refused_and_the_first_stays() {
    let (first, second) = (Paper::default(), Paper::default());
    let set = |paper: &Paper| init(Filter::parse("info").unwrap(), Format::Logfmt, || NOON, paper.clone());
    let guard = set(&first).unwrap();
    assert_eq!(set(&second).unwrap_err(), AlreadySet);
    tracing::info!("told");
    drop(guard);
    assert!(first.text().contains("told") && second.text().is_empty());
}
