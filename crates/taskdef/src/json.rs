//! A strict JSON parser (RFC 8259) that keeps places and the source text of numbers.
//!
//! Ours, because no kept library gives all three of places, duplicate keys and number tokens
//! without `std`, and the core reads stored definitions back with it. Compared with `serde_json`
//! by property tests.

use alloc::{boxed::Box, collections::BTreeMap, format, string::String, vec::Vec};

use crate::{
    finding::{Advice, Collector, Place, allowed, line_and_column, quoted},
    limits::MAX_NESTING,
    node::{Member, Node, Offset, Value},
};

/// Parses the whole text from `start`; `None` when it is not JSON, with one finding that says where.
///
/// Duplicate keys are findings, and the first value stays.
pub(crate) fn parse(text: &str, start: usize, findings: &mut Collector) -> Option<Node> {
    let mut parser = Parser { text, at: start, depth: 0, findings };
    match parser.document() {
        Ok(node) => Some(node),
        Err(fault) => {
            parser.findings.error(1, &Place::offset(fault.at), fault.message, fault.advice);
            None
        }
    }
}

struct Fault {
    at: Offset,
    message: String,
    advice: Option<Advice>,
}

struct Parser<'t, 'f> {
    text: &'t str,
    /// Always on a character boundary.
    at: usize,
    depth: usize,
    findings: &'f mut Collector,
}

const VALUE: &str = "a value";

impl Parser<'_, '_> {
    fn document(&mut self) -> Result<Node, Fault> {
        let node = self.value(VALUE)?;
        self.skip_blanks();
        if self.peek().is_some() { Err(self.unexpected("nothing after the value")) } else { Ok(node) }
    }

    fn value(&mut self, wanted: &str) -> Result<Node, Fault> {
        self.skip_blanks();
        let at = self.offset();
        let value = match self.peek() {
            Some(b'{') => self.nested(Self::object)?,
            Some(b'[') => self.nested(Self::list)?,
            Some(b'"') => Value::Text(self.string()?),
            Some(b'-' | b'0'..=b'9') => Value::Number(self.number()?),
            Some(b't') if self.take("true") => Value::Boolean(true),
            Some(b'f') if self.take("false") => Value::Boolean(false),
            Some(b'n') if self.take("null") => Value::Null,
            _ => return Err(self.unexpected(wanted)),
        };
        Ok(Node { at, value })
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<Value, Fault>) -> Result<Value, Fault> {
        if self.depth == MAX_NESTING {
            return Err(self.fault("lists and objects are nested too deep", allowed(format!("{MAX_NESTING} levels"))));
        }
        self.depth += 1;
        self.at += 1;
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn list(&mut self) -> Result<Value, Fault> {
        let mut items = Vec::new();
        self.skip_blanks();
        if self.take("]") {
            return Ok(Value::List(items));
        }
        loop {
            let wanted = if items.is_empty() { r#"a value or "]""# } else { VALUE };
            items.push(self.value(wanted)?);
            self.skip_blanks();
            if self.take("]") {
                return Ok(Value::List(items));
            }
            self.expect(",", r#""," or "]""#)?;
        }
    }

    fn object(&mut self) -> Result<Value, Fault> {
        let mut members: Vec<Member> = Vec::new();
        let mut seen: BTreeMap<Box<str>, Offset> = BTreeMap::new();
        self.skip_blanks();
        if self.take("}") {
            return Ok(Value::Object(members));
        }
        loop {
            self.skip_blanks();
            let key_at = self.offset();
            if self.peek() != Some(b'"') {
                return Err(self.unexpected(if members.is_empty() {
                    r#"a key in quotes or "}""#
                } else {
                    "a key in quotes"
                }));
            }
            let key = self.string()?;
            self.skip_blanks();
            self.expect(":", r#"":""#)?;
            let node = self.value(VALUE)?;
            if let Some(first) = seen.get(&key) {
                self.duplicate(&key, key_at, *first);
            } else {
                seen.insert(key.clone(), key_at);
                members.push(Member::new(key, key_at, node));
            }
            self.skip_blanks();
            if self.take("}") {
                return Ok(Value::Object(members));
            }
            self.expect(",", r#""," or "}""#)?;
        }
    }

    fn duplicate(&mut self, key: &str, at: Offset, first: Offset) {
        let (line, column) = line_and_column(self.text, first);
        let message = format!("key {} is given twice, first at line {line}, column {column}, again", quoted(key));
        self.findings.error(1, &Place::offset(at), message, allowed("each key once"));
    }

    fn string(&mut self) -> Result<Box<str>, Fault> {
        let opening = self.offset();
        self.at += 1;
        let mut out = String::new();
        loop {
            let rest = &self.text[self.at..];
            let plain = rest.bytes().position(|b| matches!(b, b'"' | b'\\' | 0..=0x1f)).unwrap_or(rest.len());
            out.push_str(&rest[..plain]);
            self.at += plain;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out.into_boxed_str());
                }
                Some(b'\\') => out.push(self.escape()?),
                Some(control) => {
                    let message = format!("control character U+{control:04X} inside text");
                    return Err(self.fault(message, allowed(format!("its escape \\u{control:04x}"))));
                }
                None => {
                    return Err(Fault {
                        at: opening,
                        message: "text never ends".into(),
                        advice: allowed("a closing quote"),
                    });
                }
            }
        }
    }

    fn escape(&mut self) -> Result<char, Fault> {
        let start = self.at;
        self.at += 1;
        let plain = match self.peek() {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(start),
            _ => return Err(self.broken_escape(start)),
        };
        self.at += 1;
        Ok(plain)
    }

    /// `\uXXXX`, or two of them that form one character; half a pair is no character.
    fn unicode_escape(&mut self, start: usize) -> Result<char, Fault> {
        self.at += 1;
        let Some(first) = self.four_hex_digits() else { return Err(self.broken_escape(start)) };
        let code = match first {
            0xD800..=0xDBFF if self.take("\\u") => match self.four_hex_digits() {
                Some(low @ 0xDC00..=0xDFFF) => 0x1_0000 + ((first - 0xD800) << 10) + (low - 0xDC00),
                _ => return Err(self.broken_escape(start)),
            },
            code => code,
        };
        char::from_u32(code).ok_or_else(|| self.broken_escape(start))
    }

    fn four_hex_digits(&mut self) -> Option<u32> {
        let digits = self.text.get(self.at..self.at + 4).filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()))?;
        self.at += 4;
        u32::from_str_radix(digits, 16).ok()
    }

    fn broken_escape(&mut self, start: usize) -> Fault {
        self.at = start;
        self.fault("broken escape inside text", allowed(r#"\" \\ \/ \b \f \n \r \t \uXXXX"#))
    }

    fn number(&mut self) -> Result<Box<str>, Fault> {
        let start = self.at;
        self.take("-");
        if !self.take("0") {
            self.digits()?;
        }
        if self.take(".") {
            self.digits()?;
        }
        if self.take("e") || self.take("E") {
            let _signed = self.take("+") || self.take("-");
            self.digits()?;
        }
        Ok(self.text[start..self.at].into())
    }

    fn digits(&mut self) -> Result<(), Fault> {
        if !matches!(self.peek(), Some(b'0'..=b'9')) {
            return Err(self.unexpected("a digit"));
        }
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        Ok(())
    }

    fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, what: &str) -> bool {
        let found = self.text[self.at..].starts_with(what);
        if found {
            self.at += what.len();
        }
        found
    }

    fn expect(&mut self, what: &str, wanted: &str) -> Result<(), Fault> {
        if self.take(what) { Ok(()) } else { Err(self.unexpected(wanted)) }
    }

    fn unexpected(&self, wanted: &str) -> Fault {
        let rest = &self.text[self.at..];
        let message = if rest.is_empty() {
            "unexpected end of the text".into()
        } else if rest.starts_with("//") || rest.starts_with("/*") || rest.starts_with('#') {
            "unexpected comment, which JSON does not have,".into()
        } else {
            format!("unexpected {}", quoted(token(rest)))
        };
        self.fault(message, allowed(wanted))
    }

    fn fault(&self, message: impl Into<String>, advice: Option<Advice>) -> Fault {
        Fault { at: self.offset(), message: message.into(), advice }
    }

    fn offset(&self) -> Offset {
        Offset::try_from(self.at).unwrap_or(Offset::MAX)
    }
}

/// What stands there: a word, or one character.
fn token(rest: &str) -> &str {
    let word = rest.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
    let length = if word > 0 { word } else { rest.chars().next().map_or(0, char::len_utf8) };
    &rest[..length]
}

#[cfg(test)]
mod tests {
    use alloc::{
        string::{String, ToString},
        vec,
    };

    use proptest::prelude::*;

    use super::*;

    fn parsed(text: &str) -> Result<Node, String> {
        let mut findings = Collector::default();
        let node = parse(text, 0, &mut findings);
        let findings = findings.finish("t", text);
        match (node, findings.errors.first()) {
            (Some(node), None) => Ok(node),
            (_, Some(error)) => Err(error.to_string()),
            (None, None) => panic!("refused without a finding: {text}"),
        }
    }

    #[test]
    fn faults_say_where_and_what_is_allowed() {
        let deep = "[".repeat(1_000);
        for (text, wanted) in [
            ("", "unexpected end of the text at line 1, column 1; allowed: a value"),
            ("[1,\n }", r#"unexpected "}" at line 2, column 2; allowed: a value"#),
            ("[}", r#"unexpected "}" at line 1, column 2; allowed: a value or "]""#),
            (r#"{"a" 1}"#, r#"unexpected "1" at line 1, column 6; allowed: ":""#),
            (r#"{"a":1,}"#, r#"unexpected "}" at line 1, column 8; allowed: a key in quotes"#),
            ("{a:1}", r#"unexpected "a" at line 1, column 2; allowed: a key in quotes or "}""#),
            ("[1] x", r#"unexpected "x" at line 1, column 5; allowed: nothing after the value"#),
            ("[007]", r#"unexpected "07" at line 1, column 3; allowed: "," or "]""#),
            ("[1.]", r#"unexpected "]" at line 1, column 4; allowed: a digit"#),
            ("[+5]", r#"unexpected "+" at line 1, column 2; allowed: a value or "]""#),
            (
                "[// x\n1]",
                r#"unexpected comment, which JSON does not have, at line 1, column 2; allowed: a value or "]""#,
            ),
            ("[\"ä\",\"", "text never ends at line 1, column 6; allowed: a closing quote"),
            ("[\"a\nb\"]", r"control character U+000A inside text at line 1, column 4; allowed: its escape \u000a"),
            (
                r#"["\ud800"]"#,
                r#"broken escape inside text at line 1, column 3; allowed: \" \\ \/ \b \f \n \r \t \uXXXX"#,
            ),
            (&deep, "lists and objects are nested too deep at line 1, column 65; allowed: 64 levels"),
            (
                "{\"a\":1,\n\"a\":2}",
                "key \"a\" is given twice, first at line 1, column 2, again at line 2, column 1; allowed: each key once",
            ),
        ] {
            assert_eq!(parsed(text).unwrap_err(), wanted, "{text}");
        }
    }

    #[test]
    fn numbers_keep_their_source_text() {
        let node = parsed("[1.10, -0, 1e3]").unwrap();
        let Value::List(items) = node.value else { panic!("a list") };
        let texts: Vec<_> = items
            .iter()
            .filter_map(|item| if let Value::Number(text) = &item.value { Some(text.to_string()) } else { None })
            .collect();
        assert_eq!(texts, vec!["1.10", "-0", "1e3"]);
    }

    /// The same tree in the other library's words; numbers as their text.
    fn in_serde(node: &Node) -> serde_json::Value {
        match &node.value {
            Value::Null => serde_json::Value::Null,
            Value::Boolean(value) => (*value).into(),
            Value::Number(text) => serde_json::from_str(text).unwrap(),
            Value::Text(text) | Value::Date(text) => text.to_string().into(),
            Value::List(items) => items.iter().map(in_serde).collect(),
            Value::Object(members) => serde_json::Value::Object(
                members.iter().map(|member| (member.key.to_string(), in_serde(&member.node))).collect(),
            ),
        }
    }

    fn json_like() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            Just("{"),
            Just("}"),
            Just("["),
            Just("]"),
            Just(","),
            Just(":"),
            Just("\"a\""),
            Just("\"b\\n\""),
            Just("\"\\ud83d\\ude00\""),
            Just("\"\\ud83d\""),
            Just("1"),
            Just("-1.5e+3"),
            Just("0"),
            Just("00"),
            Just("true"),
            Just("null"),
            Just(" "),
            Just("\n"),
            Just("\""),
            Just("\\"),
            Just("ä"),
            Just("\u{1}"),
        ];
        proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_000))]

        #[test]
        fn agrees_with_serde_json(text in json_like()) {
            let theirs = serde_json::from_str::<serde_json::Value>(&text);
            match (parsed(&text), theirs) {
                (Ok(ours), Ok(theirs)) => prop_assert_eq!(in_serde(&ours), theirs),
                (Err(_), Err(_)) => {}
                (Err(refused), Ok(_)) => prop_assert!(refused.contains("is given twice"), "{}: {}", text, refused),
                (Ok(_), Err(error)) => prop_assert!(error.to_string().contains("out of range"), "{}: {}", text, error),
            }
        }
    }
}
