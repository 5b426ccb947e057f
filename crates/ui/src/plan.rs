//! What a run would do: a table of 80 columns, or one JSON object per line (`docs/plan-json.md`).

use std::time::Duration;

use serde::Serialize;

use crate::{
    escape::clean,
    exit,
    messages::problems,
    text::{fit, pad, width, wrap},
};

/// Columns of the text.
const COLUMNS: usize = 80;

/// Longest name that still sets a column; longer ones are cut.
const NAME_COLUMNS: usize = 24;

/// Version of the JSON.
const SCHEMA: u32 = 1;

/// Reasons that are shown for a call; JSON has them all.
const MOST_CAUSES: usize = 3;

/// Where the fields of containers stand.
const OF_CONTAINERS: &str = "containerDefinitions.";

const HEADINGS: [&str; 4] = ["TIME", "CALL", "ABOUT", "WHY"];

/// A plan, ready to be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanPage {
    /// The task definition, as it was named.
    pub file: String,
    /// Its family.
    pub family: String,
    /// Its revision.
    pub revision: u32,
    /// Its digest.
    pub definition: String,
    /// Every container, and what is assumed of it.
    pub assumed: Vec<(String, String)>,
    /// The calls of the run.
    pub calls: Vec<PlanCall>,
    /// What the run comes to.
    pub end: PlanEnd,
    /// The calls of a stop; empty where there is nothing to stop.
    pub stop: Vec<PlanCall>,
    /// What becomes of each field of the definition.
    pub fields: Vec<PlanField>,
    /// What there is to say about the definition.
    pub warnings: Vec<String>,
}

/// One call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanCall {
    /// When, in virtual time.
    pub at: Duration,
    /// The kind of call, `watch` or `cancel`.
    pub call: &'static str,
    /// The container it is about.
    pub container: Option<String>,
    /// The image it is about.
    pub image: Option<String>,
    /// The volume it is about.
    pub volume: Option<String>,
    /// Of a stop: between the stop signal and the kill.
    pub grace: Option<Duration>,
    /// Of a kill.
    pub signal: Option<&'static str>,
    /// Why now, the nearest reason first.
    pub causes: Vec<PlanCause>,
}

/// One reason for a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanCause {
    /// Which kind, in a word.
    pub kind: &'static str,
    /// The container whose doing it is.
    pub container: Option<String>,
    /// In words.
    pub text: String,
    /// Whether it is what came from outside, and not a change that followed; people see it only where it stands alone.
    pub is_origin: bool,
}

/// What a run comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanEnd {
    /// `removed`, `stays` or `restless`.
    pub kind: &'static str,
    /// When, in virtual time.
    pub at: Duration,
    /// Why the task stopped or has to.
    pub reason: Option<String>,
    /// Exit code of the task.
    pub exit_code: Option<i32>,
    /// The containers as they then are.
    pub containers: Vec<PlanContainer>,
}

/// A container at the end of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlanContainer {
    /// Its name.
    pub container: String,
    /// What is known of it.
    pub known: &'static str,
    /// Where it should be.
    pub desired: &'static str,
    /// Verdict of its health check; `None` without one.
    pub health: Option<&'static str>,
    /// Its exit code.
    pub exit_code: Option<i32>,
    /// Why it stopped or could not start.
    pub reason: Option<String>,
    /// What it waits for.
    pub wait: Option<String>,
}

/// What becomes of a field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlanField {
    /// Where it stands, all containers together.
    pub path: String,
    /// `honoured`, `approximated` or `unused`.
    pub support: &'static str,
    /// What happens instead, or why it is not used.
    pub text: Option<&'static str>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
enum Event<'a> {
    Plan {
        schema: u32,
        file: &'a str,
        family: &'a str,
        revision: u32,
        definition: &'a str,
    },
    Assumed {
        container: &'a str,
        text: &'a str,
    },
    Call {
        phase: &'static str,
        at_ms: u64,
        call: &'static str,
        container: Option<&'a str>,
        image: Option<&'a str>,
        volume: Option<&'a str>,
        grace_ms: Option<u64>,
        signal: Option<&'static str>,
        causes: Vec<Cause<'a>>,
    },
    End {
        kind: &'static str,
        at_ms: u64,
        reason: Option<&'a str>,
        exit_code: Option<i32>,
    },
    Container(&'a PlanContainer),
    Field(&'a PlanField),
    Warning {
        text: &'a str,
    },
}

#[derive(Serialize)]
struct Cause<'a> {
    kind: &'static str,
    container: Option<&'a str>,
    text: &'a str,
}

impl PlanPage {
    /// One JSON object per line.
    #[must_use]
    pub fn to_json(&self) -> String {
        let line = |event: &Event<'_>| serde_json::to_string(event).expect("texts and numbers only") + "\n";
        self.events().iter().map(line).collect()
    }

    fn events(&self) -> Vec<Event<'_>> {
        let Self { file, family, definition, revision, .. } = self;
        let head = Event::Plan { schema: SCHEMA, file, family, revision: *revision, definition };
        let PlanEnd { kind, at, reason, exit_code, .. } = &self.end;
        let end = Event::End { kind, at_ms: millis(*at), reason: reason.as_deref(), exit_code: *exit_code };
        let mut events = vec![head];
        events.extend(self.assumed.iter().map(|(container, text)| Event::Assumed { container, text }));
        events.extend(self.calls.iter().map(|call| call.event("run")));
        events.push(end);
        events.extend(self.end.containers.iter().map(Event::Container));
        events.extend(self.stop.iter().map(|call| call.event("stop")));
        events.extend(self.fields.iter().map(Event::Field));
        events.extend(self.warnings.iter().map(|text| Event::Warning { text }));
        events
    }

    /// For people; lines have at most 80 columns.
    #[must_use]
    pub fn to_text(&self) -> String {
        let head = format!(
            "{}:{} ({}), planned on a modelled Docker in virtual time; nothing is created",
            self.family,
            self.revision,
            clean(&self.file)
        );
        let mut lines = wrap(&head, COLUMNS);
        lines.push(String::new());
        lines.extend(list("assumed", &self.assumed));
        lines.push(String::new());
        lines.extend(table(&self.calls));
        lines.push(String::new());
        lines.extend(self.end.lines());
        if !self.stop.is_empty() {
            lines.push(String::new());
            lines.push("a stop would then do this, counted from when it is asked for:".into());
            lines.push(String::new());
            lines.extend(table(&self.stop));
        }
        lines.push(String::new());
        lines.extend(list("of the definition", &self.supports()));
        problems(self.file.as_ref(), &[], &self.warnings, Some(COLUMNS)) + &lines.join("\n") + "\n"
    }

    /// The fields by what becomes of them.
    fn supports(&self) -> Vec<(String, String)> {
        let joined = |support: &str| {
            let fields = self.fields.iter().filter(|field| field.support == support);
            let (of_containers, of_task): (Vec<_>, Vec<_>) =
                fields.map(PlanField::in_words).partition(|path| path.starts_with(OF_CONTAINERS));
            let of_containers = of_containers.join(", ").replace(OF_CONTAINERS, "");
            match (of_task.is_empty(), of_containers.is_empty()) {
                (true, true) => "nothing".into(),
                (false, true) => of_task.join(", "),
                (true, false) => format!("of containers: {of_containers}"),
                (false, false) => format!("{}; of containers: {of_containers}", of_task.join(", ")),
            }
        };
        let names = [("honoured", "honoured"), ("approximated", "approximated"), ("unused", "not used")];
        let mut rows: Vec<(String, String)> = names.map(|(support, name)| (name.into(), joined(support))).into();
        // What is refused makes no plan.
        rows.push(("refused".into(), "nothing".into()));
        rows
    }
}

impl PlanCall {
    fn event(&self, phase: &'static str) -> Event<'_> {
        Event::Call {
            phase,
            at_ms: millis(self.at),
            call: self.call,
            container: self.container.as_deref(),
            image: self.image.as_deref(),
            volume: self.volume.as_deref(),
            grace_ms: self.grace.map(millis),
            signal: self.signal,
            causes: self.causes.iter().map(PlanCause::event).collect(),
        }
    }

    fn what(&self) -> String {
        match (self.grace, self.signal) {
            (Some(grace), _) => format!("{} ({grace:?})", self.call),
            (None, Some(signal)) => format!("{} ({signal})", self.call),
            (None, None) => self.call.into(),
        }
    }

    fn about(&self) -> &str {
        [&self.container, &self.image, &self.volume].into_iter().flatten().next().map_or("Docker", String::as_str)
    }

    fn why(&self) -> String {
        let changes: Vec<&PlanCause> = self.causes.iter().filter(|cause| !cause.is_origin).collect();
        let causes = if changes.is_empty() { self.causes.iter().collect() } else { changes };
        let mut shown: Vec<String> = causes.iter().take(MOST_CAUSES).map(|cause| clean(&cause.text)).collect();
        if causes.len() > MOST_CAUSES {
            shown.push(format!("and {} more", causes.len() - MOST_CAUSES));
        }
        shown.join("; ")
    }
}

impl PlanCause {
    fn event(&self) -> Cause<'_> {
        Cause { kind: self.kind, container: self.container.as_deref(), text: &self.text }
    }
}

impl PlanEnd {
    fn lines(&self) -> Vec<String> {
        let at = seconds(self.at);
        let head = match self.kind {
            "removed" => format!("the task has ended after {at} s, and nothing of it is left"),
            "stays" => format!("from {at} s on nothing changes until the task is stopped"),
            _ => format!("it goes on like this; the plan ends at {at} s"),
        };
        let rows: Vec<(String, String)> =
            self.containers.iter().map(|container| (container.container.clone(), container.state())).collect();
        let mut lines = wrap(&head, COLUMNS);
        lines.extend(self.reason.iter().flat_map(|reason| wrap(&format!("because: {}", clean(reason)), COLUMNS)));
        lines.extend(pairs(&rows));
        lines
    }
}

impl PlanField {
    fn in_words(&self) -> String {
        let path = clean(&self.path);
        self.text.map_or_else(|| path.clone(), |text| format!("{path} ({text})"))
    }
}

impl PlanContainer {
    fn state(&self) -> String {
        let mut text = self.known.to_owned();
        if self.known != self.desired {
            text += &format!(", should be {}", self.desired);
        }
        if let Some(health) = self.health {
            text += &format!(", {health}");
        }
        if let Some(code) = self.exit_code {
            text += &format!(", exit code {}", exit::in_words(code));
        }
        if let Some(reason) = &self.reason {
            text += &format!("; {}", clean(reason));
        }
        match &self.wait {
            Some(wait) => text + &format!("; waits for {}", clean(wait)),
            None => text,
        }
    }
}

/// A heading and its rows.
fn list(heading: &str, rows: &[(String, String)]) -> Vec<String> {
    let mut lines = vec![format!("{heading}:")];
    lines.extend(pairs(rows));
    lines
}

/// Names and what there is to say of each.
fn pairs(rows: &[(String, String)]) -> Vec<String> {
    let first = rows.iter().map(|(name, _)| width(name)).max().unwrap_or(0).min(NAME_COLUMNS);
    let row = |(name, text): &(String, String)| {
        let name = pad(&fit(name, first), first);
        hang(&format!("  {name}  "), first + 4, text)
    };
    rows.iter().flat_map(row).collect()
}

fn table(calls: &[PlanCall]) -> Vec<String> {
    let widest = |heading: &str, most: usize, text: &dyn Fn(&PlanCall) -> String| {
        calls.iter().map(|call| width(&text(call))).fold(width(heading), usize::max).min(most)
    };
    let time = widest(HEADINGS[0], COLUMNS, &|call| seconds(call.at));
    let what = widest(HEADINGS[1], NAME_COLUMNS, &PlanCall::what);
    let about = widest(HEADINGS[2], NAME_COLUMNS, &|call| call.about().to_owned());
    let row = |at: &str, call: &str, subject: &str| {
        let [call, subject] = [(call, what), (subject, about)].map(|(text, columns)| pad(&fit(text, columns), columns));
        format!("{at:>time$}  {call}  {subject}  ")
    };
    let indent = time + what + about + 6;
    let mut lines = vec![row(HEADINGS[0], HEADINGS[1], HEADINGS[2]) + HEADINGS[3]];
    for call in calls {
        lines.extend(hang(&row(&seconds(call.at), &call.what(), call.about()), indent, &call.why()));
    }
    lines
}

/// A text behind its first words, and below itself where it is longer than a line.
fn hang(first: &str, indent: usize, text: &str) -> Vec<String> {
    let wrapped = wrap(text, COLUMNS - indent);
    let start = |number: usize| if number == 0 { first.to_owned() } else { " ".repeat(indent) };
    wrapped.iter().enumerate().map(|(number, line)| start(number) + line).collect()
}

fn seconds(time: Duration) -> String {
    format!("{}.{:03}", time.as_secs(), time.subsec_millis())
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use serde_json::Value;

    use super::*;
    use crate::event::tests::{fields, sections};

    const PAGE: &str = include_str!("../../../docs/plan-json.md");

    fn call(at: u64, call: &'static str, container: Option<&str>) -> PlanCall {
        let cause = |kind, text: &str, is_origin| PlanCause {
            kind,
            container: container.map(Into::into),
            text: text.into(),
            is_origin,
        };
        let desired = cause("desired", "a should be \u{1b}[31mSTOPPED", false);
        PlanCall {
            at: Duration::from_millis(at),
            call,
            container: container.map(Into::into),
            image: None,
            volume: None,
            grace: (call == "stop").then_some(Duration::from_secs(30)),
            signal: (call == "kill").then_some("SIGKILL"),
            causes: vec![desired, cause("stop-asked", "the task was asked to stop", true)],
        }
    }

    fn page() -> PlanPage {
        let long = "a-container-whose-name-is-much-longer-than-a-column";
        let state = |container: &str, known, exit_code| PlanContainer {
            container: container.into(),
            known,
            desired: "RUNNING",
            health: Some("HEALTHY"),
            exit_code,
            reason: exit_code.map(|_| "DockerStateError: broken".into()),
            wait: Some("something that takes so many words to say that they do not fit on one line".into()),
        };
        let field = |path: &str, support, text| PlanField { path: path.into(), support, text };
        PlanPage {
            file: "task.json".into(),
            family: "site".into(),
            revision: 3,
            definition: "sha256:0".into(),
            assumed: vec![("web".into(), "it runs".into()), (long.into(), "it exits".into())],
            calls: vec![call(0, "create", Some("web")), call(3_600_123, "start", Some(long))],
            end: PlanEnd {
                kind: "stays",
                at: Duration::from_millis(3_600_400),
                reason: Some("because it is so".into()),
                exit_code: None,
                containers: vec![state("web", "RUNNING", None), state(long, "STOPPED", Some(137))],
            },
            stop: vec![call(0, "stop", Some("web")), call(30_008, "kill", None)],
            fields: vec![
                field("family", "honoured", None),
                field("containerDefinitions.name", "honoured", None),
                field("cpu", "approximated", Some("the limit of the task is not set")),
                field("containerDefinitions.comand", "unused", Some("no such field is known")),
            ],
            warnings: vec!["task.json: warning: something".into()],
        }
    }

    #[test]
    fn a_plan_for_people_keeps_to_80_columns() {
        let text = page().to_text();
        assert!(text.lines().all(|line| width(line) <= COLUMNS), "{text}");
        insta::assert_snapshot!(text);
    }

    #[test]
    fn the_page_lists_every_type_and_field_and_no_other() {
        let mut expected: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for line in page().to_json().lines() {
            let event: Value = serde_json::from_str(line).unwrap();
            let mut names = fields(&event);
            assert!(names.remove("type"));
            expected.insert(format!("`{}`", event["type"].as_str().unwrap()), names);
            if let Some(cause) = event["causes"].get(0) {
                expected.insert("The object `cause`".into(), fields(cause));
            }
        }
        let listed = sections(PAGE).into_iter().filter(|(heading, _)| !heading.starts_with("Words"));
        let listed: BTreeMap<String, BTreeSet<String>> =
            listed.map(|(heading, names)| (heading.into(), names)).collect();
        assert_eq!(listed, expected);
    }
}
