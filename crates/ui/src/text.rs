//! Words into lines: widths, wrapping, numbers with units.

use std::time::Duration;

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Columns that a text takes.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// The text, or as much of it as fits with a `…` behind it.
pub(crate) fn fit(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.into();
    }
    let mut out = String::new();
    let mut used = 1;
    for c in text.chars() {
        used += c.width().unwrap_or(0);
        if used > columns {
            break;
        }
        out.push(c);
    }
    if columns > 0 {
        out.push('…');
    }
    out
}

/// The text with blanks up to this width.
pub(crate) fn pad(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// Breaks a text at blanks into lines of at most `columns`; a longer word is broken anywhere. Runs of blanks become one.
pub(crate) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(1);
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() && width(&line) + 1 + width(word) > columns {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        let room = columns - width(&line).min(columns);
        if width(word) <= room {
            line.push_str(word);
        } else {
            push_broken(&mut lines, &mut line, word, columns);
        }
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

/// Puts a word that is longer than a line on several.
fn push_broken(lines: &mut Vec<String>, line: &mut String, word: &str, columns: usize) {
    for c in word.chars() {
        if !line.is_empty() && width(line) + c.width().unwrap_or(0) > columns {
            lines.push(std::mem::take(line));
        }
        line.push(c);
    }
}

/// A stretch of time as people say it: `0.42 s`, `12.3 s`, `2 min 03 s`, `1 h 02 min`.
pub(crate) fn span(time: Duration) -> String {
    let millis = time.as_millis();
    let seconds = millis / 1_000;
    match seconds {
        0..10 => format!("{seconds}.{:02} s", millis % 1_000 / 10),
        10..60 => format!("{seconds}.{} s", millis % 1_000 / 100),
        60..3_600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        3_600.. => format!("{} h {:02} min", seconds / 3_600, seconds / 60 % 60),
    }
}

/// The same in whole seconds, for what counts on before one's eyes and for limits.
pub(crate) fn whole_span(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 if seconds.is_multiple_of(60) => format!("{} min", seconds / 60),
        60.. => span(Duration::from_secs(seconds)),
    }
}

/// A size with one digit after the point: `12.3 MiB`.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let unit = UNITS.into_iter().find(|(size, _)| bytes >= *size);
    let Some((size, name)) = unit else { return format!("{bytes} B") };
    format!("{}.{} {name}", bytes / size, bytes % size * 10 / size)
}

/// `1 container`, `2 containers`.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_fit_their_columns() {
        for (text, columns, fitted) in [
            ("web", 3, "web"),
            ("website", 4, "web…"),
            ("", 0, ""),
            ("a", 0, ""),
            ("名前名前", 5, "名前…"),
            ("名前名前", 4, "名…"),
        ] {
            assert_eq!(fit(text, columns), fitted);
        }
    }

    #[test]
    fn wrapped_lines_keep_every_word_and_no_line_is_too_long() {
        for columns in 1..30 {
            let text = "a bb  ccc 名前名前 averyveryverylongwordwithoutanyblank and an end";
            let lines = wrap(text, columns);
            assert!(lines.iter().all(|line| width(line) <= columns.max(2)), "{columns}: {lines:?}");
            let squeezed = |text: &str| text.chars().filter(|c| *c != ' ').collect::<String>();
            assert_eq!(squeezed(&lines.concat()), squeezed(text));
        }
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap(" \n ", 7), [""; 0]);
    }

    #[test]
    fn times_and_sizes_are_short() {
        let spans = [0, 4, 420, 9_999, 10_000, 59_999, 60_000, 123_456, 3_599_999, 3_600_000, 90_000_000];
        let texts = spans.map(|millis| span(Duration::from_millis(millis)));
        assert_eq!(
            texts,
            [
                "0.00 s",
                "0.00 s",
                "0.42 s",
                "9.99 s",
                "10.0 s",
                "59.9 s",
                "1 min 00 s",
                "2 min 03 s",
                "59 min 59 s",
                "1 h 00 min",
                "25 h 00 min"
            ]
        );
        assert_eq!(
            [30, 120, 125, 3_600].map(|s| whole_span(Duration::from_secs(s))),
            ["30 s", "2 min", "2 min 05 s", "1 h 00 min"]
        );
        assert_eq!([0, 1_023, 1_536, 5 << 20, 3 << 30].map(size), ["0 B", "1023 B", "1.5 KiB", "5.0 MiB", "3.0 GiB"]);
        assert_eq!([counted(1, "pull"), counted(2, "pull"), counted(0, "pull")], ["1 pull", "2 pulls", "0 pulls"]);
    }
}
