//! Static programs as images.

use std::{env, fs, path::Path};

use lighterman_ids::ImageRef;
use lighterman_images::{ImageError, ProgramError, StaticProgram, static_program_image};
use serde_json::json;

use crate::archive::load;

const PAUSE: &str = concat!(env!("OUT_DIR"), "/pause");

#[test]
fn a_static_program_is_the_entrypoint_of_its_image() {
    let image = static_program_image(&ImageRef::parse("test/static:1").unwrap(), Path::new(PAUSE)).unwrap();
    assert_eq!(image.reference().as_str(), "test/static:1");
    let loaded = load(&image);
    assert_eq!(loaded.config["config"], json!({ "Entrypoint": ["/pause"] }));
    let files: Vec<_> = loaded.files.iter().map(|(path, entry)| (path.as_str(), entry.mode)).collect();
    assert_eq!(files, [("pause", 0o755), ("tmp", 0o1777)]);
    assert_eq!(loaded.files[0].1.content, fs::read(PAUSE).unwrap());
}

/// The test itself is linked dynamically, as every program of the host's own target is.
#[test]
fn a_dynamic_program_is_refused_by_name() {
    let myself = env::current_exe().unwrap();
    let refused = static_program_image(&ImageRef::parse("test/dynamic:1").unwrap(), &myself).unwrap_err();
    let ImageError::Program(ProgramError::NotStatic { name }) = refused else { panic!("{refused:?}") };
    assert_eq!(name, myself.file_name().unwrap().to_str().unwrap());
}

#[test]
fn what_is_no_program_is_refused() {
    let pause = fs::read(PAUSE).unwrap();
    let arm = |mut bytes: Vec<u8>, machine: u8| {
        bytes[18] = machine;
        bytes
    };
    assert!(StaticProgram::parse("arm", arm(pause.clone(), 183)).is_ok());
    let riscv = StaticProgram::parse("riscv", arm(pause.clone(), 243));
    assert!(matches!(riscv, Err(ProgramError::UnknownMachine { machine: 243, .. })));
    for bytes in [&b"#!/bin/sh\n"[..], b"", &pause[..40], &pause[..100]] {
        let refused = StaticProgram::parse("broken", bytes.to_vec());
        assert!(matches!(refused, Err(ProgramError::NotElf { .. })), "{} bytes", bytes.len());
    }
    let missing = StaticProgram::read(Path::new("/no/such/program"));
    assert!(matches!(missing, Err(ProgramError::Unreadable { .. })));
    assert!(matches!(StaticProgram::read(Path::new("/")), Err(ProgramError::Unnamed { .. })));
}

#[test]
fn no_cut_or_flip_in_the_headers_panics() {
    let pause = fs::read(PAUSE).unwrap();
    for at in 0..512 {
        StaticProgram::parse("cut", pause[..at].to_vec()).ok();
        for bit in 0..8 {
            let mut flipped = pause.clone();
            flipped[at] ^= 1 << bit;
            StaticProgram::parse("flipped", flipped).ok();
        }
    }
}
