//! The four ways a call can end, as a log shows them.
#![expect(clippy::print_stdout, reason = "an example shows its result")]

use std::time::Duration;

use lighterman_calls::{Answer, Lost, LostCause, Outcome, Refusal, RefusalClass, Request};

fn main() {
    let lost = Lost::new(LostCause::TimedOut(Duration::from_secs(5)), "no answer within 5 s");
    let answers = [
        Answer::Ping(Outcome::Done(())),
        Answer::Pull(Outcome::Refused(Refusal::new(RefusalClass::RateLimited, "too many requests"))),
        Answer::Remove(Outcome::Gone),
        Request::Ping.lost(lost),
    ];
    for answer in answers {
        println!("{:<8} {}", answer.kind().as_str(), answer.summary());
    }
}
