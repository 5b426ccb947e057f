//! Ctrl-C and its siblings.

use std::{
    convert::Infallible,
    fs,
    future::poll_fn,
    io,
    task::{Context, Poll},
};

use lighterman_app::Heard;
use lighterman_contracts::Clock;
use lighterman_ui::{Size, StopSignal};
use rustix::process;
use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    sync::mpsc,
};

/// What asks the command to end.
const ASKING: [(process::Signal, StopSignal); 4] = [
    (process::Signal::INT, StopSignal::Interrupt),
    (process::Signal::TERM, StopSignal::Terminate),
    (process::Signal::HUP, StopSignal::HangUp),
    (process::Signal::QUIT, StopSignal::Quit),
];

/// Hands on every Ctrl-C, SIGTERM, SIGHUP and SIGQUIT, from now on. What was ignored when the command began, as by
/// `nohup` or for a job in the background, stays so.
pub(crate) fn forward(
    to: mpsc::Sender<Heard>,
    clock: impl Clock,
    resize: impl Fn(Size),
) -> io::Result<impl Future<Output = Infallible>> {
    // A file that may grow no more is an error of the write, not the end of the process. What is caught once stays so.
    drop(signal(kind(process::Signal::XFSZ))?);
    let ignored = Ignored::by_the_parent();
    let mut asking = Vec::new();
    for (number, meaning) in ASKING {
        if !ignored.contains(number) {
            asking.push((signal(kind(number))?, meaning));
        }
    }
    let mut window = signal(SignalKind::window_change())?;
    let next = |signal: &mut Signal, cx: &mut Context<'_>| signal.poll_recv(cx).is_ready();
    Ok(async move {
        loop {
            let which = poll_fn(|cx| {
                for (signal, meaning) in &mut asking {
                    if next(signal, cx) {
                        return Poll::Ready(*meaning);
                    }
                }
                while next(&mut window, cx) {
                    if let Some(size) = Size::of(io::stderr()) {
                        resize(size);
                    }
                }
                Poll::Pending
            });
            let heard = Heard { signal: which.await, at: clock.now().mono };
            // More than four that wait say nothing new.
            let _ = to.try_send(heard);
        }
    })
}

const fn kind(signal: process::Signal) -> SignalKind {
    SignalKind::from_raw(signal.as_raw())
}

/// The signals that this process ignores, as the kernel tells.
struct Ignored(u64);

impl Ignored {
    /// Without `/proc` nobody tells, and none is taken for ignored.
    fn by_the_parent() -> Self {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        Self(Self::mask(&status).unwrap_or_default())
    }

    fn mask(status: &str) -> Option<u64> {
        let digits = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
        u64::from_str_radix(digits.trim(), 16).ok()
    }

    fn contains(&self, signal: process::Signal) -> bool {
        let bit = u32::try_from(signal.as_raw() - 1).ok().and_then(|place| 1_u64.checked_shl(place));
        bit.is_some_and(|bit| self.0 & bit != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_ignored_is_read_from_the_kernels_mask() {
        let status = "Name:\tlighterman\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000001003\n";
        let ignored = Ignored(Ignored::mask(status).unwrap());
        assert!(ignored.contains(process::Signal::HUP) && ignored.contains(process::Signal::INT));
        assert!(!ignored.contains(process::Signal::TERM) && !ignored.contains(process::Signal::QUIT));
        assert_eq!(Ignored::mask("Name:\tlighterman\n"), None);
    }
}
