//! From files and settings to an image.

use lighterman_ids::ImageRef;

use crate::{
    archive::{Contents, ImageArchive},
    config::{Architecture, Present, Settings},
    health::HealthCheck,
    layer::{Layer, Node},
    program::ProgramError,
};

/// Why no image could be built. The caller has to change what it gave.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// A path is not absolute, or is written in more ways than one (`//`, `/.`, `/..`, a `/` at its
    /// end), or a part of it is longer than 255 bytes, or all of it longer than 4,095.
    #[error("{path:?} is not a plain absolute path below the root of an image")]
    BadPath {
        /// The path as given.
        path: String,
    },
    /// A path was given twice.
    #[error("{path:?} is in the image already")]
    PathTwice {
        /// The path as given.
        path: String,
    },
    /// One of the directories above this path is a file.
    #[error("{path:?} lies below a file")]
    BelowFile {
        /// The path as given.
        path: String,
    },
    /// The name of an environment variable is empty or has `=` or a zero byte in it.
    #[error("{name:?} is no name for an environment variable")]
    BadVariable {
        /// The name as given.
        name: String,
    },
    /// An image is loaded under a tag; its digest would be the registry's to give.
    #[error("{reference} names a digest, and an image is loaded under a tag")]
    DigestInReference {
        /// The reference as given.
        reference: ImageRef,
    },
    /// A tag with the digits of the content at its end would have more than 128 characters.
    #[error("the tag of {reference} is too long to be extended by the content")]
    TagTooLong {
        /// The reference as given.
        reference: ImageRef,
    },
    /// Images have no word for the processor this crate was compiled for: say which one is meant.
    #[error("the architecture of this host has no name in images")]
    UnknownArchitecture,
    /// The program cannot be the content of an image.
    #[error(transparent)]
    Program(#[from] ProgramError),
}

/// Collects files and settings; [`Self::build`] checks them and makes the image.
///
/// Whatever is not set is absent from the image. The order of files does not matter, that of
/// environment variables does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[must_use]
pub struct ImageBuilder {
    layer: Layer,
    settings: Settings,
    variables: Vec<(String, String)>,
    architecture: Option<Architecture>,
}

impl ImageBuilder {
    /// An image with nothing in it.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file, owned by root. `mode` is the permission bits; missing directories get 0755.
    pub fn file(mut self, path: &str, mode: u32, content: impl Into<Vec<u8>>) -> Self {
        self.layer.add(path, Node::File { mode, content: content.into() });
        self
    }

    /// Adds a directory, owned by root, for one that is empty or has other permissions than 0755.
    pub fn directory(mut self, path: &str, mode: u32) -> Self {
        self.layer.add(path, Node::Directory { mode });
        self
    }

    /// The fixed beginning of the command line.
    pub fn entrypoint<'a>(mut self, words: impl IntoIterator<Item = &'a str>) -> Self {
        self.settings.entrypoint = words.into_iter().map(str::to_owned).collect();
        self
    }

    /// The rest of the command line, where a container brings none.
    pub fn command<'a>(mut self, words: impl IntoIterator<Item = &'a str>) -> Self {
        self.settings.cmd = words.into_iter().map(str::to_owned).collect();
        self
    }

    /// Adds an environment variable.
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The directory processes start in; the engine creates it where it is missing.
    pub fn working_directory(mut self, path: &str) -> Self {
        path.clone_into(&mut self.settings.working_dir);
        self
    }

    /// Sets a label, which every container of the image inherits.
    pub fn label(mut self, key: &str, value: &str) -> Self {
        self.settings.labels.insert(key.to_owned(), value.to_owned());
        self
    }

    /// The health check of containers that bring none.
    pub fn health_check(mut self, check: HealthCheck) -> Self {
        self.settings.healthcheck = Some(check);
        self
    }

    /// User and group processes run as: `uid[:gid]`, or names that the image's `/etc/passwd` has.
    pub fn user(mut self, user: &str) -> Self {
        user.clone_into(&mut self.settings.user);
        self
    }

    /// The signal that asks a container to stop, in place of SIGTERM: a name or a number.
    pub fn stop_signal(mut self, signal: &str) -> Self {
        signal.clone_into(&mut self.settings.stop_signal);
        self
    }

    /// Declares a TCP port, for containers that publish all declared ports.
    pub fn expose_tcp(mut self, port: u16) -> Self {
        self.settings.exposed_ports.insert(format!("{port}/tcp"), Present {});
        self
    }

    /// Declares a volume: each container gets an anonymous one there unless it mounts another.
    pub fn volume(mut self, path: &str) -> Self {
        self.settings.volumes.insert(path.to_owned(), Present {});
        self
    }

    /// The processor the image is for, where it is not that of this program.
    pub fn architecture(mut self, architecture: Architecture) -> Self {
        self.architecture = Some(architecture);
        self
    }

    /// Makes the image under exactly this name; without a tag it gets `latest`.
    ///
    /// Another image loaded under the same tag takes the name away from this one.
    ///
    /// # Errors
    /// A path, a variable or the reference cannot be in an image; see [`ImageError`].
    pub fn build(self, reference: &ImageRef) -> Result<ImageArchive, ImageError> {
        let name = tagged(reference)?;
        Ok(self.contents()?.named(name))
    }

    /// Makes the image under this name with `-` and the first 12 digits of the image id added to its
    /// tag, so that another content always has another name and no image loses its own.
    ///
    /// # Errors
    /// A path, a variable or the reference cannot be in an image; see [`ImageError`].
    pub fn build_tagged_by_content(self, reference: &ImageRef) -> Result<ImageArchive, ImageError> {
        let name = tagged(reference)?;
        let contents = self.contents()?;
        let name = ImageRef::parse(&format!("{name}-{}", &contents.id_hex()[..12]))
            .map_err(|_| ImageError::TagTooLong { reference: reference.clone() })?;
        Ok(contents.named(name))
    }

    fn contents(mut self) -> Result<Contents, ImageError> {
        for (name, value) in self.variables {
            if name.is_empty() || name.contains(['=', '\0']) {
                return Err(ImageError::BadVariable { name });
            }
            self.settings.env.push(format!("{name}={value}"));
        }
        let architecture = self.architecture.or_else(Architecture::host).ok_or(ImageError::UnknownArchitecture)?;
        Ok(Contents::new(self.layer.to_tar()?, &self.settings, architecture))
    }
}

/// The reference with its tag written out.
fn tagged(reference: &ImageRef) -> Result<ImageRef, ImageError> {
    if reference.digest().is_some() {
        return Err(ImageError::DigestInReference { reference: reference.clone() });
    }
    Ok(ImageRef::parse(&reference.pull_name()).expect("a reference with a tag added is a reference"))
}
