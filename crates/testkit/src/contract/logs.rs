//! The output of containers.

use std::time::Duration;

use futures_util::StreamExt as _;
use lighterman_calls::{ContainerTarget, Outcome};
use lighterman_contracts::{ContainerRuntime, LogRequest, LogSource, LogStream};
use tokio::time::timeout;

use super::{AMPLE, Contract};

async fn read<R: LogSource>(contract: &Contract<'_, R>, container: ContainerTarget, follow: bool) -> Read {
    let mut read = Read::default();
    let request = LogRequest { container, follow, since: None, tty: false };
    let mut chunks = Box::pin(contract.runtime.logs(request));
    let reading = async {
        while let Some(item) = chunks.next().await {
            match item {
                Ok(chunk) if chunk.stream == LogStream::Stdout => read.stdout.extend(chunk.bytes),
                Ok(chunk) => read.stderr.extend(chunk.bytes),
                Err(outcome) => read.failed = Some(outcome),
            }
        }
    };
    timeout(AMPLE, reading).await.expect("the output comes to its end");
    read
}

impl<R: ContainerRuntime + LogSource> Contract<'_, R> {
    /// Makes and starts a container, and waits until its program has spoken. A stop signal that comes before may find
    /// the engine's own starter in its place, which ends of it (seen on 20.10).
    ///
    /// `rule` is a step that says what the stop signal does; what is printed after it proves that it stands.
    pub(super) async fn run_until_ready(&self, name: &str, rule: &str) {
        let id = self.run(name, &format!("{rule} + print ready + sleep 600")).await;
        let request = LogRequest { container: ContainerTarget::Id(id), follow: true, since: None, tty: false };
        let mut chunks = Box::pin(self.runtime.logs(request));
        let first = timeout(AMPLE, chunks.next()).await.expect("the program speaks");
        assert!(matches!(first, Some(Ok(_))), "{first:?}");
    }
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Read {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    failed: Option<Outcome<()>>,
}

impl Read {
    #[track_caller]
    fn expect(&self, stdout: &str, stderr: &str) {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert_eq!((text(&self.stdout), text(&self.stderr)), (stdout.into(), stderr.into()));
        assert_eq!(self.failed, None);
    }
}

/// Output is kept apart by stream, and over several runs.
///
/// # Panics
/// The rule is broken.
pub async fn logs_come_as_written<R: ContainerRuntime + LogSource>(contract: &Contract<'_, R>) {
    let mut watch = contract.watch(None).await;
    let id = contract.run("lines", "print one + eprint two + print three").await;
    watch.until_ended(&id).await;
    read(contract, contract.target("lines"), false).await.expect("one\nthree\n", "two\n");
    contract.start("lines").await;
    watch.until_ended(&id).await;
    read(contract, contract.target("lines"), true).await.expect("one\nthree\none\nthree\n", "two\ntwo\n");
}

/// A reader that follows sees what comes, and an end when the container has ended.
///
/// # Panics
/// The rule is broken.
pub async fn logs_are_followed_to_the_end<R: ContainerRuntime + LogSource>(contract: &Contract<'_, R>) {
    contract.run("follow", "print first + trap 0 + sleep 600").await;
    let stop = async {
        // Whether the reader or the stop is first makes no difference to what is read.
        contract.stop("follow", Duration::from_secs(30)).await
    };
    let (read, stopped) = tokio::join!(read(contract, contract.target("follow"), true), stop);
    assert_eq!(stopped, Outcome::Done(()));
    read.expect("first\n", "");
}

/// A container that never ran has no output and no end to wait for; one that does not exist is gone.
///
/// # Panics
/// The rule is broken.
pub async fn logs_of_nothing<R: ContainerRuntime + LogSource>(contract: &Contract<'_, R>) {
    contract.create(&contract.request("silent", "print never")).await;
    read(contract, contract.target("silent"), true).await.expect("", "");
    let gone = read(contract, contract.target("gone"), false).await;
    assert_eq!(gone, Read { failed: Some(Outcome::Gone), ..Read::default() });
}
