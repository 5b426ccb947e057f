//! Ctrl-C while something has to be cleaned up: the programs that we started get it too and end; we clean up, then end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Result, ensure};
use signal_hook::consts::{SIGHUP, SIGINT};
use signal_hook::flag;

/// From its making until it is dropped, Ctrl-C and a terminal that goes away do not end this process.
#[derive(Debug)]
pub(crate) struct Deferred {
    ends_at_once: Arc<AtomicBool>,
    came: Arc<AtomicBool>,
}

impl Deferred {
    pub(crate) fn new() -> Result<Self> {
        let deferred = Self { ends_at_once: Arc::default(), came: Arc::default() };
        for signal in [SIGINT, SIGHUP] {
            flag::register_conditional_default(signal, Arc::clone(&deferred.ends_at_once))?;
            flag::register(signal, Arc::clone(&deferred.came))?;
        }
        Ok(deferred)
    }

    /// An error if a signal came meanwhile.
    pub(crate) fn check(&self) -> Result<()> {
        ensure!(!self.came.load(Ordering::SeqCst), "interrupted; cleaned up");
        Ok(())
    }
}

impl Drop for Deferred {
    fn drop(&mut self) {
        self.ends_at_once.store(true, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use rustix::process::{Signal, getpid, kill_process};

    use super::*;

    /// The only test of this process that is sent signals.
    #[test]
    fn a_signal_is_remembered_and_ends_nothing() {
        let deferred = Deferred::new().unwrap();
        for signal in [Signal::INT, Signal::HUP] {
            assert!(deferred.check().is_ok());
            kill_process(getpid(), signal).unwrap();
            // One at a time: what comes after the end of the deferral ends the process.
            while deferred.check().is_ok() {
                std::thread::yield_now();
            }
            assert_eq!(deferred.check().unwrap_err().to_string(), "interrupted; cleaned up");
            deferred.came.store(false, Ordering::SeqCst);
        }
    }
}
