//! The engine as a test sees it: its own containers, and what happens to them.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use lighterman_calls::labels;
use lighterman_docker_tests::{AMPLE, Raw};
use serde_json::{Value, json};
use tokio::{sync::Notify, task::JoinHandle, time::timeout};

use crate::definition::MARK;

/// Containers that carry this test's mark.
#[derive(Clone)]
pub(crate) struct Engine {
    raw: Raw,
    mark: String,
}

/// A container as the engine lists it.
#[derive(Clone, Debug)]
pub(crate) struct Listed {
    pub(crate) id: String,
    /// `created`, `running`, `exited` …
    pub(crate) state: String,
    /// The label that says whose it is.
    pub(crate) instance: String,
}

impl Engine {
    pub(crate) fn new(raw: Raw, mark: &str) -> Self {
        Self { raw, mark: mark.to_owned() }
    }

    /// The same containers, seen by another engine.
    pub(crate) fn at(&self, raw: Raw) -> Self {
        Self { raw, mark: self.mark.clone() }
    }

    pub(crate) fn raw(&self) -> &Raw {
        &self.raw
    }

    pub(crate) fn mark(&self) -> &str {
        &self.mark
    }

    /// All of this test's containers, running or not.
    pub(crate) fn containers(&self) -> impl Future<Output = Vec<Listed>> + use<> {
        let (raw, path) = (self.raw.clone(), format!("/containers/json?all=1&{}", self.filters()));
        async move {
            let listed = raw.get(&path).await;
            assert_eq!(listed.status, 200, "{}", listed.text());
            listed.json().as_array().unwrap().iter().map(Listed::read).collect()
        }
    }

    /// The only container there is.
    pub(crate) async fn the_container(&self) -> Listed {
        let containers = self.containers().await;
        assert_eq!(containers.len(), 1, "{containers:#?}");
        containers.into_iter().next().unwrap()
    }

    /// What the engine knows of a container.
    pub(crate) async fn inspect(&self, id: &str) -> Value {
        let answer = self.raw.get(&format!("/containers/{id}/json")).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()
    }

    /// As `docker kill`.
    pub(crate) async fn kill(&self, id: &str, signal: &str) {
        let answer = self.raw.post(&format!("/containers/{id}/kill?signal={signal}"), &json!({})).await;
        assert_eq!(answer.status, 204, "{}", answer.text());
    }

    /// As `docker rm -f`.
    pub(crate) async fn remove(&self, id: &str) {
        let answer = self.raw.delete(&format!("/containers/{id}?force=1&v=1")).await;
        assert!([204, 404, 409].contains(&answer.status), "{}", answer.text());
    }

    /// Waits until the container has ended; its exit code.
    pub(crate) async fn until_ended(&self, id: &str) -> i64 {
        let answer = self.raw.post(&format!("/containers/{id}/wait"), &json!({})).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()["StatusCode"].as_i64().unwrap()
    }

    /// Removes every container of this test and nothing else.
    pub(crate) async fn clean(&self) {
        let mut rounds = 0;
        loop {
            let containers = self.containers().await;
            // A second look, for what a call that was given up has made late.
            if containers.is_empty() && rounds > 0 {
                return;
            }
            rounds += 1;
            assert!(rounds < 20, "they cannot be removed: {containers:#?}");
            for container in containers {
                self.remove(&container.id).await;
            }
        }
    }

    /// Follows what happens to this test's containers from now on.
    pub(crate) async fn watch(&self) -> Watch {
        // Without an instant, what happens between its head and its first event would be missed.
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let since = format!("{}.{:09}", now.as_secs(), now.subsec_nanos());
        let lines = self.raw.follow(&format!("/events?since={since}&{}", self.filters())).await;
        Watch::begin(lines)
    }

    fn filters(&self) -> String {
        let text = json!({ "label": [format!("{MARK}={}", self.mark)] }).to_string();
        format!("filters={}", percent(&text))
    }
}

impl Listed {
    fn read(value: &Value) -> Self {
        let label = |key: &str| value["Labels"][key].as_str().unwrap_or_default().to_owned();
        Self {
            id: value["Id"].as_str().unwrap().to_owned(),
            state: value["State"].as_str().unwrap().to_owned(),
            instance: label(labels::INSTANCE),
        }
    }
}

/// Everything that is no letter or digit as `%XX`.
fn percent(text: &str) -> String {
    let byte = |byte: u8| if byte.is_ascii_alphanumeric() { char::from(byte).into() } else { format!("%{byte:02X}") };
    text.bytes().map(byte).collect()
}

/// What happened to a container, in the engine's words.
pub(crate) type Story = Vec<String>;

/// Follows the engine's events of one test.
pub(crate) struct Watch {
    seen: Arc<Seen>,
    reader: JoinHandle<()>,
}

#[derive(Default)]
struct Seen {
    stories: Mutex<BTreeMap<String, Story>>,
    facts: Mutex<BTreeMap<String, Facts>>,
    more: Notify,
}

/// What the events say of a container besides what happened.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    pub(crate) name: String,
    /// The label that says whose it is.
    pub(crate) instance: String,
    /// Of its process, once that has ended.
    pub(crate) exit_code: Option<i64>,
}

impl Seen {
    fn take(&self, event: &Value) {
        let (Some("container"), Some(action)) = (event["Type"].as_str(), event["Action"].as_str()) else { return };
        let (id, attributes) = (event["Actor"]["ID"].as_str().unwrap().to_owned(), &event["Actor"]["Attributes"]);
        let attribute = |name: &str| attributes[name].as_str().unwrap_or_default().to_owned();
        let mut facts = self.facts.lock().unwrap();
        let facts = facts.entry(id.clone()).or_default();
        (facts.name, facts.instance) = (attribute("name"), attribute(labels::INSTANCE));
        facts.exit_code = attribute("exitCode").parse().ok().or(facts.exit_code);
        self.stories.lock().unwrap().entry(id).or_default().push(action.to_owned());
        self.more.notify_waiters();
    }
}

impl Watch {
    fn begin(mut lines: lighterman_docker_tests::Lines) -> Self {
        let seen = Arc::new(Seen::default());
        let keep = Arc::clone(&seen);
        let reader = tokio::spawn(async move {
            while let Some(line) = lines.next().await {
                keep.take(&serde_json::from_slice(&line).unwrap());
            }
        });
        Self { seen, reader }
    }

    /// The stories so far, by container id.
    pub(crate) fn stories(&self) -> BTreeMap<String, Story> {
        self.seen.stories.lock().unwrap().clone()
    }

    /// What the events so far say of a container.
    pub(crate) fn facts(&self, id: &str) -> Facts {
        self.seen.facts.lock().unwrap().get(id).cloned().unwrap_or_default()
    }

    /// Waits until the stories so far are enough.
    pub(crate) async fn until<T>(&self, enough: impl Fn(&BTreeMap<String, Story>) -> Option<T>) -> T {
        let waiting = async {
            loop {
                let more = self.seen.more.notified();
                if let Some(found) = enough(&self.stories()) {
                    return found;
                }
                more.await;
            }
        };
        match timeout(AMPLE, waiting).await {
            Ok(found) => found,
            Err(_) => panic!("this is all that happened: {:#?}", self.stories()),
        }
    }

    /// Waits until every container that was made is gone again; their stories.
    pub(crate) async fn until_all_gone(&self) -> BTreeMap<String, Story> {
        let gone = |story: &Story| story.last().is_some_and(|last| last == "destroy");
        self.until(|stories| stories.values().all(gone).then(|| stories.clone())).await
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

/// How often something happened in a story.
pub(crate) fn times(story: &Story, action: &str) -> usize {
    story.iter().filter(|happened| *happened == action).count()
}

/// Longer than the engine needs for anything that goes well, shorter than a person likes to wait.
pub(crate) const SOON: Duration = Duration::from_secs(10);
