//! Exit codes in words.

use lighterman_calls::ExitCode;

/// Signals that end processes, by number.
const SIGNALS: [(ExitCode, &str); 12] = [
    (1, "SIGHUP"),
    (2, "SIGINT"),
    (3, "SIGQUIT"),
    (4, "SIGILL"),
    (6, "SIGABRT"),
    (7, "SIGBUS"),
    (8, "SIGFPE"),
    (9, "SIGKILL"),
    (11, "SIGSEGV"),
    (13, "SIGPIPE"),
    (14, "SIGALRM"),
    (15, "SIGTERM"),
];

/// `137 (SIGKILL)`: a code with what it usually stands for.
pub(crate) fn in_words(code: ExitCode) -> String {
    match meaning(code) {
        Some(meaning) => format!("{code} ({meaning})"),
        None => code.to_string(),
    }
}

/// Why a process ended with a code, as far as the code says; `None` where there is nothing to say.
pub(crate) fn cause(code: Option<ExitCode>) -> Option<&'static str> {
    match code {
        Some(0) => None,
        Some(130 | 143) => Some("its process ended on a signal that asks to end"),
        Some(137) => Some("its process was killed"),
        Some(129..) => Some("its process ended on a signal; its output may say why"),
        Some(126 | 127) => Some("what it should run is not in the image, or cannot be run"),
        Some(_) => Some("its process ended with an error; its output says why"),
        None => Some("it never ran to an end"),
    }
}

/// A recorded reason, `Name: text`. Docker's words about a pull seldom say of which image.
pub(crate) fn reason(name: &str, text: &str, image: &str) -> String {
    let is_pull = name == "CannotPullContainerError";
    if is_pull && !text.contains(image) { format!("{name}: {image}: {text}") } else { format!("{name}: {text}") }
}

/// What a code usually stands for.
pub(crate) fn meaning(code: ExitCode) -> Option<&'static str> {
    match code {
        126 => Some("cannot be executed"),
        127 => Some("command not found"),
        129.. => SIGNALS.iter().find(|(number, _)| *number == code - 128).map(|(_, name)| *name),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_pull_names_its_image_once() {
        let pull = |text| reason("CannotPullContainerError", text, "web:1");
        assert_eq!(pull("no such host"), "CannotPullContainerError: web:1: no such host");
        assert_eq!(pull("no web:1 here"), "CannotPullContainerError: no web:1 here");
        assert_eq!(reason("CannotStartContainerError", "no", "web:1"), "CannotStartContainerError: no");
    }

    #[test]
    fn codes_that_mean_something_say_so() {
        let words: Vec<String> = [0, 1, 126, 127, 128, 130, 137, 143, 144, 255, -1].map(in_words).into();
        assert_eq!(
            words,
            [
                "0",
                "1",
                "126 (cannot be executed)",
                "127 (command not found)",
                "128",
                "130 (SIGINT)",
                "137 (SIGKILL)",
                "143 (SIGTERM)",
                "144",
                "255",
                "-1"
            ]
        );
    }
}
