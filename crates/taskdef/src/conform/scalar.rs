//! Single values: text, numbers, words, amounts.

use alloc::{
    format,
    string::{String, ToString},
};

use super::Conform;
use crate::{
    amount,
    field::FieldValue,
    finding::{Place, allowed, digits, hint, quoted},
    node::{Node, Value},
    wording::{listed_with_nearest, placeholder},
};

/// How an amount of a task is written.
pub(super) struct Amount {
    key: &'static str,
    parse: fn(&str) -> Option<u32>,
    allowed: &'static str,
    unit: &'static str,
}

pub(super) const CPU: Amount =
    Amount { key: "cpu", parse: amount::cpu_units, allowed: r#"units such as "512" or "0.5 vCPU""#, unit: "vCPU" };

pub(super) const MEMORY: Amount =
    Amount { key: "memory", parse: amount::mebibytes, allowed: r#"MiB such as "512" or "0.5 GB""#, unit: "GB" };

impl Conform<'_> {
    /// Numbers and booleans count as their source text: `1.10` stays `1.10`.
    pub(super) fn text(&mut self, node: &Node, place: &Place) -> FieldValue {
        let text = match &node.value {
            Value::Text(text) => text.to_string(),
            Value::Number(text) => {
                self.note(place, "number read as text", "write it in quotes");
                text.to_string()
            }
            Value::Boolean(value) => {
                self.note(place, "boolean read as text", "write it in quotes");
                value.to_string()
            }
            Value::Null | Value::Date(_) | Value::List(_) | Value::Object(_) => {
                return self.mismatch(node, place, "text", "text in quotes");
            }
        };
        // No program can be given one: arguments and variables end at it.
        if text.contains('\0') {
            self.findings.error(51, place, "text holds a NUL character", allowed("text without NUL"));
            return FieldValue::Broken;
        }
        FieldValue::Text(text)
    }

    /// Text in which nothing may be left to fill in.
    pub(super) fn name(&mut self, node: &Node, place: &Place) -> FieldValue {
        let value = self.text(node, place);
        if value.as_text().is_some_and(|text| self.left_over(text, place)) { FieldValue::Broken } else { value }
    }

    /// V6: a placeholder was left.
    fn left_over(&mut self, text: &str, place: &Place) -> bool {
        let Some(found) = placeholder(text) else { return false };
        self.findings.error(6, place, format!("placeholder {} left", quoted(found)), allowed("a value"));
        true
    }

    /// `None`: counts as absent.
    pub(super) fn integer(&mut self, key: &str, node: &Node, place: &Place) -> Option<FieldValue> {
        let refuse = |this: &mut Self, found: &str, advice| {
            this.findings.error(3, place, format!("expected a whole number but found {found}"), advice);
            Some(FieldValue::Broken)
        };
        match &node.value {
            Value::Number(text) => match number(text) {
                Some((value, Fraction::None)) => Some(FieldValue::Integer(value)),
                Some((value, Fraction::Zero)) => {
                    self.note(place, format!("{} read as a whole number", digits(text)), format!("write {value}"));
                    Some(FieldValue::Integer(value))
                }
                None => refuse(self, &digits(text), allowed("digits only, up to 9223372036854775807")),
            },
            Value::Text(text) if text.is_empty() => {
                self.note(place, "empty text read as absent", "leave it out");
                None
            }
            Value::Text(text) => {
                if self.left_over(text, place) {
                    return Some(FieldValue::Broken);
                }
                if let Some((value, Fraction::None)) = number(text.trim()) {
                    self.note(place, format!("text {} read as a number", quoted(text)), format!("write {value}"));
                    return Some(FieldValue::Integer(value));
                }
                refuse(
                    self,
                    &quoted(text),
                    number_to_write(key, text)
                        .map_or_else(|| allowed("a whole number"), |value| hint(format!("write {value}"))),
                )
            }
            Value::Null | Value::Boolean(_) | Value::Date(_) | Value::List(_) | Value::Object(_) => {
                refuse(self, node.kind(), allowed("a whole number"))
            }
        }
    }

    pub(super) fn boolean(&mut self, node: &Node, place: &Place) -> FieldValue {
        match &node.value {
            Value::Boolean(value) => return FieldValue::Boolean(*value),
            Value::Text(text) => {
                for (word, value) in [("true", true), ("false", false)] {
                    if text.eq_ignore_ascii_case(word) {
                        self.note(place, format!("text {} read as {word}", quoted(text)), format!("write {word}"));
                        return FieldValue::Boolean(value);
                    }
                }
            }
            Value::Null | Value::Number(_) | Value::Date(_) | Value::List(_) | Value::Object(_) => {}
        }
        self.mismatch(node, place, "true or false", "true, false (without quotes)")
    }

    pub(super) fn word(&mut self, key: &str, node: &Node, place: &Place, words: &'static [&'static str]) -> FieldValue {
        let Value::Text(text) = &node.value else { return self.mismatch(node, place, "text", "text in quotes") };
        let Some(word) = words.iter().find(|word| word.eq_ignore_ascii_case(text)) else {
            if !self.left_over(text, place) {
                let advice = allowed(listed_with_nearest(text, words));
                let rule = if key == "condition" { 41 } else { 14 };
                self.findings.error(rule, place, format!("unknown {key} {}", quoted(text)), advice);
            }
            return FieldValue::Broken;
        };
        if **word != **text {
            self.note(place, format!("{} read as \"{word}\"", quoted(text)), format!("write \"{word}\""));
        }
        FieldValue::Text((*word).to_string())
    }

    /// `None`: counts as absent.
    pub(super) fn amount(&mut self, amount: &Amount, node: &Node, place: &Place) -> Option<FieldValue> {
        let text = match &node.value {
            Value::Text(text) => text.to_string(),
            Value::Number(text) => match self.amount_number(amount, text, place) {
                Some(digits) => digits,
                None => return Some(FieldValue::Broken),
            },
            Value::Null | Value::Boolean(_) | Value::Date(_) | Value::List(_) | Value::Object(_) => {
                return Some(self.mismatch(node, place, "an amount", amount.allowed));
            }
        };
        if self.left_over(&text, place) {
            return Some(FieldValue::Broken);
        }
        match (amount.parse)(&text) {
            Some(0) => self.absent_amount(amount, place),
            Some(value) => Some(FieldValue::Integer(value.into())),
            None if text.trim().is_empty() => self.absent_amount(amount, place),
            None => {
                self.findings.error(28, place, format!("{} {}", amount.key, quoted(&text)), allowed(amount.allowed));
                Some(FieldValue::Broken)
            }
        }
    }

    /// JSON numbers are common here. A fraction could mean CPUs or units, so it is not guessed at.
    fn amount_number(&mut self, amount: &Amount, text: &str, place: &Place) -> Option<String> {
        match number(text) {
            Some((value, Fraction::None)) => Some(value.to_string()),
            Some((value, Fraction::Zero)) => {
                self.note(place, format!("{} read as a whole number", digits(text)), format!("write {value}"));
                Some(value.to_string())
            }
            None if text.contains('.') && !text.contains(['e', 'E']) => {
                let shown = digits(text);
                let advice = hint(format!("write \"{shown} {}\"", amount.unit));
                self.findings.error(28, place, format!("{} {shown} is a fraction", amount.key), advice);
                None
            }
            None => Some(text.to_string()),
        }
    }

    fn absent_amount(&mut self, amount: &Amount, place: &Place) -> Option<FieldValue> {
        self.note(place, format!("{} of nothing read as absent", amount.key), "leave it out");
        None
    }

    /// V4: a leniency was used.
    fn note(&mut self, place: &Place, message: impl Into<String>, normal: impl Into<String>) {
        self.findings.warning(4, place, message, hint(normal));
    }
}

/// What followed the point of a number.
enum Fraction {
    None,
    /// Zeros only.
    Zero,
}

/// Decimal digits with an optional minus; `None` for an exponent, a true fraction or one that does not fit.
fn number(text: &str) -> Option<(i64, Fraction)> {
    let (whole, fraction) = match text.split_once('.') {
        Some((whole, zeros)) if !zeros.is_empty() && zeros.bytes().all(|b| b == b'0') => (whole, Fraction::Zero),
        Some(_) => return None,
        None => (text, Fraction::None),
    };
    let digits = whole.strip_prefix('-').unwrap_or(whole);
    let decimal = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    if decimal { Some((whole.parse().ok()?, fraction)) } else { None }
}

/// The plain number that an amount with a unit stands for in a container.
fn number_to_write(key: &str, text: &str) -> Option<u32> {
    match key {
        "cpu" => amount::cpu_units(text),
        "memory" | "memoryReservation" => amount::mebibytes(text),
        _ => None,
    }
}
