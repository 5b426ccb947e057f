//! Nothing is created, started or removed before the records that explain it are durable (design.md R1).

use lighterman_calls::{ContainerTarget, Request, labels};
use lighterman_engine::Action;
use lighterman_records::export;

use super::Check;
use crate::note::{Note, Sight};

#[derive(Debug, Default)]
pub(super) struct PersistFirst;

impl Check for PersistFirst {
    fn name(&self) -> &'static str {
        "persist-first"
    }

    fn see(&mut self, sight: &Sight<'_>, note: &Note<'_>) -> Result<(), String> {
        let Note::Acts(Action::Call { id, call }) = note else { return Ok(()) };
        match &call.request {
            Request::Create(request) => {
                let task = request.config.labels.get(labels::TASK).map_or("", String::as_str);
                for kind in ["definition", "task"] {
                    if sight.store.under(&format!("{kind}/{task}")).next().is_none() {
                        return Err(format!("create {id} left before the {kind} of task {task} was durable"));
                    }
                }
                let name = field("runtime_name", request.name.as_str());
                if is_in_a_record(sight, &format!("container/{task}/"), &name) {
                    return Ok(());
                }
                Err(format!("create {id} left before the name {} was durable", request.name))
            }
            Request::Start(target) | Request::Remove(target) => {
                let known = match target {
                    ContainerTarget::Id(id) => field("runtime_id", id.as_str()),
                    ContainerTarget::Name(name) => field("runtime_name", name.as_str()),
                };
                if is_in_a_record(sight, "container/", &known) {
                    return Ok(());
                }
                Err(format!("{} {id} left before {target} was durable", call.request.kind().as_str()))
            }
            Request::Ping
            | Request::Version
            | Request::InspectImage(_)
            | Request::Pull { .. }
            | Request::ResolveDigest(_)
            | Request::TagImage { .. }
            | Request::RemoveImage(_)
            | Request::ListImages
            | Request::CreateVolume(_)
            | Request::InspectVolume(_)
            | Request::RemoveVolume(_)
            | Request::ListVolumes(_)
            | Request::Inspect(_)
            | Request::Stop { .. }
            | Request::Kill { .. }
            | Request::List(_) => Ok(()),
        }
    }
}

fn field(name: &str, value: &str) -> String {
    format!("\"{name}\":\"{value}\"")
}

fn is_in_a_record(sight: &Sight<'_>, prefix: &str, field: &str) -> bool {
    let records = sight.store.under(prefix).map(|(key, value)| (key.to_vec(), value.to_vec())).collect();
    let mut payloads = export(records).into_iter().filter_map(|record| record.content.ok());
    payloads.any(|(_, _, payload)| payload.contains(field))
}
