//! A small terminal, to see what a person would.

/// Understands what the screen sends: text, line feeds, carriage returns, cursor up, erase below, wrap on and off, and
/// colour, which it does not show. Anything else is a panic.
#[derive(Clone, Debug, Default)]
pub(crate) struct Terminal {
    rows: Vec<String>,
    row: usize,
    column: usize,
    columns: usize,
    no_wrap: bool,
}

impl Terminal {
    pub(crate) fn new(columns: usize) -> Self {
        Self { rows: vec![String::new()], columns, ..Self::default() }
    }

    pub(crate) fn feed(&mut self, text: &str) {
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            rest = &rest[c.len_utf8()..];
            match c {
                '\n' => self.down(),
                '\r' => self.column = 0,
                '\u{1b}' => rest = self.sequence(rest),
                c => self.put(c),
            }
        }
    }

    /// What is on it, without blanks at the ends.
    pub(crate) fn show(&self) -> String {
        let rows: Vec<&str> = self.rows.iter().map(|row| row.trim_end()).collect();
        rows.join("\n").trim_end().to_owned()
    }

    fn sequence<'a>(&mut self, rest: &'a str) -> &'a str {
        let end = rest.find(|c: char| c.is_ascii_alphabetic()).expect("a sequence ends");
        let (sequence, rest) = rest.split_at(end + 1);
        match sequence.strip_prefix('[').expect("only control sequences") {
            "J" => self.erase_below(),
            "?7l" => self.no_wrap = true,
            "?7h" => self.no_wrap = false,
            colour if colour.ends_with('m') => {}
            up => {
                let count: usize = up.strip_suffix('A').expect("cursor up").parse().expect("how far");
                self.row = self.row.checked_sub(count).expect("within what was written");
            }
        }
        rest
    }

    fn erase_below(&mut self) {
        self.rows.truncate(self.row + 1);
        let kept: String = self.rows[self.row].chars().take(self.column).collect();
        self.rows[self.row] = kept;
    }

    fn down(&mut self) {
        self.row += 1;
        self.column = 0;
        if self.row == self.rows.len() {
            self.rows.push(String::new());
        }
    }

    fn put(&mut self, c: char) {
        if self.column == self.columns {
            if self.no_wrap {
                return;
            }
            self.down();
        }
        let mut row: Vec<char> = self.rows[self.row].chars().collect();
        row.resize(row.len().max(self.column + 1), ' ');
        row[self.column] = c;
        self.rows[self.row] = row.into_iter().collect();
        self.column += 1;
    }
}
