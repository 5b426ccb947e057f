//! What SIGTERM does in each step.

use std::os::unix::process::ExitStatusExt;

use rustix::process::Signal;

use crate::process::{Running, until};

/// Bit 14 of a mask in `/proc/PID/status` is SIGTERM.
fn has_term(mask: &str) -> bool {
    u64::from_str_radix(mask, 16).unwrap() >> 14 & 1 == 1
}

fn start_catching(line: &str) -> Running {
    let running = Running::start(line);
    until("SIGTERM caught", || has_term(&running.status("SigCgt")).then_some(()));
    running
}

#[test]
fn a_step_with_a_rule_ends_with_its_code() {
    for (line, code) in [("on-term 3", 3), ("trap 4 + sleep 1000", 4), ("term-after 0.05 5", 5), ("term-after 0", 0)] {
        let mut running = start_catching(line);
        running.send(Signal::TERM);
        assert_eq!(running.wait().code(), Some(code), "{line}");
    }
}

/// As process 1 it would not notice; the kernel drops the signal because there is no handler.
#[test]
fn a_plain_sleep_has_no_handler_and_dies_of_the_signal() {
    let mut running = Running::start("print begun + sleep 1000");
    assert_eq!(running.line(), "begun\n");
    assert!(!has_term(&running.status("SigCgt")) && !has_term(&running.status("SigIgn")));
    running.send(Signal::TERM);
    assert_eq!(running.wait().signal(), Some(15));
}

#[test]
fn ignore_term_outlives_the_signal() {
    let mut running = start_catching("ignore-term 0.2 + print over + ignore-term");
    running.send(Signal::TERM);
    assert_eq!(running.line(), "over\n");
    running.send(Signal::TERM);
    until("both signals taken", || (!has_term(&running.status("ShdPnd"))).then_some(()));
    assert!(running.is_running());
}

#[test]
fn the_latest_rule_holds() {
    let mut running = Running::start("trap 1 + ignore-term 0 + trap 2 + print ready + sleep 1000");
    assert_eq!(running.line(), "ready\n");
    running.send(Signal::TERM);
    assert_eq!(running.wait().code(), Some(2));
}

#[test]
fn output_of_a_step_is_out_before_the_next_begins() {
    let mut running = Running::start("trap 0 + print a + eprint b + sleep 1000");
    assert_eq!(running.line(), "a\n");
    running.send(Signal::TERM);
    assert_eq!(running.wait().code(), Some(0));
    assert_eq!(running.rest(), "");
}
