//! What is a name and what is not: `cargo run -p lighterman-ids --example names -- web ../etc`.
#![expect(clippy::print_stdout, reason = "an example shows its result")]

use lighterman_ids::{ContainerName, ImageRef, RuntimeName};

fn main() {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let texts = if given.is_empty() { vec!["web".into(), "busybox:1.36".into(), "../etc".into()] } else { given };
    for text in texts {
        println!("{text}");
        show("container name", ContainerName::parse(&text).map(|name| name.to_string()));
        show("runtime name", RuntimeName::parse(&text).map(|name| name.to_string()));
        show("image", ImageRef::parse(&text).map(|image| format!("{image}, pulled as {}", image.pull_name())));
    }
}

fn show(kind: &str, parsed: Result<String, lighterman_ids::NameError>) {
    match parsed {
        Ok(text) => println!("  {kind:<15} yes: {text}"),
        Err(error) => println!("  {kind:<15} no: {error}"),
    }
}
