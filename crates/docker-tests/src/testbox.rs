//! Where the test program is.

use std::{env, path::PathBuf};

use lighterman_images::{ProgramError, StaticProgram};

/// Names the static test program, as `cargo xtask` builds it.
pub const TESTBOX_ENV: &str = "LIGHTERMAN_TESTBOX";

/// The name under which `load-testbox` loads the test program for the demo.
pub const DEMO_IMAGE: &str = "lighterman/testbox:latest";

/// Why there is no test program.
#[derive(Debug, thiserror::Error)]
pub enum TestboxError {
    /// Nobody said where it is.
    #[error("{TESTBOX_ENV} does not say where the test program is; `cargo xtask docker-tests` builds it and says so")]
    Untold,
    /// The file is not what it should be.
    #[error("{TESTBOX_ENV} names no usable program")]
    Unusable(#[source] ProgramError),
}

/// Reads the program that [`TESTBOX_ENV`] names.
///
/// # Errors
/// The variable is not set, or the file is no static program.
pub fn testbox_program() -> Result<StaticProgram, TestboxError> {
    let path = env::var_os(TESTBOX_ENV).filter(|path| !path.is_empty()).map(PathBuf::from);
    StaticProgram::read(&path.ok_or(TestboxError::Untold)?).map_err(TestboxError::Unusable)
}
