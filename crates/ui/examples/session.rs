//! Shows a short session of a task as people see it in a pipe, then as a machine reads it, then what it waits for.

use std::{error::Error, io, time::Duration};

use lighterman_calls::RequestKind;
use lighterman_contracts::{LogChunk, LogStream};
use lighterman_ids::{ContainerName, DefinitionDigest, Family, ImageRef, Moment, TaskId, Wall};
use lighterman_status::{ContainerStatus, Health, TaskStatus};
use lighterman_ui::{End, Look, Mode, Screen, Zone, explain};
use lighterman_view::{ContainerView, TaskView, Wait, WaitReason};

fn main() -> Result<(), Box<dyn Error>> {
    for mode in [Mode::Text(Look::PLAIN), Mode::Json] {
        let mut view = task()?;
        let mut screen = Screen::new(mode, io::stdout(), io::stdout());
        screen.view(at(3), &view)?;
        view.containers[0].known = ContainerStatus::Running;
        view.known = TaskStatus::Running;
        screen.view(at(210), &view)?;
        let chunk = LogChunk { stream: LogStream::Stdout, bytes: b"hello\n".to_vec() };
        screen.log(at(215), &view.containers[0].name, &chunk)?;
        view.containers[0].known = ContainerStatus::Stopped;
        view.containers[0].exit_code = Some(0);
        view.known = TaskStatus::Stopped;
        view.reason = Some("Essential container in task exited".into());
        screen.view(at(1_200), &view)?;
        screen.end(at(1_210), &End { exit_code: 0, kind: "task", text: None })?;
    }
    io::Write::write_all(&mut io::stdout(), explain(&task()?, at(4_200), &Zone::UTC).as_bytes())?;
    Ok(())
}

/// A moment on the afternoon of an ordinary day.
fn at(millis: i64) -> Moment {
    let wall = Wall(1_796_040_000_000_000_000).after(Duration::from_millis(millis.unsigned_abs()));
    Moment { mono: lighterman_ids::Mono(millis.unsigned_abs() * 1_000_000), wall, ..Moment::default() }
}

fn task() -> Result<TaskView, Box<dyn Error>> {
    let web = ContainerView {
        name: ContainerName::parse("web")?,
        image: ImageRef::parse("registry.test/web:1")?,
        essential: true,
        tty: false,
        known: ContainerStatus::Created,
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
        wait: Some(Wait {
            reason: WaitReason::Call { kind: RequestKind::Start, attempt: 1 },
            since: at(14),
            until: Some(at(180_014).mono),
        }),
    };
    Ok(TaskView {
        id: TaskId::from_bits(0x0f1e_2d3c),
        family: Family::parse("demo")?,
        revision: 3,
        definition: DefinitionDigest::parse(&format!("sha256:{}", "0d".repeat(32)))?,
        known: TaskStatus::Created,
        desired: TaskStatus::Running,
        reason: None,
        accepted_at: at(0),
        execution_stopped_at: None,
        containers: vec![web],
        lingering: false,
        removed: false,
    })
}
