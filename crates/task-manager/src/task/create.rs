//! PULLED → CREATED (engine.md 4.8.1).

use alloc::{boxed::Box, string::ToString};

use lighterman_backoff::derive_nth;
use lighterman_calls::{
    Answer, ContainerFacts, ContainerTarget, CreateRequest, Created, ImageFacts, Lost, Outcome, Refusal, RefusalClass,
    Request,
};
use lighterman_container_spec::{SpecError, Surroundings, create_request, runtime_name};
use lighterman_ids::RuntimeName;
use lighterman_status::ContainerStatus;

use super::{
    TaskManager,
    ask::{is_away, is_timeout},
    expect_answer,
};
use crate::{
    ContainerError, Context, ErrorName,
    container::{CreateStage, Work},
};

impl TaskManager {
    pub(super) fn begin_create(&mut self, cx: &mut Context<'_>, c: usize) {
        self.ask_create(cx, c, 1);
    }

    pub(super) fn resume_create(&mut self, cx: &mut Context<'_>, c: usize, stage: CreateStage, attempt: u32) {
        match stage {
            CreateStage::Creating => self.ask_create(cx, c, attempt),
            CreateStage::LookingUp { .. } => self.ask_who_has_the_name(cx, c, stage, attempt),
        }
    }

    /// The name is recorded before the call leaves, so that a crash in between leaves nothing that cannot
    /// be found again (engine.md 4.3).
    fn ask_create(&mut self, cx: &mut Context<'_>, c: usize, attempt: u32) {
        if cx.closing {
            return;
        }
        let Some(image) = self.containers[c].image.clone() else {
            // What is in the image was forgotten over a restart.
            return self.begin_pull(cx, c);
        };
        let name = self.chosen_name(c);
        match self.create_request(cx, c, &name, &image) {
            Ok(request) => {
                let container = &mut self.containers[c];
                container.create_doubt = container.create_sent.replace(cx.now).or(container.create_doubt);
                self.mark(c);
                let job = self.ask_job(cx, Request::Create(Box::new(request)), cx.settings.limits.create, attempt);
                self.containers[c].work = Work::Create { stage: CreateStage::Creating, job };
            }
            Err(error) => self.fail(cx.now, c, ContainerError::new(ErrorName::DockerClientConfig, error.to_string())),
        }
    }

    fn chosen_name(&mut self, c: usize) -> RuntimeName {
        if let Some(name) = &self.containers[c].runtime_name {
            return name.clone();
        }
        let name = self.draw_name(c);
        self.containers[c].runtime_name = Some(name.clone());
        self.mark(c);
        name
    }

    fn ask_who_has_the_name(&mut self, cx: &mut Context<'_>, c: usize, stage: CreateStage, attempt: u32) {
        let target = ContainerTarget::Name(self.chosen_name(c));
        let job = self.ask_job(cx, Request::Inspect(target), cx.settings.limits.inspect, attempt);
        self.containers[c].work = Work::Create { stage, job };
    }

    pub(super) fn on_create_answer(
        &mut self,
        cx: &mut Context<'_>,
        c: usize,
        stage: CreateStage,
        n: u32,
        answer: Answer,
    ) {
        match stage {
            CreateStage::Creating => self.on_created(cx, c, n, expect_answer!(answer, Create)),
            CreateStage::LookingUp { lost, timed_out, looks } => {
                let outcome = expect_answer!(answer, Inspect);
                self.on_name_looked_up(cx, c, n, lost, timed_out, looks, outcome);
            }
        }
    }

    fn on_created(&mut self, cx: &mut Context<'_>, c: usize, n: u32, outcome: Outcome<Created>) {
        match outcome {
            Outcome::Done(created) => {
                for warning in &created.warnings {
                    tracing::warn!(task.id = %self.spec.id, container.name = %self.containers[c].name, warning, "Docker did not take all of it");
                }
                self.adopt_id(c, created.id);
                self.set_known(cx.now, c, ContainerStatus::Created);
            }
            Outcome::Refused(Refusal { class: RefusalClass::NameInUse, .. }) => {
                self.containers[c].create_sent = None;
                self.mark(c);
                self.look_up(cx, c, n, None, false);
            }
            Outcome::Refused(refusal) => self.create_failed(cx, c, &refusal),
            Outcome::Gone => {
                let refusal = Refusal::new(RefusalClass::NotFound, "Docker does not know the image");
                self.create_failed(cx, c, &refusal);
            }
            Outcome::Unknown(lost) if is_away(&lost) => {
                self.containers[c].create_sent = None;
                self.mark(c);
                let job = self.pause_away(cx, c, n, &lost);
                self.containers[c].work = Work::Create { stage: CreateStage::Creating, job };
            }
            Outcome::Unknown(lost) => {
                let error = ContainerError::lost(ErrorName::CannotCreateContainer, "created", &lost);
                self.look_up(cx, c, n, Some(error), is_timeout(&lost));
            }
        }
    }

    fn look_up(&mut self, cx: &mut Context<'_>, c: usize, n: u32, lost: Option<ContainerError>, timed_out: bool) {
        self.ask_who_has_the_name(cx, c, CreateStage::LookingUp { lost, timed_out, looks: 1 }, n);
    }

    #[expect(clippy::too_many_arguments, reason = "one stage taken apart")]
    fn on_name_looked_up(
        &mut self,
        cx: &mut Context<'_>,
        c: usize,
        n: u32,
        lost: Option<ContainerError>,
        timed_out: bool,
        looks: u32,
        outcome: Outcome<Box<ContainerFacts>>,
    ) {
        match outcome {
            Outcome::Done(facts) if self.is_ours(cx, c, &facts) => {
                self.adopt_found(c, facts.id.clone());
                self.set_known(cx.now, c, ContainerStatus::Created);
                self.observe(cx, c, &facts);
            }
            Outcome::Done(facts) => self.name_is_taken(cx, c, n, &facts),
            Outcome::Gone => self.create_did_not_happen(cx, c, n, lost, timed_out),
            Outcome::Unknown(away) if is_away(&away) => {
                let job = self.pause_away(cx, c, n, &away);
                self.containers[c].work =
                    Work::Create { stage: CreateStage::LookingUp { lost, timed_out, looks }, job };
            }
            Outcome::Unknown(Lost { text, .. }) | Outcome::Refused(Refusal { text, .. }) => {
                if looks < cx.settings.look_tries {
                    let mut job = self.pause(cx, c, &cx.settings.call_retry, looks, text);
                    job.attempt = n;
                    let stage = CreateStage::LookingUp { lost, timed_out, looks: looks + 1 };
                    self.containers[c].work = Work::Create { stage, job };
                } else {
                    let unread = || ContainerError::new(ErrorName::CannotInspectContainer, text);
                    self.fail(cx.now, c, lost.unwrap_or_else(unread));
                }
            }
        }
    }

    /// The name is not there. A call that ran into its limit may still be carried out, so it is not sent
    /// again; one that was cut off is, under the same name: at most one of them can win.
    fn create_did_not_happen(
        &mut self,
        cx: &mut Context<'_>,
        c: usize,
        n: u32,
        lost: Option<ContainerError>,
        timed_out: bool,
    ) {
        let gave_way = || ContainerError::new(ErrorName::CannotCreateContainer, "the name was in use for a moment");
        let error = lost.unwrap_or_else(gave_way);
        if timed_out || n >= cx.settings.call_tries {
            self.fail(cx.now, c, error);
        } else {
            let job = self.pause(cx, c, &cx.settings.call_retry, n, error.text);
            self.containers[c].work = Work::Create { stage: CreateStage::Creating, job };
        }
    }

    /// Somebody else has the name: choose another one, once.
    fn name_is_taken(&mut self, cx: &mut Context<'_>, c: usize, n: u32, facts: &ContainerFacts) {
        let container = &mut self.containers[c];
        container.create_sent = None;
        if container.renamed {
            let text = alloc::format!("the name {} is in use by a container that is not ours", facts.name);
            self.fail(cx.now, c, ContainerError::new(ErrorName::CannotCreateContainer, text));
            return;
        }
        container.renamed = true;
        container.runtime_name = None;
        self.ask_create(cx, c, n);
    }

    /// The answer to a create that nobody waited for any more: only what it left behind matters.
    pub(super) fn on_late_create(&mut self, cx: &Context<'_>, c: usize, answer: Answer) {
        match expect_answer!(answer, Create) {
            Outcome::Done(created) => self.adopt_id(c, created.id),
            Outcome::Unknown(lost) if !is_away(&lost) => {}
            Outcome::Refused(_) | Outcome::Gone | Outcome::Unknown(_) => self.containers[c].create_sent = None,
        }
        self.mark(c);
        self.touch(c, cx.now);
    }

    fn create_failed(&mut self, cx: &mut Context<'_>, c: usize, refusal: &Refusal) {
        self.containers[c].create_sent = None;
        self.fail(cx.now, c, ContainerError::new(ErrorName::CannotCreateContainer, &*refusal.text));
    }

    /// It was found by its name, and is ours: one of the calls in doubt brought it. If there were two, the other
    /// may still come, once this one is removed.
    pub(super) fn adopt_found(&mut self, c: usize, id: lighterman_ids::RuntimeId) {
        let container = &mut self.containers[c];
        if container.create_doubt.is_some() {
            container.create_doubt = container.create_sent.or(container.create_doubt);
        }
        self.adopt_id(c, id);
    }

    /// The id is known: the last create is certain.
    fn adopt_id(&mut self, c: usize, id: lighterman_ids::RuntimeId) {
        let container = &mut self.containers[c];
        container.runtime_id = Some(id);
        container.create_sent = None;
        if container.error.as_ref().is_some_and(|error| error.name == ErrorName::CannotPullContainer) {
            // A pull error that was tolerated is none once the container exists (engine.md 3.6.1, E58).
            container.error = None;
        }
        self.mark(c);
    }
}

impl TaskManager {
    /// Drawn from the task's seed: the same after a restart, another one after a renaming.
    fn draw_name(&self, c: usize) -> RuntimeName {
        let container = &self.containers[c];
        let key = alloc::format!("name/{}/{}", container.name, u8::from(container.renamed));
        let high = u128::from(derive_nth(self.spec.seed, &key, 0));
        let low = u128::from(derive_nth(self.spec.seed, &key, 1));
        runtime_name(&self.spec.definition, &container.name, high << 64 | low)
    }

    fn create_request(
        &self,
        cx: &Context<'_>,
        c: usize,
        name: &RuntimeName,
        image: &ImageFacts,
    ) -> Result<CreateRequest, SpecError> {
        let surroundings = Surroundings {
            instance: cx.instance,
            task_id: &self.spec.id,
            task_arn: &self.spec.arn,
            cluster: &cx.settings.cluster,
            digest: &self.spec.digest,
            image,
            region: cx.settings.region.as_deref(),
        };
        let spec = create_request(&self.spec.definition, self.definition_of(c), name, &surroundings)?;
        for warning in &spec.warnings {
            tracing::warn!(task.id = %self.spec.id, container.name = %self.containers[c].name, "{warning}");
        }
        Ok(spec.request)
    }
}
