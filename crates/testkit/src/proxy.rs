//! A proxy on a unix socket between the agent and the engine, which breaks single calls.
//!
//! It speaks just enough HTTP/1.1 to find the ends of requests and answers; bodies are copied piece by
//! piece, so that streams (events, logs, pulls) flow through. Each request opens a connection of its
//! own to the engine. [`Rule`]s say which call has which [`Fault`]; they come and go while the proxy runs.

mod exchange;
mod http;
mod rule;

use std::{
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use tokio::{
    net::UnixListener,
    sync::watch,
    task::{JoinHandle, JoinSet},
};

use crate::host::lock;

pub use rule::{Fault, LineFate, Pattern, Reply, Rule};

/// Names a rule of a proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleId(u64);

/// A request as the proxy saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Such as `POST`.
    pub method: String,
    /// Without version prefix and query, such as `/containers/web/start`.
    pub path: String,
    /// What stands behind the `?`, undecoded.
    pub query: String,
}

/// The proxy. Dropped, it closes its connections and takes its socket away.
///
/// ```no_run
/// use std::path::Path;
///
/// use lighterman_testkit::proxy::{Fault, Pattern, Proxy, Rule};
///
/// # async fn example() -> std::io::Result<()> {
/// let proxy = Proxy::start(Path::new("/tmp/broken.sock"), Path::new("/var/run/docker.sock"))?;
/// // The second start is done by the engine, and nobody hears of it.
/// proxy.add(Rule::new(Pattern::new("POST", "/containers/*/start"), Fault::CutAfter).skip(1).times(1));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Proxy {
    socket: PathBuf,
    shared: Arc<Shared>,
    acceptor: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Debug)]
struct Shared {
    engine: PathBuf,
    state: Mutex<State>,
    paused: watch::Sender<bool>,
    /// How many requests there were.
    requests: watch::Sender<usize>,
}

#[derive(Debug, Default)]
struct State {
    rules: Vec<(RuleId, Rule)>,
    last_rule: u64,
    seen: Vec<Seen>,
}

impl Proxy {
    /// Listens on `socket` and forwards to the engine's socket.
    ///
    /// # Errors
    /// The socket cannot be made.
    pub fn start(socket: &Path, engine: &Path) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            engine: engine.to_owned(),
            state: Mutex::default(),
            paused: watch::Sender::new(false),
            requests: watch::Sender::new(0),
        });
        let proxy = Self { socket: socket.to_owned(), shared, acceptor: Mutex::new(None) };
        proxy.come_back()?;
        Ok(proxy)
    }

    /// Where it listens.
    #[must_use]
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Puts a rule in force. Of several that fit a request the first added counts.
    pub fn add(&self, rule: Rule) -> RuleId {
        let mut state = lock(&self.shared.state);
        state.last_rule += 1;
        let id = RuleId(state.last_rule);
        state.rules.push((id, rule));
        id
    }

    /// Takes a rule out of force; requests it already holds stay as they are.
    pub fn remove(&self, id: RuleId) {
        lock(&self.shared.state).rules.retain(|(other, _)| *other != id);
    }

    /// Takes all rules out of force.
    pub fn clear(&self) {
        lock(&self.shared.state).rules.clear();
    }

    /// New requests wait until [`resume`](Self::resume); connections are taken.
    pub fn pause(&self) {
        self.shared.paused.send_replace(true);
    }

    /// Requests that wait go on.
    pub fn resume(&self) {
        self.shared.paused.send_replace(false);
    }

    /// The engine goes away: every connection breaks, new ones are refused. The socket file stays, as after a kill.
    pub async fn go_away(&self) {
        let acceptor = lock(&self.acceptor).take();
        if let Some(acceptor) = acceptor {
            acceptor.abort();
            // Waits until it has let go of its connections; that it was aborted is what was asked for.
            let _aborted = acceptor.await;
        }
    }

    /// The engine is there again, or for the first time.
    ///
    /// # Errors
    /// The socket cannot be made.
    pub fn come_back(&self) -> io::Result<()> {
        let mut acceptor = lock(&self.acceptor);
        if acceptor.is_some() {
            return Ok(());
        }
        remove_socket(&self.socket)?;
        let listener = UnixListener::bind(&self.socket)?;
        *acceptor = Some(tokio::spawn(accept(listener, Arc::clone(&self.shared))));
        Ok(())
    }

    /// Every request so far, in the order in which their heads were complete.
    #[must_use]
    pub fn requests(&self) -> Vec<Seen> {
        lock(&self.shared.state).seen.clone()
    }

    /// How many requests fitted the pattern so far.
    #[must_use]
    pub fn count(&self, pattern: &Pattern) -> usize {
        lock(&self.shared.state).seen.iter().filter(|seen| pattern.fits(seen)).count()
    }

    /// Waits until `count` requests fitted the pattern; the caller sets the bound.
    ///
    /// # Panics
    /// Never: the proxy itself holds what it waits for.
    pub async fn seen(&self, pattern: &Pattern, count: usize) {
        let mut requests = self.shared.requests.subscribe();
        while self.count(pattern) < count {
            requests.changed().await.expect("the sender lives in `self`");
        }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        if let Some(acceptor) = lock(&self.acceptor).take() {
            acceptor.abort();
        }
        // Nothing can be done about a socket file that cannot be removed.
        let _removed = remove_socket(&self.socket);
    }
}

impl Shared {
    /// Takes a request down and says what befalls it.
    fn note(&self, seen: Seen) -> Option<Fault> {
        let mut state = lock(&self.state);
        let mut fault = None;
        for (_, rule) in &mut state.rules {
            if rule.pattern.fits(&seen) && rule.takes_its_turn(fault.is_some()) {
                fault = Some(rule.fault.clone());
            }
        }
        state.seen.push(seen);
        let count = state.seen.len();
        drop(state);
        self.requests.send_replace(count);
        fault
    }
}

fn remove_socket(socket: &Path) -> io::Result<()> {
    match std::fs::remove_file(socket) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Serves until it is aborted; its connections end with it.
async fn accept(listener: UnixListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((client, _)) => {
                    let shared = Arc::clone(&shared);
                    // A connection that breaks is what a client of this proxy has to expect.
                    connections.spawn(async move { drop(exchange::serve(client, &shared).await) });
                }
                // Out of descriptors, or the like: the client sees a connection that is not served.
                Err(_) => tokio::task::yield_now().await,
            },
            Some(_ended) = connections.join_next() => {}
        }
    }
}
