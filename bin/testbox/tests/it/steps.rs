//! What each step does.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::Path,
    time::{Duration, Instant},
};

use lighterman_testbox::command::USAGE;

use crate::process::{Running, command, result, run, until};

fn ok(stdout: &str) -> (Option<i32>, String) {
    (Some(0), stdout.to_owned())
}

#[test]
fn words_that_are_no_program_end_with_64_and_the_usage() {
    for line in ["", "explode", "exit", "exit 999", "print a + + print b"] {
        let output = run(line);
        assert_eq!((output.status.code(), &*output.stdout), (Some(64), &b""[..]), "{line:?}");
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(USAGE.iter().all(|usage| stderr.contains(usage)), "{stderr}");
    }
}

#[test]
fn steps_run_in_order_up_to_the_first_that_ends_the_program() {
    assert_eq!(result("print a + print b"), ok("a\nb\n"));
    assert_eq!(result("print a + exit 3 + print b"), (Some(3), "a\n".to_owned()));
    assert_eq!(result("exit 0 + exit 1"), ok(""));
    assert_eq!(result("print a + read /no/such/file + print b"), (Some(1), "a\n".to_owned()));
}

#[test]
fn a_failure_is_told_in_words() {
    for (line, words) in [
        ("read /no/such/file", "testbox: cannot open /no/such/file: No such file or directory (os error 2)\n"),
        (
            "put /no/such/folder/f x",
            "testbox: cannot write /no/such/folder/f: No such file or directory (os error 2)\n",
        ),
        (
            "alloc 4294967295",
            "testbox: cannot take 4294967295 MiB of memory: memory allocation failed because the memory allocator returned an error\n",
        ),
    ] {
        let output = run(line);
        assert_eq!(output.status.code(), Some(1), "{line}");
        assert_eq!(String::from_utf8(output.stderr).unwrap(), words, "{line}");
    }
}

#[test]
fn sleep_and_burn_take_their_time_and_burn_uses_the_processor() {
    for line in ["sleep 0.1", "burn 0.1", "write 100 0.1", "fork 1 0.1"] {
        let begin = Instant::now();
        assert_eq!(run(line).status.code(), Some(0), "{line}");
        assert!(begin.elapsed() >= Duration::from_millis(100), "{line} took {:?}", begin.elapsed());
    }
    let burning = Running::start("burn 1000");
    until("processor time used", || (processor_ticks(burning.id()) >= 5).then_some(()));
}

/// User time in ticks of 10 ms.
fn processor_ticks(process: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    stat.rsplit_once(") ").unwrap().1.split(' ').nth(11).unwrap().parse().unwrap()
}

#[test]
fn the_environment_is_printed_sorted_and_complete() {
    let output = command("env").env_clear().env("B", "2=3").env("A", "").env("A_", "x").output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "A=\nA_=x\nB=2=3\n");
}

#[test]
fn the_working_directory_is_printed() {
    let output = command("pwd").current_dir("/proc").output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "/proc\n");
}

#[test]
fn standard_error_is_apart() {
    let output = run("print out + eprint err");
    assert_eq!((&*output.stdout, &*output.stderr), (&b"out\n"[..], &b"err\n"[..]));
}

#[test]
fn files_are_written_read_looked_for_and_removed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("f").to_str().unwrap().to_owned();
    assert_eq!(result(&format!("healthy {file} + print on")), (Some(1), "unhealthy\n".to_owned()));
    assert_eq!(result(&format!("put {file} text + read {file}")), ok("text"));
    assert_eq!(result(&format!("put {file} x + read {file} + healthy {file} + print on")), ok("xhealthy\non\n"));
    assert_eq!(result(&format!("remove {file} + remove {file} + healthy {file}")), (Some(1), "unhealthy\n".to_owned()));
    let folder = folder.path().to_str().unwrap();
    assert_eq!(result(&format!("remove {folder} + print on")), (Some(1), String::new()), "a folder is no file");
}

#[test]
fn health_flips() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("f").to_str().unwrap().to_owned();
    for (times, code) in [(0, 1), (1, 0), (2, 1), (3, 0)] {
        assert_eq!(
            run(&format!("remove {file} + flip {file} 0.001 {times} + healthy {file}")).status.code(),
            Some(code)
        );
    }
    let _flipping = Running::start(&format!("remove {file} + flip {file} 0.02"));
    for _ in 0..3 {
        until("there", || Path::new(&file).exists().then_some(()));
        until("gone", || (!Path::new(&file).exists()).then_some(()));
    }
}

#[test]
fn a_file_is_copied_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("big");
    let content: Vec<_> = (0..=u8::MAX).cycle().take(1_000_003).collect();
    fs::write(&path, &content).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o400)).unwrap();
    let output = run(&format!("read {} + print end", path.to_str().unwrap()));
    assert!(output.stdout == [&content[..], b"end\n"].concat(), "{} bytes", output.stdout.len());
}

#[test]
fn writing_keeps_to_rate_time_and_length() {
    let expected: String = (0..10).map(|number| format!("{number:010} xxxxxxxx\n")).collect();
    assert_eq!(result("write 1000 0.2 20"), ok(&expected));
    let fast = run("write 100000000 0.1 50");
    assert_eq!(fast.stdout.len(), 10_000_000);
    let last = String::from_utf8(fast.stdout[fast.stdout.len() - 50..].to_vec()).unwrap();
    assert!(last.starts_with("0000199999 "), "{last}");
}

#[test]
fn writing_at_full_speed_numbers_every_line() {
    let output = String::from_utf8(run("write 0 0.05 32").stdout).unwrap();
    assert!(output.len() > 100_000, "{} bytes", output.len());
    for (number, line) in output.lines().enumerate() {
        assert_eq!(line, format!("{number:010} xxxxxxxxxxxxxxxxxxxx"));
    }
}

#[test]
fn a_closed_output_ends_the_program() {
    let mut child =
        command("write 0").stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::null()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(until("the end", || child.try_wait().unwrap()).code(), Some(1));
}

#[test]
fn memory_is_in_use_while_it_is_held() {
    let mut holding = Running::start("alloc 40 1000");
    assert_eq!(holding.line(), "allocated 40 MiB\n");
    let resident: u64 = holding.status("VmRSS").trim_end_matches(" kB").parse().unwrap();
    assert!((40 * 1024..60 * 1024).contains(&resident), "{resident} KiB");
    let mut freed = Running::start("alloc 40 + print next + sleep 1000");
    assert_eq!((freed.line(), freed.line()), ("allocated 40 MiB\n".to_owned(), "next\n".to_owned()));
    let resident: u64 = freed.status("VmRSS").trim_end_matches(" kB").parse().unwrap();
    assert!(resident < 20 * 1024, "{resident} KiB");
}

#[test]
fn a_child_allocates_and_its_end_is_told() {
    assert_eq!(result("alloc-child 1 + print on"), ok("allocated 1 MiB\nchild exited 0\non\n"));
    let words = run("alloc-child 4294967295 + print on");
    assert_eq!((words.status.code(), &*words.stdout), (Some(0), &b"child exited 1\non\n"[..]));
}

fn children(process: u32) -> Vec<String> {
    let text = fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap();
    text.split_whitespace().map(str::to_owned).collect()
}

fn state(process: &str) -> char {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    stat.rsplit_once(") ").unwrap().1.chars().next().unwrap()
}

#[test]
fn forked_children_are_waited_for_and_spawned_ones_are_not() {
    assert_eq!(result("fork 3 0.01 + print on"), ok("started 3\non\n"));
    let mut forking = Running::start("fork 3 1000");
    assert_eq!(forking.line(), "started 3\n");
    assert_eq!(children(forking.id()).len(), 3);
    for child in children(forking.id()) {
        rustix::process::kill_process(
            rustix::process::Pid::from_raw(child.parse().unwrap()).unwrap(),
            rustix::process::Signal::KILL,
        )
        .unwrap();
    }
    assert_eq!(forking.wait().code(), Some(0));

    let mut spawning = Running::start("spawn 2 0.01 + print on + sleep 1000");
    assert_eq!((spawning.line(), spawning.line()), ("started 2\n".to_owned(), "on\n".to_owned()));
    let children = children(spawning.id());
    assert_eq!(children.len(), 2);
    until("children dead and not collected", || children.iter().all(|child| state(child) == 'Z').then_some(()));
}
