//! SIGTERM.

use std::{
    process,
    sync::{Arc, Mutex, PoisonError},
    thread,
};

use lighterman_testbox::TermRule;
use signal_hook::{consts::SIGTERM, iterator::Signals};

use crate::Failure;

/// The rule in force. No handler exists before the first one: what the kernel does with an unhandled
/// SIGTERM, to process 1 in particular, is part of what tests are about.
#[derive(Default)]
pub(crate) struct Term(Option<Arc<Mutex<TermRule>>>);

impl Term {
    /// Puts a rule in force; `None` leaves the present one.
    pub(crate) fn follow(&mut self, rule: Option<TermRule>) -> Result<(), Failure> {
        let Some(rule) = rule else { return Ok(()) };
        match &self.0 {
            Some(current) => *current.lock().unwrap_or_else(PoisonError::into_inner) = rule,
            None => self.0 = Some(listen(rule)?),
        }
        Ok(())
    }
}

/// From the return of this function on the signal is caught.
fn listen(rule: TermRule) -> Result<Arc<Mutex<TermRule>>, Failure> {
    let mut signals = Signals::new([SIGTERM]).map_err(Failure::to("catch SIGTERM"))?;
    let rule = Arc::new(Mutex::new(rule));
    let current = Arc::clone(&rule);
    let wait = move || {
        for _ in signals.forever() {
            obey(*current.lock().unwrap_or_else(PoisonError::into_inner));
        }
    };
    thread::Builder::new().name("term".to_owned()).spawn(wait).map_err(Failure::to("wait for SIGTERM"))?;
    Ok(rule)
}

#[expect(clippy::exit, reason = "SIGTERM ends the program whatever step it is in")]
fn obey(rule: TermRule) {
    match rule {
        TermRule::Ignore => {}
        TermRule::Exit { after, code } => {
            thread::sleep(after);
            process::exit(code.into());
        }
    }
}
