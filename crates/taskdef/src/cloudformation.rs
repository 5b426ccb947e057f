//! Keys of CloudFormation in the spelling of the Register call (taskdef.md 1.3).

use alloc::{boxed::Box, string::String};

use crate::{
    fields::{FieldKind, FieldRow},
    node::{Member, Node, Spelling, Value},
};

/// Keys that are not just another first letter, each inside the object that has the second as a member.
const SPECIAL: &[(&str, &str)] = &[
    ("EFSVolumeConfiguration", "efsVolumeConfiguration"),
    ("FilesystemId", "fileSystemId"),
    ("IAM", "iam"),
    ("FSxWindowsFileServerVolumeConfiguration", "fsxWindowsFileServerVolumeConfiguration"),
    ("S3FilesVolumeConfiguration", "s3filesVolumeConfiguration"),
    ("ProxyConfigurationProperties", "properties"),
];

/// Renames the keys of an object along its rows; keys of free maps are data and stay.
pub(crate) fn rename(object: &mut Node, rows: &[FieldRow]) {
    if object.intrinsic().is_some() {
        return;
    }
    let Value::Object(members) = &mut object.value else { return };
    for member in members {
        if let Some(key) = register_key(&member.key, rows) {
            member.spelling = Spelling::Other(core::mem::replace(&mut member.key, key));
        }
        if let Some(row) = rows.iter().find(|row| row.key == &*member.key) {
            inside(&mut member.node, row.kind);
        }
    }
}

/// The same for every element of a list.
pub(crate) fn rename_all(list: &mut Node, rows: &[FieldRow]) {
    if let Value::List(items) = &mut list.value {
        items.iter_mut().for_each(|item| rename(item, rows));
    }
}

fn inside(node: &mut Node, kind: FieldKind) {
    match kind {
        FieldKind::Object(rows) => rename(node, rows),
        FieldKind::Objects(rows) => rename_all(node, rows),
        FieldKind::Pairs(name, value) => {
            if let Value::List(items) = &mut node.value {
                items.iter_mut().for_each(|item| rename_pair(item, [name, value]));
            }
        }
        FieldKind::Text
        | FieldKind::Name
        | FieldKind::Integer
        | FieldKind::Boolean
        | FieldKind::Word(_, _)
        | FieldKind::CpuAmount
        | FieldKind::MemoryAmount
        | FieldKind::Texts
        | FieldKind::Integers
        | FieldKind::Words(_)
        | FieldKind::TextMap
        | FieldKind::Opaque => {}
    }
}

fn rename_pair(pair: &mut Node, keys: [&str; 2]) {
    let Value::Object(members) = &mut pair.value else { return };
    for Member { key, spelling, .. } in members {
        if let Some(lower) = lowered(key).filter(|lower| keys.contains(&&**lower)) {
            *spelling = Spelling::Other(core::mem::replace(key, lower));
        }
    }
}

/// `None`: it stays as it is.
fn register_key(key: &str, rows: &[FieldRow]) -> Option<Box<str>> {
    let special = SPECIAL.iter().find(|(theirs, ours)| *theirs == key && rows.iter().any(|row| row.key == *ours));
    special.map(|(_, ours)| Box::from(*ours)).or_else(|| lowered(key))
}

fn lowered(key: &str) -> Option<Box<str>> {
    let first = key.chars().next().filter(char::is_ascii_uppercase)?;
    let mut lower = String::with_capacity(key.len());
    lower.push(first.to_ascii_lowercase());
    lower.push_str(&key[1..]);
    Some(lower.into_boxed_str())
}
