//! An engine of the test's own, which may be killed.
//!
//! It lives in namespaces of its own for network, mounts and processes: it cannot reach the host's bridge, and whatever it
//! has started or mounted ends with the first process in there. That one ends when its standard input does, so that
//! nothing is left however the test ends.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Stdio,
};

use lighterman_calls::Outcome;
use lighterman_contracts::ImageStore as _;
use lighterman_docker::{Docker, DockerHost};
use lighterman_docker_tests::{AMPLE, Raw, testbox_program};
use lighterman_ids::ImageRef;
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    process::{Child, ChildStderr, ChildStdin, Command},
    time::timeout,
};

use crate::{corner::Corner, engine::Engine};

/// Waits for words. `$1` is the directory, `$2` the parent of its control groups, `$3` an argument of the daemon.
const KEEPER: &str = r#"
mkdir -p /run/containerd && mount -t tmpfs none /run/containerd
ip link set lo up
echo '{}' > "$1/daemon.json"
: > "$1/containerd.toml"
while read -r word; do
    case $word in
    containerd)
        containerd --config "$1/containerd.toml" --root "$1/containerd" --state "$1/run/containerd" \
            --address "$1/containerd.sock" --log-level error &
        containerd=$! ;;
    start)
        dockerd --config-file "$1/daemon.json" --containerd "$1/containerd.sock" --data-root "$1/data" \
            --exec-root "$1/run/docker" --pidfile "$1/docker.pid" --host "unix://$1/docker.sock" \
            --storage-driver vfs --iptables=false --ip6tables=false --cgroup-parent "$2" $3 &
        dockerd=$! ;;
    kill)
        kill -9 $dockerd; wait $dockerd; rm -f "$1/docker.pid"
        echo 'THE DAEMON IS DEAD' >&2 ;;
    kill-all)
        # All but this shell, which is process 1 and immune.
        kill -9 -1; wait; rm -f "$1/docker.pid" "$1/containerd.sock"
        echo 'ALL ARE DEAD' >&2 ;;
    esac
done
"#;

/// An engine of the test's own.
pub(super) struct SecondEngine {
    directory: TempDir,
    groups: String,
    keeper: Child,
    words: ChildStdin,
    log: BufReader<ChildStderr>,
}

impl SecondEngine {
    /// Starts it, with the image of the test program.
    pub(super) async fn start(corner: &Corner, argument: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let groups = format!("/lighterman-test-{}", corner.token());
        let mut keeper = Command::new("unshare")
            .args([
                "--net",
                "--mount",
                "--pid",
                "--fork",
                "--kill-child=KILL",
                "--mount-proc",
                "--",
                "sh",
                "-c",
                KEEPER,
            ])
            .arg("keeper")
            .arg(directory.path())
            .args([&groups, argument])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let words = keeper.stdin.take().unwrap();
        let log = BufReader::new(keeper.stderr.take().unwrap());
        let mut engine = Self { directory, groups, keeper, words, log };
        engine.say("containerd").await;
        engine.come_up().await;
        engine.load_image().await;
        engine
    }

    pub(super) fn socket(&self) -> PathBuf {
        self.directory.path().join("docker.sock")
    }

    /// The test's containers, as this engine sees them.
    pub(super) fn seen_by(&self, corner: &Corner) -> Engine {
        corner.engine().at(Raw::new(&self.host()).unwrap())
    }

    /// `kill -9` of the daemon; containers, and what keeps them, live on.
    pub(super) async fn kill(&mut self) {
        self.say("kill").await;
        self.until("THE DAEMON IS DEAD").await;
    }

    /// `kill -9` of the daemon and of everything it has ever started, as when the power fails.
    pub(super) async fn kill_all(&mut self) {
        self.say("kill-all").await;
        self.until("ALL ARE DEAD").await;
        self.say("containerd").await;
    }

    /// Starts the daemon and waits until it answers.
    pub(super) async fn come_up(&mut self) {
        self.say("start").await;
        self.until("API listen on").await;
    }

    /// Ends it, and clears what it has made outside of its own directory.
    pub(super) async fn end(self) {
        let Self { directory, groups, mut keeper, words, log } = self;
        drop(words);
        timeout(AMPLE, keeper.wait()).await.expect("the keeper ends with its input").unwrap();
        drop(log);
        for controller in fs::read_dir("/sys/fs/cgroup").unwrap() {
            remove_groups(&controller.unwrap().path().join(groups.trim_start_matches('/')));
        }
        directory.close().unwrap();
    }

    fn host(&self) -> DockerHost {
        DockerHost::parse(&format!("unix://{}", self.socket().display())).unwrap()
    }

    async fn load_image(&self) {
        let name = ImageRef::parse("lighterman/testbox:test").unwrap();
        let archive = testbox_program().unwrap().image().build_tagged_by_content(&name).unwrap();
        let outcome = Docker::connect(self.host()).load_image(archive.into_bytes(), AMPLE).await;
        assert!(matches!(outcome, Outcome::Done(_)), "{outcome:?}");
    }

    async fn say(&mut self, word: &str) {
        self.words.write_all(format!("{word}\n").as_bytes()).await.unwrap();
    }

    /// Reads its log until these words come.
    async fn until(&mut self, words: &str) {
        let mut all = String::new();
        let reading = async {
            loop {
                let begin = all.len();
                assert!(self.log.read_line(&mut all).await.unwrap() > 0, "it has ended: {all}");
                if all[begin..].contains(words) {
                    return;
                }
            }
        };
        timeout(AMPLE, reading).await.unwrap_or_else(|_| panic!("{words:?} never came"));
    }
}

/// Removes a control group and those below, which are empty: all their processes are dead.
fn remove_groups(group: &Path) {
    let Ok(entries) = fs::read_dir(group) else { return };
    for entry in entries.map(|entry| entry.unwrap()) {
        if entry.file_type().unwrap().is_dir() {
            remove_groups(&entry.path());
        }
    }
    fs::remove_dir(group).unwrap();
}
