//! Licence expressions, as far as crates use them: names, `WITH`, `AND`, `OR`, parentheses, and the old `/`.

/// Whether the allowed licences satisfy the expression. An allowed licence may include its `WITH`.
pub(super) fn is_allowed(expression: &str, allowed: &[&str]) -> Result<bool, String> {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let tokens: Vec<&str> = spaced.split_whitespace().collect();
    let mut parser = Parser { tokens: &tokens, allowed };
    let is_allowed = parser.either()?;
    match parser.tokens.first() {
        None => Ok(is_allowed),
        Some(token) => Err(format!("`{token}` is one too many")),
    }
}

struct Parser<'a> {
    tokens: &'a [&'a str],
    allowed: &'a [&'a str],
}

impl<'a> Parser<'a> {
    fn either(&mut self) -> Result<bool, String> {
        let mut is_allowed = self.both()?;
        while self.takes("OR") {
            is_allowed |= self.both()?;
        }
        Ok(is_allowed)
    }

    fn both(&mut self) -> Result<bool, String> {
        let mut is_allowed = self.one()?;
        while self.takes("AND") {
            is_allowed &= self.one()?;
        }
        Ok(is_allowed)
    }

    fn one(&mut self) -> Result<bool, String> {
        if self.takes("(") {
            let is_allowed = self.either()?;
            return if self.takes(")") { Ok(is_allowed) } else { Err("a parenthesis is left open".to_owned()) };
        }
        let name = self.next()?;
        if self.takes("WITH") {
            let whole = format!("{name} WITH {}", self.next()?);
            return Ok(self.allowed.contains(&whole.as_str()));
        }
        Ok(self.allowed.contains(&name))
    }

    fn next(&mut self) -> Result<&'a str, String> {
        let (first, rest) = self.tokens.split_first().ok_or("it ends too early")?;
        self.tokens = rest;
        if matches!(*first, "AND" | "OR" | "WITH" | ")") {
            return Err(format!("`{first}` stands in the place of a licence"));
        }
        Ok(first)
    }

    fn takes(&mut self, word: &str) -> bool {
        let is_next = self.tokens.first() == Some(&word);
        if is_next {
            self.tokens = &self.tokens[1..];
        }
        is_next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_decided() {
        let allowed = ["MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "Unicode-3.0"];
        let cases = [
            ("MIT", true),
            ("GPL-3.0", false),
            ("MIT OR GPL-3.0", true),
            ("MIT/GPL-3.0", true),
            ("MIT AND GPL-3.0", false),
            ("(MIT OR GPL-3.0) AND Unicode-3.0", true),
            ("GPL-3.0 OR MIT AND Unicode-3.0", true),
            ("(GPL-3.0 OR MIT) AND GPL-2.0", false),
            ("Apache-2.0 WITH LLVM-exception OR GPL-3.0", true),
            ("MIT WITH LLVM-exception", false),
        ];
        for (expression, expected) in cases {
            assert_eq!(is_allowed(expression, &allowed), Ok(expected), "{expression}");
        }
    }

    #[test]
    fn broken_expressions_are_errors() {
        for expression in ["", "MIT OR", "(MIT", "MIT)", "AND MIT", "MIT MIT", "MIT WITH"] {
            assert!(is_allowed(expression, &["MIT"]).is_err(), "{expression}");
        }
    }
}
