//! Words for what the runtime answers.

use std::time::Duration;

use lighterman_calls::{Answer, ContainerFacts, Created, ImageFacts, Lost, LostCause, Outcome, Refusal, RefusalClass};
use lighterman_ids::{ImageId, RuntimeId};

/// The id that every container of these tests gets.
pub(crate) fn runtime_id() -> RuntimeId {
    RuntimeId::parse(&"c0".repeat(32)).unwrap()
}

pub(crate) fn image_facts() -> Box<ImageFacts> {
    Box::new(ImageFacts {
        id: ImageId::parse(&format!("sha256:{}", "1".repeat(64))).unwrap(),
        repo_digests: vec![],
        env_names: vec![],
        health_test: None,
    })
}

pub(crate) fn image_is_there() -> Answer {
    Answer::InspectImage(Outcome::Done(image_facts()))
}

pub(crate) const fn no_image() -> Answer {
    Answer::InspectImage(Outcome::Gone)
}

pub(crate) const fn pulled() -> Answer {
    Answer::Pull(Outcome::Done(()))
}

pub(crate) fn created() -> Answer {
    Answer::Create(Outcome::Done(Created { id: runtime_id(), warnings: vec!["no swap limit support".into()] }))
}

pub(crate) const fn started() -> Answer {
    Answer::Start(Outcome::Done(()))
}

pub(crate) const fn stopped() -> Answer {
    Answer::Stop(Outcome::Done(()))
}

pub(crate) const fn killed() -> Answer {
    Answer::Kill(Outcome::Done(()))
}

pub(crate) const fn pong() -> Answer {
    Answer::Ping(Outcome::Done(()))
}

pub(crate) const fn removed() -> Answer {
    Answer::Remove(Outcome::Done(()))
}

pub(crate) const fn shows(facts: Box<ContainerFacts>) -> Answer {
    Answer::Inspect(Outcome::Done(facts))
}

pub(crate) const fn no_container() -> Answer {
    Answer::Inspect(Outcome::Gone)
}

/// The limit of the call passed.
pub(crate) fn timed_out(seconds: u64) -> Lost {
    Lost::new(LostCause::TimedOut(Duration::from_secs(seconds)), "no answer in time")
}

/// The connection ended before the answer was complete.
pub(crate) fn cut_off() -> Lost {
    Lost::new(LostCause::ConnectionLost, "EOF")
}

/// Nobody was there: the call certainly had no effect.
pub(crate) fn away() -> Lost {
    Lost::new(LostCause::Unreachable, "connection refused")
}

pub(crate) fn refusal(class: RefusalClass, text: &str) -> Refusal {
    Refusal::new(class, text)
}

/// A refusal whose class says nothing: the runtime failed.
pub(crate) fn fault() -> Refusal {
    refusal(RefusalClass::PeerFault, "internal server error")
}
