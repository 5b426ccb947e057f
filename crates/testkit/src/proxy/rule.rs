//! Which request, and what befalls it.

use std::{fmt, sync::Arc, time::Duration};

use super::Seen;

/// Names requests by method and path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// `None` is any.
    method: Option<String>,
    /// Segments; `*` is any one, `**` at the end any number.
    path: Vec<String>,
    /// The query contains this.
    query: String,
}

impl Pattern {
    /// Requests of this method whose path, without version prefix, is this; `*` stands for any one
    /// segment, `**` at the end for all that may follow.
    #[must_use]
    pub fn new(method: &str, path: &str) -> Self {
        Self { method: Some(method.to_owned()), path: segments(path), query: String::new() }
    }

    /// Every request.
    #[must_use]
    pub fn any() -> Self {
        Self { method: None, path: segments("/**"), query: String::new() }
    }

    /// Only those whose query contains this text, undecoded.
    #[must_use]
    pub fn with_query(self, text: &str) -> Self {
        Self { query: text.to_owned(), ..self }
    }

    pub(super) fn fits(&self, seen: &Seen) -> bool {
        self.method.as_ref().is_none_or(|method| *method == seen.method)
            && seen.query.contains(&self.query)
            && fits_path(&self.path, &segments(&seen.path))
    }
}

fn segments(path: &str) -> Vec<String> {
    path.split('/').filter(|segment| !segment.is_empty()).map(str::to_owned).collect()
}

fn fits_path(pattern: &[String], path: &[String]) -> bool {
    match (pattern.split_first(), path.split_first()) {
        (None, None) => true,
        (Some((wanted, [])), _) if wanted == "**" => true,
        (Some((wanted, pattern)), Some((found, path))) => {
            (wanted == "*" || wanted == found) && fits_path(pattern, path)
        }
        (None, Some(_)) | (Some(_), None) => false,
    }
}

/// A fault and the requests that have it.
#[derive(Clone, Debug)]
pub struct Rule {
    pub(super) pattern: Pattern,
    pub(super) fault: Fault,
    skip: u32,
    times: Option<u32>,
}

impl Rule {
    /// Every request that fits has the fault.
    #[must_use]
    pub fn new(pattern: Pattern, fault: Fault) -> Self {
        Self { pattern, fault, skip: 0, times: None }
    }

    /// Not the first `count` of them.
    #[must_use]
    pub fn skip(self, count: u32) -> Self {
        Self { skip: count, ..self }
    }

    /// Only `count` of them.
    #[must_use]
    pub fn times(self, count: u32) -> Self {
        Self { times: Some(count), ..self }
    }

    /// Counts a request that fits; whether this rule holds for it, unless another does.
    pub(super) fn takes_its_turn(&mut self, another_holds: bool) -> bool {
        if self.skip > 0 {
            self.skip -= 1;
            return false;
        }
        if another_holds || self.times == Some(0) {
            return false;
        }
        self.times = self.times.map(|times| times - 1);
        true
    }
}

/// What befalls a request.
#[derive(Clone)]
pub enum Fault {
    /// It reaches the engine this much later.
    DelayRequest(Duration),
    /// It never reaches the engine, and nothing ever comes back.
    Hang,
    /// It never reaches the engine; the connection is closed.
    CutBefore,
    /// The engine does it; the connection is closed instead of an answer.
    CutAfter,
    /// The engine does it; nothing ever comes back.
    DropAnswer,
    /// The answer begins this much later.
    DelayAnswer(Duration),
    /// The connection is closed after so many bytes of the answer's body.
    CutBody(usize),
    /// The body of the answer comes in pieces of at most so many bytes, each this much after the last.
    Trickle(usize, Duration),
    /// The engine is not asked: this is the answer.
    Answer(Reply),
    /// The answer is held until it is complete, and changed.
    Rewrite(Arc<dyn Fn(Reply) -> Reply + Send + Sync>),
    /// Each line of the answer's body as it comes, without its line feed: for streams of JSON.
    Lines(Arc<dyn Fn(&str) -> LineFate + Send + Sync>),
}

impl Fault {
    /// An answer of JSON that the engine is not asked for.
    #[must_use]
    pub fn answer(status: u16, body: &str) -> Self {
        Self::Answer(Reply { status, body: body.as_bytes().to_vec() })
    }

    /// Changes the complete answer.
    pub fn rewrite(change: impl Fn(Reply) -> Reply + Send + Sync + 'static) -> Self {
        Self::Rewrite(Arc::new(change))
    }

    /// Decides about each line of the answer's body.
    pub fn lines(decide: impl Fn(&str) -> LineFate + Send + Sync + 'static) -> Self {
        Self::Lines(Arc::new(decide))
    }
}

impl fmt::Debug for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DelayRequest(time) => write!(f, "DelayRequest({time:?})"),
            Self::Hang => f.write_str("Hang"),
            Self::CutBefore => f.write_str("CutBefore"),
            Self::CutAfter => f.write_str("CutAfter"),
            Self::DropAnswer => f.write_str("DropAnswer"),
            Self::DelayAnswer(time) => write!(f, "DelayAnswer({time:?})"),
            Self::CutBody(bytes) => write!(f, "CutBody({bytes})"),
            Self::Trickle(bytes, every) => write!(f, "Trickle({bytes}, {every:?})"),
            Self::Answer(reply) => write!(f, "Answer({})", reply.status),
            Self::Rewrite(_) => f.write_str("Rewrite(..)"),
            Self::Lines(_) => f.write_str("Lines(..)"),
        }
    }
}

/// A complete answer, as far as rules see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// Such as 404.
    pub status: u16,
    /// The whole body, decoded.
    pub body: Vec<u8>,
}

/// What becomes of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineFate {
    /// It goes on.
    Pass,
    /// It is lost.
    Lose,
    /// It comes twice.
    Double,
    /// It comes this much later; lines after it may overtake it.
    Delay(Duration),
    /// Another comes in its place.
    Replace(String),
    /// The connection is closed before it.
    Cut,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_by_method_segments_and_query() {
        let seen = |path: &str| Seen { method: "POST".into(), path: path.into(), query: "t=5&signal=SIGTERM".into() };
        for (pattern, path, expected) in [
            (Pattern::new("POST", "/containers/*/start"), "/containers/web/start", true),
            (Pattern::new("POST", "/containers/*/start"), "/containers/web/stop", false),
            (Pattern::new("POST", "/containers/*/start"), "/containers/start", false),
            (Pattern::new("POST", "/containers/*"), "/containers/web/start", false),
            (Pattern::new("POST", "/containers/**"), "/containers/web/start", true),
            (Pattern::new("POST", "/containers/**"), "/containers", true),
            (Pattern::new("GET", "/containers/**"), "/containers/web/start", false),
            (Pattern::new("POST", "/a").with_query("signal=SIGTERM"), "/a", true),
            (Pattern::new("POST", "/a").with_query("signal=SIGKILL"), "/a", false),
            (Pattern::any(), "/", true),
        ] {
            assert_eq!(pattern.fits(&seen(path)), expected, "{pattern:?} {path}");
        }
    }

    #[test]
    fn a_rule_skips_and_counts() {
        let mut rule = Rule::new(Pattern::any(), Fault::Hang).skip(1).times(2);
        let turns: Vec<bool> = (0..5).map(|_| rule.takes_its_turn(false)).collect();
        assert_eq!(turns, [false, true, true, false, false]);
        let mut other = Rule::new(Pattern::any(), Fault::Hang).times(1);
        assert!(!other.takes_its_turn(true), "another rule holds");
        assert!(other.takes_its_turn(false));
    }
}
