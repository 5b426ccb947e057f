//! The life of one container, as the model tells it: `cargo run -p lighterman-runtime-model --example life`.
#![expect(clippy::print_stdout, reason = "an example shows its result")]

use std::{collections::BTreeMap, time::Duration};

use lighterman_calls::{ContainerConfig, ContainerTarget, CreateRequest, HostConfig, Request, Watched, labels};
use lighterman_ids::{ImageId, ImageRef, InstanceId, Moment, RuntimeName};
use lighterman_runtime_model::{LocalImage, Model, Output, Settings};

fn main() {
    let image = ImageRef::parse("lighterman/testbox:1").expect("a good reference");
    let id = ImageId::parse(&format!("sha256:{}", "0".repeat(64))).expect("a good id");
    let instance = InstanceId::from_bits(1);
    let mut model = Model::new(Moment::default(), Settings::default());
    model.add_image(&image, LocalImage::testbox(id));
    model.watch(Moment::default(), 1, instance.clone(), None);

    let name = RuntimeName::parse("web").expect("a good name");
    let request = CreateRequest {
        name: name.clone(),
        platform: None,
        config: ContainerConfig {
            cmd: Some("print hello + sleep 60".split(' ').map(Into::into).collect()),
            labels: BTreeMap::from([(labels::INSTANCE.into(), instance.to_string())]),
            ..ContainerConfig::new(image)
        },
        host: HostConfig { cpu_shares: 2, ..HostConfig::default() },
    };
    let target = ContainerTarget::Name(name);
    let script = [
        Request::Create(Box::new(request)),
        Request::Start(target.clone()),
        Request::Stop { container: target.clone(), grace: Duration::from_secs(2) },
        Request::Remove(target),
    ];
    for (token, request) in (2..).zip(script) {
        println!("{:>9.3} ask    {}", seconds(&model), request.kind().as_str());
        model.begin(model.now(), token, request);
        while !tell(&mut model, token) {
            let mono = model.poll_timeout().expect("an answer is to come");
            let now = model.now();
            model.advance(Moment { mono, wall: now.wall.after(mono.since(now.mono)), ..now });
        }
    }
}

/// Prints what came out; whether the call was answered.
fn tell(model: &mut Model, asked: u64) -> bool {
    let mut answered = false;
    while let Some(output) = model.poll() {
        let at = seconds(model);
        match output {
            Output::Answer { token, answer } => {
                answered |= token == asked;
                println!("{at:>9.3} answer {}", answer.summary());
            }
            Output::Watched { item: Watched::Event(event), .. } => println!("{at:>9.3} event  {:?}", event.action),
            Output::Watched { .. } | Output::Progress { .. } => {}
            Output::Written { text, .. } => print!("{at:>9.3} writes {text}"),
        }
    }
    answered
}

fn seconds(model: &Model) -> f64 {
    Duration::from_nanos(model.now().mono.0).as_secs_f64()
}
