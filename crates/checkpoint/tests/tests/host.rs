//! What tests need of the machine: places, counts, root, file systems of their own.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::mpsc::channel,
    time::Duration,
};

use crate::child;

/// The number in this variable, or the default.
pub(crate) fn count(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().unwrap())
}

/// A temporary directory, in memory where possible: what is tested there is not the disk.
pub(crate) fn scratch() -> tempfile::TempDir {
    let mut builder = tempfile::Builder::new();
    builder.prefix("lighterman-checkpoint-");
    builder.tempdir_in("/dev/shm").or_else(|_| builder.tempdir()).unwrap()
}

/// Runs a role of [`child`] as root in a mount namespace of its own, so that mounts and loop devices go
/// with it however it ends. Says so, and fails under CI, where that cannot be done.
pub(crate) fn run_as_root(role: &str, arguments: &[&str]) {
    let can = Command::new("unshare").args(["--mount", "true"]).output();
    if !can.is_ok_and(|output| output.status.success()) {
        not_run(role);
        return;
    }
    let mut command = Command::new("unshare");
    command.arg("--mount").arg(child::executable()).args(child::ARGUMENTS);
    child::set_role(&mut command, role, arguments);
    let output = command.output().unwrap();
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    println!("{text}");
    assert!(output.status.success(), "{role} failed");
}

/// Looks again and again, for 10 s, whether something has come about.
pub(crate) fn until(condition: impl Fn() -> bool) -> bool {
    const STEP: Duration = Duration::from_millis(5);
    let (_keep, never) = channel::<()>();
    (0..2000).any(|_| condition() || never.recv_timeout(STEP).is_ok())
}

/// Says that something could not be tested here; under CI that is a failure.
pub(crate) fn not_run(what: &str) {
    let is_ci = std::env::var("CI").is_ok_and(|value| value == "true");
    assert!(!is_ci, "NOT RUN: {what} needs root");
    println!("NOT RUN: {what} needs root");
}

/// A mounted file system, unmounted when dropped.
pub(crate) struct Mounted {
    at: PathBuf,
}

impl Mounted {
    /// Memory of this many KiB.
    pub(crate) fn tmpfs(at: &Path, kib: u64) -> Self {
        Self::mount(at, &["-t", "tmpfs", "-o", &format!("size={kib}k"), "tmpfs"])
    }

    /// An image on a loop device, which the kernel frees with the mount. The journal is committed only
    /// when somebody asks, not every 5 seconds: what nobody synced stays in memory.
    pub(crate) fn image(at: &Path, image: &Path) -> Self {
        Self::mount(at, &["-t", "ext4", "-o", "loop,commit=900", image.to_str().unwrap()])
    }

    pub(crate) fn path(&self) -> &Path {
        &self.at
    }

    fn mount(at: &Path, arguments: &[&str]) -> Self {
        fs::create_dir_all(at).unwrap();
        command("mount", &[arguments, &[at.to_str().unwrap()]].concat());
        Self { at: at.to_owned() }
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let umount = |arguments: &[&str]| Command::new("umount").args(arguments).arg(&self.at).output();
        // A thread that is ending may have a file open a little longer.
        if !until(|| umount(&[]).is_ok_and(|output| output.status.success())) {
            // It goes with who holds it, at the latest with this process.
            let _ = umount(&["--lazy"]);
            assert!(std::thread::panicking(), "{} is still in use", self.at.display());
        }
    }
}

/// An empty ext4 in a sparse file.
pub(crate) fn make_image(image: &Path, mib: u64) {
    File::create(image).and_then(|file| file.set_len(mib << 20)).unwrap();
    let journal =
        ["-q", "-F", "-O", "^resize_inode", "-J", "size=4", "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0"];
    command("mkfs.ext4", &[&journal[..], &[image.to_str().unwrap()]].concat());
}

/// Copies what has reached the device, holes as holes, as of one moment: threads of the kernel may still
/// be writing, as for a journal that is nearly full, so it is copied until nothing has changed meanwhile.
pub(crate) fn copy_image(from: &Path, to: &Path) {
    const ATTEMPTS: usize = 100;
    let (from, to) = (from.to_str().unwrap(), to.to_str().unwrap());
    let is_copied = || {
        command("cp", &["--sparse=always", from, to]);
        Command::new("cmp").args(["--silent", from, to]).status().unwrap().success()
    };
    assert!((0..ATTEMPTS).any(|_| is_copied()), "{from} never stands still");
}

/// Copies a directory as it is.
pub(crate) fn copy_directory(from: &Path, to: &Path) {
    command("cp", &["--archive", from.to_str().unwrap(), to.to_str().unwrap()]);
}

/// Uses up all space of the file system at `directory`.
pub(crate) fn fill(directory: &Path) -> PathBuf {
    let filler = directory.join("filler");
    for size in [4096, 1] {
        let mut file = File::options().append(true).create(true).open(&filler).unwrap();
        while io::Write::write_all(&mut file, &vec![7; size]).is_ok() {}
    }
    filler
}

/// All files below a directory.
pub(crate) fn files(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(self::files(&path));
        } else {
            files.push(path);
        }
    }
    files.sort();
    files
}

fn command(program: &str, arguments: &[&str]) {
    let Output { status, stderr, .. } = Command::new(program).args(arguments).output().unwrap();
    assert!(status.success(), "{program} {arguments:?}: {}", String::from_utf8_lossy(&stderr));
}
