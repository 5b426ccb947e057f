//! What happened, as data: one line of `--json` each, and the source of all text.
//!
//! `docs/json-events.md` describes every type and field; a test compares. Every field is always there; what is not
//! known is `null`.

use lighterman_ids::Wall;
use lighterman_view::WaitReason;
use serde::{Serialize, Serializer};

/// One event with its time.
#[derive(Debug, Serialize)]
pub(crate) struct Event<'a> {
    #[serde(serialize_with = "time")]
    pub(crate) time: Wall,
    #[serde(flatten)]
    pub(crate) what: &'a What,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub(crate) enum What {
    /// The command begins its work.
    Started(Started),
    /// A task is new, or something about it changed.
    Task(TaskEvent),
    /// Something about a container changed.
    Container(ContainerEvent),
    /// A container waits for something else than before, or for nothing any more.
    Wait(WaitEvent),
    /// How far a pull is.
    Pull(PullEvent),
    /// A line of a container's output.
    Log(LogEvent),
    /// The command was asked to stop.
    Signal(SignalEvent),
    /// Something of an earlier run was found.
    Leftover(LeftoverEvent),
    /// Something about a task definition.
    Problem(ProblemEvent),
    /// Something worth knowing that stops nothing.
    Note(NoteEvent),
    /// The command cannot do what it should.
    Error(Failure),
    /// The command ends; the last line.
    End(End),
}

/// The command begins its work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Started {
    /// Version of this format: 1. Fields may be added without a new version.
    pub schema: u32,
    /// Version of the program.
    pub version: String,
    /// Id of the state directory.
    pub instance: String,
    /// The state directory.
    pub state_dir: String,
    /// Address of Docker.
    pub docker_host: String,
    /// The task definition; `null` with `--resume`.
    pub file: Option<String>,
    /// Whether an earlier run is taken up.
    pub resumed: bool,
}

/// A task is new, or something about it changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct TaskEvent {
    /// Its id.
    pub(crate) task: String,
    /// Family of its definition.
    pub(crate) family: String,
    /// Revision of its definition.
    pub(crate) revision: u32,
    /// Digest of its definition.
    pub(crate) definition: String,
    /// What changed; `known` and `desired` for a new task.
    pub(crate) changed: Vec<Changed>,
    /// What is known of it.
    pub(crate) known: &'static str,
    /// Where it should go.
    pub(crate) desired: &'static str,
    /// Health of the whole.
    pub(crate) health: &'static str,
    /// Why it stopped or has to; `null` while it need not.
    pub(crate) reason: Option<String>,
    /// Exit code of the essential container that ended first.
    pub(crate) exit_code: Option<i32>,
    /// Whether only a create call that was cut off is watched for: nothing else of it is left in Docker.
    pub(crate) lingering: bool,
    /// Whether all its containers have been removed.
    pub(crate) removed: bool,
    /// Milliseconds from its acceptance to the end of its execution, or to this event before that.
    pub(crate) elapsed_ms: u64,
}

/// Something about a container changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct ContainerEvent {
    /// Id of its task.
    pub(crate) task: String,
    /// Its name.
    pub(crate) container: String,
    /// Its image, as written.
    pub(crate) image: String,
    /// Whether the task ends with it.
    pub(crate) essential: bool,
    /// What changed.
    pub(crate) changed: Vec<Changed>,
    /// What is known of it.
    pub(crate) known: &'static str,
    /// Where it should go.
    pub(crate) desired: &'static str,
    /// Verdict of its health check; `null` if it has none.
    pub(crate) health: Option<&'static str>,
    /// Its name in Docker, once chosen.
    pub(crate) runtime_name: Option<String>,
    /// Its id in Docker, once known.
    pub(crate) runtime_id: Option<String>,
    /// Exit code of its process; `null` when it never ran to an end.
    pub(crate) exit_code: Option<i32>,
    /// Why it stopped or could not start; `null` for an ordinary end.
    pub(crate) reason: Option<Reason>,
    /// Its published ports.
    pub(crate) ports: Vec<Port>,
    /// First start, in Docker's time.
    pub(crate) started_at: Option<String>,
    /// Last end, in Docker's time.
    pub(crate) finished_at: Option<String>,
    /// Milliseconds between the stop signal and the kill.
    pub(crate) stop_timeout_ms: u64,
    /// Milliseconds since `known` changed last before this event; since the task was accepted for the first.
    pub(crate) elapsed_ms: u64,
}

/// What about a task or container changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Changed {
    /// `known`.
    Known,
    /// `desired`.
    Desired,
    /// `health`.
    Health,
    /// `runtime_name` or `runtime_id`.
    Runtime,
    /// `ports`.
    Ports,
    /// `exit_code`.
    ExitCode,
    /// `reason`.
    Reason,
    /// `started_at` or `finished_at`.
    Times,
    /// `lingering`.
    Lingering,
    /// `removed`.
    Removed,
}

#[cfg(test)]
impl Changed {
    const ALL: [Self; 10] = [
        Self::Known,
        Self::Desired,
        Self::Health,
        Self::Runtime,
        Self::Ports,
        Self::ExitCode,
        Self::Reason,
        Self::Times,
        Self::Lingering,
        Self::Removed,
    ];
}

/// Why a container stopped or could not start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Reason {
    /// A stable name, such as `CannotStartContainerError`.
    pub(crate) name: String,
    /// Docker's words, or ours.
    pub(crate) text: String,
    /// What a person can do about it.
    pub(crate) advice: Option<String>,
}

/// A published port, one per address it is bound to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Port {
    /// Inside.
    pub(crate) container_port: u16,
    /// `tcp` or `udp`.
    pub(crate) protocol: &'static str,
    /// Address outside.
    pub(crate) host_ip: String,
    /// Port outside.
    pub(crate) host_port: u16,
    /// Where a browser on this host finds it; `null` where that makes no sense.
    pub(crate) url: Option<String>,
}

/// A container waits for something else than before, or for nothing any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct WaitEvent {
    /// Id of its task.
    pub(crate) task: String,
    /// Its name.
    pub(crate) container: String,
    /// What is known of it.
    pub(crate) known: &'static str,
    /// What it waits for; `null` when there is nothing.
    pub(crate) wait: Option<WaitDetails>,
    /// Milliseconds for which it waited for what it waited for before; `null` for the first.
    pub(crate) waited_ms: Option<u64>,
}

/// What a container waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct WaitDetails {
    /// Which kind of thing.
    pub(crate) kind: Kind,
    /// In words.
    pub(crate) text: String,
    /// What ends it, in words.
    pub(crate) ends_when: &'static str,
    /// The kind of call, for `call`.
    pub(crate) call: Option<&'static str>,
    /// Which try it is, for `call`, or which comes next, for `pause`.
    pub(crate) attempt: Option<u32>,
    /// Since when.
    pub(crate) since: String,
    /// When it ends at the latest; `null` when only an event ends it.
    pub(crate) until: Option<String>,
    /// Milliseconds until then.
    pub(crate) left_ms: Option<u64>,
    /// What went wrong before, for `pause`; it is in `text`, too.
    #[serde(skip)]
    pub(crate) cause: Option<String>,
}

/// The kinds of what a container can wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    /// Docker works on a call.
    Call,
    /// Between two tries.
    Pause,
    /// The state store cannot take changes.
    Store,
    /// Docker cannot be reached.
    RuntimeAway,
    /// It runs.
    Running,
    /// It has stopped and is kept until its output has been read.
    Cleanup,
    /// A create that was cut off may still be carried out.
    LateCreate,
    /// The agent shuts down.
    Closing,
    /// Docker has not answered yet.
    Connecting,
}

impl Kind {
    #[cfg(test)]
    const ALL: [Self; 9] = [
        Self::Call,
        Self::Pause,
        Self::Store,
        Self::RuntimeAway,
        Self::Running,
        Self::Cleanup,
        Self::LateCreate,
        Self::Closing,
        Self::Connecting,
    ];

    pub(crate) const fn of(reason: &WaitReason) -> Self {
        match reason {
            WaitReason::Call { .. } => Self::Call,
            WaitReason::Pause { .. } => Self::Pause,
            WaitReason::Store { .. } => Self::Store,
            WaitReason::RuntimeAway { .. } => Self::RuntimeAway,
            WaitReason::Running => Self::Running,
            WaitReason::Cleanup => Self::Cleanup,
            WaitReason::LateCreate => Self::LateCreate,
            WaitReason::Closing => Self::Closing,
            WaitReason::Connecting => Self::Connecting,
        }
    }

    /// Whether it stays one wait when its details change. Of the others each is one of its own.
    pub(crate) const fn is_long(self) -> bool {
        match self {
            Self::Store | Self::RuntimeAway | Self::LateCreate | Self::Closing | Self::Connecting => true,
            Self::Call | Self::Pause | Self::Running | Self::Cleanup => false,
        }
    }
}

/// How far a pull is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct PullEvent {
    /// The image.
    pub(crate) image: String,
    /// `waiting`, `downloading`, `downloaded`, `extracting` or `ready`: what the busiest layer does.
    pub(crate) phase: &'static str,
    /// Bytes that have been downloaded.
    pub(crate) done_bytes: u64,
    /// Bytes to download, of the layers whose size is known.
    pub(crate) total_bytes: u64,
    /// Layers that are ready.
    pub(crate) layers_done: u64,
    /// Layers that Docker has named.
    pub(crate) layers: u64,
}

/// A line of a container's output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct LogEvent {
    /// Id of its task; `null` before anything is known of it.
    pub(crate) task: Option<String>,
    /// Its name.
    pub(crate) container: String,
    /// `stdout` or `stderr`.
    pub(crate) stream: &'static str,
    /// The line without its end; bytes that are not UTF-8 are replaced.
    pub(crate) line: String,
    /// Whether the line begins here: a line longer than 16 KiB comes in pieces.
    pub(crate) first: bool,
    /// Whether the line ends here.
    pub(crate) last: bool,
}

/// The command was asked to stop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct SignalEvent {
    /// `SIGINT`, `SIGTERM`, `SIGHUP` or `SIGQUIT`.
    pub(crate) signal: &'static str,
    /// `stop`: containers get their stop signal; `kill`: they are killed.
    pub(crate) action: &'static str,
}

/// Something of an earlier run was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct LeftoverEvent {
    /// Id of its state directory; `null` when it cannot be read.
    pub(crate) instance: Option<String>,
    /// Its state directory.
    pub(crate) state_dir: String,
    /// `cleaned`, `kept`, `living`, `in-cleanup`, `dead`, `elsewhere` or `unreadable`.
    pub(crate) state: &'static str,
    /// The container, for `cleaned` and `kept`.
    pub(crate) container: Option<String>,
    /// Its exit code, for `cleaned`; `null` when it never ran to an end.
    pub(crate) exit_code: Option<i32>,
    /// Id of the process that owns the directory, for `living` and `in-cleanup`, if known.
    pub(crate) pid: Option<u32>,
    /// Why nothing was done, for `kept`, `elsewhere` and `unreadable`.
    pub(crate) text: Option<String>,
}

/// Something about a task definition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct ProblemEvent {
    /// The file.
    pub(crate) file: String,
    /// `error`: it is refused; `warning`: it is not.
    pub(crate) severity: &'static str,
    /// What is wrong and where.
    pub(crate) text: String,
}

/// Something worth knowing that stops nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct NoteEvent {
    /// `info` or `warning`.
    pub(crate) level: &'static str,
    /// In words.
    pub(crate) text: String,
}

/// The command cannot do what it should.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// What failed.
    pub text: String,
    /// Why, from the nearest cause to the farthest.
    pub causes: Vec<String>,
    /// What a person can do about it.
    pub advice: Option<String>,
}

/// The command ends; the last line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct End {
    /// What it exits with.
    pub exit_code: u8,
    /// Which kind of exit code that is, such as `task`, `own-error`, `hung-up`, `interrupted`, `terminated` or `quit`.
    pub kind: &'static str,
    /// In words, where the code alone does not say all.
    pub text: Option<String>,
}

fn time<S: Serializer>(time: &Wall, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&crate::zone::rfc3339(*time))
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use serde_json::Value;

    use super::*;

    const PAGE: &str = include_str!("../../../docs/json-events.md");

    /// One of every type; a new type does not compile until it is here.
    fn samples() -> Vec<What> {
        let samples = vec![
            What::Started(Started {
                schema: 1,
                version: String::new(),
                instance: String::new(),
                state_dir: String::new(),
                docker_host: String::new(),
                file: None,
                resumed: false,
            }),
            What::Task(TaskEvent {
                task: String::new(),
                family: String::new(),
                revision: 1,
                definition: String::new(),
                changed: Changed::ALL.into(),
                known: "",
                desired: "",
                health: "",
                reason: None,
                exit_code: None,
                lingering: false,
                removed: false,
                elapsed_ms: 0,
            }),
            What::Container(container()),
            What::Wait(WaitEvent {
                task: String::new(),
                container: String::new(),
                known: "",
                wait: Some(WaitDetails {
                    kind: Kind::Call,
                    text: String::new(),
                    ends_when: "",
                    call: None,
                    attempt: None,
                    since: String::new(),
                    until: None,
                    left_ms: None,
                    cause: None,
                }),
                waited_ms: None,
            }),
            What::Pull(PullEvent {
                image: String::new(),
                phase: "",
                done_bytes: 0,
                total_bytes: 0,
                layers_done: 0,
                layers: 0,
            }),
            What::Log(LogEvent {
                task: None,
                container: String::new(),
                stream: "",
                line: String::new(),
                first: true,
                last: true,
            }),
            What::Signal(SignalEvent { signal: "", action: "" }),
            What::Leftover(LeftoverEvent {
                instance: None,
                state_dir: String::new(),
                state: "",
                container: None,
                exit_code: None,
                pid: None,
                text: None,
            }),
            What::Problem(ProblemEvent { file: String::new(), severity: "", text: String::new() }),
            What::Note(NoteEvent { level: "", text: String::new() }),
            What::Error(Failure { text: String::new(), causes: Vec::new(), advice: None }),
            What::End(End { exit_code: 0, kind: "", text: None }),
        ];
        let place = |what: &What| match what {
            What::Started(_) => 0,
            What::Task(_) => 1,
            What::Container(_) => 2,
            What::Wait(_) => 3,
            What::Pull(_) => 4,
            What::Log(_) => 5,
            What::Signal(_) => 6,
            What::Leftover(_) => 7,
            What::Problem(_) => 8,
            What::Note(_) => 9,
            What::Error(_) => 10,
            What::End(_) => 11,
        };
        assert!(samples.iter().map(place).eq(0..12), "one of every type, in order");
        samples
    }

    fn container() -> ContainerEvent {
        ContainerEvent {
            task: String::new(),
            container: String::new(),
            image: String::new(),
            essential: true,
            changed: Vec::new(),
            known: "",
            desired: "",
            health: None,
            runtime_name: None,
            runtime_id: None,
            exit_code: None,
            reason: Some(Reason { name: String::new(), text: String::new(), advice: None }),
            ports: vec![Port { container_port: 80, protocol: "tcp", host_ip: String::new(), host_port: 80, url: None }],
            started_at: None,
            finished_at: None,
            stop_timeout_ms: 0,
            elapsed_ms: 0,
        }
    }

    /// Names that the page lists first in the rows of each section, by heading.
    pub(crate) fn sections(page: &'static str) -> BTreeMap<&'static str, BTreeSet<String>> {
        let mut sections: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        let mut heading = "";
        for line in page.lines() {
            if let Some(title) = line.strip_prefix("## ") {
                heading = title;
            }
            if let Some(name) = line.strip_prefix("| `").and_then(|row| row.split('`').next()) {
                assert!(sections.entry(heading).or_default().insert(name.into()), "{name} twice in {heading}");
            }
        }
        sections
    }

    pub(crate) fn fields(value: &Value) -> BTreeSet<String> {
        value.as_object().expect("an object").keys().cloned().collect()
    }

    #[test]
    fn the_page_lists_every_type_field_and_word_and_no_other() {
        let mut expected: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for what in samples() {
            let event = serde_json::to_value(Event { time: Wall(0), what: &what }).unwrap();
            assert_eq!(event["time"], "1970-01-01T00:00:00.000Z");
            let mut names = fields(&event);
            assert!(names.remove("time") && names.remove("type"));
            expected.insert(format!("`{}`", event["type"].as_str().unwrap()), names);
            let objects =
                [("port", &event["ports"][0]), ("reason", &event["reason"]), ("wait details", &event["wait"])];
            for (title, object) in objects.into_iter().filter(|(_, object)| object.is_object()) {
                expected.insert(format!("The object `{title}`"), fields(object));
            }
        }
        let word = |value: Value| value.as_str().unwrap().to_owned();
        let changed = Changed::ALL.map(|changed| word(serde_json::to_value(changed).unwrap()));
        let kinds = Kind::ALL.map(|kind| word(serde_json::to_value(kind).unwrap()));
        expected.insert("Words".into(), changed.into_iter().chain(kinds).collect());
        let page: BTreeMap<String, BTreeSet<String>> =
            sections(PAGE).into_iter().map(|(heading, names)| (heading.into(), names)).collect();
        assert_eq!(page, expected);
    }

    #[test]
    fn the_example_of_the_page_is_what_is_written() {
        let example = PAGE.lines().find(|line| line.starts_with("{\"time\"")).unwrap();
        let what = What::End(End { exit_code: 137, kind: "task", text: None });
        let event = Event { time: Wall(1_796_040_006_700_000_000), what: &what };
        assert_eq!(serde_json::to_string(&event).unwrap(), example);
    }
}
