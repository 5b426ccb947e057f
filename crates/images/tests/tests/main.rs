//! What an engine and a kernel would see of the images.

#[cfg(test)]
mod archive;
#[cfg(test)]
mod pause;
#[cfg(test)]
mod program;
