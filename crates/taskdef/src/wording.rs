//! Help with words that are almost right, and text that was meant to be replaced.

use alloc::{format, string::String, vec, vec::Vec};

/// The candidate at most two edits away, but not half of it, letter case ignored; of several
/// the nearest, then the first.
pub(crate) fn nearest<'c>(word: &str, candidates: impl Iterator<Item = &'c str>) -> Option<&'c str> {
    const FAR: usize = 2;
    // Of longer words no known one is near; bounds the work on hostile input.
    const LONGEST: usize = 64;
    if word.len() > LONGEST {
        return None;
    }
    candidates
        .filter(|candidate| candidate.len().abs_diff(word.len()) <= FAR)
        .map(|candidate| (edits(word, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= FAR && distance * 2 <= candidate.len())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Insertions, deletions and replacements between two words (Levenshtein), letter case ignored.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<u8> = b.bytes().map(|byte| byte.to_ascii_lowercase()).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.bytes().map(|byte| byte.to_ascii_lowercase()).enumerate() {
        let mut next = vec![i + 1];
        for (j, to) in b.iter().enumerate() {
            let replaced = row[j] + usize::from(from != *to);
            next.push(replaced.min(row[j + 1] + 1).min(next[j] + 1));
        }
        row = next;
    }
    row[b.len()]
}

/// `a, b, c`.
pub(crate) fn listed<'w>(words: impl Iterator<Item = &'w str>) -> String {
    words.collect::<Vec<_>>().join(", ")
}

/// `a, b, c; did you mean b`.
pub(crate) fn listed_with_nearest(word: &str, words: &[&str]) -> String {
    let all = listed(words.iter().copied());
    match nearest(word, words.iter().copied()) {
        Some(near) => format!("{all}; did you mean {near}"),
        None => all,
    }
}

/// The first placeholder in a text: `${…}`, `{{…}}`, `<…>` or `%NAME%` (taskdef.md 1.6).
pub(crate) fn placeholder(text: &str) -> Option<&str> {
    let angle = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ' ' | '-');
    let percent = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    text.char_indices().find_map(|(at, _)| {
        let rest = &text[at..];
        enclosed(rest, "${", "}", |c| c != '}', 0)
            .or_else(|| enclosed(rest, "{{", "}}", |c| c != '}', 0))
            .or_else(|| enclosed(rest, "<", ">", angle, 1))
            .or_else(|| enclosed(rest, "%", "%", percent, 1))
    })
}

/// `open`, at least `least` characters that `inner` takes, `close`.
fn enclosed<'t>(text: &'t str, open: &str, close: &str, inner: impl Fn(char) -> bool, least: usize) -> Option<&'t str> {
    // Longer ones are no names; keeps the search linear.
    const LONGEST: usize = 256;
    let body = text.strip_prefix(open)?;
    let length = body.char_indices().take(LONGEST).find(|(_, c)| !inner(*c))?.0;
    let end = open.len() + length + close.len();
    (length >= least && body[length..].starts_with(close)).then(|| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words_are_found() {
        let known = ["environment", "essential", "entryPoint", "cpu"];
        let find = |word| nearest(word, known.into_iter());
        assert_eq!(find("enviroment"), Some("environment"));
        assert_eq!(find("entry_point"), Some("entryPoint"));
        assert_eq!(find("ENTRYPOINT"), Some("entryPoint"));
        assert_eq!(find("cpus"), Some("cpu"));
        assert_eq!(find("x"), None);
        assert_eq!(find("gp"), None);
        assert_eq!(find("volumes"), None);
        assert_eq!(find(&"a".repeat(1_000_000)), None);
    }

    #[test]
    fn placeholders_are_told_from_text() {
        for (text, wanted) in [
            ("web:${TAG}", Some("${TAG}")),
            ("{{ image }}:1", Some("{{ image }}")),
            ("<account-id>.dkr.test/web", Some("<account-id>")),
            ("%TAG%", Some("%TAG%")),
            ("${", None),
            ("a %{x} b", None),
            ("$(id)", None),
            ("5 < 6 and 7", None),
            ("100%", None),
            ("", None),
        ] {
            assert_eq!(placeholder(text), wanted, "{text}");
        }
    }
}
