//! What the output looks like, decided from its surroundings.

use std::{io::IsTerminal as _, os::fd::AsFd};

use crate::Zone;

/// The form of the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mode {
    /// For people.
    Text(Look),
    /// One JSON object per line, as `docs/json-events.md` describes; all of it goes to the writer of logs.
    Json,
}

/// How text looks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Look {
    /// Size of the terminal that our own words go to; then they have lines that live. `None` for a file or pipe.
    pub terminal: Option<Size>,
    /// Container output goes to a terminal: escape sequences other than colour are taken out of it. Otherwise its bytes
    /// pass unchanged.
    pub clean_logs: bool,
    /// Whether anything that goes to a terminal may have colour.
    pub colour: bool,
    /// In which the time of day is told.
    pub zone: Zone,
}

/// Size of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Characters in a row.
    pub columns: u16,
    /// Rows.
    pub rows: u16,
}

/// What decides on a [`Look`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Surroundings<'a> {
    /// Size of the terminal that our own words go to; `None` if it is none.
    pub status: Option<Size>,
    /// Whether container output goes to a terminal.
    pub logs_to_terminal: bool,
    /// Whether `NO_COLOR` is set to anything but an empty text.
    pub no_color: bool,
    /// `TERM`.
    pub term: Option<&'a str>,
    /// In which the time of day is told.
    pub zone: Zone,
}

impl Look {
    /// Files and pipes: no colour, nothing that moves.
    pub const PLAIN: Self = Self { terminal: None, clean_logs: false, colour: false, zone: Zone::UTC };

    /// A terminal without a `TERM`, or with `dumb`, understands no escape sequences.
    #[must_use]
    pub fn new(surroundings: Surroundings<'_>) -> Self {
        let Surroundings { status, logs_to_terminal, no_color, term, zone } = surroundings;
        let able = term.is_some_and(|term| !term.is_empty() && term != "dumb");
        Self { terminal: status.filter(|_| able), clean_logs: logs_to_terminal, colour: able && !no_color, zone }
    }

    /// Columns within which running text stays: 80, less on a narrow terminal.
    pub(crate) fn text_width(&self) -> usize {
        self.terminal.map_or_else(|| usize::from(COMFORTABLE), Size::text_width)
    }
}

/// Columns of running text where there is room.
const COMFORTABLE: u16 = 80;

/// Columns of running text where there is none.
const LEAST: u16 = 40;

impl Size {
    /// Columns within which running text stays: as many as there are, but 40 at least and 80 at most.
    #[must_use]
    pub fn text_width(self) -> usize {
        usize::from(self.columns.clamp(LEAST, COMFORTABLE))
    }

    /// Of the terminal behind a file descriptor; `None` if it is none. One that does not know its size has 80 × 24.
    #[must_use]
    pub fn of(terminal: impl AsFd) -> Option<Self> {
        if !terminal.as_fd().is_terminal() {
            return None;
        }
        let known = rustix::termios::tcgetwinsize(terminal.as_fd()).ok();
        let known = known.filter(|size| size.ws_col > 0 && size.ws_row > 0);
        Some(known.map_or(Self { columns: 80, rows: 24 }, |size| Self { columns: size.ws_col, rows: size.ws_row }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_needs_a_terminal_that_is_able_and_nobody_against_it() {
        let size = Size { columns: 100, rows: 30 };
        let look = |status, no_color, term| {
            let look = Look::new(Surroundings { status, logs_to_terminal: true, no_color, term, zone: Zone::UTC });
            (look.terminal, look.colour)
        };
        assert_eq!(look(Some(size), false, Some("xterm")), (Some(size), true));
        assert_eq!(look(Some(size), true, Some("xterm")), (Some(size), false), "NO_COLOR leaves what moves");
        assert_eq!(look(Some(size), false, Some("dumb")), (None, false));
        assert_eq!(look(Some(size), false, Some("")), (None, false));
        assert_eq!(look(Some(size), false, None), (None, false));
        assert_eq!(look(None, false, Some("xterm")), (None, true), "colour is still for the logs' terminal");
    }

    #[test]
    fn text_keeps_to_80_columns_and_to_a_narrow_terminal() {
        let width = |columns| Look { terminal: Some(Size { columns, rows: 24 }), ..Look::PLAIN }.text_width();
        assert_eq!([Look::PLAIN.text_width(), width(200), width(60), width(3)], [80, 80, 60, 40]);
    }

    #[test]
    fn what_is_no_terminal_has_no_size() {
        let file = std::fs::File::open("/dev/null").unwrap();
        assert_eq!(Size::of(&file), None);
    }
}
