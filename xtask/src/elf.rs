//! Just enough of ELF to tell a static program from one that wants a loader.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};

/// `PT_INTERP`: the program header that names a loader.
const INTERP: u32 = 3;

/// An error unless the program runs in an empty root: no loader is named.
pub(crate) fn must_be_static(path: &Path) -> Result<()> {
    let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    if wants_loader(&bytes).with_context(|| format!("{} is no 64-bit ELF program", path.display()))? {
        bail!("{} is not static: it names a loader", path.display());
    }
    Ok(())
}

/// `None` where it is not a little-endian 64-bit ELF file.
fn wants_loader(bytes: &[u8]) -> Option<bool> {
    if bytes.get(..6)? != b"\x7fELF\x02\x01" {
        return None;
    }
    let table = usize::try_from(u64::from_le_bytes(bytes.get(0x20..0x28)?.try_into().ok()?)).ok()?;
    let entry_size = usize::from(u16::from_le_bytes(bytes.get(0x36..0x38)?.try_into().ok()?));
    let count = usize::from(u16::from_le_bytes(bytes.get(0x38..0x3a)?.try_into().ok()?));
    for index in 0..count {
        let at = table.checked_add(index.checked_mul(entry_size)?)?;
        let kind = u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?);
        if kind == INTERP {
            return Some(true);
        }
    }
    Some(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header with these program headers behind it.
    fn elf(kinds: &[u32]) -> Vec<u8> {
        let mut bytes = vec![0; 64];
        bytes[..6].copy_from_slice(b"\x7fELF\x02\x01");
        bytes[0x20] = 64;
        bytes[0x36] = 56;
        bytes[0x38] = u8::try_from(kinds.len()).unwrap();
        for kind in kinds {
            bytes.extend(kind.to_le_bytes());
            bytes.extend([0; 52]);
        }
        bytes
    }

    #[test]
    fn a_named_loader_is_seen() {
        assert_eq!(wants_loader(&elf(&[6, 3, 1])), Some(true));
        assert_eq!(wants_loader(&elf(&[1, 1, 2])), Some(false));
        assert_eq!(wants_loader(b"#!/bin/sh"), None);
        let mut cut = elf(&[1, 3]);
        cut.truncate(70);
        assert_eq!(wants_loader(&cut), None);
    }

    #[test]
    fn this_test_program_wants_a_loader() {
        let error = must_be_static(&std::env::current_exe().unwrap()).unwrap_err();
        assert!(error.to_string().contains("not static"), "{error:#}");
    }
}
