//! A task on a stage: told once, seen in every mode.

use std::{
    cell::RefCell,
    io::{self, Write},
    rc::Rc,
    time::Duration,
};

use lighterman_calls::{PortKey, Protocol, PublishedPort, PullProgress, RequestKind};
use lighterman_contracts::{LogChunk, LogStream};
use lighterman_ids::{
    BootId, ContainerName, DefinitionDigest, Family, ImageRef, InstanceId, Moment, Mono, RuntimeId, RuntimeName,
    TaskId, Wall,
};
use lighterman_status::{ContainerStatus, Health, TaskStatus};
use lighterman_ui::{Look, Mode, Screen, Size, Started, Zone};
use lighterman_view::{ContainerView, StopReason, TaskView, Wait, WaitReason};

use crate::terminal::Terminal;

/// 2026-11-30T12:00:00Z.
const NOON: i64 = 1_796_040_000_000_000_000;

pub(crate) fn at(millis: u64) -> Moment {
    let nanos = millis * 1_000_000;
    let wall = Wall(NOON + i64::try_from(nanos).expect("not that late"));
    Moment { boot: BootId(1), mono: Mono(5_000_000_000 + nanos), wall }
}

pub(crate) fn name(text: &str) -> ContainerName {
    ContainerName::parse(text).expect("a name")
}

pub(crate) fn image(text: &str) -> ImageRef {
    ImageRef::parse(text).expect("an image")
}

pub(crate) fn container(text: &str) -> ContainerView {
    ContainerView {
        name: name(text),
        image: image("registry.test/team/web:1"),
        essential: true,
        tty: false,
        known: ContainerStatus::None,
        desired: ContainerStatus::Running,
        has_health_check: false,
        health: Health::Unknown,
        runtime_name: None,
        runtime_id: None,
        exit_code: None,
        reason: None,
        started_at: None,
        finished_at: None,
        ports: Vec::new(),
        stop_timeout: Duration::from_secs(30),
        kept: None,
        restarted: None,
        wait: None,
    }
}

pub(crate) fn task(containers: Vec<ContainerView>) -> TaskView {
    TaskView {
        id: TaskId::from_bits(0x0f1e_2d3c_4b5a),
        family: Family::parse("demo").expect("a family"),
        revision: 3,
        definition: DefinitionDigest::parse(&format!("sha256:{}", "0d".repeat(32))).expect("a digest"),
        known: TaskStatus::None,
        desired: TaskStatus::Running,
        reason: None,
        accepted_at: at(0),
        execution_stopped_at: None,
        containers,
        lingering: false,
        removed: false,
    }
}

pub(crate) fn port(host_ip: &str, host_port: u16) -> PublishedPort {
    PublishedPort { container: PortKey { port: 80, protocol: Protocol::Tcp }, host_ip: host_ip.into(), host_port }
}

pub(crate) const fn call(kind: RequestKind) -> WaitReason {
    WaitReason::Call { kind, attempt: 1 }
}

pub(crate) fn started() -> Started {
    Started {
        schema: 1,
        version: "0.1.0".into(),
        instance: InstanceId::from_bits(0xabc).to_string(),
        state_dir: "/state/abc".into(),
        docker_host: "unix:///var/run/docker.sock".into(),
        file: Some("task.json".into()),
        resumed: false,
    }
}

/// How a story is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Watching {
    Pipe,
    Terminal,
    Json,
}

/// A piece of paper that several writers write on.
#[derive(Clone, Default)]
pub(crate) struct Paper(Rc<RefCell<Vec<u8>>>);

impl Paper {
    fn take(&self) -> String {
        String::from_utf8(self.0.take()).expect("UTF-8")
    }
}

impl Write for Paper {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A task with one container, a clock, and somebody who watches.
pub(crate) struct Stage {
    pub(crate) screen: Screen<Paper, Paper>,
    pub(crate) view: TaskView,
    watching: Watching,
    paper: Paper,
    terminal: Terminal,
    raw: String,
    frames: String,
    now: u64,
    drawn_at: Option<u64>,
}

impl Stage {
    pub(crate) fn new(watching: Watching, containers: Vec<ContainerView>) -> Self {
        let size = Size { columns: 80, rows: 24 };
        let terminal = Look { terminal: Some(size), clean_logs: true, colour: true, zone: Zone::UTC };
        let mode = match watching {
            Watching::Pipe => Mode::Text(Look::PLAIN),
            Watching::Terminal => Mode::Text(terminal),
            Watching::Json => Mode::Json,
        };
        let paper = Paper::default();
        Self {
            screen: Screen::new(mode, paper.clone(), paper.clone()),
            view: task(containers),
            watching,
            paper,
            terminal: Terminal::new(80),
            raw: String::new(),
            frames: String::new(),
            now: 0,
            drawn_at: None,
        }
    }

    pub(crate) fn started(&mut self) -> &mut Self {
        self.show(|screen, now| screen.started(now, &started()))
    }

    pub(crate) fn now(&self) -> Moment {
        at(self.now)
    }

    /// Goes on to this millisecond; whatever the screen wants to be woken for until then, it is.
    pub(crate) fn until(&mut self, millis: u64) -> &mut Self {
        assert!(millis >= self.now, "time runs forwards");
        while let Some(due) = self.screen.poll_timeout() {
            let due = due.since(at(0).mono).as_millis().try_into().expect("not that late");
            if due > millis {
                break;
            }
            self.now = self.now.max(due);
            let before = self.screen.poll_timeout();
            self.show(Screen::handle_timeout);
            assert!(self.screen.poll_timeout() != before, "a timeout that was handled is not due again at once");
        }
        self.now = millis;
        self
    }

    pub(crate) fn show(&mut self, act: impl FnOnce(&mut Screen<Paper, Paper>, Moment) -> io::Result<()>) -> &mut Self {
        act(&mut self.screen, at(self.now)).expect("paper takes everything");
        let written = self.paper.take();
        if written.contains("\u{1b}[?7l") {
            let before = self.drawn_at.replace(self.now);
            assert!(before.is_none_or(|before| self.now >= before + 100), "drawn more than ten times a second");
        }
        if self.watching == Watching::Terminal {
            self.terminal.feed(&written);
        }
        self.raw += &written;
        self
    }

    /// The task changes, and is published.
    pub(crate) fn change(&mut self, change: impl FnOnce(&mut TaskView)) -> &mut Self {
        change(&mut self.view);
        let view = self.view.clone();
        self.show(|screen, now| screen.view(now, &view))
    }

    /// Its first container reaches a status and waits for something.
    pub(crate) fn reach(&mut self, known: ContainerStatus, wait: Option<WaitReason>) -> &mut Self {
        let since = self.now();
        self.change(|task| {
            let first = &mut task.containers[0];
            if known.at_least(ContainerStatus::Created) {
                first.runtime_name = Some(RuntimeName::parse("ecs-demo-3-web-0f1e").expect("a name"));
                first.runtime_id = Some(RuntimeId::parse(&"5e".repeat(32)).expect("an id"));
            }
            first.known = known;
            first.wait = wait.map(|reason| Wait { reason, since, until: None });
            task.known = match known {
                ContainerStatus::Running | ContainerStatus::ResourcesProvisioned => TaskStatus::Running,
                ContainerStatus::Created => TaskStatus::Created,
                ContainerStatus::Stopped => TaskStatus::Stopped,
                ContainerStatus::None | ContainerStatus::ManifestPulled | ContainerStatus::Pulled => task.known,
            };
        })
    }

    /// Its first container ends, and the task with it.
    pub(crate) fn stop(&mut self, exit_code: Option<i32>, reason: Option<StopReason>) -> &mut Self {
        let now = self.now();
        self.view.desired = TaskStatus::Stopped;
        self.view.reason.get_or_insert_with(|| "Essential container in task exited".into());
        self.view.execution_stopped_at = Some(now);
        let first = &mut self.view.containers[0];
        (first.exit_code, first.reason, first.desired) = (exit_code, reason, ContainerStatus::Stopped);
        first.finished_at = exit_code.map(|_| now.wall);
        self.reach(ContainerStatus::Stopped, Some(call(RequestKind::Remove)))
    }

    pub(crate) fn log(&mut self, stream: LogStream, bytes: &[u8]) -> &mut Self {
        let container = self.view.containers[0].name.clone();
        let chunk = LogChunk { stream, bytes: bytes.to_vec() };
        self.show(|screen, now| screen.log(now, &container, &chunk))
    }

    pub(crate) fn pull(&mut self, layer: &str, status: &str, amounts: Option<(u64, u64)>) -> &mut Self {
        let image = self.view.containers[0].image.clone();
        let step = PullProgress {
            layer: layer.into(),
            status: status.into(),
            current: amounts.map(|(current, _)| current),
            total: amounts.map(|(_, total)| total),
        };
        self.show(|screen, now| screen.pull(now, &image, &step))
    }

    /// Keeps what a person sees at this moment.
    pub(crate) fn frame(&mut self) -> &mut Self {
        if self.watching == Watching::Terminal {
            let line = format!("---- at {} ms ", self.now);
            self.frames += &format!("{line:-<80}\n{}\n", self.terminal.show());
        }
        self
    }

    /// The terminal writes something by itself.
    pub(crate) fn echo(&mut self, text: &str) -> &mut Self {
        self.terminal.feed(text);
        self
    }

    /// What was written, or for a terminal, what was seen.
    pub(crate) fn outcome(&mut self) -> String {
        self.frame();
        match self.watching {
            Watching::Terminal => self.frames.clone(),
            Watching::Pipe | Watching::Json => self.raw.clone(),
        }
    }

    pub(crate) fn raw(&self) -> &str {
        &self.raw
    }
}
