//! PULLED → CREATED (engine.md 4.8.1).

use alloc::{boxed::Box, string::ToString};

use lighterman_backoff::derive_nth;
use lighterman_calls::{
    Answer, ContainerFacts, ContainerTarget, CreateRequest, Created, ImageFacts, Lost, LostCause, Outcome, Refusal,
    RefusalClass, Request,
};
use lighterman_container_spec::{SpecError, Surroundings, create_request, runtime_name};
use lighterman_ids::RuntimeName;
use lighterman_status::ContainerStatus;

use super::{TaskManager, ask::is_away, expect_answer};
use crate::{
    ContainerError, Context, ErrorName,
    container::{AfterCall, CreateStage, Work},
};

impl TaskManager {
    pub(super) fn begin_create(&mut self, cx: &mut Context<'_>, c: usize) {
        self.ask_create(cx, c, 1);
    }

    pub(super) fn resume_create(&mut self, cx: &mut Context<'_>, c: usize, stage: CreateStage, attempt: u32) {
        match stage {
            CreateStage::Creating => self.ask_create(cx, c, attempt),
            CreateStage::LookingUp(_) => self.ask_who_has_the_name(cx, c, stage, attempt),
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
            CreateStage::LookingUp(after) => {
                self.on_name_looked_up(cx, c, n, after, expect_answer!(answer, Inspect));
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
                self.look_up(cx, c, n, AfterCall::answered());
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
                self.look_up(cx, c, n, AfterCall::lost(ErrorName::CannotCreateContainer, "created", &lost));
            }
        }
    }

    fn look_up(&mut self, cx: &mut Context<'_>, c: usize, n: u32, after: AfterCall) {
        self.ask_who_has_the_name(cx, c, CreateStage::LookingUp(after), n);
    }

    fn on_name_looked_up(
        &mut self,
        cx: &mut Context<'_>,
        c: usize,
        n: u32,
        after: AfterCall,
        outcome: Outcome<Box<ContainerFacts>>,
    ) {
        match outcome {
            Outcome::Done(facts) if self.is_ours(cx, c, &facts) => {
                self.adopt_found(c, facts.id.clone());
                self.set_known(cx.now, c, ContainerStatus::Created);
                self.observe_adopted(cx, c, &facts);
            }
            Outcome::Done(facts) => self.name_is_taken(cx, c, n, &facts),
            Outcome::Gone => self.create_did_not_happen(cx, c, n, after),
            Outcome::Unknown(lost) => self.look_up_again(cx, c, n, after, lost),
            Outcome::Refused(refusal) => {
                self.look_up_again(cx, c, n, after, Lost::new(LostCause::Garbled, refusal.text))
            }
        }
    }

    fn look_up_again(&mut self, cx: &Context<'_>, c: usize, n: u32, after: AfterCall, lost: Lost) {
        match self.look_again(cx, c, n, after, lost) {
            Ok((after, job)) => self.containers[c].work = Work::Create { stage: CreateStage::LookingUp(after), job },
            Err(error) => self.fail(cx.now, c, error),
        }
    }

    /// The name is not there. The call is sent again under the same name: at most one of them can win.
    fn create_did_not_happen(&mut self, cx: &Context<'_>, c: usize, n: u32, after: AfterCall) {
        let again = after.allows_another_try(cx.settings, n);
        let error = after.error_or(ErrorName::CannotCreateContainer, "the name was in use for a moment");
        if again {
            let job = self.pause(cx, c, &cx.settings.call_retry, n, error.text);
            self.containers[c].work = Work::Create { stage: CreateStage::Creating, job };
        } else {
            self.fail(cx.now, c, error);
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
