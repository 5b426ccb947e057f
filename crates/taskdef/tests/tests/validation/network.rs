//! V15 to V27, V90: ports, links, modes.

use super::{PLAIN, check, check_container, named, with};
use crate::helpers::task_json;

fn ports(mode: &str, ports: &str) -> String {
    task_json(&format!(r#""networkMode": "{mode}""#), &with(&format!(r#""portMappings": [{ports}]"#)))
}

#[test]
fn v15_a_port_is_a_number_of_sixteen_bits() {
    check(
        15,
        &ports("bridge", r#"{"containerPort": 0}, {"containerPort": 65536, "hostPort": -1}"#),
        &[
            "E V15 containerPort 0 at C[0].portMappings[0].containerPort; allowed: 1 to 65535",
            "containerPort 65536",
            "hostPort -1 at C[0].portMappings[1].hostPort; allowed: 0 to 65535",
        ],
    );
    check(15, &ports("bridge", r#"{"containerPort": 65535, "hostPort": 0}"#), &[]);
}

#[test]
fn v16_a_port_or_a_range() {
    check(
        16,
        &ports(
            "bridge",
            r#"{"containerPort": 80, "containerPortRange": "80-90"}, {"hostPort": 80},
               {"containerPortRange": "1-2", "hostPort": 80}, {"containerPortRange": "3-4", "hostPort": 0}"#,
        ),
        &[
            "E V16 both containerPort and containerPortRange at C[0].portMappings[0]; allowed: one of them",
            "containerPort is missing at C[0].portMappings[1].containerPort",
            "hostPort with containerPortRange at C[0].portMappings[2].hostPort; allowed: absent",
        ],
    );
}

#[test]
fn v17_a_range_runs_upwards_and_overlaps_nothing() {
    for (range, wanted) in [
        ("90-80", "runs backwards at C[0].portMappings[0].containerPortRange; allowed: first-last, first below last"),
        ("80-80", "is one port"),
        ("80", "containerPortRange \"80\" at"),
        ("0-80", "containerPortRange \"0-80\" at"),
        ("80-65536", "containerPortRange \"80-65536\" at"),
        ("a-b", "containerPortRange \"a-b\" at"),
        ("", "containerPortRange \"\" at"),
    ] {
        check(17, &ports("bridge", &format!(r#"{{"containerPortRange": "{range}"}}"#)), &[wanted]);
    }
    check(
        17,
        &ports("bridge", r#"{"containerPortRange": "80-90"}, {"containerPort": 85}, {"containerPortRange": "90-99"}"#),
        &[
            "ports 85/tcp overlap 80-90, first at C[0].portMappings[0].containerPortRange, again at C[0].portMappings[1].containerPort",
            "ports 90-99/tcp overlap 80-90",
        ],
    );
    check(17, &ports("bridge", r#"{"containerPortRange": "80-90"}, {"containerPort": 85, "protocol": "udp"}"#), &[]);
    let many = |count: u32| {
        let ranges = (0..count).map(|n| format!(r#"{{"containerPortRange": "{}-{}"}}"#, n * 2 + 1, n * 2 + 2));
        ranges.collect::<Vec<_>>().join(", ")
    };
    check(17, &ports("bridge", &many(101)), &["101 port ranges at C[0].portMappings; allowed: up to 100"]);
    check(17, &ports("bridge", &many(100)), &[]);
    // The same range in two containers of the bridge is two things.
    let two = format!(
        "{}, {}",
        with(r#""portMappings": [{"containerPortRange": "80-90"}]"#),
        named("b", r#""portMappings": [{"containerPortRange": "80-90"}]"#)
    );
    check(17, &task_json("", &two), &[]);
}

#[test]
fn v18_a_host_port_is_mapped_once() {
    let two = |mode: &str, first: &str, second: &str| {
        let port = |name: &str, port: &str| named(name, &format!(r#""portMappings": [{{{port}}}]"#));
        task_json(&format!(r#""networkMode": "{mode}""#), &format!("{}, {}", port("a", first), port("b", second)))
    };
    check(
        18,
        &two("bridge", r#""containerPort": 80, "hostPort": 3000"#, r#""containerPort": 81, "hostPort": 3000"#),
        &[
            "E V18 host port 3000/tcp mapped twice, first at C[0].portMappings[0].hostPort, again at C[1].portMappings[0].hostPort; allowed: once per task",
        ],
    );
    let udp = r#""containerPort": 81, "hostPort": 3000, "protocol": "udp""#;
    check(18, &two("bridge", r#""containerPort": 80, "hostPort": 3000"#, udp), &[]);
    check(18, &two("bridge", r#""containerPort": 80"#, r#""containerPort": 80"#), &[]);
    check(18, &two("awsvpc", r#""containerPort": 80"#, r#""containerPort": 80, "hostPort": 80"#), &["hostPort"]);
    check(18, &two("host", r#""containerPort": 80"#, r#""containerPort": 80"#), &["containerPort"]);
    check(18, &two("awsvpc", r#""containerPortRange": "80-90""#, r#""containerPort": 85"#), &["host port 85/tcp"]);
}

#[test]
fn v19_a_container_port_twice_is_warned_about() {
    let twice = r#"{"containerPort": 80, "hostPort": 1}, {"containerPort": 80, "hostPort": 2}"#;
    check(
        19,
        &ports("bridge", twice),
        &["W V19 container port 80/tcp is listed twice at C[0].portMappings[1].containerPort; both host ports"],
    );
    check(19, &ports("bridge", r#"{"containerPort": 80}, {"containerPort": 81}"#), &[]);
}

#[test]
fn v20_tcp_and_udp_of_one_port_are_warned_about() {
    let both = r#"{"containerPort": 53}, {"containerPort": 53, "protocol": "udp"}"#;
    check(
        20,
        &ports("bridge", both),
        &["W V20 container port 53 for tcp and udp at C[0].portMappings[1].containerPort; the service refuses"],
    );
}

#[test]
fn v21_a_shared_network_has_one_number_per_port() {
    let port = r#"{"containerPort": 80, "hostPort": 8080}"#;
    check(
        21,
        &ports("awsvpc", port),
        &[
            "E V21 hostPort 8080 differs from containerPort 80 at C[0].portMappings[0].hostPort; allowed: with networkMode awsvpc absent or 80",
        ],
    );
    check(21, &ports("host", port), &["with networkMode host absent or 80"]);
    check(21, &ports("bridge", port), &[]);
    check(21, &ports("awsvpc", r#"{"containerPort": 80, "hostPort": 0}, {"containerPort": 81, "hostPort": 81}"#), &[]);
}

#[test]
fn v22_no_network_has_no_ports() {
    check(
        22,
        &ports("none", r#"{"containerPort": 80}"#),
        &["E V22 portMappings with networkMode none at C[0].portMappings; allowed: none"],
    );
}

#[test]
fn v23_ranges_need_a_network_of_their_own() {
    let range = r#"{"containerPortRange": "80-81"}"#;
    check(
        23,
        &ports("host", range),
        &[
            "E V23 containerPortRange with networkMode host at C[0].portMappings[0].containerPortRange; allowed: bridge, awsvpc",
        ],
    );
    check(23, &ports("awsvpc", range), &[]);
    check(23, &ports("bridge", range), &[]);
}

#[test]
fn v24_links_are_for_the_bridge() {
    let two = |mode: &str, links: &str| {
        let links = with(&format!(r#""links": [{links}]"#));
        task_json(&format!(r#""networkMode": "{mode}""#), &format!("{links}, {}", named("db", "")))
    };
    check(
        24,
        &two("awsvpc", r#""db""#),
        &["E V24 links with networkMode awsvpc at C[0].links; allowed: bridge (use 127.0.0.1:<port>)"],
    );
    check(24, &two("bridge", r#""db", "db:store""#), &[]);
    check(
        24,
        &two("bridge", r#""cache""#),
        &["links names \"cache\" which is not in the task at C[0].links[0]; allowed: db"],
    );
    check(24, &two("bridge", r#""web""#), &["links names \"web\" itself"]);
    check(24, &two("bridge", r#""db:s", "db:s""#), &["link alias \"s\" used twice at C[0].links[1]"]);
    check(24, &two("bridge", r#""db:a:b", ":a", "db:", "a b""#), &["\"db:a:b\"", "\":a\"", "\"db:\"", "\"a b\""]);
}

#[test]
fn v25_one_address_has_one_name() {
    let own = with(r#""hostname": "a", "extraHosts": [{"hostname": "h", "ipAddress": "::1"}]"#);
    check(
        25,
        &task_json(r#""networkMode": "awsvpc""#, &own),
        &["E V25 hostname with networkMode awsvpc at C[0].hostname; allowed: absent", "extraHosts with"],
    );
    check(25, &task_json("", &own), &[]);
}

#[test]
fn v26_no_networking_has_neither_ports_nor_links() {
    let off = with(r#""disableNetworking": true, "portMappings": [{"containerPort": 80}], "links": ["db"]"#);
    check(
        26,
        &task_json("", &format!("{off}, {}", named("db", ""))),
        &["E V26 disableNetworking with portMappings at C[0].disableNetworking; allowed: one of them", "with links"],
    );
    check(
        26,
        &task_json(r#""networkMode": "host""#, &with(r#""disableNetworking": true"#)),
        &["with networkMode host"],
    );
    check(
        26,
        &task_json(r#""networkMode": "awsvpc""#, &with(r#""disableNetworking": true"#)),
        &["with networkMode awsvpc"],
    );
    check_container(26, r#""disableNetworking": true"#, &[]);
    check_container(26, r#""disableNetworking": false, "portMappings": [{"containerPort": 80}]"#, &[]);
}

#[test]
fn v27_port_names_are_short_and_unique() {
    let name = |name: &str| ports("bridge", &format!(r#"{{"containerPort": 80, "name": "{name}"}}"#));
    check(
        27,
        &name("HTTP"),
        &["E V27 port name \"HTTP\" at C[0].portMappings[0].name; allowed: a-z 0-9 _ -, up to 64"],
    );
    check(27, &name("-a"), &["E V27 "]);
    check(27, &name(&"a".repeat(65)), &["E V27 "]);
    check(27, &name("api-http_1"), &[]);
    check(
        27,
        &ports("bridge", r#"{"containerPort": 80, "name": "a"}, {"containerPort": 81, "name": "a"}"#),
        &["W V27 port name \"a\" used twice, first at C[0].portMappings[0].name, again at C[0].portMappings[1].name"],
    );
}

#[test]
fn v90_links_hand_over_secrets() {
    let db = named("db", r#""secrets": [{"name": "PASSWORD", "valueFrom": "/db/password"}]"#);
    check(
        90,
        &task_json("", &format!("{}, {db}", with(r#""links": ["db"]"#))),
        &["W V90 \"web\" receives all environment of \"db\" through links at C[0].links[0]; secrets included"],
    );
    check(90, &task_json("", &format!("{PLAIN}, {db}")), &[]);
}
