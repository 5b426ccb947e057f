//! Ctrl-C and its siblings.

use std::{
    convert::Infallible,
    future::poll_fn,
    io,
    task::{Context, Poll},
};

use lighterman_ui::{Size, StopSignal};
use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    sync::mpsc,
};

/// Hands on every Ctrl-C, SIGTERM and SIGHUP, from now on.
pub(crate) fn forward(
    to: mpsc::Sender<StopSignal>,
    resize: impl Fn(Size),
) -> io::Result<impl Future<Output = Infallible>> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hang_up = signal(SignalKind::hangup())?;
    let mut window = signal(SignalKind::window_change())?;
    let next = |signal: &mut Signal, cx: &mut Context<'_>| signal.poll_recv(cx).is_ready();
    Ok(async move {
        loop {
            let which = poll_fn(|cx| {
                if next(&mut interrupt, cx) {
                    return Poll::Ready(StopSignal::Interrupt);
                }
                if next(&mut terminate, cx) {
                    return Poll::Ready(StopSignal::Terminate);
                }
                if next(&mut hang_up, cx) {
                    return Poll::Ready(StopSignal::HangUp);
                }
                while next(&mut window, cx) {
                    if let Some(size) = Size::of(io::stderr()) {
                        resize(size);
                    }
                }
                Poll::Pending
            });
            // More than four that wait say nothing new.
            let _ = to.try_send(which.await);
        }
    })
}
