//! A static program as an image.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use lighterman_ids::ImageRef;

use crate::{
    archive::ImageArchive,
    builder::{ImageBuilder, ImageError},
    config::Architecture,
};

/// Why a file cannot be the only program of an image.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// The file could not be read.
    #[error("cannot read the program {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the host said.
        #[source]
        source: io::Error,
    },
    /// The file has no name that is text.
    #[error("{} has no file name that an image can hold", path.display())]
    Unnamed {
        /// The file.
        path: PathBuf,
    },
    /// The file is no little-endian 64-bit ELF program, or is cut off within its headers.
    #[error("{name} is no 64-bit ELF program")]
    NotElf {
        /// The file's name.
        name: String,
    },
    /// Images have no word for this processor.
    #[error("{name} is for ELF machine {machine}, which is neither x86_64 nor aarch64")]
    UnknownMachine {
        /// The file's name.
        name: String,
        /// The `e_machine` of its header.
        machine: u16,
    },
    /// The program needs a dynamic loader, which an image of its own does not have; the engine would
    /// report "no such file or directory" for the program itself.
    #[error("{name} is not static")]
    NotStatic {
        /// The file's name.
        name: String,
    },
}

/// A program that needs nothing but the kernel: checked, with its processor known.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StaticProgram {
    name: String,
    architecture: Architecture,
    bytes: Vec<u8>,
}

impl StaticProgram {
    /// Reads a program from a file and checks it.
    ///
    /// # Errors
    /// The file cannot be read or is no static ELF program for a processor we know.
    pub fn read(path: &Path) -> Result<Self, ProgramError> {
        let name = path.file_name().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| ProgramError::Unnamed { path: path.to_owned() })?;
        let bytes = fs::read(path).map_err(|source| ProgramError::Unreadable { path: path.to_owned(), source })?;
        Self::parse(name, bytes)
    }

    /// Checks a program that is in memory already.
    ///
    /// # Errors
    /// The bytes are no static ELF program for a processor we know.
    pub fn parse(name: &str, bytes: Vec<u8>) -> Result<Self, ProgramError> {
        let name = name.to_owned();
        let Some(elf) = Elf::parse(&bytes) else {
            return Err(ProgramError::NotElf { name });
        };
        let architecture = match elf.machine {
            EM_X86_64 => Architecture::Amd64,
            EM_AARCH64 => Architecture::Arm64,
            machine => return Err(ProgramError::UnknownMachine { name, machine }),
        };
        if elf.wants_loader {
            return Err(ProgramError::NotStatic { name });
        }
        Ok(Self { name, architecture, bytes })
    }

    /// Where the program lies in its image: its name in the root directory.
    #[must_use]
    pub fn path_in_image(&self) -> String {
        format!("/{}", self.name)
    }

    /// An image of this program as its entrypoint, and an empty `/tmp` that everybody may write to.
    pub fn image(&self) -> ImageBuilder {
        let path = self.path_in_image();
        ImageBuilder::new()
            .architecture(self.architecture)
            .directory("/tmp", 0o1777)
            .file(&path, 0o755, &*self.bytes)
            .entrypoint([&*path])
    }
}

/// Makes an image of one static program under exactly this name; the words of a container's command
/// become the program's arguments.
///
/// For other settings, or a tag that tells the content, go by [`StaticProgram::image`].
///
/// # Errors
/// The program cannot be read or is not static, or the reference cannot name an image.
pub fn static_program_image(reference: &ImageRef, program: &Path) -> Result<ImageArchive, ImageError> {
    StaticProgram::read(program)?.image().build(reference)
}

const EM_X86_64: u16 = 62;
const EM_AARCH64: u16 = 183;

/// What we ask of an ELF header; offsets from the ELF-64 object file format.
struct Elf {
    machine: u16,
    /// A program header of type `PT_INTERP` exists.
    wants_loader: bool,
}

impl Elf {
    fn parse(bytes: &[u8]) -> Option<Self> {
        const MAGIC_64_BIT_LITTLE_ENDIAN: &[u8] = b"\x7fELF\x02\x01";
        const PT_INTERP: u32 = 3;
        if !bytes.starts_with(MAGIC_64_BIT_LITTLE_ENDIAN) {
            return None;
        }
        let machine = u16::from_le_bytes(field(bytes, 18)?);
        let table = usize::try_from(u64::from_le_bytes(field(bytes, 32)?)).ok()?;
        let size = usize::from(u16::from_le_bytes(field(bytes, 54)?));
        let count = usize::from(u16::from_le_bytes(field(bytes, 56)?));
        let mut wants_loader = false;
        for index in 0..count {
            let kind = u32::from_le_bytes(field(bytes, table.checked_add(index * size)?)?);
            wants_loader |= kind == PT_INTERP;
        }
        Some(Self { machine, wants_loader })
    }
}

fn field<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}
