//! Pulls.

use lighterman_calls::{Answer, LostCause, Outcome, PullLimits, RefusalClass, Request};
use lighterman_ids::ImageRef;
use lighterman_runtime_model::{LocalImage, Source};

use crate::rig::{Rig, image_id, refusal, secs};

fn web() -> ImageRef {
    ImageRef::parse("registry.test/web").expect("a good reference")
}

fn pull() -> Request {
    let limits = PullLimits { first_progress: secs(300), inactivity: secs(60) };
    Request::Pull { image: web(), platform: None, limits }
}

fn available() -> Source {
    Source::Available { image: Box::new(LocalImage::testbox(image_id('c'))), layers: 2, takes: secs(5) }
}

fn outcome(answer: Answer) -> Outcome<()> {
    match answer {
        Answer::Pull(outcome) => outcome,
        other => panic!("{other:?}"),
    }
}

fn is_there(rig: &mut Rig) -> bool {
    matches!(rig.call(Request::InspectImage(web())), Answer::InspectImage(Outcome::Done(_)))
}

#[test]
fn a_pull_moves_on_and_then_the_image_is_there() {
    let mut rig = Rig::new();
    rig.model.set_source(&web(), available());
    let before = rig.now;
    assert_eq!(outcome(rig.call(pull())), Outcome::Done(()));
    assert_eq!(rig.now.since(before), secs(5));
    assert_eq!(rig.progress.len(), 4);
    assert!(is_there(&mut rig));
    assert_eq!(rig.model.poll_timeout(), None);
}

#[test]
fn registries_say_no_in_different_ways() {
    for (source, class) in [
        (Source::Missing, RefusalClass::NotFound),
        (Source::Unauthorised, RefusalClass::Unauthorised),
        (Source::Unreachable, RefusalClass::PeerFault),
    ] {
        let mut rig = Rig::new();
        rig.model.set_source(&web(), source);
        assert_eq!(refusal(outcome(rig.call(pull()))).0, class);
        assert!(!is_there(&mut rig));
    }
    assert_eq!(refusal(outcome(Rig::new().call(pull()))).0, RefusalClass::NotFound, "nothing is known of it");
}

#[test]
fn a_rate_limit_ends_after_so_many_pulls() {
    let mut rig = Rig::new();
    rig.model.set_source(&web(), Source::RateLimited { refusals: 2, then: Box::new(available()) });
    for _ in 0..2 {
        assert_eq!(refusal(outcome(rig.call(pull()))).0, RefusalClass::RateLimited);
    }
    assert_eq!(outcome(rig.call(pull())), Outcome::Done(()));
}

#[test]
fn silence_is_given_up_by_the_callers_limits() {
    for (lines, limit) in [(0, secs(300)), (3, secs(60))] {
        let mut rig = Rig::new();
        rig.model.set_source(&web(), Source::Stalls { lines });
        let Outcome::Unknown(lost) = outcome(rig.call(pull())) else { panic!() };
        assert_eq!(lost.cause, LostCause::TimedOut(limit));
        assert_eq!(rig.progress.len(), usize::try_from(lines).unwrap());
        assert_eq!((rig.model.in_flight(), rig.model.poll_timeout()), (0, None));
    }
}

#[test]
fn a_pull_ends_with_its_caller() {
    let mut rig = Rig::new();
    rig.model.set_source(&web(), available());
    let token = rig.send(pull());
    rig.pass(secs(1));
    rig.model.abandon(rig.now, token);
    rig.pass(secs(60));
    assert!(!is_there(&mut rig));
}
