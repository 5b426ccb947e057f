//! The example files: what this version runs, and what it refuses by name.

use lighterman_taskdef::read;

#[test]
fn each_example_says_what_is_not_supported() {
    let mut out = String::new();
    for name in [
        "01-web-dynamic-port",
        "02-links-and-volumesfrom-graph",
        "03-migrate-then-serve",
        "04-mesh-proxy-sidecar",
        "05-log-router-with-secret-option",
        "06-host-network-agent",
        "07-per-container-stop-timeouts",
        "08-linux-parameters",
        "09-docker-volumes",
        "10-envfiles-and-secrets",
    ] {
        let path = format!("{}/tests/data/{name}.json", env!("CARGO_MANIFEST_DIR"));
        let bytes = std::fs::read(&path).unwrap();
        let (verdict, findings) = match read(&format!("{name}.json"), &bytes) {
            Ok(reading) => ("accepted", reading.warnings),
            Err(findings) => ("refused", findings),
        };
        out.push_str(&format!("== {name}: {verdict}\n{findings}\n"));
    }
    insta::assert_snapshot!(out);
}
