//! NONE → MANIFEST_PULLED → PULLED: have the image on the host (engine.md 4.7, behaviour `prefer-cached`).

use alloc::{boxed::Box, format};

use lighterman_calls::{Answer, ImageFacts, Lost, LostCause, Outcome, PullLimits, Refusal, RefusalClass, Request};
use lighterman_status::ContainerStatus;

use super::{TaskManager, ask::is_away, expect_answer};
use crate::{
    ContainerError, Context, ErrorName, Limits,
    container::{PullStage, Work},
};

impl TaskManager {
    pub(super) fn begin_pull(&mut self, cx: &mut Context<'_>, c: usize) {
        self.ask_image(cx, c, PullStage::Present, 1);
    }

    pub(super) fn resume_pull(&mut self, cx: &mut Context<'_>, c: usize, stage: PullStage, attempt: u32) {
        match stage {
            PullStage::Pulling => self.ask_pull(cx, c, attempt),
            PullStage::Present | PullStage::Arrived { .. } => self.ask_image(cx, c, stage, attempt),
        }
    }

    fn ask_image(&mut self, cx: &mut Context<'_>, c: usize, stage: PullStage, attempt: u32) {
        let request = Request::InspectImage(self.definition_of(c).image.clone());
        let job = self.ask_job(cx, request, cx.settings.limits.inspect, attempt);
        self.containers[c].work = Work::Pull { stage, job };
    }

    fn ask_pull(&mut self, cx: &mut Context<'_>, c: usize, attempt: u32) {
        if cx.closing {
            return;
        }
        let limits = cx.settings.limits;
        let image = self.definition_of(c).image.clone();
        let inner = PullLimits { first_progress: limits.pull_first_progress, inactivity: limits.pull_inactivity };
        let job = self.ask_job(cx, Request::Pull { image, platform: None, limits: inner }, limits.pull, attempt);
        self.containers[c].work = Work::Pull { stage: PullStage::Pulling, job };
    }

    pub(super) fn on_pull_answer(&mut self, cx: &mut Context<'_>, c: usize, stage: PullStage, n: u32, answer: Answer) {
        match stage {
            PullStage::Present => self.on_present(cx, c, n, expect_answer!(answer, InspectImage)),
            PullStage::Pulling => self.on_pulled(cx, c, n, expect_answer!(answer, Pull)),
            PullStage::Arrived { .. } => self.on_arrived(cx, c, n, stage, expect_answer!(answer, InspectImage)),
        }
    }

    fn on_present(&mut self, cx: &mut Context<'_>, c: usize, n: u32, outcome: Outcome<Box<ImageFacts>>) {
        match outcome {
            Outcome::Done(facts) => self.image_is_there(cx, c, facts),
            Outcome::Unknown(lost) if is_away(&lost) => self.wait_for_runtime(cx, c, PullStage::Present, n, &lost),
            Outcome::Unknown(Lost { text, .. }) if n < cx.settings.look_tries => {
                let job = self.pause(cx, c, &cx.settings.call_retry, n, text);
                self.containers[c].work = Work::Pull { stage: PullStage::Present, job };
            }
            // What cannot be found has to be pulled; this also holds for an image that cannot be read.
            Outcome::Gone | Outcome::Refused(_) | Outcome::Unknown(_) => {
                if self.containers[c].is_before(ContainerStatus::ManifestPulled) {
                    self.set_known(cx.now, c, ContainerStatus::ManifestPulled);
                }
                self.ask_pull(cx, c, 1);
            }
        }
    }

    fn on_pulled(&mut self, cx: &mut Context<'_>, c: usize, n: u32, outcome: Outcome<()>) {
        let cannot = |text: &str| ContainerError::new(ErrorName::CannotPullContainer, text);
        let (failed, retry) = match outcome {
            Outcome::Done(()) => (None, false),
            Outcome::Unknown(lost) if is_away(&lost) => {
                return self.wait_for_runtime(cx, c, PullStage::Pulling, n, &lost);
            }
            Outcome::Gone => (Some(cannot("the registry does not know the image")), false),
            Outcome::Refused(Refusal { class, text }) => (Some(cannot(&text)), may_pass(class)),
            Outcome::Unknown(lost) => (Some(pull_lost(&cx.settings.limits, &lost)), true),
        };
        // Whatever the pull said, the image may be there: another client may have brought it (B-012).
        self.ask_image(cx, c, PullStage::Arrived { failed, retry, looks: 1 }, n);
    }

    fn on_arrived(
        &mut self,
        cx: &mut Context<'_>,
        c: usize,
        n: u32,
        stage: PullStage,
        outcome: Outcome<Box<ImageFacts>>,
    ) {
        let PullStage::Arrived { failed, retry, looks } = stage else { return };
        match (outcome, failed) {
            (Outcome::Done(facts), _) => self.image_is_there(cx, c, facts),
            (Outcome::Unknown(lost), failed) if is_away(&lost) => {
                self.wait_for_runtime(cx, c, PullStage::Arrived { failed, retry, looks }, n, &lost);
            }
            // An answer that was lost says nothing of the image.
            (Outcome::Unknown(Lost { text, .. }), failed) if looks < cx.settings.look_tries => {
                let mut job = self.pause(cx, c, &cx.settings.call_retry, looks, text);
                job.attempt = n;
                let stage = PullStage::Arrived { failed, retry, looks: looks + 1 };
                self.containers[c].work = Work::Pull { stage, job };
            }
            (_, Some(failed)) if retry && n < cx.settings.pull_tries => {
                let job = self.pause(cx, c, &cx.settings.pull_retry, n, failed.text);
                self.containers[c].work = Work::Pull { stage: PullStage::Pulling, job };
            }
            (_, failed) => {
                let image = &self.definition_of(c).image;
                let unfound = || format!("{image} was pulled but cannot be found");
                let error = failed.unwrap_or_else(|| ContainerError::new(ErrorName::CannotPullContainer, unfound()));
                // A local image would have been found, so a create call could only fail (engine.md 3.6.2, E56).
                self.fail(cx.now, c, error);
            }
        }
    }

    fn image_is_there(&mut self, cx: &Context<'_>, c: usize, facts: Box<ImageFacts>) {
        self.containers[c].image = Some(facts);
        for status in [ContainerStatus::ManifestPulled, ContainerStatus::Pulled] {
            if self.containers[c].is_before(status) {
                self.set_known(cx.now, c, status);
            }
        }
    }

    fn wait_for_runtime(&mut self, cx: &Context<'_>, c: usize, stage: PullStage, n: u32, lost: &Lost) {
        let job = self.pause_away(cx, c, n, lost);
        self.containers[c].work = Work::Pull { stage, job };
    }
}

/// The error of a pull that ended without an answer: which of its limits passed (engine.md 4.7.5).
fn pull_lost(limits: &Limits, lost: &Lost) -> ContainerError {
    let name = ErrorName::CannotPullContainer;
    match lost.cause {
        LostCause::TimedOut(limit) if limit == limits.pull_inactivity => {
            ContainerError::new(name, "inactivity time exceeded timeout while pulling image")
        }
        LostCause::TimedOut(limit) if limit == limits.pull_first_progress => {
            ContainerError::lost(name, "pullBegin", lost)
        }
        LostCause::TimedOut(_) | LostCause::Unreachable | LostCause::ConnectionLost | LostCause::Garbled => {
            ContainerError::lost(name, "pulled", lost)
        }
    }
}

/// Whether the same pull may work later: definite refusals are not tried again (engine.md 4.7.5).
const fn may_pass(class: RefusalClass) -> bool {
    match class {
        RefusalClass::RateLimited | RefusalClass::PeerFault | RefusalClass::Conflict | RefusalClass::NoSpace => true,
        RefusalClass::NotFound
        | RefusalClass::NameInUse
        | RefusalClass::Unauthorised
        | RefusalClass::Invalid
        | RefusalClass::Unsupported => false,
    }
}
