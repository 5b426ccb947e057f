//! The grammar: words in, commands out.
//!
//! This file needs `alloc` and nothing else, so that another crate can take it in by path.

use alloc::{borrow::ToOwned, format, string::String, vec::Vec};
use core::{fmt, iter, ops::RangeInclusive, slice, str::FromStr, time::Duration};

/// One step of the program.
///
/// Steps run one after the other. A step that comes to its end is followed by the next; one that fails
/// ends the program with exit code 1 and a line on standard error. After the last step the exit code is 0.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    /// `sleep SECONDS`: does nothing for a while.
    Sleep {
        /// How long.
        time: Duration,
    },
    /// `exit CODE`: ends the program.
    Exit {
        /// The exit code.
        code: u8,
    },
    /// `trap CODE`: from now on SIGTERM ends the program at once; the next step follows immediately.
    Trap {
        /// The exit code then.
        code: u8,
    },
    /// `on-term CODE`: waits for SIGTERM for ever and ends the program at once when it comes.
    OnTerm {
        /// The exit code then.
        code: u8,
    },
    /// `term-after SECONDS [CODE]`: waits for SIGTERM for ever, and ends the program some time after it came.
    TermAfter {
        /// From the first SIGTERM to the end.
        time: Duration,
        /// The exit code then; 0 unless given.
        code: u8,
    },
    /// `ignore-term [SECONDS]`: waits; from now on SIGTERM does nothing, in later steps too.
    IgnoreTerm {
        /// How long to wait; for ever if `None`.
        time: Option<Duration>,
    },
    /// `serve PORT [TEXT]`: answers every HTTP GET and HEAD with 200 and the text; SIGTERM ends the program with 0.
    ///
    /// Prints `listening on PORT` once connections are accepted.
    Serve {
        /// TCP port on all IPv4 addresses; 0 lets the host choose.
        port: u16,
        /// The body, without the line feed that is added; `ok` unless given.
        text: String,
    },
    /// `fetch URL`: prints the body that an HTTP GET brings; fails unless the status is 200.
    Fetch {
        /// What to get.
        url: Url,
    },
    /// `env`: prints the environment, one `NAME=VALUE` per line, sorted.
    Env,
    /// `pwd`: prints the working directory.
    Pwd,
    /// `print TEXT`: writes the text and a line feed to standard output.
    Print {
        /// The text.
        text: String,
    },
    /// `eprint TEXT`: writes the text and a line feed to standard error.
    Eprint {
        /// The text.
        text: String,
    },
    /// `read FILE`: copies the file to standard output.
    Read {
        /// Its path.
        path: String,
    },
    /// `put FILE TEXT`: writes the text, and nothing else, to the file.
    Put {
        /// Its path.
        path: String,
        /// The whole content.
        text: String,
    },
    /// `remove FILE`: removes the file; one that does not exist is fine.
    Remove {
        /// Its path.
        path: String,
    },
    /// `healthy FILE`: prints `healthy` if the file exists; else prints `unhealthy` and ends the program with 1.
    Healthy {
        /// Its path.
        path: String,
    },
    /// `flip FILE SECONDS [TIMES]`: after each interval creates the file if it is missing and removes it if not.
    Flip {
        /// Its path.
        path: String,
        /// From the start to the first change, and from each change to the next.
        interval: Duration,
        /// How many changes; for ever if `None`.
        times: Option<u32>,
    },
    /// `write RATE [SECONDS [LENGTH]]`: writes lines to standard output at a steady rate.
    Write(Writing),
    /// `alloc MIB [SECONDS]`: takes memory and writes to all of it, prints `allocated N MiB`, waits, gives it back.
    Alloc {
        /// How much, in MiB.
        mib: u32,
        /// How long it is held; not at all unless given.
        time: Duration,
    },
    /// `alloc-child MIB`: as `alloc`, in a child which the kernel kills first where memory runs out.
    ///
    /// Prints how the child ended, `child exited N` or `child killed by signal N`; both are fine.
    AllocChild {
        /// How much, in MiB.
        mib: u32,
    },
    /// `burn SECONDS`: keeps one processor busy.
    Burn {
        /// How long, in real time.
        time: Duration,
    },
    /// `fork COUNT SECONDS`: starts children that sleep, prints `started COUNT`, waits for them to end.
    Fork {
        /// How many; if one cannot be started, all are killed and the step fails.
        children: u32,
        /// How long each sleeps.
        time: Duration,
    },
    /// `spawn COUNT SECONDS`: as `fork`, but never waits: ended children stay zombies, others become orphans.
    Spawn {
        /// How many; if one cannot be started, all are killed and the step fails.
        children: u32,
        /// How long each sleeps.
        time: Duration,
    },
}

/// What SIGTERM does to the program, once a step has said so.
///
/// Before that the kernel's default holds: as process 1 of a container the program does not notice
/// SIGTERM at all, as any other process it is ended by it (the engine shows exit code 143).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TermRule {
    /// Nothing.
    Ignore,
    /// It ends.
    Exit {
        /// How long after the first SIGTERM.
        after: Duration,
        /// With which exit code.
        code: u8,
    },
}

impl Command {
    /// The rule that holds from the beginning of this step on; `None` leaves the one in force as it is.
    #[must_use]
    pub fn term_rule(&self) -> Option<TermRule> {
        match self {
            Self::Trap { code } | Self::OnTerm { code } => Some(TermRule::Exit { after: Duration::ZERO, code: *code }),
            Self::TermAfter { time, code } => Some(TermRule::Exit { after: *time, code: *code }),
            Self::Serve { .. } => Some(TermRule::Exit { after: Duration::ZERO, code: 0 }),
            Self::IgnoreTerm { .. } => Some(TermRule::Ignore),
            Self::Sleep { .. }
            | Self::Exit { .. }
            | Self::Fetch { .. }
            | Self::Env
            | Self::Pwd
            | Self::Print { .. }
            | Self::Eprint { .. }
            | Self::Read { .. }
            | Self::Put { .. }
            | Self::Remove { .. }
            | Self::Healthy { .. }
            | Self::Flip { .. }
            | Self::Write(_)
            | Self::Alloc { .. }
            | Self::AllocChild { .. }
            | Self::Burn { .. }
            | Self::Fork { .. }
            | Self::Spawn { .. } => None,
        }
    }
}

/// An address `http://HOST[:PORT][/PATH]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Url {
    /// A name or an address; IPv6 without its brackets.
    pub host: String,
    /// 80 unless given.
    pub port: u16,
    /// From the first slash on, query included.
    pub path: String,
}

impl FromStr for Url {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(());
        }
        let rest = text.strip_prefix("http://").ok_or(())?;
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let (host, port) = match authority.strip_prefix('[') {
            Some(literal) => literal.split_once(']').ok_or(())?,
            None => authority.split_at(authority.find(':').unwrap_or(authority.len())),
        };
        let port = match port.strip_prefix(':') {
            Some(number) => number.parse().map_err(|_| ())?,
            None if port.is_empty() => 80,
            None => return Err(()),
        };
        if host.is_empty() || host.contains(['@', '[', ']']) {
            return Err(());
        }
        let path = if path.is_empty() { "/" } else { path };
        Ok(Self { host: host.to_owned(), port, path: path.to_owned() })
    }
}

/// The lines that `write` writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Writing {
    /// Bytes per second; 0 is as fast as they are taken.
    pub rate: u64,
    /// How long; for ever if `None`.
    pub time: Option<Duration>,
    /// Bytes per line, the line feed included; 2 to 1,048,576, and 100 unless given.
    pub length: u32,
}

impl Writing {
    /// How many lines are written in all; `None` if that is not known before: at full speed, or for ever.
    #[must_use]
    pub fn lines(&self) -> Option<u64> {
        match self.time {
            Some(time) if self.rate > 0 => Some(self.lines_after(time)),
            Some(_) | None => None,
        }
    }

    /// How many lines are due at a limited rate after this time.
    #[must_use]
    pub fn lines_after(&self, time: Duration) -> u64 {
        let lines = u128::from(self.rate) * time.as_nanos() / (NANOS_PER_SECOND * u128::from(self.length));
        u64::try_from(lines).unwrap_or(u64::MAX)
    }

    /// When this line, counted from 0, is due at a limited rate, from the start of the step.
    #[must_use]
    pub fn due(&self, line: u64) -> Duration {
        let bytes = (u128::from(line) + 1) * u128::from(self.length);
        let nanos = (bytes * NANOS_PER_SECOND).div_ceil(u128::from(self.rate.max(1)));
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// A line with its line feed: its number in ten digits, a space, then `x`; a short line keeps the end
    /// of the number.
    #[must_use]
    pub fn line(&self, number: u64) -> String {
        let room = usize::try_from(self.length).unwrap_or(usize::MAX).saturating_sub(1);
        let digits = format!("{number:010}");
        let mut line = match digits.len().checked_sub(room) {
            Some(excess) => digits[excess..].to_owned(),
            None => digits + " ",
        };
        line.extend(iter::repeat_n('x', room.saturating_sub(line.len())));
        line.push('\n');
        line
    }
}

const NANOS_PER_SECOND: u128 = 1_000_000_000;

/// The word between two steps; no argument can be just this.
pub const JOIN: &str = "+";

/// Every command with its arguments, in the order of the help.
pub const USAGE: &[&str] = &[
    "sleep SECONDS",
    "exit CODE",
    "trap CODE",
    "on-term CODE",
    "term-after SECONDS [CODE]",
    "ignore-term [SECONDS]",
    "serve PORT [TEXT]",
    "fetch URL",
    "env",
    "pwd",
    "print TEXT",
    "eprint TEXT",
    "read FILE",
    "put FILE TEXT",
    "remove FILE",
    "healthy FILE",
    "flip FILE SECONDS [TIMES]",
    "write RATE [SECONDS [LENGTH]]",
    "alloc MIB [SECONDS]",
    "alloc-child MIB",
    "burn SECONDS",
    "fork COUNT SECONDS",
    "spawn COUNT SECONDS",
];

/// Why the words are no program. The program ends with exit code 64 then, and nothing is done.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ParseError {
    /// No step, or nothing before, between or behind two `+`.
    NoCommand,
    /// No command of this name.
    UnknownCommand {
        /// The word.
        word: String,
    },
    /// Too few or too many arguments.
    ArgumentCount {
        /// The right form, from [`USAGE`].
        usage: &'static str,
    },
    /// An argument is not what stands in its place.
    BadArgument {
        /// The command.
        command: &'static str,
        /// The place, as [`USAGE`] names it.
        place: &'static str,
        /// What may stand there.
        allowed: &'static str,
        /// The argument.
        word: String,
    },
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoCommand => write!(f, "no command"),
            Self::UnknownCommand { word } => write!(f, "no command is called {word:?}"),
            Self::ArgumentCount { usage } => write!(f, "the form is: {usage}"),
            Self::BadArgument { command, place, allowed, word } => {
                write!(f, "{command}: {place} is {allowed}, and {word:?} is not")
            }
        }
    }
}

impl core::error::Error for ParseError {}

/// Reads the arguments of the program, its own name not among them.
///
/// ```text
/// program = step { "+" step }
/// step    = a line of USAGE, its capital words replaced, what is in brackets optional
/// SECONDS = digits [ "." 1 to 9 digits ], at most 1,000,000,000
/// CODE    = 0 to 255        PORT = 0 to 65535       MIB, COUNT, TIMES = 0 to 4,294,967,295
/// RATE    = bytes per second, 0 to 1,000,000,000,000    LENGTH = 2 to 1,048,576
/// URL     = "http://" HOST [ ":" PORT ] [ "/" … ], printable ASCII
/// TEXT, FILE = any word but "+"; FILE is not empty
/// ```
///
/// # Errors
/// The words break this grammar; the first error is told.
pub fn parse(words: &[&str]) -> Result<Vec<Command>, ParseError> {
    words.split(|word| *word == JOIN).map(parse_step).collect()
}

fn parse_step(words: &[&str]) -> Result<Command, ParseError> {
    let (name, words) = words.split_first().ok_or(ParseError::NoCommand)?;
    let usage = USAGE.iter().find(|usage| command_of(usage) == *name);
    let usage = usage.ok_or_else(|| ParseError::UnknownCommand { word: (*name).to_owned() })?;
    let mut arguments = Arguments { usage, words: words.iter() };
    let command = parse_command(command_of(usage), &mut arguments)?;
    match arguments.words.next() {
        None => Ok(command),
        Some(_) => Err(ParseError::ArgumentCount { usage }),
    }
}

fn command_of(usage: &'static str) -> &'static str {
    usage.split_once(' ').map_or(usage, |(command, _)| command)
}

fn parse_command(name: &'static str, rest: &mut Arguments<'_>) -> Result<Command, ParseError> {
    Ok(match name {
        "sleep" => Command::Sleep { time: rest.seconds()? },
        "exit" => Command::Exit { code: rest.code()? },
        "trap" => Command::Trap { code: rest.code()? },
        "on-term" => Command::OnTerm { code: rest.code()? },
        "term-after" => {
            Command::TermAfter { time: rest.seconds()?, code: rest.optional(Arguments::code)?.unwrap_or(0) }
        }
        "ignore-term" => Command::IgnoreTerm { time: rest.optional(Arguments::seconds)? },
        "serve" => Command::Serve {
            port: rest.port()?,
            text: rest.optional(Arguments::text)?.unwrap_or_else(|| "ok".to_owned()),
        },
        "fetch" => Command::Fetch { url: rest.url()? },
        "env" => Command::Env,
        "pwd" => Command::Pwd,
        "print" => Command::Print { text: rest.text()? },
        "eprint" => Command::Eprint { text: rest.text()? },
        "read" => Command::Read { path: rest.path()? },
        "put" => Command::Put { path: rest.path()?, text: rest.text()? },
        "remove" => Command::Remove { path: rest.path()? },
        "healthy" => Command::Healthy { path: rest.path()? },
        "flip" => Command::Flip {
            path: rest.path()?,
            interval: rest.seconds()?,
            times: rest.optional(|rest| rest.count("TIMES"))?,
        },
        "write" => Command::Write(rest.writing()?),
        "alloc" => {
            Command::Alloc { mib: rest.count("MIB")?, time: rest.optional(Arguments::seconds)?.unwrap_or_default() }
        }
        "alloc-child" => Command::AllocChild { mib: rest.count("MIB")? },
        "burn" => Command::Burn { time: rest.seconds()? },
        "fork" => Command::Fork { children: rest.count("COUNT")?, time: rest.seconds()? },
        "spawn" => Command::Spawn { children: rest.count("COUNT")?, time: rest.seconds()? },
        word => return Err(ParseError::UnknownCommand { word: word.to_owned() }),
    })
}

/// The words of one step that are not read yet.
struct Arguments<'a> {
    usage: &'static str,
    words: slice::Iter<'a, &'a str>,
}

impl<'a> Arguments<'a> {
    fn word(&mut self) -> Result<&'a str, ParseError> {
        self.words.next().copied().ok_or(ParseError::ArgumentCount { usage: self.usage })
    }

    fn optional<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, ParseError>) -> Result<Option<T>, ParseError> {
        if self.words.len() == 0 { Ok(None) } else { read(self).map(Some) }
    }

    fn text(&mut self) -> Result<String, ParseError> {
        self.word().map(str::to_owned)
    }

    fn path(&mut self) -> Result<String, ParseError> {
        let word = self.word()?;
        self.check("FILE", "a path", word, (!word.is_empty()).then(|| word.to_owned()))
    }

    fn seconds(&mut self) -> Result<Duration, ParseError> {
        let word = self.word()?;
        self.check("SECONDS", "digits[.digits], at most 1000000000", word, parse_seconds(word))
    }

    fn code(&mut self) -> Result<u8, ParseError> {
        self.number("CODE", "0 to 255", 0..=u8::MAX)
    }

    fn port(&mut self) -> Result<u16, ParseError> {
        self.number("PORT", "0 to 65535", 0..=u16::MAX)
    }

    fn count(&mut self, place: &'static str) -> Result<u32, ParseError> {
        self.number(place, "0 to 4294967295", 0..=u32::MAX)
    }

    fn url(&mut self) -> Result<Url, ParseError> {
        let word = self.word()?;
        self.check("URL", "http://HOST[:PORT][/PATH]", word, word.parse().ok())
    }

    fn writing(&mut self) -> Result<Writing, ParseError> {
        let rate = self.number("RATE", "0 to 1000000000000", 0..=1_000_000_000_000)?;
        let time = self.optional(Self::seconds)?;
        let length = self.optional(|rest| rest.number("LENGTH", "2 to 1048576", 2..=1_048_576))?.unwrap_or(100);
        Ok(Writing { rate, time, length })
    }

    fn number<T: FromStr + PartialOrd>(
        &mut self,
        place: &'static str,
        allowed: &'static str,
        range: RangeInclusive<T>,
    ) -> Result<T, ParseError> {
        let word = self.word()?;
        let number = if are_digits(word) { word.parse().ok() } else { None };
        self.check(place, allowed, word, number.filter(|number| range.contains(number)))
    }

    fn check<T>(
        &self,
        place: &'static str,
        allowed: &'static str,
        word: &str,
        value: Option<T>,
    ) -> Result<T, ParseError> {
        let command = command_of(self.usage);
        value.ok_or_else(|| ParseError::BadArgument { command, place, allowed, word: word.to_owned() })
    }
}

fn parse_seconds(text: &str) -> Option<Duration> {
    const LIMIT: Duration = Duration::from_secs(1_000_000_000);
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    if !are_digits(whole) || !are_digits(fraction) || fraction.len() > 9 {
        return None;
    }
    let nanos = format!("{fraction:0<9}").parse().ok()?;
    let time = Duration::from_secs(whole.parse().ok()?).checked_add(Duration::from_nanos(nanos))?;
    (time <= LIMIT).then_some(time)
}

fn are_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
