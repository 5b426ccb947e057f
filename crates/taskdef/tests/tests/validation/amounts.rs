//! V28 to V39, V72 to V75, V80, V82: amounts, limits, devices.

use super::{PLAIN, check, check_container, fargate, named, with};
use crate::helpers::task_json;

#[test]
fn v28_amounts_of_a_task() {
    let cpu = |value: &str| task_json(&format!("\"cpu\": {value}"), PLAIN);
    check(28, &cpu(r#""1 core""#), &["E V28 cpu \"1 core\" at cpu; allowed: units such as \"512\" or \"0.5 vCPU\""]);
    check(28, &cpu("64"), &["W V28 cpu 64 is outside what the service takes at cpu; allowed: 128 to 196608"]);
    check(28, &cpu("196609"), &["W V28 "]);
    check(28, &cpu("196608"), &[]);
    check(28, &task_json(r#""memory": "1,5 GB""#, PLAIN), &["E V28 memory \"1,5 GB\" at memory"]);
    check(28, &task_json(r#""cpu": 64, "requiresCompatibilities": ["FARGATE"]"#, PLAIN), &["E V28 "]);
}

#[test]
fn v29_sizes_of_the_service() {
    let size = |cpu: &str, memory: &str| {
        let members = format!(r#""cpu": "{cpu}", "memory": "{memory}", "requiresCompatibilities": ["FARGATE"]"#);
        task_json(&members, PLAIN)
    };
    check(
        29,
        &size("256", "3072"),
        &["W V29 memory 3072 does not go with cpu 256 at memory; allowed: 512, 1024, 2048"],
    );
    for (cpu, memory) in [
        ("256", "512"),
        ("512", "4096"),
        ("1 vCPU", "2 GB"),
        ("2048", "16384"),
        ("4096", "30720"),
        ("8192", "16384"),
        ("8192", "61440"),
        ("16384", "122880"),
    ] {
        check(29, &size(cpu, memory), &[]);
    }
    for (cpu, memory) in [("512", "512"), ("1024", "2049"), ("4096", "31744"), ("8192", "17408"), ("16384", "36864")] {
        check(29, &size(cpu, memory), &["does not go with"]);
    }
    check(29, &size("300", "512"), &["cpu 300 is no amount of FARGATE"]);
    let none = task_json(r#""requiresCompatibilities": ["FARGATE"]"#, PLAIN);
    check(29, &none, &["cpu of the task is missing", "memory of the task is missing"]);
    check(29, &task_json(r#""cpu": 300"#, PLAIN), &[]);
}

#[test]
fn v30_shares_of_a_container() {
    check_container(30, r#""cpu": -1"#, &["E V30 cpu -1 at C[0].cpu"]);
    check_container(30, r#""cpu": 1"#, &["W V30 cpu 1 at C[0].cpu; it is raised to 2"]);
    check_container(30, r#""cpu": 262145"#, &["W V30 cpu 262145"]);
    check_container(30, r#""cpu": 262144"#, &[]);
}

#[test]
fn v31_every_container_has_a_memory_limit() {
    let bare = r#"{"name": "web", "image": "b"}"#;
    check(
        31,
        &task_json("", bare),
        &["E V31 no memory limit at C[0]; allowed: memory or memoryReservation, or memory for the task"],
    );
    check(31, &task_json(r#""memory": 64"#, bare), &[]);
    check_container(31, r#""memory": 0, "memoryReservation": 6"#, &[]);
    check(31, &format!("[{bare}]"), &["W V31 no memory limit at [0]"]);
}

#[test]
fn v32_the_engine_takes_six_mebibytes_or_more() {
    check_container(32, r#""memory": 4"#, &["E V32 memory 4 is too small at C[0].memory; allowed: 6 or more"]);
    check_container(32, r#""memoryReservation": 5"#, &["memoryReservation 5 is too small"]);
    check_container(32, r#""memory": -1"#, &["E V32 memory -1"]);
    check_container(32, r#""memory": 6, "memoryReservation": 0"#, &[]);
}

#[test]
fn v33_the_soft_limit_is_below_the_hard_one() {
    check_container(33, r#""memory": 64, "memoryReservation": 128"#, &["E V33 memoryReservation 128 above memory 64"]);
    check_container(33, r#""memory": 64, "memoryReservation": 64"#, &["W V33 memoryReservation 64 equals memory"]);
    check_container(33, r#""memory": 64, "memoryReservation": 63"#, &[]);
}

#[test]
fn v34_containers_fit_into_the_memory_of_the_task() {
    let two = |task: &str, members: &str| task_json(task, &format!("{}, {}", with(members), named("b", members)));
    check(
        34,
        &task_json(r#""memory": 512"#, &with(r#""memory": 1024"#)),
        &["E V34 memory 1024 above the task's 512 at C[0].memory; allowed: up to 512"],
    );
    check(
        34,
        &two(r#""memory": 100"#, r#""memory": 64, "memoryReservation": 60"#),
        &["E V34 memoryReservation of all containers is 120 at C", "W V34 memory of all containers is 128"],
    );
    check(
        34,
        &two(r#""memory": 100"#, r#""memory": 64"#),
        &["W V34 memory of all containers is 128 at C; the task has 100"],
    );
    check(
        34,
        &two(r#""memory": 512, "cpu": 256, "requiresCompatibilities": ["FARGATE"]"#, r#""memory": 300"#),
        &["E V34 memoryReservation of all containers is 600", "W V34 "],
    );
    check(34, &two(r#""memory": 128"#, r#""memory": 64"#), &[]);
}

#[test]
fn v35_containers_fit_into_the_units_of_the_task() {
    let two = format!("{}, {}", with(r#""cpu": 768"#), named("b", r#""cpu": 768"#));
    check(
        35,
        &task_json(r#""cpu": 1024"#, &two),
        &["E V35 cpu of all containers is 1536 at C; allowed: up to the task's 1024"],
    );
    check(35, &task_json(r#""cpu": 1536"#, &two), &[]);
}

#[test]
fn v36_swappiness_goes_with_swap() {
    let linux = |members: &str| format!(r#""linuxParameters": {{{members}}}"#);
    check_container(36, &linux(r#""swappiness": 101, "maxSwap": 1"#), &["E V36 swappiness 101"]);
    check_container(
        36,
        &linux(r#""swappiness": 10"#),
        &["W V36 swappiness 10 without maxSwap at C[0].linuxParameters.swappiness; it has no effect"],
    );
    check_container(36, &linux(r#""swappiness": 100, "maxSwap": 0"#), &[]);
}

#[test]
fn v37_swap_goes_with_a_limit() {
    check_container(37, r#""linuxParameters": {"maxSwap": -1}"#, &["E V37 maxSwap -1"]);
    check_container(
        37,
        r#""memory": 0, "memoryReservation": 64, "linuxParameters": {"maxSwap": 0}"#,
        &["E V37 maxSwap without memory at C[0].linuxParameters.maxSwap; allowed: with a container memory limit"],
    );
    check_container(37, r#""linuxParameters": {"maxSwap": 256}"#, &[]);
}

#[test]
fn v38_memory_that_is_a_file_system_has_a_size() {
    let tmpfs = |members: &str| format!(r#""linuxParameters": {{"tmpfs": [{{"containerPath": "/a"{members}}}]}}"#);
    check_container(
        38,
        &tmpfs(r#", "size": 0"#),
        &["E V38 size 0 at C[0].linuxParameters.tmpfs[0].size; allowed: 1 MiB or more"],
    );
    check_container(38, &tmpfs(""), &["size is missing"]);
    check_container(38, &tmpfs(r#", "size": 1"#), &[]);
    check_container(38, r#""linuxParameters": {"sharedMemorySize": -1}"#, &["E V38 sharedMemorySize -1"]);
    let shared = with(r#""linuxParameters": {"sharedMemorySize": 16}"#);
    check(38, &task_json(r#""ipcMode": "none""#, &shared), &["W V38 sharedMemorySize with ipcMode none"]);
    check(38, &task_json(r#""ipcMode": "task""#, &shared), &[]);
}

#[test]
fn v39_mount_options_are_of_their_list() {
    let tmpfs = |path: &str, options: &str| {
        format!(
            r#""linuxParameters": {{"tmpfs": [{{"containerPath": "{path}", "size": 1, "mountOptions": [{options}]}}]}}"#
        )
    };
    let all = r#""defaults", "ro", "rw", "suid", "nosuid", "dev", "nodev", "exec", "noexec", "sync", "async", "dirsync",
        "mand", "nomand", "atime", "noatime", "diratime", "nodiratime", "unbindable", "runbindable", "private", "rprivate",
        "shared", "rshared", "slave", "rslave", "relatime", "norelatime", "strictatime", "nostrictatime", "mode=1777",
        "uid=1", "gid=1", "nr_inodes=4k", "nr_blocks=1", "mpol=interleave""#;
    check_container(39, &tmpfs("/a", all), &[]);
    check_container(
        39,
        &tmpfs("/a", r#""mode""#),
        &[
            "E V39 tmpfs option \"mode\" needs a value at C[0].linuxParameters.tmpfs[0].mountOptions[0]; allowed: mode=<octal>",
        ],
    );
    check_container(
        39,
        &tmpfs("/a", r#""uid=", "bind", "remount", "noexce", "rw,ro", "rw=1""#),
        &["needs a value", "always fails", "always fails", "did you mean noexec", "\"rw,ro\"", "\"rw=1\""],
    );
    check_container(39, &tmpfs("/a", r#""size=5m""#), &["W V39 tmpfs option \"size=5m\" is left out"]);
    check_container(39, &tmpfs("a", ""), &["containerPath \"a\" is not absolute"]);
    check_container(39, &tmpfs("//", ""), &["containerPath \"//\" is the root"]);
}

#[test]
fn v72_limits_are_in_order() {
    let limit =
        |name: &str, soft: i64, hard: i64| format!(r#"{{"name": "{name}", "softLimit": {soft}, "hardLimit": {hard}}}"#);
    let limits = |limits: &[String]| format!("\"ulimits\": [{}]", limits.join(", "));
    check_container(
        72,
        &limits(&[limit("nofile", 300, 200)]),
        &["E V72 ulimit nofile soft 300 above hard 200 at C[0].ulimits[0]"],
    );
    check_container(72, &limits(&[limit("nofile", -1, 200)]), &["soft -1 above hard 200"]);
    check_container(72, &limits(&[limit("nofile", 1, -1), limit("nofile", 1, 1)]), &["ulimit nofile is given twice"]);
    check_container(72, &limits(&[limit("core", -2, 1)]), &["softLimit -2"]);
    check_container(72, r#""ulimits": [{"name": "core"}]"#, &["softLimit is missing", "hardLimit is missing"]);
    check_container(72, &limits(&[limit("nofile", 200, -1), limit("core", 0, 0)]), &[]);
}

#[test]
fn v73_capabilities_are_of_their_list() {
    let lists = |add: &str, drop: &str| {
        format!(r#""linuxParameters": {{"capabilities": {{"add": [{add}], "drop": [{drop}]}}}}"#)
    };
    check_container(
        73,
        &lists(r#""NET_ADMN""#, ""),
        &["E V73 unknown capability \"NET_ADMN\" at C[0].linuxParameters.capabilities.add[0]; did you mean NET_ADMIN"],
    );
    check_container(73, &lists("", r#""PERFMON""#), &["E V73 unknown capability \"PERFMON\""]);
    check_container(73, &lists(r#""CHOWN""#, r#""CHOWN""#), &["W V73 CHOWN is added and dropped"]);
    check_container(
        73,
        &format!("\"privileged\": true, {}", lists(r#""CHOWN""#, "")),
        &["W V73 capabilities with privileged"],
    );
    check_container(73, &lists(r#""NET_ADMIN", "cap_chown""#, r#""ALL""#), &[]);
    check(
        73,
        &fargate("", &with(&lists(r#""SYS_PTRACE", "CHOWN""#, r#""KILL""#))),
        &["E V73 capability CHOWN added at C[0].linuxParameters.capabilities; allowed: on FARGATE SYS_PTRACE"],
    );
}

#[test]
fn v74_devices_have_paths_and_rights() {
    let device = |members: &str| format!(r#""linuxParameters": {{"devices": [{{{members}}}]}}"#);
    check_container(74, &device(r#""hostPath": "dev/fuse""#), &["E V74 hostPath \"dev/fuse\" is not absolute"]);
    check_container(74, &device(r#""containerPath": "/a""#), &["hostPath is missing"]);
    check_container(74, &device(r#""hostPath": "/a", "containerPath": "b""#), &["containerPath \"b\" is not absolute"]);
    check_container(
        74,
        &device(r#""hostPath": "/a", "permissions": ["rw"]"#),
        &[
            "E V74 device permission \"rw\" at C[0].linuxParameters.devices[0].permissions[0]; allowed: read, write, mknod",
        ],
    );
    check_container(74, &device(r#""hostPath": "/dev/fuse", "permissions": ["read", "mknod"]"#), &[]);
}

#[test]
fn v75_kernel_settings_are_the_container_s_own() {
    let control = |name: &str| format!(r#""systemControls": [{{"namespace": "{name}", "value": "1"}}]"#);
    for name in ["net.core.somaxconn", "fs.mqueue.msg_max", "kernel.shm_rmid_forced", "kernel.sem"] {
        check_container(75, &control(name), &[]);
    }
    for name in ["vm.swappiness", "kernel.hostname", "net.", "fs.file-max", "net.a b"] {
        check_container(75, &control(name), &["E V75 system control"]);
    }
    let task = |mode: &str, name: &str| task_json(mode, &with(&control(name)));
    check(
        75,
        &task(r#""networkMode": "host""#, "net.core.somaxconn"),
        &[
            "E V75 \"net.core.somaxconn\" with networkMode host at C[0].systemControls[0].namespace; allowed: bridge, awsvpc, none",
        ],
    );
    check(75, &task(r#""ipcMode": "host""#, "kernel.sem"), &["with ipcMode host"]);
    check_container(
        75,
        r#""systemControls": [{"namespace": "net.a", "value": "1"}, {"namespace": "net.a", "value": "2"}]"#,
        &["net.a is given twice"],
    );
    check_container(
        75,
        r#""systemControls": [{"namespace": "net.a"}, {"value": "1"}]"#,
        &["value is missing", "namespace is missing"],
    );
    let shared = |value: &str| {
        let other = format!(r#""systemControls": [{{"namespace": "net.a", "value": "{value}"}}]"#);
        let both = format!("{}, {}", with(&control("net.a")), named("b", &other));
        task_json(r#""networkMode": "awsvpc""#, &both)
    };
    check(75, &shared("2"), &["W V75 \"net.a\" has another value at C[0].systemControls[0].namespace, again at C[1]"]);
    check(75, &shared("1"), &[]);
}

#[test]
fn v80_resources_have_an_amount() {
    let resource = |members: &str| format!(r#""resourceRequirements": [{members}]"#);
    let gpu = |value: &str| resource(&format!(r#"{{"type": "GPU", "value": "{value}"}}"#));
    check_container(
        80,
        &gpu("0"),
        &["E V80 GPU value \"0\" at C[0].resourceRequirements[0].value; allowed: 1 or more, or ALL"],
    );
    check_container(80, &gpu("some"), &["GPU value \"some\""]);
    check_container(80, &gpu("2"), &[]);
    check_container(80, &gpu("all"), &[]);
    check_container(80, &resource(r#"{"type": "GPU"}"#), &["value is missing"]);
    check_container(
        80,
        &resource(r#"{"type": "GPU", "value": "1"}, {"type": "GPU", "value": "1"}"#),
        &["GPU is asked for twice"],
    );
    let sharing = r#""sharingStrategy": {"nvidiaMps": {"memory": 1, "maxComputePercent": 100}}"#;
    check_container(80, &resource(&format!(r#"{{"type": "GPU", {sharing}}}"#)), &[]);
    check_container(
        80,
        &resource(&format!(r#"{{"type": "GPU", "value": "1", {sharing}}}"#)),
        &["sharingStrategy with value"],
    );
    check_container(
        80,
        &resource(r#"{"type": "GPU", "sharingStrategy": {"nvidiaMps": {"maxComputePercent": 0}}}"#),
        &["memory is missing", "maxComputePercent 0"],
    );
    check_container(80, &resource(r#"{"type": "NeuronDevice", "value": "1"}"#), &["NeuronDevice value \"1\""]);
    let accelerator = with(&resource(r#"{"type": "InferenceAccelerator", "value": "dev"}"#));
    check(80, &task_json("", &accelerator), &["InferenceAccelerator value \"dev\" at C[0]"]);
    check(80, &task_json(r#""inferenceAccelerators": [{"deviceName": "dev", "deviceType": "t"}]"#, &accelerator), &[]);
    let both = format!("{}, {}", with(&gpu("1")), named("b", &resource(&format!(r#"{{"type": "GPU", {sharing}}}"#))));
    check(80, &task_json("", &both), &["GPUs whole and shared in one task at C[1].resourceRequirements"]);
}

#[test]
fn v82_the_disk_has_a_size() {
    let disk = r#""ephemeralStorage": {"sizeInGiB": 20}"#;
    check(82, &fargate(disk, PLAIN), &["E V82 sizeInGiB 20 at ephemeralStorage.sizeInGiB; allowed: 21 to 200"]);
    check(82, &task_json(disk, PLAIN), &["W V82 sizeInGiB 20"]);
    check(82, &task_json(r#""ephemeralStorage": {"sizeInGiB": 0}"#, PLAIN), &["E V82 sizeInGiB 0"]);
    check(82, &fargate(r#""ephemeralStorage": {"sizeInGiB": 200}"#, PLAIN), &[]);
}
