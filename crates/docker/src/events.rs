//! The event stream.

use std::collections::{BTreeSet, VecDeque};

use lighterman_calls::{EventAction, ExitCode, Lost, LostCause, RuntimeEvent};
use lighterman_ids::{RuntimeId, Wall};
use serde::Deserialize;
use serde_json::Value;

use crate::lines::Lines;

/// How many of the last events are remembered to tell doubles. The engine replays at most 256.
const REMEMBERED: usize = 1_024;

/// The events of one watch.
pub(crate) struct Events {
    lines: Lines,
    seen: Seen,
}

impl Events {
    pub(crate) fn new(lines: Lines) -> Self {
        Self { lines, seen: Seen::default() }
    }

    /// The next event that matters and was not delivered yet; an error is final.
    pub(crate) async fn next(&mut self) -> Result<RuntimeEvent, Lost> {
        while let Some(line) = self.lines.next().await? {
            match read(&line)? {
                Some(event) if self.seen.is_new(&event) => return Ok(event),
                Some(event) => tracing::debug!(container.runtime_id = %event.container, "a doubled event is dropped"),
                None => {}
            }
        }
        Err(Lost::new(LostCause::ConnectionLost, "the engine ended the event stream"))
    }
}

/// A line that is no JSON breaks the stream. JSON of another shape is an event of a kind that is not
/// used, whatever it says.
fn read(line: &[u8]) -> Result<Option<RuntimeEvent>, Lost> {
    match serde_json::from_slice::<RawEvent>(line) {
        Ok(raw) => Ok(event(&raw)),
        Err(error) if error.is_data() => {
            tracing::debug!("an event of an unknown shape is dropped");
            Ok(None)
        }
        Err(_) => Err(Lost::new(LostCause::Garbled, "a line of the event stream is not JSON")),
    }
}

#[derive(Deserialize)]
struct RawEvent {
    #[serde(rename = "Type", default)]
    kind: String,
    #[serde(rename = "Action", default)]
    action: String,
    #[serde(rename = "Actor")]
    actor: Option<RawActor>,
    #[serde(default)]
    time: i64,
    #[serde(rename = "timeNano", default)]
    time_nano: i64,
}

#[derive(Deserialize)]
struct RawActor {
    #[serde(rename = "ID", default)]
    id: String,
    #[serde(rename = "Attributes")]
    attributes: Option<RawAttributes>,
}

#[derive(Deserialize)]
struct RawAttributes {
    #[serde(rename = "exitCode")]
    exit_code: Option<Value>,
}

/// What a line means; `None` when it says nothing that is used (engine.md 4.10).
fn event(raw: &RawEvent) -> Option<RuntimeEvent> {
    if raw.kind != "container" {
        return None;
    }
    let actor = raw.actor.as_ref()?;
    let action = action(&raw.action, actor.attributes.as_ref())?;
    let Ok(container) = RuntimeId::parse(&actor.id) else {
        tracing::debug!(event.action = raw.action, "an event names no container");
        return None;
    };
    let at = if raw.time_nano == 0 { raw.time.saturating_mul(1_000_000_000) } else { raw.time_nano };
    Some(RuntimeEvent { at: Wall(at), container, action })
}

/// Actions may carry text after a colon: `exec_start: sh`, `health_status: healthy`.
fn action(text: &str, attributes: Option<&RawAttributes>) -> Option<EventAction> {
    let (word, rest) = text.split_once(':').unwrap_or((text, ""));
    Some(match word {
        "create" => EventAction::Create,
        "start" => EventAction::Start,
        "die" => EventAction::Die { exit_code: attributes.and_then(exit_code) },
        "stop" => EventAction::Stop,
        "restart" => EventAction::Restart,
        "oom" => EventAction::Oom,
        "destroy" => EventAction::Destroy,
        "health_status" => EventAction::HealthStatus(rest.trim().into()),
        _ => return None,
    })
}

fn exit_code(attributes: &RawAttributes) -> Option<ExitCode> {
    match attributes.exit_code.as_ref()? {
        Value::String(text) => text.parse().ok(),
        number => number.as_i64().and_then(|code| code.try_into().ok()),
    }
}

/// The last events, oldest first.
#[derive(Default)]
struct Seen {
    order: VecDeque<RuntimeEvent>,
    set: BTreeSet<RuntimeEvent>,
}

impl Seen {
    fn is_new(&mut self, event: &RuntimeEvent) -> bool {
        if !self.set.insert(event.clone()) {
            return false;
        }
        self.order.push_back(event.clone());
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.set.remove(&oldest);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const ID: &str = "0123456789ab0123456789ab";

    fn read(value: &Value) -> Option<RuntimeEvent> {
        super::read(value.to_string().as_bytes()).unwrap()
    }

    fn of(action: &str, attributes: &Value) -> Option<EventAction> {
        let actor = json!({"ID": ID, "Attributes": attributes});
        read(&json!({"Type": "container", "Action": action, "Actor": actor, "time": 5, "timeNano": 5_000_000_007_i64}))
            .map(|event| event.action)
    }

    #[test]
    fn the_events_that_matter_are_read() {
        let none = json!({});
        assert_eq!(of("create", &none), Some(EventAction::Create));
        assert_eq!(of("start", &none), Some(EventAction::Start));
        assert_eq!(of("die", &json!({"exitCode": "137"})), Some(EventAction::Die { exit_code: Some(137) }));
        assert_eq!(of("die", &json!({"exitCode": 9})), Some(EventAction::Die { exit_code: Some(9) }));
        assert_eq!(of("die", &json!({"exitCode": "many"})), Some(EventAction::Die { exit_code: None }));
        assert_eq!(of("die", &none), Some(EventAction::Die { exit_code: None }));
        assert_eq!(of("die", &Value::Null), Some(EventAction::Die { exit_code: None }));
        assert_eq!(of("stop", &none), Some(EventAction::Stop));
        assert_eq!(of("restart", &none), Some(EventAction::Restart));
        assert_eq!(of("oom", &none), Some(EventAction::Oom));
        assert_eq!(of("destroy", &none), Some(EventAction::Destroy));
        for word in ["healthy", "unhealthy", "recovering"] {
            let action = of(&format!("health_status: {word}"), &none);
            assert_eq!(action, Some(EventAction::HealthStatus(word.into())));
        }
    }

    #[test]
    fn b003_signals_and_exec_are_not_read_as_ends() {
        for action in ["kill", "exec_create: sh -c exit", "exec_start: sh", "exec_die", "pause", "top", "attach", ""] {
            assert_eq!(of(action, &json!({"exitCode": "0", "signal": "10"})), None, "{action}");
        }
    }

    #[test]
    fn what_is_not_about_a_container_is_dropped() {
        let actor = json!({"ID": ID});
        assert_eq!(read(&json!({"Type": "network", "Action": "create", "Actor": actor})), None);
        assert_eq!(read(&json!({"Type": "hologram", "Action": "die", "Actor": actor})), None);
        assert_eq!(read(&json!({"Type": "container", "Action": "die"})), None);
        assert_eq!(read(&json!({"Type": "container", "Action": "die", "Actor": {"ID": "../x"}})), None);
        for odd in [json!({}), json!([]), json!(7), json!({"Type": 7}), json!({"Actor": "x"}), json!({"time": "now"})] {
            assert_eq!(read(&odd), None, "{odd}");
        }
    }

    #[test]
    fn what_is_no_json_breaks_the_stream() {
        for line in ["<html>", "{\"Type\":", "{} {}", "\u{1}\u{2}"] {
            assert_eq!(super::read(line.as_bytes()).unwrap_err().cause, LostCause::Garbled, "{line:?}");
        }
    }

    #[test]
    fn the_stamp_has_nanoseconds_where_the_engine_gives_them() {
        let at = |value: Value| {
            let mut event = json!({"Type": "container", "Action": "start", "Actor": {"ID": ID}});
            event.as_object_mut().unwrap().extend(value.as_object().unwrap().clone());
            read(&event).unwrap().at
        };
        assert_eq!(at(json!({"time": 5, "timeNano": 5_000_000_007_i64})), Wall(5_000_000_007));
        assert_eq!(at(json!({"time": 5})), Wall(5_000_000_000));
    }

    #[test]
    fn doubles_are_told_within_the_last_thousand() {
        let mut seen = Seen::default();
        let event =
            |at| RuntimeEvent { at: Wall(at), container: RuntimeId::parse(ID).unwrap(), action: EventAction::Stop };
        assert!(seen.is_new(&event(1)));
        assert!(!seen.is_new(&event(1)));
        // The same stamp with another action is another event.
        assert!(seen.is_new(&RuntimeEvent { action: EventAction::Oom, ..event(1) }));
        for at in 2..10_000 {
            assert!(seen.is_new(&event(at)));
            assert!(!seen.is_new(&event(at)));
        }
        assert_eq!((seen.order.len(), seen.set.len()), (REMEMBERED, REMEMBERED));
    }
}
