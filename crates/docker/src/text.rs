//! Texts of the engine, cut to size.

/// Longest text that travels in an outcome (`lighterman_calls::Refusal`).
const LONGEST: usize = 4_096;

/// White space collapsed, at most 4,096 bytes.
pub(crate) fn tidy(text: &str) -> String {
    let mut tidied = String::with_capacity(text.len().min(LONGEST));
    for word in text.split_whitespace() {
        if tidied.len() > LONGEST {
            break;
        }
        if !tidied.is_empty() {
            tidied.push(' ');
        }
        tidied.push_str(word);
    }
    cut(&mut tidied, LONGEST);
    tidied
}

/// Shortens to at most `longest` bytes, never inside a character.
pub(crate) fn cut(text: &mut String, longest: usize) {
    if text.len() > longest {
        let end = (0..=longest).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        text.truncate(end);
    }
}

/// An error and everything below it, in one line.
pub(crate) fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut below = error.source();
    while let Some(error) = below {
        text.push_str(": ");
        text.push_str(&error.to_string());
        below = error.source();
    }
    tidy(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_collapsed_and_cut_at_characters() {
        assert_eq!(tidy("  no\n such\t\tcontainer:  x \n"), "no such container: x");
        assert_eq!(tidy(""), "");
        assert!(tidy(&"word ".repeat(10_000)).len() <= LONGEST);
        let wide = tidy(&"ä".repeat(10_000));
        assert_eq!(wide.len(), LONGEST);
        let mut odd = "aää".to_owned();
        cut(&mut odd, 2);
        assert_eq!(odd, "a");
    }
}
