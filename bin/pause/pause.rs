//! Pause: process 1 of the container that holds the namespaces of a task.
//!
//! It does three things and prints nothing:
//!
//! 1. it waits, using no processor time, so that network, pid and ipc namespaces stay in being;
//! 2. it reaps every child that is left to it (with a shared pid namespace all orphans of a task are);
//! 3. on SIGTERM or SIGINT it ends at once with exit code 0. An error of the kernel ends it with 1.
//!
//! Signals are blocked and then taken one at a time with `rt_sigtimedwait`. A blocked signal is queued
//! even for process 1, whose unhandled signals the kernel drops otherwise; and where no handler
//! exists, neither its stack nor its restorer can be wrong.
//!
//! Freestanding: no libc, no start files, no allocator. The build script of `lighterman-images` calls
//! the compiler on this file (crates.md §5) and shows the flags; as a member of the workspace it
//! would not link in the dev profile, and would force `panic = "abort"` on everybody. Another processor
//! needs its own [`_start`], [`system_call`] and call numbers, and an image of its own.
#![no_std]
#![no_main]

use core::{arch, panic::PanicInfo, ptr};

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
compile_error!("pause has its entry point and system calls for x86_64 Linux only");

/// Where the kernel starts the program: the stack pointer is all that it sets.
///
/// The frame pointer is cleared to end stack traces, the stack aligned as the calling convention asks.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn _start() -> ! {
    arch::naked_asm!("xor ebp, ebp", "and rsp, -16", "call {pause}", "ud2", pause = sym pause)
}

/// Reaps and waits until asked to stop.
///
/// Reaping comes first in the loop: a child can have died before its signal was blocked, and one
/// pending SIGCHLD can stand for many children.
extern "C" fn pause() -> ! {
    let signals = mask(SIGINT) | mask(SIGTERM) | mask(SIGCHLD);
    if block(signals) != 0 {
        exit(FAILED);
    }
    loop {
        reap();
        match take_one_of(signals) {
            SIGINT | SIGTERM => exit(STOPPED),
            // Interrupted: stopped and continued, or traced.
            SIGCHLD | INTERRUPTED => {}
            // Going on would be a busy loop.
            _ => exit(FAILED),
        }
    }
}

const STOPPED: usize = 0;
const FAILED: usize = 1;

const SIGINT: isize = 2;
const SIGTERM: isize = 15;
const SIGCHLD: isize = 17;

/// `-EINTR`.
const INTERRUPTED: isize = -4;

/// The kernel's set of signals; bit 0 is signal 1.
type SignalSet = u64;

const fn mask(signal: isize) -> SignalSet {
    1 << (signal - 1)
}

fn block(signals: SignalSet) -> isize {
    const SIG_BLOCK: usize = 0;
    // SAFETY: the kernel reads one `SignalSet`, which outlives the call, and stores no old one.
    unsafe { system_call(RT_SIGPROCMASK, [SIG_BLOCK, address(&signals), NULL, size_of::<SignalSet>()]) }
}

/// The number of the next pending signal, or a negative error.
fn take_one_of(signals: SignalSet) -> isize {
    // SAFETY: the kernel reads one `SignalSet`, which outlives the call; no details, no time limit.
    unsafe { system_call(RT_SIGTIMEDWAIT, [address(&signals), NULL, NULL, size_of::<SignalSet>()]) }
}

/// Collects every dead child; 0 (none dead) and an error (no child at all) both end it.
fn reap() {
    const ANY_CHILD: usize = usize::MAX;
    const WNOHANG: usize = 1;
    // SAFETY: no pointer is given, so no status and no usage is stored.
    while unsafe { system_call(WAIT4, [ANY_CHILD, NULL, WNOHANG, NULL]) } > 0 {}
}

fn exit(code: usize) -> ! {
    loop {
        // SAFETY: takes a number and does not come back; the loop satisfies the type.
        unsafe { system_call(EXIT_GROUP, [code, 0, 0, 0]) };
    }
}

const RT_SIGPROCMASK: usize = 14;
const WAIT4: usize = 61;
const RT_SIGTIMEDWAIT: usize = 128;
const EXIT_GROUP: usize = 231;

const NULL: usize = 0;

fn address(signals: &SignalSet) -> usize {
    ptr::from_ref(signals).expose_provenance()
}

/// One system call; the answer is negative for an error.
///
/// # Safety
/// Every argument that the call takes for an address is null, or points to memory that lives during
/// the call and that the call may use as it does.
unsafe fn system_call(number: usize, [a, b, c, d]: [usize; 4]) -> isize {
    let answer: isize;
    // SAFETY: the caller answers for the arguments; the kernel changes no register but these three.
    unsafe {
        arch::asm!(
            "syscall",
            inlateout("rax") number => answer,
            in("rdi") a,
            in("rsi") b,
            in("rdx") c,
            in("r10") d,
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    answer
}

#[panic_handler]
fn panicked(_: &PanicInfo<'_>) -> ! {
    exit(FAILED)
}
