//! Input that means no good: B-086.

use lighterman_taskdef::{
    TaskDefinition,
    fields::{self, CONTAINER_FIELDS, FieldRow, Levels, TASK_FIELDS},
    limits::MAX_TEXT,
    read, read_with,
};
use proptest::{
    prelude::*,
    test_runner::{Config, RngSeed, TestRunner},
};

use serde_json::Value;

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
    for placed in fields::all().iter().filter(|placed| placed.path.contains('.')) {
        for value in values {
            let member = nested(&placed.path, value);
            let text = match member.strip_prefix(r#""containerDefinitions": [{"#) {
                Some(inner) => container_json(inner.strip_suffix("}]").unwrap()),
                None => task_json(&member, plain),
            };
            match read_with("t.json", text.as_bytes(), Levels::Any) {
                Ok(reading) => comes_back(&reading.definition),
                Err(findings) => assert!(!findings.errors.is_empty(), "{text}"),
            }
            tried += 1;
        }
    }
    assert!(tried > 4_000, "{tried}");
}

/// `"a": [{"b": value}]` for `a[].b`.
fn nested(path: &str, value: &str) -> String {
    match path.split_once('.') {
        None => format!("\"{path}\": {value}"),
        Some((key, rest)) => match key.strip_suffix("[]") {
            Some(key) => format!("\"{key}\": [{{{}}}]", nested(rest, value)),
            None => format!("\"{key}\": {{{}}}", nested(rest, value)),
        },
    }
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
        format!(r#""environment": {{"A": "{secret}"}}, "secrets": [{{"name": "A", "valueFrom": "a"}}]"#),
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

const EXAMPLES: [&str; 7] = [
    include_str!("../data/02-links-and-volumesfrom-graph.json"),
    include_str!("../data/04-mesh-proxy-sidecar.json"),
    include_str!("../data/05-log-router-with-secret-option.json"),
    include_str!("../data/08-linux-parameters.json"),
    include_str!("../data/09-docker-volumes.json"),
    include_str!("../data/10-envfiles-and-secrets.json"),
    include_str!("../data/every-field.json"),
];

/// What is understood of a document is what a record of it gives back.
fn comes_back(definition: &TaskDefinition) {
    let text = definition.to_register_json();
    let back = TaskDefinition::from_register_json_with(&text, Levels::Any);
    assert_eq!(back.as_ref(), Ok(definition), "{text}");
}

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
            match read_with("t.json", text.as_bytes(), Levels::Any) {
                Ok(reading) => {
                    prop_assert!(!reading.definition.containers.is_empty());
                    comes_back(&reading.definition);
                }
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
    assert!(counted.get() > 200, "only {} mutations got past the parser", counted.get());
}

/// The same with whole values, so that all of them parse: what is accepted goes into a record and comes back.
#[test]
fn b086_mutated_values_never_panic() {
    let config = Config { cases: 4_000, rng_seed: RngSeed::Fixed(87), failure_persistence: None, ..Config::default() };
    let values = [
        "null",
        "true",
        "false",
        "0",
        "-1",
        "1",
        "65535",
        "4294967296",
        "1e9",
        "\"\"",
        "\"a\"",
        "\"/a\"",
        "\"web\"",
        "\"store\"",
        "\"1-2\"",
        "\"host\"",
        "\"HEALTHY\"",
        "\"ALL\"",
        "\"arn:aws:s3:::a/b.env\"",
        "\"\\u0001\"",
        "[]",
        "{}",
        "[\"a\"]",
        "[{}]",
        "{\"Ref\": \"a\"}",
        "\"${X}\"",
    ];
    let examples: Vec<Value> = EXAMPLES.iter().map(|text| serde_json::from_str(text).unwrap()).collect();
    let mutations = proptest::collection::vec((any::<u16>(), 0..values.len()), 1..3);
    let (accepted, refused) = (std::cell::Cell::new(0_u32), std::cell::Cell::new(0_u32));
    TestRunner::new(config)
        .run(&(0..examples.len(), mutations), |(example, mutations)| {
            let mut document = examples[example].clone();
            for (at, value) in mutations {
                let mut left = 1 + usize::from(at) % (nodes(&document) - 1).max(1);
                replace(&mut document, &mut left, &serde_json::from_str(values[value]).unwrap());
            }
            match read_with("t.json", document.to_string().as_bytes(), Levels::Any) {
                Ok(reading) => {
                    comes_back(&reading.definition);
                    accepted.set(accepted.get() + 1);
                }
                Err(findings) => {
                    prop_assert!(findings.errors.iter().all(|finding| finding.path.is_some()), "{}", findings);
                    refused.set(refused.get() + 1);
                }
            }
            Ok(())
        })
        .unwrap();
    assert!(accepted.get() > 400 && refused.get() > 400, "{} accepted, {} refused", accepted.get(), refused.get());
}

/// How many values there are in a document.
fn nodes(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(nodes).sum::<usize>(),
        Value::Object(members) => members.values().map(nodes).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

/// Puts another value in the place of the one with that number.
fn replace(value: &mut Value, left: &mut usize, with: &Value) {
    if *left == 0 {
        *value = with.clone();
    }
    *left = left.wrapping_sub(1);
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, left, with)),
        Value::Object(members) => members.values_mut().for_each(|member| replace(member, left, with)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn b086_any_text_as_toml_never_panics(text in "[\\[\\]{}=.,\"'a-c0-9\n #+-]{0,60}") {
        let _answer = read("t.toml", text.as_bytes());
    }
}

/// What a person would wait for without a word, were it quadratic: the runner's limit ends it.
#[test]
fn b086_large_documents_are_answered_at_once() {
    let list = |item: &dyn Fn(usize) -> String, bytes: usize| {
        let mut out = String::new();
        for n in 0.. {
            let item = item(n);
            if out.len() + item.len() > bytes {
                return out;
            }
            out = out + if n == 0 { "" } else { "," } + &item;
        }
        out
    };
    const ROOM: usize = 1_000_000;
    let of_container =
        |key: &str, item: &dyn Fn(usize) -> String| container_json(&format!("\"{key}\": [{}]", list(item, ROOM)));
    let containers = |members: &dyn Fn(usize) -> String| {
        let all: Vec<_> =
            (0..1_000).map(|n| format!(r#"{{"name":"c{n}","image":"b","memory":6,{}}}"#, members(n))).collect();
        task_json("", &all.join(","))
    };
    let texts = [
        container_json(&format!("\"environment\": [{{\"name\": \"A\", \"value\": \"{}\"}}]", "x".repeat(900_000))),
        of_container("environment", &|n| format!(r#"{{"name":"V{n}","value":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}}"#)),
        of_container("portMappings", &|n| format!(r#"{{"containerPort":{}}}"#, n % 65_535 + 1)),
        of_container("portMappings", &|_| r#"{"containerPort":1,"hostPort":1}"#.to_string()),
        of_container("portMappings", &|_| r#"{"containerPortRange":"1-65535"}"#.to_string()),
        of_container("links", &|n| format!(r#""a{n}:b""#)),
        of_container("mountPoints", &|n| format!(r#"{{"sourceVolume":"v{n}","containerPath":"/a"}}"#)),
        of_container("secrets", &|n| format!(r#"{{"name":"{n}","valueFrom":"a"}}"#)),
        of_container("dependsOn", &|n| format!(r#"{{"containerName":"c{n}","condition":"START"}}"#)),
        of_container("ulimits", &|_| r#"{"name":"core","softLimit":1,"hardLimit":1}"#.to_string()),
        of_container("systemControls", &|n| format!(r#"{{"namespace":"net.{n}","value":"a"}}"#)),
        of_container("resourceRequirements", &|n| format!(r#"{{"type":"InferenceAccelerator","value":"{n}"}}"#)),
        of_container("command", &|_| "\"\"".to_string()),
        of_container("command", &|_| "[]".to_string()),
        container_json(&list(&|n| format!("\"k{n}\":0"), ROOM)),
        container_json(&list(&|n| format!("\"environmentFile{n}{}\":0", "x".repeat(40)), ROOM)),
        task_json(&format!("\"volumes\": [{}]", list(&|n| format!(r#"{{"name":"v{n}"}}"#), ROOM)), r#"{"name":"a"}"#),
        task_json(
            &format!(
                r#""requiresCompatibilities": ["FARGATE"], "volumes": [{}]"#,
                list(&|n| format!(r#"{{"name":"v{n}","host":{{"sourcePath":"/"}}}}"#), ROOM)
            ),
            r#"{"name":"a"}"#,
        ),
        task_json(&format!("\"tags\": {{{}}}", list(&|n| format!("\"k{n}\":\"\""), ROOM)), ""),
        containers(&|n| format!(r#""dependsOn":[{{"containerName":"c{}","condition":"START"}}]"#, (n + 1) % 1_000)),
        containers(&|n| {
            let others: Vec<_> = (1..40).map(|step| format!("\"c{}\"", (n + step) % 1_000)).collect();
            format!(r#""links":[{}]"#, others.join(","))
        }),
        containers(&|n| format!(r#""links":[{}]"#, list(&|m| format!("\"x{n}_{m}\""), 800))),
        format!("[{}]", list(&|_| "{}".to_string(), ROOM)),
        format!("{{\"taskDefinition\":{{{}}}}}", list(&|n| format!("\"k{n}\":0"), ROOM)),
        format!(
            "{{\"Resources\":{{{}}}}}",
            list(&|n| format!("\"k{n}\":{{\"Type\":\"AWS::ECS::TaskDefinition\"}}"), ROOM)
        ),
    ];
    for text in &texts {
        assert!(text.len() <= MAX_TEXT, "{}", text.len());
        if let Err(findings) = read_with("t.json", text.as_bytes(), Levels::Any) {
            assert!(findings.errors.len() + findings.warnings.len() <= 100);
            assert!(findings.to_string().len() < 200_000);
        }
    }
}

#[test]
fn b086_a_hundred_thousand_levels_are_no_danger() {
    let deep = |open: &str, close: &str| format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
    for text in [deep("[", "]"), deep("{\"a\":", "}"), "[".repeat(1_000_000), "{\"a\":[".repeat(100_000)] {
        let findings = read("t.json", text.as_bytes()).unwrap_err();
        assert!(findings.errors[0].message.contains("nested too deep"), "{findings}");
    }
    for text in [
        format!("a = {}", deep("[", "]")),
        format!("a = {}", deep("{a=", "}")),
        format!("{}a = 1", "a.".repeat(100_000)),
        format!("[{}a]", "a.".repeat(100_000)),
        format!("a = {}", "[".repeat(1_000_000)),
        "[[a]]\n".repeat(100_000),
    ] {
        assert!(read("t.toml", text.as_bytes()).is_err(), "{}", &text[..60]);
    }
}

#[test]
fn b086_every_control_character_is_shown_escaped() {
    for code in (0..0x20).chain([0x7f, 0x85, 0x202e]) {
        let c = char::from_u32(code).unwrap();
        for member in [
            format!(r#""user": "a\u{code:04x}b""#),
            format!(r#""links": ["a\u{code:04x}b"]"#),
            format!(r#""a\u{code:04x}b": 1"#),
            format!(r#""dockerLabels": {{"dev.lighterman.\u{code:04x}": "x"}}"#),
            format!(r#""secrets": [{{"name": "A", "valueFrom": "arn:aws:a\u{code:04x}b:::"}}]"#),
            format!(r#""mountPoints": [{{"sourceVolume": "a", "containerPath": "a\u{code:04x}b"}}]"#),
            format!(r#""dependsOn": [{{"containerName": "a\u{code:04x}b", "condition": "START\u{code:04x}"}}]"#),
        ] {
            let shown = findings_of(&container_json(&member)).join("\n");
            // A change of direction is no control character to a user name; what is shown is escaped.
            assert!(
                (!shown.is_empty() || code > 0xff) && !shown.chars().any(|shown| shown == c && c != '\n'),
                "{member}: {shown:?}"
            );
        }
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
