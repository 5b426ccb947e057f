//! The example files: what this version runs, and what it refuses by name.

use lighterman_taskdef::{TaskDefinition, fields::Levels, read, read_with};
use serde_json::Value;

const NAMES: [&str; 10] = [
    "01-web-dynamic-port",
    "02-links-and-volumesfrom-graph",
    "03-migrate-then-serve",
    "04-mesh-proxy-sidecar",
    "05-log-router-with-secret-option",
    "06-host-network-agent",
    "07-per-container-stop-timeouts",
    "08-linux-parameters",
    "09-docker-volumes",
    "10-envfiles-and-secrets",
];

fn bytes_of(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/tests/data/{name}.json", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

#[test]
fn each_example_says_what_is_not_supported() {
    let mut out = String::new();
    for name in NAMES {
        let (verdict, findings) = match read(&format!("{name}.json"), &bytes_of(name)) {
            Ok(reading) => ("accepted", reading.warnings),
            Err(findings) => ("refused", findings),
        };
        out.push_str(&format!("== {name}: {verdict}\n{findings}\n"));
    }
    insta::assert_snapshot!(out);
}

/// All of them are valid input of the service: nothing is refused, and what is understood holds all that is written.
#[test]
fn each_example_is_read_whole() {
    for name in NAMES {
        let bytes = bytes_of(name);
        let reading = read_with(&format!("{name}.json"), &bytes, Levels::Planned);
        let definition = reading.unwrap_or_else(|findings| panic!("{findings}")).definition;
        let text = definition.to_register_json();
        let (written, stored) = (serde_json::from_slice(&bytes).unwrap(), serde_json::from_str(&text).unwrap());
        holds(&stored, &written, name);
        let back = TaskDefinition::from_register_json_with(&text, Levels::Planned).unwrap();
        assert_eq!(back, definition, "{text}");
    }
}

/// Every member that is written is stored too; what is written as a default may be left out.
#[track_caller]
fn holds(stored: &Value, written: &Value, place: &str) {
    match (stored, written) {
        (Value::Object(stored), Value::Object(written)) => {
            for (key, value) in written.iter().filter(|(key, value)| !is_default(key, value)) {
                let place = format!("{place}.{key}");
                holds(stored.get(key).unwrap_or_else(|| panic!("{place} is lost")), value, &place);
            }
        }
        (Value::Array(stored), Value::Array(written)) => {
            assert_eq!(stored.len(), written.len(), "{place}");
            let by_name = |list: &[Value]| {
                let mut list = list.to_vec();
                // Variables and properties are sorted, everything else keeps its order.
                if place.ends_with(".environment") || place.ends_with(".properties") {
                    list.sort_by_key(|entry| entry["name"].to_string());
                }
                list
            };
            for (n, (stored, written)) in by_name(stored).iter().zip(by_name(written)).enumerate() {
                holds(stored, &written, &format!("{place}[{n}]"));
            }
        }
        // Amounts of a task are text in the API.
        (stored, written) => {
            assert_eq!(stored.to_string().trim_matches('"'), written.to_string().trim_matches('"'), "{place}");
        }
    }
}

fn is_default(key: &str, value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(value) => *value == (key == "essential"),
        Value::Number(number) => number.as_i64() == Some(0),
        Value::String(text) => key == "operatingSystemFamily" && text == "LINUX",
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
    }
}
