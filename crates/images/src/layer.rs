//! The files of an image, as one layer.

use std::collections::{BTreeMap, btree_map::Entry as MapEntry};

use tar::{Builder, EntryType, Header};

use crate::builder::ImageError;

/// A file tree under construction; what is wrong with it comes out when it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Layer {
    /// In the order given, so that a path written twice is seen.
    nodes: Vec<(String, Node)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Node {
    Directory { mode: u32 },
    File { mode: u32, content: Vec<u8> },
}

const PARENT: Node = Node::Directory { mode: 0o755 };

impl Layer {
    pub(crate) fn add(&mut self, path: &str, node: Node) {
        self.nodes.push((path.to_owned(), node));
    }

    /// The layer as a plain tar: owned by root, as old as the epoch, sorted by path, parents before
    /// what is in them.
    pub(crate) fn to_tar(&self) -> Result<Vec<u8>, ImageError> {
        let mut tar = Builder::new(Vec::new());
        for (path, node) in self.tree()? {
            append(&mut tar, path, node);
        }
        Ok(finish(tar))
    }

    /// All nodes with their parents, by path without the leading slash.
    fn tree(&self) -> Result<BTreeMap<&str, &Node>, ImageError> {
        let mut tree = BTreeMap::new();
        for (path, node) in &self.nodes {
            match tree.entry(relative(path)?) {
                MapEntry::Vacant(place) => place.insert(node),
                MapEntry::Occupied(_) => return Err(ImageError::PathTwice { path: path.clone() }),
            };
        }
        for (path, _) in &self.nodes {
            for parent in parents(relative(path)?) {
                if let Node::File { .. } = tree.entry(parent).or_insert(&PARENT) {
                    return Err(ImageError::BelowFile { path: path.clone() });
                }
            }
        }
        Ok(tree)
    }
}

/// The longest path a program can use, less the terminating zero.
const PATH_MAX: usize = 4095;
/// The longest name in a directory.
const NAME_MAX: usize = 255;

/// Checks that `path` names something below the root, in exactly one way.
fn relative(path: &str) -> Result<&str, ImageError> {
    let plain = |name: &str| !matches!(name, "" | "." | "..") && name.len() <= NAME_MAX && !name.contains('\0');
    path.strip_prefix('/')
        .filter(|rest| path.len() <= PATH_MAX && rest.split('/').all(plain))
        .ok_or_else(|| ImageError::BadPath { path: path.to_owned() })
}

fn parents(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(end, _)| &path[..end])
}

fn append(tar: &mut Builder<Vec<u8>>, path: &str, node: &Node) {
    match node {
        Node::Directory { mode } => write(tar, path, EntryType::Directory, *mode, &[]),
        Node::File { mode, content } => write(tar, path, EntryType::Regular, *mode, content),
    }
}

/// Appends a file to an archive of ours, whose paths are known to be good.
pub(crate) fn append_file(tar: &mut Builder<Vec<u8>>, path: &str, content: &[u8]) {
    write(tar, path, EntryType::Regular, 0o644, content);
}

/// Ends the archive and hands out its bytes.
pub(crate) fn finish(tar: Builder<Vec<u8>>) -> Vec<u8> {
    tar.into_inner().expect("memory takes the end of an archive")
}

fn write(tar: &mut Builder<Vec<u8>>, path: &str, kind: EntryType, mode: u32, content: &[u8]) {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode & 0o7777);
    header.set_size(content.len() as u64);
    header.set_mtime(0);
    header.set_uid(0);
    header.set_gid(0);
    tar.append_data(&mut header, path, content).expect("memory takes a file with a checked path");
}
