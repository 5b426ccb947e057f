//! Input that means no good: B-086.

use lighterman_taskdef::{
    fields::{CONTAINER_FIELDS, FieldRow, TASK_FIELDS},
    limits::MAX_TEXT,
    read,
};
use proptest::{
    prelude::*,
    test_runner::{Config, RngSeed, TestRunner},
};

use crate::helpers::{container_json, findings_of, read_json, task_json};

#[test]
fn b086_not_a_definition_at_all() {
    for (name, bytes, wanted) in [
        ("t.json", &b""[..], "the text is empty at line 1, column 1; allowed: a task definition"),
        ("t.json", b" \n ", "the text is empty at line 2, column 2; allowed: a task definition"),
        ("t.json", b"\xef\xbb\xbf", "the text is empty at line 1, column 1; allowed: a task definition"),
        ("t.json", b"{\"a\": \xff}", "byte 0xFF is not UTF-8 at line 1, column 7; allowed: UTF-8"),
        ("t.json", b"\xff\xfe{\0}\0", "byte 0xFF is not UTF-8 at line 1, column 1; allowed: UTF-8"),
        (
            "t.json",
            b"{\"a\": \"\x01\"}",
            r"control character U+0001 inside text at line 1, column 8; allowed: its escape \u0001",
        ),
        (
            "t.json",
            b"family = 1",
            r#"named .json, but it does not begin like JSON, at line 1, column 1; allowed: "{" or "[""#,
        ),
        ("t.toml", b"{}", "named .toml, but it begins like JSON, at line 1, column 1; name it .json"),
        ("t.yaml", b"family: x", r#"".yaml" files are not read at line 1, column 1; allowed: JSON, TOML"#),
        ("t.json", b"{\"a\": 1,}", r#"unexpected "}" at line 1, column 9; allowed: a key in quotes"#),
    ] {
        let findings = read(name, bytes).unwrap_err();
        assert_eq!(findings.errors.len(), 1);
        assert_eq!(findings.errors[0].to_string(), wanted);
    }
    let prose = read("x", b"hello, world\nand more").unwrap_err().to_string();
    assert!(prose.lines().count() > 1, "{prose}");
    assert_eq!(prose.matches("; it is read as TOML, since it does not begin like JSON").count(), 1, "{prose}");
    assert!(read("x", b"\0\0\0\0").is_err());
    assert!(read("x", b"%PDF-1.4").is_err());
}

#[test]
fn b086_a_byte_order_mark_is_skipped_and_counted() {
    let text = format!("\u{feff}{}", container_json(""));
    assert!(read("task.json", text.as_bytes()).is_ok());
    assert!(read("-", format!("\u{feff}{}", "family = 1").as_bytes()).is_err());
}

#[test]
fn b086_size_is_refused_before_parsing() {
    let huge = vec![b'['; 50_000_000];
    let findings = read("t.json", &huge).unwrap_err();
    assert_eq!(findings.errors[0].to_string(), "50000000 bytes of text at line 1, column 1; allowed: up to 1048576");
    let fits = format!("{}{}", container_json(""), " ".repeat(MAX_TEXT - container_json("").len()));
    assert!(read("t.json", fits.as_bytes()).is_ok());
    assert!(read("t.json", format!("{fits} ").as_bytes()).is_err());
}

#[test]
fn b086_nesting_is_bounded() {
    let deep = |open: &str, close: &str| format!("{}1{}", open.repeat(1_000), close.repeat(1_000));
    for text in [deep("[", "]"), deep("{\"a\":", "}")] {
        let findings = read("t.json", text.as_bytes()).unwrap_err();
        assert!(findings.errors[0].message.contains("nested too deep"), "{findings}");
    }
    assert!(read("t.toml", format!("a = {}", deep("[", "]")).as_bytes()).is_err());
    assert!(read("t.toml", format!("a = {}", deep("{a=", "}")).as_bytes()).is_err());
    assert!(read("t.toml", format!("{}a = 1", "a.".repeat(1_000)).as_bytes()).is_err());
    let just = format!("{{\"a\":{}{}}}", "[".repeat(63), "]".repeat(63));
    assert!(findings_of(&just)[0].starts_with("E V2"), "63 lists in one object parse");
}

#[test]
fn b086_too_many_containers_are_counted() {
    let containers = vec!["{}"; 10_000].join(",");
    assert_eq!(
        findings_of(&task_json("", &containers)),
        ["E V1 10000 containers at containerDefinitions; allowed: up to 1000"]
    );
}

#[test]
fn b086_duplicate_keys_name_both_lines() {
    let findings =
        read("t.json", b"{\"family\": \"a\",\n \"family\": \"b\",\n \"containerDefinitions\": []}").unwrap_err();
    assert_eq!(
        findings.errors[0].to_string(),
        "key \"family\" is given twice, first at line 1, column 2, again at line 2, column 2; allowed: each key once"
    );
}

/// Every field of the table holding every kind of value: an answer, never a panic, and nothing
/// but a full definition is ever handed out.
#[test]
fn b086_every_field_with_every_type() {
    let values = [
        "null",
        "true",
        "0",
        "-1",
        "1e400",
        "0.5",
        "99999999999999999999999",
        "\"\"",
        "\"x\"",
        "\"\\u0000\"",
        "[]",
        "{}",
        "[null]",
        "[[]]",
        "[{}]",
        "[\"\"]",
        "{\"\": 1}",
        "{\"a\": null}",
        "{\"Ref\": 1}",
        "[1, \"a\", null, {}, []]",
    ];
    let mut tried = 0;
    let mut each = |row: &FieldRow, text: &dyn Fn(&str) -> String| {
        for value in values {
            let text = text(&format!("\"{}\": {value}", row.key));
            if let Err(findings) = read_json(&text) {
                assert!(!findings.errors.is_empty(), "{text}");
            }
            tried += 1;
        }
    };
    let plain = r#"{"name": "web", "image": "b", "memory": 64}"#;
    for row in CONTAINER_FIELDS {
        each(row, &|member| task_json("", &format!("{{{member}}}")));
        each(row, &container_json);
    }
    for row in TASK_FIELDS {
        each(row, &|member| format!("{{{member}, \"containerDefinitions\": [{plain}]}}"));
        each(row, &|member| format!("{{\"taskDefinition\": {{{member}}}}}"));
    }
    assert!(tried > 2_000, "{tried}");
}

#[test]
fn b086_secret_text_is_never_repeated() {
    let secret = "hunter2";
    for member in [
        format!(r#""environment": {{"A": ["{secret}"]}}"#),
        format!(r#""environment": [{{"name": "A", "value": {{"{secret}": 1}}}}]"#),
        format!(r#""environment": [{{"name": "A", "value": "{secret}\u0000"}}]"#),
        format!(r#""command": "{secret}""#),
        format!(r#""dockerLabels": "{secret}""#),
        format!(r#""healthCheck": {{"command": "{secret}"}}"#),
        format!(r#""environment": [{{"name": "A", "value": "{secret}"}}, {{"name": "A", "value": "{secret}"}}]"#),
    ] {
        let text = container_json(&member);
        let findings = read_json(&text).map_or_else(
            |findings| findings,
            |reading| {
                assert!(!format!("{:?}", reading.definition).contains(secret), "{member}");
                reading.warnings
            },
        );
        assert!(!findings.is_empty() && !format!("{findings:?}").contains(secret), "{member}: {findings}");
    }
}

const EXAMPLES: [&str; 3] = [
    include_str!("../data/08-linux-parameters.json"),
    include_str!("../data/10-envfiles-and-secrets.json"),
    include_str!("../data/04-mesh-proxy-sidecar.json"),
];

/// One change to a text: what, where (as a fraction of its length), with which piece.
type Mutation = (u8, u16, usize);

const PIECES: [&str; 22] = [
    "{", "}", "[", "]", ",", ":", "\"", "\\", "null", "true", "-1", "0", "1e9", "\"\"", "\"a\"", "[]", "{}", "\u{0}",
    "\u{7f}", "ä", "${X}", "\"Ref\":",
];

fn mutate(text: &str, mutations: &[Mutation]) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for (kind, at, piece) in mutations {
        let at = bytes.len() * usize::from(*at) / 65_536;
        let piece = PIECES[piece % PIECES.len()].as_bytes();
        match kind % 4 {
            0 => drop(bytes.splice(at..at, piece.iter().copied())),
            1 => drop(bytes.drain(at..(at + piece.len() * 3).min(bytes.len()))),
            2 => drop(bytes.splice(at..(at + piece.len()).min(bytes.len()), piece.iter().copied())),
            // A token is replaced, so that types change more often than syntax breaks.
            _ => {
                let is_token = |b: &u8| b.is_ascii_alphanumeric() || *b == b'"';
                let start = bytes[..at].iter().rposition(|b| !is_token(b)).map_or(0, |before| before + 1);
                let end = bytes[start..].iter().position(|b| !is_token(b)).map_or(bytes.len(), |n| start + n);
                drop(bytes.splice(start..end, piece.iter().copied()));
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn b086_mutated_examples_never_panic() {
    let config = Config { cases: 10_000, rng_seed: RngSeed::Fixed(86), failure_persistence: None, ..Config::default() };
    let mutations = proptest::collection::vec((any::<u8>(), any::<u16>(), any::<usize>()), 1..6);
    let counted = std::cell::Cell::new(0_u32);
    TestRunner::new(config)
        .run(&(0..EXAMPLES.len(), mutations), |(example, mutations)| {
            let text = mutate(EXAMPLES[example], &mutations);
            match read("t.json", text.as_bytes()) {
                Ok(reading) => prop_assert!(!reading.definition.containers.is_empty()),
                Err(findings) => {
                    prop_assert!(!findings.errors.is_empty());
                    prop_assert!(findings.errors.iter().all(|finding| finding.line >= 1 && finding.column >= 1));
                    if findings.errors[0].path.is_some() {
                        counted.set(counted.get() + 1);
                    }
                }
            }
            Ok(())
        })
        .unwrap();
    assert!(counted.get() > 1_000, "only {} mutations got past the parser", counted.get());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn b086_any_text_as_toml_never_panics(text in "[\\[\\]{}=.,\"'a-c0-9\n #+-]{0,60}") {
        let _answer = read("t.toml", text.as_bytes());
    }
}

#[test]
fn b086_what_is_found_is_told_in_short_however_long_it_is() {
    const LONG: usize = 900_000;
    let (nines, word) = ("9".repeat(LONG), "w".repeat(LONG));
    let zeros = format!("1.{}", "0".repeat(LONG));
    let fraction = format!("0.{}", "5".repeat(LONG));
    let quoted = format!("\"{word}\"");
    let in_container = |members: &str| {
        told_in_short(&format!(r#"{{"family": "f", "containerDefinitions": [{{{members}}}]}}"#));
    };
    for value in [&nines, &zeros, &fraction, &quoted] {
        for key in ["memory", "cpu", "memoryReservation", "stopTimeout", "essential", "image", "name", "portMappings"] {
            in_container(&format!(r#""{key}": {value}"#));
        }
        for key in ["family", "memory", "cpu", "revision", "networkMode", "volumes", "containerDefinitions"] {
            told_in_short(&format!(r#"{{"{key}": {value}}}"#));
        }
        in_container(&format!(r#""ulimits": [{{"name": {value}, "softLimit": {value}}}]"#));
        in_container(&format!(r#""environment": [{{"name": {value}, "value": {value}}}]"#));
    }
    in_container(&format!("{quoted}: 1"));
    in_container(&format!(r#""dockerLabels": {{{quoted}: [1]}}"#));
    in_container(&format!("{quoted}: 1, {quoted}: 2"));
}

#[track_caller]
fn told_in_short(text: &str) {
    for finding in findings_of(text) {
        assert!(finding.len() < 1_000, "{} bytes: {}…", finding.len(), &finding[..200]);
    }
}
