//! Volumes and images.

use std::collections::BTreeMap;

use lighterman_calls::{ImageTarget, Mount, MountSource, Outcome, RefusalClass, Signal, VolumeRequest, labels};
use lighterman_contracts::{ContainerRuntime, LogSource};
use lighterman_ids::ImageRef;

use super::{AMPLE, Contract, class};

fn pairs(list: &[(&str, &str)]) -> BTreeMap<String, String> {
    list.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

impl<R: ContainerRuntime + LogSource> Contract<'_, R> {
    fn volume(&self, name: &str) -> VolumeRequest {
        let labels = BTreeMap::from([(labels::INSTANCE.into(), self.instance.to_string())]);
        VolumeRequest { name: self.name(name), driver: "local".into(), options: BTreeMap::new(), labels }
    }

    pub(super) async fn make_volume(&self, name: &str) {
        let outcome = self.runtime.create_volume(&self.volume(name), AMPLE).await;
        assert!(outcome.is_done(), "{outcome:?}");
    }

    pub(super) async fn remove_volume(&self, name: &str) -> Outcome<()> {
        self.runtime.remove_volume(&self.name(name), AMPLE).await
    }

    pub(super) fn mounted(&self, name: &str) -> Mount {
        Mount { source: MountSource::Volume(self.name(name)), target: "/data".into(), read_only: false }
    }

    async fn volumes(&self) -> Vec<String> {
        match self.runtime.list_volumes(&self.instance, AMPLE).await {
            Outcome::Done(list) => list.into_iter().map(|volume| volume.name).collect(),
            other => panic!("list of volumes: {other:?}"),
        }
    }

    /// Names of images that tests give.
    pub(super) fn image_name(&self, tag: &str) -> ImageRef {
        let text = format!("lm-contract/{}:{tag}", &self.instance.as_str()[..12]);
        ImageRef::parse(&text).expect("lower-case letters, digits and dashes")
    }

    pub(super) async fn image_names(&self) -> Vec<String> {
        match self.runtime.list_images(AMPLE).await {
            Outcome::Done(list) => list.into_iter().flat_map(|image| image.names).collect(),
            other => panic!("list of images: {other:?}"),
        }
    }
}

/// The life of a volume. A second create of the same name changes nothing and shows what is there.
///
/// # Panics
/// The rule is broken.
pub async fn volumes_are_made_shown_and_removed<R: ContainerRuntime + LogSource>(contract: &Contract<'_, R>) {
    let (runtime, name) = (contract.runtime, contract.name("site"));
    let mut request = contract.volume("site");
    request.labels.insert("color".into(), "blue".into());
    request.options = pairs(&[("type", "tmpfs"), ("device", "tmpfs"), ("o", "size=1m")]);
    let Outcome::Done(made) = runtime.create_volume(&request, AMPLE).await else { panic!("it is not made") };
    assert_eq!((&*made.name, &*made.driver), (name.as_str(), "local"));
    assert_eq!((&made.labels, &made.options), (&request.labels, &request.options));
    assert!(made.mountpoint.contains(name.as_str()), "{}", made.mountpoint);
    assert_eq!(runtime.create_volume(&contract.volume("site"), AMPLE).await, Outcome::Done(made.clone()));
    assert_eq!(runtime.inspect_volume(&name, AMPLE).await, Outcome::Done(made));
    assert_eq!(contract.remove_volume("site").await, Outcome::Done(()));
    assert_eq!(contract.remove_volume("site").await, Outcome::Gone);
    assert_eq!(runtime.inspect_volume(&name, AMPLE).await, Outcome::Gone);
}

/// What a volume's driver does not know is refused, and so is a driver that is not there.
///
/// # Panics
/// The rule is broken.
pub async fn a_volume_is_refused_that_cannot_be_made<R: ContainerRuntime + LogSource>(contract: &Contract<'_, R>) {
    let name = contract.name("odd");
    for (options, words) in [
        (pairs(&[("colour", "blue")]), "invalid option: \"colour\""),
        (pairs(&[("type", "nfs")]), "missing required option: \"device\""),
        (pairs(&[("o", "addr=10.0.0.1")]), "missing required option: \"device\""),
    ] {
        let request = VolumeRequest { options, ..contract.volume("odd") };
        let outcome = contract.runtime.create_volume(&request, AMPLE).await;
        let Outcome::Refused(refusal) = outcome else { panic!("{outcome:?} must be refused") };
        assert_eq!((refusal.class, refusal.text), (RefusalClass::Invalid, format!("create {name}: {words}")));
    }
    let request = VolumeRequest { driver: "lm-nope".into(), ..contract.volume("odd") };
    assert_eq!(class(&contract.runtime.create_volume(&request, AMPLE).await), RefusalClass::NotFound);
    assert_eq!(contract.runtime.inspect_volume(&name, AMPLE).await, Outcome::Gone);
}

/// A list shows the volumes of the instance, and no others; a bind makes one in passing that is nobody's.
///
/// # Panics
/// The rule is broken.
pub async fn volumes_are_listed_by_instance<R: ContainerRuntime + LogSource>(contract: &Contract<'_, R>) {
    contract.make_volume("own").await;
    let mut foreign = contract.volume("foreign");
    foreign.labels.insert(labels::INSTANCE.into(), contract.foreigner().to_string());
    assert!(contract.runtime.create_volume(&foreign, AMPLE).await.is_done());
    let mut request = contract.request("binds", "exit 0");
    request.host.binds = vec![contract.mounted("passing")];
    contract.create(&request).await;
    assert_eq!(contract.volumes().await, [contract.name("own").to_string()]);
    let Outcome::Done(passing) = contract.runtime.inspect_volume(&contract.name("passing"), AMPLE).await else {
        panic!("the bind has made it")
    };
    assert_eq!((passing.labels.len(), &*passing.driver), (0, "local"));
    // A removal takes nameless volumes only.
    assert_eq!(contract.remove("binds").await, Outcome::Done(()));
    assert_eq!(contract.remove_volume("passing").await, Outcome::Done(()));
}

/// A volume stays as long as a container has it, whether that runs or not.
///
/// # Panics
/// The rule is broken.
pub async fn a_volume_in_use_is_not_removed<R: ContainerRuntime + LogSource>(contract: &Contract<'_, R>) {
    contract.make_volume("busy").await;
    let mut request = contract.request("user", "sleep 600");
    request.host.mounts = vec![contract.mounted("busy")];
    let id = contract.create(&request).await;
    let outcome = contract.remove_volume("busy").await;
    let Outcome::Refused(refusal) = outcome else { panic!("{outcome:?} must be refused") };
    let words = format!("remove {}: volume is in use - [{id}]", contract.name("busy"));
    assert_eq!((refusal.class, refusal.text), (RefusalClass::Conflict, words));
    assert_eq!(contract.start("user").await, Outcome::Done(()));
    assert_eq!(class(&contract.remove_volume("busy").await), RefusalClass::Conflict);
    assert_eq!(contract.kill("user", Signal::Kill).await, Outcome::Done(()));
    assert_eq!(class(&contract.remove_volume("busy").await), RefusalClass::Conflict);
    assert_eq!(contract.remove("user").await, Outcome::Done(()));
    assert_eq!(contract.remove_volume("busy").await, Outcome::Done(()));
}

/// An image can have several names; one that is taken away is gone, and the image stays with the others.
///
/// # Panics
/// The rule is broken.
pub async fn an_image_has_several_names<R: ContainerRuntime + LogSource>(contract: &Contract<'_, R>) {
    let runtime = contract.runtime;
    let (one, two) = (contract.image_name("one"), contract.image_name("two"));
    let target = ImageTarget::Name(contract.image.clone());
    assert_eq!(runtime.tag_image(&target, &one, AMPLE).await, Outcome::Done(()));
    let Outcome::Done(facts) = runtime.inspect_image(&one, AMPLE).await else { panic!("it has the name") };
    let by_id = ImageTarget::Id(facts.id.clone());
    assert_eq!(runtime.tag_image(&by_id, &two, AMPLE).await, Outcome::Done(()));
    let Outcome::Done(list) = runtime.list_images(AMPLE).await else { panic!("no list") };
    let listed = list.into_iter().find(|image| image.id == facts.id).expect("the image is listed");
    for name in [&one, &two] {
        assert!(listed.names.iter().any(|listed| listed == name.as_str()), "{:?}", listed.names);
    }
    assert!(listed.size > 0);

    // Not by its id, as long as it has names.
    assert_eq!(class(&runtime.remove_image(&by_id, AMPLE).await), RefusalClass::Conflict);
    let gone = ImageTarget::Name(one.clone());
    assert_eq!(runtime.remove_image(&gone, AMPLE).await, Outcome::Done(()));
    assert_eq!(runtime.remove_image(&gone, AMPLE).await, Outcome::Gone);
    assert_eq!(runtime.tag_image(&gone, &two, AMPLE).await, Outcome::Gone);
    assert_eq!(runtime.inspect_image(&one, AMPLE).await, Outcome::Gone);
    assert!(runtime.inspect_image(&two, AMPLE).await.is_done());
    assert_eq!(runtime.remove_image(&ImageTarget::Name(two), AMPLE).await, Outcome::Done(()));
    assert!(runtime.inspect_image(&contract.image, AMPLE).await.is_done());
}
