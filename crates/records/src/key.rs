//! Keys of records: text, so that an export can be read and a key never changes its order.

use alloc::{format, string::String, vec::Vec};

use lighterman_engine::RecordKey;
use lighterman_ids::{ImageRef, TaskId};

/// Where the head stands; before every other key.
pub(crate) const HEAD: &[u8] = b"!head";

pub(crate) fn encode(key: &RecordKey) -> Vec<u8> {
    match key {
        RecordKey::Host => String::from("host"),
        RecordKey::Definition(task) => format!("definition/{task}"),
        RecordKey::Task(task) => format!("task/{task}"),
        RecordKey::Container(task, place) => format!("container/{task}/{place:04}"),
        RecordKey::Image(image) => format!("image/{image}"),
    }
    .into_bytes()
}

pub(crate) fn decode(key: &[u8]) -> Option<RecordKey> {
    let text = core::str::from_utf8(key).ok()?;
    if text == "host" {
        return Some(RecordKey::Host);
    }
    let (kind, rest) = text.split_once('/')?;
    match kind {
        "definition" => TaskId::parse(rest).ok().map(RecordKey::Definition),
        "task" => TaskId::parse(rest).ok().map(RecordKey::Task),
        "container" => {
            let (task, place) = rest.split_once('/')?;
            Some(RecordKey::Container(TaskId::parse(task).ok()?, place.parse().ok()?))
        }
        "image" => ImageRef::parse(rest).ok().map(RecordKey::Image),
        _ => None,
    }
}
