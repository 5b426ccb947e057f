//! Reads a task definition with a few mistakes and shows what is found.
#![expect(clippy::print_stdout, reason = "an example shows its result")]

fn main() {
    let file = br#"{
  "family": "page",
  "containerDefinitions": [
    {"name": "web", "image": "Web:1", "enviroment": [], "portMappings": [{"containerPort": "8080"}],
     "healthCheck": {"command": ["CMD"]}}
  ]
}"#;
    match lighterman_taskdef::read("page.json", file) {
        Ok(reading) => println!("{:#?}", reading.definition),
        Err(findings) => println!("{findings}"),
    }
}
