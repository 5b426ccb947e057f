//! Words and what they mean.

use std::time::Duration;

use lighterman_testbox::{
    Command, ParseError, TermRule, Url, Writing,
    command::{JOIN, USAGE},
    parse,
};

fn one(line: &str) -> Command {
    let words: Vec<_> = line.split(' ').collect();
    let [command] = parse(&words).unwrap().try_into().unwrap();
    command
}

fn refused(line: &str) -> String {
    let words: Vec<_> = line.split(' ').collect();
    parse(&words).unwrap_err().to_string()
}

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn url(host: &str, port: u16, path: &str) -> Url {
    Url { host: host.to_owned(), port, path: path.to_owned() }
}

/// Each command with all its arguments and with as few as it needs, and its rule for SIGTERM.
fn table() -> Vec<(&'static str, Command, Option<TermRule>)> {
    let text = || "text".to_owned();
    let path = || "/f".to_owned();
    let exit = |after, code| Some(TermRule::Exit { after, code });
    let write = |time, length| Command::Write(Writing { rate: 10, time, length });
    vec![
        ("sleep 1", Command::Sleep { time: seconds(1) }, None),
        ("exit 3", Command::Exit { code: 3 }, None),
        ("trap 4", Command::Trap { code: 4 }, exit(Duration::ZERO, 4)),
        ("on-term 5", Command::OnTerm { code: 5 }, exit(Duration::ZERO, 5)),
        ("term-after 6", Command::TermAfter { time: seconds(6), code: 0 }, exit(seconds(6), 0)),
        ("term-after 6 7", Command::TermAfter { time: seconds(6), code: 7 }, exit(seconds(6), 7)),
        ("ignore-term", Command::IgnoreTerm { time: None }, Some(TermRule::Ignore)),
        ("ignore-term 8", Command::IgnoreTerm { time: Some(seconds(8)) }, Some(TermRule::Ignore)),
        ("serve 80", Command::Serve { port: 80, text: "ok".to_owned() }, exit(Duration::ZERO, 0)),
        ("serve 80 text", Command::Serve { port: 80, text: text() }, exit(Duration::ZERO, 0)),
        ("fetch http://web", Command::Fetch { url: url("web", 80, "/") }, None),
        ("env", Command::Env, None),
        ("pwd", Command::Pwd, None),
        ("print text", Command::Print { text: text() }, None),
        ("eprint text", Command::Eprint { text: text() }, None),
        ("read /f", Command::Read { path: path() }, None),
        ("put /f text", Command::Put { path: path(), text: text() }, None),
        ("remove /f", Command::Remove { path: path() }, None),
        ("healthy /f", Command::Healthy { path: path() }, None),
        ("flip /f 2", Command::Flip { path: path(), interval: seconds(2), times: None }, None),
        ("flip /f 2 3", Command::Flip { path: path(), interval: seconds(2), times: Some(3) }, None),
        ("write 10", write(None, 100), None),
        ("write 10 2", write(Some(seconds(2)), 100), None),
        ("write 10 2 5", write(Some(seconds(2)), 5), None),
        ("alloc 9", Command::Alloc { mib: 9, time: Duration::ZERO }, None),
        ("alloc 9 1", Command::Alloc { mib: 9, time: seconds(1) }, None),
        ("alloc-child 9", Command::AllocChild { mib: 9 }, None),
        ("burn 1", Command::Burn { time: seconds(1) }, None),
        ("fork 2 1", Command::Fork { children: 2, time: seconds(1) }, None),
        ("spawn 2 1", Command::Spawn { children: 2, time: seconds(1) }, None),
    ]
}

#[test]
fn every_command_means_what_the_table_says() {
    for (line, command, term) in table() {
        assert_eq!(one(line), command, "{line}");
        assert_eq!(command.term_rule(), term, "{line}");
    }
}

/// The usage lines are the help, and the parser looks commands up in them.
#[test]
fn the_usage_names_each_command_of_the_table_once_and_counts_its_arguments() {
    for usage in USAGE {
        let name = usage.split(' ').next().unwrap();
        let most = usage.split(' ').count();
        let least = usage.split(' ').filter(|word| !word.starts_with('[') && !word.ends_with(']')).count();
        let counts: Vec<_> = table()
            .iter()
            .map(|row| row.0)
            .filter(|line| line.split(' ').next() == Some(name))
            .map(|line| line.split(' ').count())
            .collect();
        assert_eq!((counts.iter().min(), counts.iter().max()), (Some(&least), Some(&most)), "{usage}");
        assert_eq!(USAGE.iter().filter(|other| other.split(' ').next() == Some(name)).count(), 1, "{usage}");
    }
    assert!(table().iter().all(|row| USAGE.iter().any(|usage| usage.split(' ').next() == row.0.split(' ').next())));
}

#[test]
fn the_readme_has_a_row_for_each_usage() {
    let readme = include_str!("../../README.md");
    let rows: Vec<_> = readme.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` |")).collect();
    assert_eq!(rows.iter().map(|row| row.0).collect::<Vec<_>>(), USAGE);
}

#[test]
fn one_argument_too_many_or_too_few_is_told_with_the_form() {
    for usage in USAGE {
        let name = usage.split(' ').next().unwrap();
        let longest = table().into_iter().map(|row| row.0).rfind(|line| line.split(' ').next() == Some(name)).unwrap();
        assert_eq!(refused(&format!("{longest} 1")), format!("the form is: {usage}"));
        let shortest = table().into_iter().map(|row| row.0).find(|line| line.split(' ').next() == Some(name)).unwrap();
        if let Some((shorter, _)) = shortest.rsplit_once(' ') {
            assert_eq!(refused(shorter), format!("the form is: {usage}"), "{shorter}");
        }
    }
}

#[test]
fn steps_are_joined_by_a_plus_of_its_own() {
    let steps = parse(&["print", "a+b", JOIN, "exit", "1"]).unwrap();
    assert_eq!(steps, [Command::Print { text: "a+b".to_owned() }, Command::Exit { code: 1 }]);
    for words in [&[][..], &[JOIN], &["env", JOIN], &[JOIN, "env"], &["env", JOIN, JOIN, "env"]] {
        assert_eq!(parse(words), Err(ParseError::NoCommand), "{words:?}");
    }
}

#[test]
fn an_error_in_any_step_refuses_all() {
    let error = parse(&["put", "/f", "x", JOIN, "explode"]).unwrap_err();
    assert_eq!(error, ParseError::UnknownCommand { word: "explode".to_owned() });
    assert_eq!(error.to_string(), r#"no command is called "explode""#);
}

#[test]
fn seconds_are_decimal() {
    for (text, nanos) in [("0", 0), ("0.5", 500_000_000), ("2.000000001", 2_000_000_001), ("01.50", 1_500_000_000)] {
        assert_eq!(one(&format!("sleep {text}")), Command::Sleep { time: Duration::from_nanos(nanos) }, "{text}");
    }
    assert_eq!(one("sleep 1000000000"), Command::Sleep { time: seconds(1_000_000_000) });
    for text in
        ["", ".", "1.", ".5", "-1", "+1", "1e3", "1.0000000001", "1000000000.1", "99999999999999999999", "1s", "٣"]
    {
        let words = parse(&["sleep", text]).unwrap_err().to_string();
        assert_eq!(words, format!("sleep: SECONDS is digits[.digits], at most 1000000000, and {text:?} is not"));
    }
}

#[test]
fn numbers_keep_to_their_range() {
    for line in [
        "exit 256",
        "exit -1",
        "exit +1",
        "exit x",
        "serve 65536",
        "alloc 4294967296",
        "alloc 0.5",
        "fork 4294967296 1",
        "flip /f 1 -1",
        "write 1000000000001",
        "write 1 1 1",
        "write 1 1 1048577",
        "read ",
    ] {
        let error = refused(line);
        assert!(error.starts_with(line.split(' ').next().unwrap()) && error.ends_with("is not"), "{line}: {error}");
    }
    assert_eq!(one("exit 255"), Command::Exit { code: 255 });
}

#[test]
fn addresses_fall_into_their_parts() {
    for (text, parts) in [
        ("http://web", ("web", 80, "/")),
        ("http://web:8080", ("web", 8080, "/")),
        ("http://10.0.0.1:1/a/b?c=d:e", ("10.0.0.1", 1, "/a/b?c=d:e")),
        ("http://[::1]", ("::1", 80, "/")),
        ("http://[::1]:81/x", ("::1", 81, "/x")),
    ] {
        let (host, port, path) = parts;
        assert_eq!(text.parse(), Ok(url(host, port, path)), "{text}");
    }
    for text in [
        "",
        "web",
        "https://web",
        "http://",
        "http://:80",
        "http:///a",
        "http://web:",
        "http://web:x",
        "http://web:65536",
        "http://[::1",
        "http://[::1]x",
        "http://[]",
        "http://u@web",
        "http://web/a b",
        "http://web/\r\nHost:",
        "http://wéb",
    ] {
        assert_eq!(text.parse::<Url>(), Err(()), "{text:?} must be refused");
    }
}

#[test]
fn lines_have_their_number_and_their_length() {
    let line = |number, length| Writing { rate: 1, time: None, length }.line(number);
    assert_eq!(line(7, 20), "0000000007 xxxxxxxx\n");
    assert_eq!(line(7, 12), "0000000007 \n");
    assert_eq!(line(7, 11), "0000000007\n");
    assert_eq!(line(123, 3), "23\n");
    assert_eq!(line(123, 2), "3\n");
    assert_eq!(line(12_345_678_901, 14), "12345678901 x\n");
    for length in 2..40 {
        assert_eq!(line(0, length).len(), usize::try_from(length).unwrap());
    }
}

#[test]
fn a_limited_rate_and_time_fix_the_number_of_lines() {
    let writing = |rate, time: Option<Duration>, length| Writing { rate, time, length };
    assert_eq!(writing(1000, Some(seconds(2)), 100).lines(), Some(20));
    assert_eq!(writing(99, Some(seconds(1)), 100).lines(), Some(0));
    assert_eq!(
        writing(1_000_000_000_000, Some(seconds(1_000_000_000)), 2).lines(),
        Some(500_000_000_000_000_000_000_u128.min(u64::MAX.into()).try_into().unwrap())
    );
    assert_eq!(writing(0, Some(seconds(1)), 100).lines(), None);
    assert_eq!(writing(1, None, 100).lines(), None);
}

#[test]
fn a_line_is_due_exactly_when_it_counts() {
    for (rate, length) in [(1, 2), (3, 7), (1000, 100), (999_983, 101), (1_000_000_000_000, 1_048_576)] {
        let writing = Writing { rate, time: None, length };
        for number in [0, 1, 2, 99, 100_000] {
            let due = writing.due(number);
            assert_eq!(writing.lines_after(due - Duration::from_nanos(1)), number, "{writing:?}, line {number}");
            assert!(writing.lines_after(due) > number, "{writing:?}, line {number}");
        }
    }
}
