//! Findings as text, 80 columns wide.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

use crate::{
    findings::{Findings, Row},
    goals::Unit,
};

/// Also where nobody looks: a report is pasted into letters.
const WIDTH: u16 = 80;
const HEADER: [&str; 6] = ["", "min", "median", "max", "floor", "to floor"];

/// The whole of a case.
#[must_use]
pub fn show(name: &str, title: &str, findings: &Findings) -> String {
    let mut lines = vec![format!("{name}  {title}")];
    if !findings.rows.is_empty() {
        lines.extend(table(&findings.rows).lines().map(|line| line.trim_end().to_owned()));
    }
    for verdict in &findings.verdicts {
        lines.extend(wrap(&verdict.words()));
    }
    for note in &findings.notes {
        lines.extend(wrap(note));
    }
    lines.join("\n") + "\n"
}

fn table(rows: &[Row]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic).set_width(WIDTH);
    let has_floor = rows.iter().any(|row| row.floor.is_some());
    let columns = if has_floor { HEADER.len() } else { HEADER.len() - 2 };
    table.set_header(HEADER.iter().take(columns));
    for row in rows {
        table.add_row(cells(row).into_iter().take(columns));
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

fn cells(row: &Row) -> [String; 6] {
    let show = |value: Option<f64>, unit: Unit| value.map_or_else(String::new, |value| unit.show(value));
    let single = row.samples.values().len() == 1;
    let edge = |value: Option<f64>| if single { String::new() } else { show(value, row.unit) };
    let floor = row.floor.as_ref().and_then(|floor| floor.samples.median());
    let against = row.against_floor().map_or_else(String::new, |(value, unit)| match unit {
        Unit::Ratio => unit.show(value),
        other => format!("{}{}", if value < 0.0 { "" } else { "+" }, other.show(value)),
    });
    [
        row.what.clone(),
        edge(row.samples.min()),
        show(row.samples.median(), row.unit),
        edge(row.samples.max()),
        show(floor, row.unit),
        against,
    ]
}

/// Lines of at most the width, those after the first set in.
fn wrap(text: &str) -> Vec<String> {
    let mut lines = vec!["  ".to_owned()];
    for word in text.split(' ') {
        let last = lines.last_mut().expect("there is always a line");
        if last.chars().count() + 1 + word.chars().count() > usize::from(WIDTH) {
            lines.push(format!("    {word}"));
        } else {
            if !last.trim().is_empty() {
                last.push(' ');
            }
            last.push_str(word);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{findings::Compare, goals, samples::Samples};

    fn findings() -> Findings {
        let mut findings = Findings::default();
        let floor = Samples::from_iter([240.1, 243.0, 275.0]);
        findings.row(
            Row::new("request to RUNNING, seen from outside", Unit::Millis, Samples::from_iter([250.0, 251.5, 300.0]))
                .over(floor, Compare::Difference),
        );
        findings.row(Row::of_one("commits", Unit::Count, 4.0));
        findings.judge(goals::RUNNING_ON_TOP, Some(8.5));
        findings.note("a note that is so long that it does not fit into one line of the report, and has to be broken");
        findings
    }

    #[test]
    fn a_case_is_shown_within_eighty_columns() {
        let shown = show("P4", "one task", &findings());
        assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
        for part in ["P4  one task", "243 ms", "+8.50 ms", "floor", "at most 10.0 ms;", "8.50 ms: met", "    has to"] {
            assert!(shown.contains(part), "{part:?} in\n{shown}");
        }
    }

    #[test]
    fn without_a_floor_there_is_no_column_for_it() {
        let mut findings = findings();
        findings.rows.remove(0);
        let shown = show("P4", "one task", &findings);
        assert!(!shown.contains("to floor"), "{shown}");
    }
}
