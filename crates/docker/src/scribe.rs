//! bollard writes the requests.
//!
//! It knows every path and parameter of the API. What it does with a request afterwards does not
//! serve us: its answers are closed enums, its limit in time is in whole seconds and ends at the
//! headers, and it tells nobody when a stream stands. So the request is taken from its request
//! modifier as soon as it is written, and sent by `exchange`.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bollard::{
    API_DEFAULT_VERSION, BollardRequest, body_full,
    errors::Error as BollardError,
    models::{ContainerCreateBody, VolumeCreateRequest},
    query_parameters::{
        CreateContainerOptions, CreateImageOptions, EventsOptions, ImportImageOptions, KillContainerOptions,
        ListContainersOptions, ListImagesOptions, ListVolumesOptions, LogsOptions, RemoveContainerOptions,
        RemoveImageOptions, RemoveVolumeOptions, StopContainerOptions, TagImageOptions,
    },
};
use bytes::Bytes;
use futures_util::{FutureExt as _, TryStreamExt as _};
use http::{HeaderMap, HeaderValue, Method, Request, Uri, header, request::Parts};
use http_body_util::Full;
use lighterman_calls::{ContainerTarget, ImageTarget, Platform, RefusalClass, Signal, labels};
use lighterman_contracts::LogRequest;
use lighterman_ids::{ImageRef, InstanceId, RuntimeName, Wall};

use crate::{dialect::ApiVersion, stamp, text, verdict::NotDone};

/// The events that are asked for (spec/engine.md 4.10). The engine takes `health_status` as the
/// beginning of a word, and with it all others of the list.
const EVENTS: [&str; 8] = ["create", "start", "die", "stop", "restart", "oom", "destroy", "health_status"];

/// A request without its version and its body.
#[derive(Debug)]
pub(crate) struct Written {
    method: Method,
    /// Path and query, as bollard writes them: without a version (crates.md §2, point 1).
    path: String,
    headers: HeaderMap,
}

impl Written {
    /// The request in the dialect of `version`, or as written when there is none.
    pub(crate) fn request(self, version: Option<ApiVersion>, body: Bytes) -> Result<Request<Full<Bytes>>, NotDone> {
        let path = version.map_or_else(|| self.path.clone(), |version| format!("/v{version}{}", self.path));
        let uri: Uri = path.parse().map_err(|error| unwritable(&error))?;
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = self.method;
        *request.uri_mut() = uri;
        *request.headers_mut() = self.headers;
        Ok(request)
    }

    /// Another value for a parameter that bollard has written.
    fn with_parameter(mut self, name: &str, value: &str) -> Self {
        if let Some((path, query)) = self.path.split_once('?') {
            let kept = query.split('&').filter(|pair| pair.split('=').next() != Some(name));
            let query: Vec<&str> = kept.collect();
            self.path = format!("{path}?{}&{name}={value}", query.join("&"));
        }
        self
    }
}

/// The hand that writes.
#[derive(Clone, Debug)]
pub(crate) struct Scribe(bollard::Docker);

impl Default for Scribe {
    fn default() -> Self {
        let nowhere = |_: BollardRequest| std::future::ready(Err(BollardError::RequestTimeoutError));
        let docker =
            bollard::Docker::connect_with_custom_transport(nowhere, Some("http://engine"), 1, API_DEFAULT_VERSION);
        Self(docker.expect("making a client that has its transport touches nothing outside"))
    }
}

impl Scribe {
    /// Takes what `call` writes. The future of `call` runs up to the point of sending, and no further.
    fn written<T, F>(&self, call: impl FnOnce(bollard::Docker) -> F) -> Result<Written, NotDone>
    where
        F: Future<Output = Result<T, BollardError>>,
    {
        let taken = Arc::new(Mutex::new(None));
        let slot = Arc::clone(&taken);
        let docker = self.0.clone().with_request_modifier(move |request| {
            let (parts, body) = request.into_parts();
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(parts.clone());
            BollardRequest::from_parts(parts, body)
        });
        let ended = call(docker).now_or_never();
        let written: Option<Parts> = taken.lock().unwrap_or_else(PoisonError::into_inner).take();
        match (written, ended) {
            (Some(parts), _) => Ok(Written {
                method: parts.method,
                path: parts.uri.path_and_query().map_or_else(String::new, ToString::to_string),
                headers: parts.headers,
            }),
            (None, Some(Err(error))) => Err(unwritable(&error)),
            (None, Some(Ok(_)) | None) => Err(NotDone::refused(RefusalClass::Invalid, "the request was not written")),
        }
    }

    pub(crate) fn ping(&self) -> Result<Written, NotDone> {
        self.written(|docker| async move { docker.ping().await })
    }

    pub(crate) fn version(&self) -> Result<Written, NotDone> {
        self.written(|docker| async move { docker.version().await })
    }

    pub(crate) fn inspect_image(&self, image: &ImageRef) -> Result<Written, NotDone> {
        let name = image.pull_name();
        self.written(|docker| async move { docker.inspect_image(&name).await })
    }

    /// A digest goes where the tag goes, and wins over it, as in the engine's own client.
    pub(crate) fn pull(&self, image: &ImageRef, platform: Option<Platform>) -> Result<Written, NotDone> {
        let options = CreateImageOptions {
            platform: platform.map_or_else(String::new, |platform| platform.as_str().into()),
            from_image: Some(image.name().into()),
            tag: Some(image.digest().or_else(|| image.tag()).unwrap_or("latest").into()),
            ..CreateImageOptions::default()
        };
        self.written(|docker| async move { docker.create_image(Some(options), None, None).try_next().await })
    }

    pub(crate) fn resolve_digest(&self, image: &ImageRef) -> Result<Written, NotDone> {
        let name = image.pull_name();
        self.written(|docker| async move { docker.inspect_registry_image(&name, None).await })
    }

    pub(crate) fn tag_image(&self, image: &ImageTarget, tag: &ImageRef) -> Result<Written, NotDone> {
        let options =
            TagImageOptions { repo: Some(tag.name().into()), tag: Some(tag.tag().unwrap_or("latest").into()) };
        let image = image.to_string();
        self.written(|docker| async move { docker.tag_image(&image, Some(options)).await })
    }

    pub(crate) fn remove_image(&self, image: &ImageTarget) -> Result<Written, NotDone> {
        let options = RemoveImageOptions { force: false, noprune: false, ..RemoveImageOptions::default() };
        let image = image.to_string();
        self.written(|docker| async move { docker.remove_image(&image, Some(options), None).await })
    }

    pub(crate) fn list_images(&self) -> Result<Written, NotDone> {
        let options = ListImagesOptions { digests: true, ..ListImagesOptions::default() };
        self.written(|docker| async move { docker.list_images(Some(options)).await })
    }

    /// The body is sent beside it, like that of `create`: options of a volume can hold a password.
    pub(crate) fn create_volume(&self) -> Result<Written, NotDone> {
        self.written(|docker| async move { docker.create_volume(VolumeCreateRequest::default()).await })
    }

    pub(crate) fn inspect_volume(&self, volume: &RuntimeName) -> Result<Written, NotDone> {
        let name = volume.as_str();
        self.written(|docker| async move { docker.inspect_volume(name).await })
    }

    pub(crate) fn remove_volume(&self, volume: &RuntimeName) -> Result<Written, NotDone> {
        let name = volume.as_str();
        self.written(|docker| async move { docker.remove_volume(name, None::<RemoveVolumeOptions>).await })
    }

    pub(crate) fn list_volumes(&self, instance: &InstanceId) -> Result<Written, NotDone> {
        let options =
            ListVolumesOptions { filters: Some(HashMap::from([("label".into(), vec![instance_label(instance)])])) };
        self.written(|docker| async move { docker.list_volumes(Some(options)).await })
    }

    pub(crate) fn load_image(&self) -> Result<Written, NotDone> {
        let options = ImportImageOptions { quiet: true, ..ImportImageOptions::default() };
        let mut written = self.written(|docker| async move {
            docker.import_image(options, body_full(Bytes::new()), None).try_next().await
        })?;
        written.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/x-tar"));
        Ok(written)
    }

    /// The body is not given to bollard: it logs bodies at debug level, environment included.
    pub(crate) fn create(&self, name: &RuntimeName, platform: Option<Platform>) -> Result<Written, NotDone> {
        let options = CreateContainerOptions {
            name: Some(name.as_str().into()),
            platform: platform.map_or_else(String::new, |platform| platform.as_str().into()),
        };
        self.written(
            |docker| async move { docker.create_container(Some(options), ContainerCreateBody::default()).await },
        )
    }

    pub(crate) fn start(&self, container: &ContainerTarget) -> Result<Written, NotDone> {
        let id = container.as_str();
        self.written(|docker| async move { docker.start_container(id, None).await })
    }

    pub(crate) fn inspect(&self, container: &ContainerTarget) -> Result<Written, NotDone> {
        let id = container.as_str();
        self.written(|docker| async move { docker.inspect_container(id, None).await })
    }

    /// The engine counts the grace in whole seconds: half a second must not become none.
    pub(crate) fn stop(&self, container: &ContainerTarget, grace: Duration) -> Result<Written, NotDone> {
        let seconds = grace.as_secs().saturating_add(u64::from(grace.subsec_nanos() > 0));
        let t = Some(i32::try_from(seconds).unwrap_or(i32::MAX));
        let options = StopContainerOptions { t, ..StopContainerOptions::default() };
        let id = container.as_str();
        self.written(|docker| async move { docker.stop_container(id, Some(options)).await })
    }

    pub(crate) fn kill(&self, container: &ContainerTarget, signal: Signal) -> Result<Written, NotDone> {
        let options = KillContainerOptions { signal: signal.as_str().into() };
        let id = container.as_str();
        self.written(|docker| async move { docker.kill_container(id, Some(options)).await })
    }

    pub(crate) fn remove(&self, container: &ContainerTarget) -> Result<Written, NotDone> {
        let options = RemoveContainerOptions { v: true, force: false, link: false };
        let id = container.as_str();
        self.written(|docker| async move { docker.remove_container(id, Some(options)).await })
    }

    pub(crate) fn list(&self, instance: &InstanceId) -> Result<Written, NotDone> {
        let options = ListContainersOptions {
            all: true,
            filters: Some(HashMap::from([("label".into(), vec![instance_label(instance)])])),
            ..ListContainersOptions::default()
        };
        self.written(|docker| async move { docker.list_containers(Some(options)).await })
    }

    pub(crate) fn events(&self, instance: &InstanceId, since: Option<Wall>) -> Result<Written, NotDone> {
        let options = EventsOptions {
            since: since.map(stamp::query),
            filters: Some(HashMap::from([
                ("type".into(), vec!["container".into()]),
                ("label".into(), vec![instance_label(instance)]),
                ("event".into(), EVENTS.map(String::from).to_vec()),
            ])),
            ..EventsOptions::default()
        };
        self.written(|docker| async move { docker.events(Some(options)).try_next().await })
    }

    pub(crate) fn logs(&self, request: &LogRequest) -> Result<Written, NotDone> {
        let options = LogsOptions {
            follow: request.follow,
            stdout: true,
            stderr: true,
            tail: "all".into(),
            ..LogsOptions::default()
        };
        let id = request.container.as_str();
        let written = self.written(|docker| async move { docker.logs(id, Some(options)).try_next().await })?;
        // bollard has room for whole seconds in 32 bits only.
        Ok(match request.since {
            Some(since) => written.with_parameter("since", &stamp::query(since)),
            None => written,
        })
    }
}

fn instance_label(instance: &InstanceId) -> String {
    format!("{}={instance}", labels::INSTANCE)
}

fn unwritable(error: &(dyn std::error::Error + 'static)) -> NotDone {
    NotDone::refused(RefusalClass::Invalid, format!("the request cannot be written: {}", text::chain(error)))
}
