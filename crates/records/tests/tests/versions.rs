//! Other versions of the program.

use lighterman_records::{
    Ledger, OpenError,
    envelope::{self, EnvelopeError, Kind},
};
use sha2::{Digest, Sha256};

use crate::samples::{Entries, full};

/// The envelope as its page describes it, written down a second time.
fn envelope_of(key: &[u8], schema: u16, kind: u8, generation: u64, payload: &[u8]) -> Vec<u8> {
    let mut bytes = b"LMR1".to_vec();
    bytes.extend(schema.to_le_bytes());
    bytes.extend([kind, 0]);
    bytes.extend(generation.to_le_bytes());
    bytes.extend(u32::try_from(payload.len()).unwrap().to_le_bytes());
    let mut hash = Sha256::new();
    hash.update((key.len() as u64).to_le_bytes());
    hash.update(key);
    hash.update(&bytes);
    hash.update(payload);
    bytes.extend(&hash.finalize()[..16]);
    bytes.extend(payload);
    bytes
}

/// A store in which another program wrote the record whose key begins so, and counted it in the head.
fn with_payload(prefix: &str, change: impl FnOnce(String) -> String) -> Entries {
    let mut entries = full().0.entries();
    let (key, value) = entries.iter_mut().find(|(key, _)| key.starts_with(prefix.as_bytes())).unwrap();
    let opened = envelope::open(key, value).unwrap();
    let text = change(String::from_utf8(opened.payload.to_vec()).unwrap());
    let old = opened.checksum;
    let (sealed, new) = envelope::seal(key, opened.kind, 1, text.as_bytes());
    *value = sealed;
    let (_, head) = entries.iter_mut().find(|(key, _)| key == b"!head").unwrap();
    let text = String::from_utf8(envelope::open(b"!head", head).unwrap().payload.to_vec()).unwrap();
    let digest = text.rsplit("\"digest\":\"").next().unwrap().trim_end_matches("\"}").to_string();
    let counted = u128::from_str_radix(&digest, 16).unwrap().wrapping_sub(old).wrapping_add(new);
    let text = text.replace(&digest, &format!("{counted:032x}"));
    *head = envelope::seal(b"!head", Kind::Head, 1, text.as_bytes()).0;
    entries
}

#[test]
fn the_envelope_is_as_its_page_describes_it() {
    for (kind, code) in Kind::ALL.into_iter().zip(1..) {
        let (sealed, _) = envelope::seal(b"key", kind, 0x0102_0304_0506_0708, b"payload");
        assert_eq!(sealed, envelope_of(b"key", 1, code, 0x0102_0304_0506_0708, b"payload"));
        let opened = envelope::open(b"key", &sealed).unwrap();
        assert_eq!((opened.kind, opened.generation, opened.payload), (kind, 0x0102_0304_0506_0708, &b"payload"[..]));
    }
}

#[test]
fn a_record_belongs_to_its_key() {
    let (sealed, _) = envelope::seal(b"key", Kind::Host, 1, b"x");
    assert_eq!(envelope::open(b"kez", &sealed), Err(EnvelopeError::Checksum));
    // The length of the key counts, so that no byte may move between key and header.
    assert_eq!(envelope::open(b"ke", &sealed), Err(EnvelopeError::Checksum));
}

#[test]
fn a_kind_that_nobody_knows_is_named() {
    let bytes = envelope_of(b"key", 1, 99, 1, b"");
    assert_eq!(envelope::open(b"key", &bytes), Err(EnvelopeError::Kind(99)));
}

#[test]
fn a_record_of_a_newer_program_is_refused_as_such() {
    let mut entries = full().0.entries();
    for (key, value) in &mut entries {
        let opened = envelope::open(key, value).unwrap();
        let code = if opened.kind == Kind::Head { 1 } else { 2 };
        *value = envelope_of(key, 7, code, opened.generation, opened.payload);
    }
    let error = Ledger::open(entries, Some(1)).unwrap_err();
    let words = r#"record "!head": it has schema 7, and this version reads up to 1"#;
    assert_eq!(error, OpenError::Newer(words.into()));
    assert_eq!(error.to_string(), format!("the state store was written by a newer version: {words}"));
}

#[test]
fn what_only_a_newer_program_writes_is_refused_as_such() {
    for (prefix, ours, theirs) in [
        ("container/", r#""name":"OutOfMemoryError""#, r#""name":"FrozenError""#),
        ("container/", r#""known":"STOPPED""#, r#""known":"FROZEN""#),
        ("container/", r#""desired":"STOPPED""#, r#""desired":"FROZEN""#),
        ("task/", r#""known":"RUNNING""#, r#""known":"FROZEN""#),
        ("task/", r#""desired":"STOPPED""#, r#""desired":"FROZEN""#),
        ("definition/", r#""name":"web""#, r#""name":"web","dependsOn":[{"containerName":"frozen"}]"#),
        ("definition/", r#"{"containerDefinitions""#, r#"{"networkMode":"frozen","containerDefinitions""#),
    ] {
        let entries = with_payload(prefix, |text| {
            assert!(text.contains(ours), "{text}");
            text.replace(ours, theirs)
        });
        let Err(OpenError::Newer(words)) = Ledger::open(entries, Some(1)) else { panic!("{prefix} {theirs}") };
        assert!(
            words.contains(prefix) && (words.to_lowercase().contains("frozen") || words.contains("dependsOn")),
            "{words}"
        );
    }
    let mut entries = full().0.entries();
    entries.push((b"later".to_vec(), envelope_of(b"later", 1, 99, 1, b"{}")));
    let words = r#"record "later": it is of the unknown kind 99"#;
    assert_eq!(Ledger::open(entries, Some(1)), Err(OpenError::Newer(words.into())));
}

#[test]
fn a_payload_that_no_version_writes_is_damage() {
    for (prefix, ours, theirs) in [
        ("container/", r#""name":"web""#, r#""name":"""#),
        ("container/", r#""known":"STOPPED""#, r#""known":7"#),
        ("task/", r#""seed":"#, r#""seeds":"#),
        ("definition/", r#""image":"web:1""#, r#""image":"""#),
    ] {
        let entries = with_payload(prefix, |text| {
            assert!(text.contains(ours), "{text}");
            text.replace(ours, theirs)
        });
        let Err(OpenError::Damaged(words)) = Ledger::open(entries, Some(1)) else { panic!("{prefix} {theirs}") };
        assert!(words.contains("its checksum fits and its payload does not"), "{words}");
    }
}

#[test]
fn a_flipped_bit_in_the_version_is_damage_and_no_newer_program() {
    let mut entries = full().0.entries();
    for (_, value) in &mut entries {
        value[4] ^= 2;
    }
    assert!(matches!(Ledger::open(entries, Some(1)), Err(OpenError::Damaged(_))));
}

#[test]
fn a_field_of_a_newer_program_is_skipped() {
    let entries = with_payload("host", |text| text.replacen('{', "{\"later\":[1,2],", 1));
    let (_, saved) = Ledger::open(entries, Some(1)).unwrap();
    assert_eq!(saved.host, Some(crate::samples::host()));
}

#[test]
fn a_payload_that_cannot_be_understood_is_no_empty_state() {
    let (sealed, _) = envelope::seal(b"!head", Kind::Head, 1, b"{}");
    let error = Ledger::open(vec![(b"!head".to_vec(), sealed)], None).unwrap_err().to_string();
    assert!(error.contains("its checksum fits and its payload does not"), "{error}");
    let (sealed, _) = envelope::seal(b"!head", Kind::Host, 1, b"{}");
    let error = Ledger::open(vec![(b"!head".to_vec(), sealed)], None).unwrap_err().to_string();
    assert!(error.contains("its head record is of another kind"), "{error}");
}
