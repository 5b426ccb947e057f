//! Text of others on our terminal: what may pass.
//!
//! A container, a registry or the engine can send escape sequences which move the cursor, set the title, or make the
//! terminal answer. Only colour (SGR) may pass, and only where asked for.

use std::{iter::Peekable, str::Chars};

const ESCAPE: char = '\u{1b}';
const BELL: char = '\u{7}';
const STRING_END: char = '\u{9c}';

/// A line of a container's output as a terminal may show it.
///
/// Bytes that are not UTF-8 are replaced. Of a line that was overwritten with carriage returns, as progress bars are,
/// the last version is left. Of escape sequences only colour is left, if wanted, and switched off at the end.
pub(crate) fn for_terminal(line: &[u8], colour: bool) -> String {
    let text = String::from_utf8_lossy(line);
    let last = text.rsplit('\r').find(|part| !part.is_empty()).unwrap_or_default();
    let (mut out, coloured) = filter(last, colour);
    if coloured {
        out.push_str("\u{1b}[0m");
    }
    out
}

/// A text of others within a line of ours: one line, no control characters, no colour.
pub(crate) fn clean(text: &str) -> String {
    let one_line: String = text.chars().map(|c| if matches!(c, '\n' | '\r' | '\t') { ' ' } else { c }).collect();
    filter(&one_line, false).0
}

/// What may pass, and whether colour is in it.
fn filter(text: &str, colour: bool) -> (String, bool) {
    let mut out = String::with_capacity(text.len());
    let mut coloured = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            ESCAPE => {
                if let Some(parameters) = escape_sequence(&mut chars).filter(|_| colour) {
                    out.extend([ESCAPE, '[']);
                    out.push_str(&parameters);
                    out.push('m');
                    coloured = true;
                }
            }
            '\u{9b}' => drop(control_sequence(&mut chars)),
            '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}' => skip_string(&mut chars),
            '\t' => out.push(c),
            c if c.is_control() || reorders(c) => {}
            c => out.push(c),
        }
    }
    (out, coloured)
}

/// Reads what follows an escape character; the parameters if it sets colour.
fn escape_sequence(chars: &mut Peekable<Chars<'_>>) -> Option<String> {
    match chars.peek()? {
        '[' => {
            chars.next();
            control_sequence(chars)
        }
        ']' | 'P' | 'X' | '^' | '_' => {
            chars.next();
            skip_string(chars);
            None
        }
        _ => {
            while chars.next_if(|c| (' '..='/').contains(c)).is_some() {}
            chars.next_if(|c| ('0'..='~').contains(c));
            None
        }
    }
}

/// Reads parameters and the final character of a control sequence; the parameters if it sets colour.
fn control_sequence(chars: &mut Peekable<Chars<'_>>) -> Option<String> {
    let mut parameters = String::new();
    while let Some(c) = chars.next_if(|c| (' '..='?').contains(c)) {
        parameters.push(c);
    }
    let last = chars.next_if(|c| ('@'..='~').contains(c))?;
    let is_colour = last == 'm' && parameters.chars().all(|c| c.is_ascii_digit() || matches!(c, ';' | ':'));
    is_colour.then_some(parameters)
}

/// Titles, clipboards and the like: everything up to the end of the string, or of the line.
fn skip_string(chars: &mut Peekable<Chars<'_>>) {
    while let Some(c) = chars.next() {
        match c {
            BELL | STRING_END => return,
            ESCAPE if chars.next_if_eq(&'\\').is_some() => return,
            _ => {}
        }
    }
}

/// Characters that show a text in another order than it has.
const fn reorders(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_colour_and_tabs_pass() {
        for (line, colour, plain) in [
            ("hello\tworld", "hello\tworld", "hello\tworld"),
            ("\u{1b}[31mred\u{1b}[0m", "\u{1b}[31mred\u{1b}[0m\u{1b}[0m", "red"),
            ("\u{1b}[38;2;1;2;3mx", "\u{1b}[38;2;1;2;3mx\u{1b}[0m", "x"),
            ("\u{1b}[38:5:9mx", "\u{1b}[38:5:9mx\u{1b}[0m", "x"),
            ("\u{1b}[2J\u{1b}[Hgone", "gone", "gone"),
            ("\u{1b}[>4;2mkeys", "keys", "keys"),
            ("\u{1b}[?25lhidden", "hidden", "hidden"),
            ("\u{1b}]0;title\u{7}x", "x", "x"),
            ("\u{1b}]52;c;AAAA\u{1b}\\x", "x", "x"),
            ("\u{1b}]8;;http://a\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link", "link"),
            ("\u{1b}]0;never ends", "", ""),
            ("\u{1b}P1$r\u{9c}x", "x", "x"),
            ("\u{1b}(0x\u{1b}cx\u{1b}7", "xx", "xx"),
            ("\u{1b}", "", ""),
            ("\u{1b}[", "", ""),
            ("\u{1b}[3", "", ""),
            ("\u{1b}[3\u{1b}[31mx", "\u{1b}[31mx\u{1b}[0m", "x"),
            ("\u{9b}31mx\u{9d}title\u{9c}y", "xy", "xy"),
            ("a\u{8}\u{7f}\u{0}b", "ab", "ab"),
            ("user\u{202e}gpj.exe\u{2069}", "usergpj.exe", "usergpj.exe"),
            ("10%\r20%\r30%", "30%", "30%"),
            ("line\r", "line", "line"),
            ("\r\r", "", ""),
        ] {
            assert_eq!(for_terminal(line.as_bytes(), true), colour, "{line:?}");
            assert_eq!(for_terminal(line.as_bytes(), false), plain, "{line:?}");
        }
        assert_eq!(for_terminal(b"a\xffb", false), "a\u{fffd}b");
        assert_eq!(clean("two\nlines\u{1b}[31m and\ta tab"), "two lines and a tab");
    }

    proptest! {
        #[test]
        fn whatever_comes_nothing_but_colour_controls_the_terminal(
            line in "[\\x1b\\[\\]0-9;:?mJHPX^_\\\\a \\x07\\x08\\r\\u{80}-\\u{9f}\\u{202e}é]{0,40}"
        ) {
            let clean = for_terminal(line.as_bytes(), true);
            let mut rest = clean.as_str();
            while let Some((_, sequence)) = rest.split_once(ESCAPE) {
                let end = sequence.find('m').expect("colour ends with m");
                prop_assert!(sequence[..end].starts_with('['));
                prop_assert!(sequence[1..end].chars().all(|c| c.is_ascii_digit() || c == ';' || c == ':'));
                rest = &sequence[end..];
            }
            prop_assert!(!clean.chars().any(|c| c.is_control() && c != ESCAPE && c != '\t'));
            prop_assert!(!for_terminal(line.as_bytes(), false).contains(ESCAPE));
        }
    }
}
