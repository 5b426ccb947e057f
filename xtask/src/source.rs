//! Reading Rust source just well enough for house rules: comments and literals blanked, test code left out.
//!
//! Not a parser. Columns and lines stay where they were, so that a finding can name its place.

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::workspace::{files_under, read};

/// One source file of a package.
#[derive(Clone, Debug)]
pub(crate) struct SourceFile {
    /// As seen from the root of the workspace.
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

/// A word of the code and the line on which it stands (from 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word<'a> {
    pub(crate) text: &'a str,
    pub(crate) line: usize,
}

impl SourceFile {
    /// All `.rs` files under `dir`, which is below `root`.
    pub(crate) fn all(root: &Path, dir: &Path) -> Result<Vec<Self>> {
        let load = |path: PathBuf| {
            let text = read(&path)?;
            Ok(Self { path: path.strip_prefix(root).unwrap_or(&path).to_owned(), text })
        };
        files_under(dir, "rs")?.into_iter().map(load).collect()
    }

    /// The code that ships: comments and literals blanked, items under `#[cfg(test)]` too.
    pub(crate) fn shipped_code(&self) -> String {
        without_tests(&mask(&self.text))
    }

    /// Files that `#[cfg(test)] mod name;` declares in this one.
    fn test_modules(&self) -> Vec<PathBuf> {
        let masked = mask(&self.text);
        let stem = self.path.file_stem().unwrap_or_default();
        let parent = self.path.parent().unwrap_or_else(|| Path::new(""));
        let home =
            if ["lib", "main", "mod"].iter().any(|name| stem == *name) { parent.to_owned() } else { parent.join(stem) };
        let declared = test_items(&masked).into_iter().filter_map(|(start, end)| declared_module(&masked[start..end]));
        declared.flat_map(|name| [home.join(format!("{name}.rs")), home.join(name)]).collect()
    }
}

/// The files without those that are test modules of others.
pub(crate) fn shipped_files(files: &[SourceFile]) -> Vec<&SourceFile> {
    let tests: Vec<PathBuf> = files.iter().flat_map(SourceFile::test_modules).collect();
    files.iter().filter(|file| !tests.iter().any(|test| file.path.starts_with(test))).collect()
}

/// The name in `mod name;`, which may follow attributes and a visibility.
fn declared_module(item: &str) -> Option<&str> {
    let before = item.trim_end().strip_suffix(';')?;
    let mut words = before.split_whitespace().rev();
    let name = words.next()?;
    (words.next() == Some("mod")).then_some(name)
}

/// Blanks comments and what stands in string, byte and character literals.
pub(crate) fn mask(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut masked = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let end = literal_or_comment_end(bytes, at);
        match end {
            Some(end) => {
                masked.extend(bytes[at..end].iter().map(|byte| if *byte == b'\n' { b'\n' } else { b' ' }));
                at = end;
            }
            None => {
                masked.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8(masked).expect("only whole characters are blanked, byte by byte")
}

/// Where the comment or literal that begins at `at` ends; `None` if none begins there.
fn literal_or_comment_end(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = &bytes[at..];
    let in_word = at > 0 && is_word(bytes[at - 1]);
    match rest {
        [b'/', b'/', ..] => Some(at + rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len())),
        [b'/', b'*', ..] => Some(block_comment_end(bytes, at)),
        [b'"', ..] => Some(string_end(bytes, at + 1)),
        [b'r', b'"' | b'#', ..] if !in_word => raw_string_end(bytes, at + 1),
        [b'b' | b'c', b'r', b'"' | b'#', ..] if !in_word => raw_string_end(bytes, at + 2),
        [b'\'', ..] => char_end(bytes, at),
        _ => None,
    }
}

fn block_comment_end(bytes: &[u8], at: usize) -> usize {
    let (mut at, mut depth) = (at + 2, 1);
    while at < bytes.len() && depth > 0 {
        match bytes[at..] {
            [b'/', b'*', ..] => (at, depth) = (at + 2, depth + 1),
            [b'*', b'/', ..] => (at, depth) = (at + 2, depth - 1),
            _ => at += 1,
        }
    }
    at
}

fn string_end(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// `None` where `r#` begins a raw identifier.
fn raw_string_end(bytes: &[u8], at: usize) -> Option<usize> {
    let hashes = bytes[at..].iter().take_while(|byte| **byte == b'#').count();
    let open = at + hashes;
    if bytes.get(open) != Some(&b'"') {
        return None;
    }
    let close = [b"\"".as_slice(), &vec![b'#'; hashes]].concat();
    let body = &bytes[open + 1..];
    let length = body.windows(close.len()).position(|window| window == close);
    Some(length.map_or(bytes.len(), |length| open + 1 + length + close.len()))
}

/// `None` where the quote begins a lifetime or a label.
fn char_end(bytes: &[u8], at: usize) -> Option<usize> {
    let first = *bytes.get(at + 1)?;
    if first == b'\\' {
        let close = bytes.get(at + 3..)?.iter().position(|byte| *byte == b'\'')?;
        return Some(at + 3 + close + 1);
    }
    let width = match first {
        0x00..=0x7f => 1,
        0x80..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xff => 4,
    };
    (bytes.get(at + 1 + width) == Some(&b'\'')).then_some(at + width + 2)
}

/// Blanks items under `#[cfg(test)]` in masked text.
pub(crate) fn without_tests(masked: &str) -> String {
    let mut bytes = masked.as_bytes().to_vec();
    for (start, end) in test_items(masked) {
        for byte in &mut bytes[start..end] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
    }
    String::from_utf8(bytes).expect("whole items are blanked, byte by byte")
}

/// Start and end of each item under `#[cfg(test)]` or `#[cfg(all(test, ..))]` in masked text.
fn test_items(masked: &str) -> Vec<(usize, usize)> {
    let mut items: Vec<(usize, usize)> = Vec::new();
    for (start, _) in masked.match_indices("#[cfg(") {
        let inside = items.last().is_some_and(|(_, end)| start < *end);
        let Some(close) = masked[start..].find(']') else { continue };
        let condition = &masked[start + "#[cfg(".len()..start + close];
        if !inside && (condition.starts_with("test)") || condition.starts_with("all(test,")) {
            items.push((start, item_end(masked, start)));
        }
    }
    items
}

/// Where the item ends whose first attribute begins at `start`: at its `;`, or where its braces close.
fn item_end(masked: &str, start: usize) -> usize {
    let (mut braces, mut brackets) = (0_usize, 0_usize);
    for (offset, byte) in masked[start..].bytes().enumerate() {
        match byte {
            b'[' | b'(' => brackets += 1,
            b']' | b')' => brackets = brackets.saturating_sub(1),
            b'{' => braces += 1,
            b'}' if braces <= 1 => return start + offset + 1,
            b'}' => braces -= 1,
            b';' if braces == 0 && brackets == 0 => return start + offset + 1,
            _ => {}
        }
    }
    masked.len()
}

/// The identifiers, keywords and numbers of masked text.
pub(crate) fn words(masked: &str) -> impl Iterator<Item = Word<'_>> {
    masked.lines().enumerate().flat_map(|(index, line)| {
        let words = line.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        words.filter(|word| !word.is_empty()).map(move |text| Word { text, line: index + 1 })
    })
}

/// The parts of an identifier, in lower case: `RetryAfter`, `retry_after` and `RETRY_AFTER` all give `retry`, `after`.
pub(crate) fn parts(identifier: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut part = String::new();
    let mut previous_is_lower = false;
    for c in identifier.chars() {
        if c == '_' || (c.is_uppercase() && previous_is_lower) {
            parts.push(std::mem::take(&mut part));
        }
        if c != '_' {
            part.extend(c.to_lowercase());
        }
        previous_is_lower = c.is_lowercase() || c.is_numeric();
    }
    parts.push(part);
    parts.retain(|part| !part.is_empty());
    parts
}

/// Places where `path` (`std::time`, `Instant::now`) stands in masked text, as whole path segments. Lines from 1.
pub(crate) fn lines_with_path(masked: &str, path: &str) -> Vec<usize> {
    let stands_alone = |line: &str, at: usize| {
        let before = line[..at].bytes().next_back();
        let after = line[at + path.len()..].bytes().next();
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    };
    let has_it = |line: &str| line.match_indices(path).any(|(at, _)| stands_alone(line, at));
    masked.lines().enumerate().filter(|(_, line)| has_it(line)).map(|(index, _)| index + 1).collect()
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_blanked_and_lines_stay() {
        let cases = [
            ("a // sleep\nb", "a         \nb"),
            ("a /* x /* y */\nz */ b", "a             \n     b"),
            ("f(\"sleep \\\" x\") g", "f(            ) g"),
            ("f(r#\"a \" b\"#) g", "f(          ) g"),
            ("f(br\"a\") g", "f(     ) g"),
            ("f('\"') \"s\"", "f(   )    "),
            ("f('\\'') g('\\u{1F600}')", "f(    ) g(           )"),
            ("fn f<'a>(x: &'a str) {}", "fn f<'a>(x: &'a str) {}"),
            ("'outer: loop {}", "'outer: loop {}"),
            ("f('é') g", "f(    ) g"),
            ("let r#type = var\"\"", "let r#type = var  "),
            ("\"open", "     "),
        ];
        for (text, expected) in cases {
            assert_eq!(mask(text), expected, "{text}");
        }
    }

    #[test]
    fn test_code_is_left_out_and_the_rest_stays() {
        let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n  fn b() { if x { y } }\n}\nfn c() {}\n\
                    #[cfg(all(test, feature))]\nfn d() {}\n#[cfg(test)]\nmod far;\nfn e() {}\n#[cfg(not(test))]\nfn g() {}";
        let code = without_tests(&mask(text));
        let kept: Vec<&str> = words(&code).map(|word| word.text).filter(|word| word.len() == 1).collect();
        assert_eq!(kept, ["a", "c", "e", "g"]);
        assert_eq!(words(&code).find(|word| word.text == "e").unwrap().line, 11);
    }

    #[test]
    fn an_array_type_before_the_brace_does_not_end_a_test_item() {
        let code = without_tests("#[cfg(test)]\nfn a(x: [u8; 3]) { b }\nfn c() {}");
        assert!(!code.contains('b') && code.contains("fn c"), "{code}");
    }

    #[test]
    fn files_of_test_modules_are_not_shipped() {
        let file = |path: &str, text: &str| SourceFile { path: path.into(), text: text.into() };
        let files = [
            file("c/src/lib.rs", "mod a;\n#[cfg(test)]\n#[path = \"x\"]\npub(crate) mod fakes;"),
            file("c/src/a.rs", "#[cfg(test)]\nmod tests;"),
            file("c/src/a/tests.rs", ""),
            file("c/src/a/tests/deep.rs", ""),
            file("c/src/fakes.rs", ""),
            file("c/src/tests.rs", ""),
        ];
        let shipped: Vec<_> = shipped_files(&files).iter().map(|file| file.path.to_str().unwrap()).collect();
        assert_eq!(shipped, ["c/src/lib.rs", "c/src/a.rs", "c/src/tests.rs"]);
    }

    #[test]
    fn identifiers_split_into_parts() {
        let cases = [
            ("RetryAfter", vec!["retry", "after"]),
            ("retry_after", vec!["retry", "after"]),
            ("MAX_RETRIES", vec!["max", "retries"]),
            ("backOff2Go", vec!["back", "off2", "go"]),
            ("__x", vec!["x"]),
        ];
        for (identifier, expected) in cases {
            assert_eq!(parts(identifier), expected, "{identifier}");
        }
    }

    #[test]
    fn paths_match_as_whole_segments_only() {
        let code = "use std::time::Duration;\nmy_std::time\nstd::timeout\nx(std::time)";
        assert_eq!(lines_with_path(code, "std::time"), [1, 4]);
    }
}
