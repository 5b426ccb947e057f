//! Walks an ordinary container and a network pause container through their statuses.
#![expect(clippy::print_stdout, reason = "an example shows its result")]

use lighterman_status::{ContainerKind, ContainerStatus};

fn main() {
    for kind in [ContainerKind::Normal, ContainerKind::CniPause] {
        let steady = kind.steady_state();
        println!("{kind}, up at {}:", steady.status());
        let mut status = Some(ContainerStatus::None);
        while let Some(known) = status {
            let event = known.event_status(steady).map_or("-", |event| event.backend_text());
            println!("  {known:<22} the task counts it as {:<16} event {event}", known.task_status(steady));
            status = known.next(steady);
        }
    }
}
