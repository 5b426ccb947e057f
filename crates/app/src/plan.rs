//! `lighterman plan`: what a run would do, without Docker.

mod assume;
mod fields;

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use lighterman_config::{ExitCode, RunSettings};
use lighterman_ids::ContainerName;
use lighterman_plan::{Behaviour, Ending, Planned, Subject};
use lighterman_taskdef::TaskDefinition;
use lighterman_ui::{PlanCall, PlanCause, PlanContainer, PlanEnd, PlanPage};
use lighterman_view::{ContainerView, TaskView};

use crate::{definition::Definition, settings::host_settings, validate::Checked};

pub use assume::AssumptionError;

/// What `plan` was asked for.
#[derive(Clone, Debug)]
pub struct PlanOptions {
    /// The definition, `-` for standard input.
    pub file: PathBuf,
    /// What is assumed of containers: `NAME=exit:N`, `NAME=exit:N@5s`, `NAME=healthy:5s`, `NAME=unhealthy`,
    /// `NAME=never-healthy`, `NAME=pull:5s`.
    pub assume: Vec<String>,
    /// Limits and waits.
    pub settings: RunSettings,
}

/// What came of it.
#[derive(Debug)]
pub enum PlanOutcome {
    /// There is no plan, since the definition is refused or cannot be read.
    Refused(Checked),
    /// The plan.
    Made(Box<PlanPage>),
}

impl PlanOutcome {
    /// What the command exits with.
    #[must_use]
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Refused(_) => ExitCode::Refused,
            Self::Made(_) => ExitCode::SUCCESS,
        }
    }
}

/// Makes the plan of a definition.
///
/// # Errors
/// What is assumed makes no sense.
pub fn plan(options: &PlanOptions) -> Result<PlanOutcome, AssumptionError> {
    let file = &options.file;
    let (definition, written) = match Definition::load_as_written(file) {
        Ok(loaded) => loaded,
        Err(error) => return Ok(PlanOutcome::Refused(Checked::refused(file, error))),
    };
    if let Err(problems) = definition.admit() {
        return Ok(PlanOutcome::Refused(Checked::disordered(file, &definition, &problems)));
    }
    let behaviours = assume::read(&options.assume, &definition.definition)?;
    let plan = lighterman_plan::plan(definition.task_on_paper(), &behaviours, host_settings(&options.settings));
    let at = plan.calls.last().map(|call| call.at).unwrap_or_default();
    let stop = |stop: &[Planned]| stop.iter().map(call).collect();
    let (end, stop) = match &plan.ending {
        Ending::Removed { view } => (end("removed", at, view), Vec::new()),
        Ending::Stays { since, view, stop: calls } => (end("stays", *since, view), stop(calls)),
        Ending::Restless { view } => (end("restless", at, view), Vec::new()),
        Ending::Refused { error } => {
            return Ok(PlanOutcome::Refused(Checked::disordered(file, &definition, &[error.to_string()])));
        }
    };
    Ok(PlanOutcome::Made(Box::new(PlanPage {
        file: file.display().to_string(),
        family: definition.definition.family.to_string(),
        revision: definition.definition.revision,
        definition: definition.digest.to_string(),
        assumed: assumed(&definition.definition, &behaviours),
        end,
        calls: plan.calls.iter().map(call).collect(),
        stop,
        fields: fields::fates(&written),
        warnings: definition.warnings.warnings.iter().map(ToString::to_string).collect(),
    })))
}

/// One line per container: everything that is assumed of it.
fn assumed(definition: &TaskDefinition, behaviours: &BTreeMap<ContainerName, Behaviour>) -> Vec<(String, String)> {
    let of_container = |container: &lighterman_taskdef::ContainerDefinition| {
        let behaviour = behaviours.get(&container.name).copied().unwrap_or_default();
        let mut parts = vec![match behaviour.pull {
            None => "its image is there".to_owned(),
            Some(takes) => format!("its image is pulled in {takes:?}"),
        }];
        parts
            .push(behaviour.exit.map_or_else(|| "it runs until it is stopped".to_owned(), |exit| format!("it {exit}")));
        if container.health_check.is_some() {
            parts.push(behaviour.health.to_string());
        }
        (container.name.to_string(), parts.join("; "))
    };
    definition.containers.iter().map(of_container).collect()
}

fn call(planned: &Planned) -> PlanCall {
    let request = planned.ask.request();
    let causes = planned.causes.iter().map(|cause| PlanCause {
        kind: cause.word(),
        container: cause.container().map(ToString::to_string),
        text: cause.to_string(),
        is_origin: cause.is_origin(),
    });
    let mut call = PlanCall {
        at: planned.at,
        call: planned.ask.word(),
        container: None,
        image: None,
        volume: None,
        grace: None,
        signal: None,
        causes: causes.collect(),
    };
    match &planned.subject {
        Subject::Docker => {}
        Subject::Image(image) => call.image = Some(image.to_string()),
        Subject::Volume(name) => call.volume = Some(name.to_string()),
        Subject::Container(name) => call.container = Some(name.to_string()),
    }
    if let Some(lighterman_calls::Request::Stop { grace, .. }) = request {
        call.grace = Some(*grace);
    }
    if let Some(lighterman_calls::Request::Kill { signal, .. }) = request {
        call.signal = Some(signal.as_str());
    }
    call
}

fn end(kind: &'static str, at: Duration, view: &TaskView) -> PlanEnd {
    PlanEnd {
        kind,
        at,
        reason: view.reason.clone(),
        exit_code: view.exit_code(),
        containers: view.containers.iter().map(container).collect(),
    }
}

fn container(view: &ContainerView) -> PlanContainer {
    PlanContainer {
        container: view.name.to_string(),
        known: view.known.as_str(),
        desired: view.desired.as_str(),
        health: view.has_health_check.then(|| view.health.as_str()),
        exit_code: view.exit_code,
        reason: view.reason.as_ref().map(ToString::to_string),
        wait: view.wait.as_ref().map(|wait| wait.reason.to_string()),
    }
}
