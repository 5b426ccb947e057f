//! What others do to containers, the host and its kernel, behind the agent's back.
//!
//! Each returns whether there was something to do it to.

use core::time::Duration;

use lighterman_calls::{ContainerTarget, ExitCode, Protocol, Signal};
use lighterman_ids::Moment;

use crate::{
    flight::{Ask, Force},
    model::Model,
    ports::{ANY, Holder},
};

impl Model {
    /// The process is killed: `die` follows.
    pub fn external_kill(&mut self, now: Moment, target: &ContainerTarget) -> bool {
        self.advance(now);
        let Some(id) = self.resolve(target).filter(|_| self.is_alive(target)) else { return false };
        self.signal(&id, Signal::Kill);
        self.advance(self.clock);
        true
    }

    /// `docker rm -f`: kill, then destroy.
    pub fn external_remove(&mut self, now: Moment, target: &ContainerTarget) -> bool {
        self.force(now, target, Force::Remove)
    }

    /// `docker restart --time 0`: stop, start, then the event `restart`.
    pub fn external_restart(&mut self, now: Moment, target: &ContainerTarget) -> bool {
        self.external_restart_gracefully(now, target, Duration::ZERO)
    }

    /// `docker restart --time …`: the same with a grace between SIGTERM and SIGKILL.
    pub fn external_restart_gracefully(&mut self, now: Moment, target: &ContainerTarget, grace: Duration) -> bool {
        self.force(now, target, Force::Restart { grace })
    }

    fn force(&mut self, now: Moment, target: &ContainerTarget, force: Force) -> bool {
        self.advance(now);
        let Some(id) = self.resolve(target).filter(|_| self.is_up()) else { return false };
        self.launch_own(Ask::Force(force, id));
        true
    }

    /// The kernel kills a process inside for memory, which is not the container's first.
    pub fn external_oom(&mut self, now: Moment, target: &ContainerTarget) -> bool {
        self.advance(now);
        let Some(id) = self.resolve(target).filter(|_| self.is_alive(target)) else { return false };
        let key = self.run_key(&id);
        self.out_of_memory(&key);
        true
    }

    /// From now on the engine misses that processes are killed for memory, or no more: no event, no mark (seen on
    /// 20.10 under load, though seldom).
    pub const fn miss_oom(&mut self, misses: bool) {
        self.misses_oom = misses;
    }

    /// From now on health probes end with this code, whatever their program; `None` lets it speak again.
    pub fn force_health(&mut self, target: &ContainerTarget, code: Option<ExitCode>) -> bool {
        let Some(container) = self.resolve(target).and_then(|id| self.containers.get_mut(&id)) else { return false };
        container.forced_health = code;
        true
    }

    /// Something holds on to the container's files: from now on removals fail, and leave it dead. Or no more.
    pub fn wedge(&mut self, target: &ContainerTarget, wedged: bool) -> bool {
        let Some(container) = self.resolve(target).and_then(|id| self.containers.get_mut(&id)) else { return false };
        container.wedged = wedged;
        true
    }

    /// A process of the host takes the port, on all addresses, if it is free.
    pub fn occupy_port(&mut self, protocol: Protocol, port: u16) -> bool {
        let free = self.ports.in_the_way(protocol, port, ANY).is_none();
        if free {
            self.ports.take(protocol, port, ANY, Holder::Host);
        }
        free
    }

    /// The process of the host gives the port back.
    pub fn free_port(&mut self, protocol: Protocol, port: u16) {
        self.ports.release_host(protocol, port);
    }
}
