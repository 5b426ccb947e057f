//! What a case found.

use crate::{
    goals::{Goal, Unit},
    samples::Samples,
};

/// One line of a case's table.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What was measured.
    pub what: String,
    /// In what.
    pub unit: Unit,
    /// How often, and what came out.
    pub samples: Samples,
    /// The floor of the same run.
    pub floor: Option<Floor>,
}

/// What a row is held against.
#[derive(Clone, Debug, PartialEq)]
pub struct Floor {
    /// The same, without the agent.
    pub samples: Samples,
    /// How the two are compared.
    pub compare: Compare,
}

/// How a value is held against its floor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    /// What comes on top of it.
    Difference,
    /// How many times as much it is.
    Ratio,
}

impl Row {
    /// A row without a floor.
    #[must_use]
    pub fn new(what: impl Into<String>, unit: Unit, samples: Samples) -> Self {
        Self { what: what.into(), unit, samples, floor: None }
    }

    /// A row of one value.
    #[must_use]
    pub fn of_one(what: impl Into<String>, unit: Unit, value: f64) -> Self {
        Self::new(what, unit, Samples::from_iter([value]))
    }

    /// The same, held against a floor.
    #[must_use]
    pub fn over(mut self, samples: Samples, compare: Compare) -> Self {
        self.floor = Some(Floor { samples, compare });
        self
    }

    /// Median against median; `None` without a floor.
    #[must_use]
    pub fn against_floor(&self) -> Option<(f64, Unit)> {
        let floor = self.floor.as_ref()?;
        let (own, below) = (self.samples.median()?, floor.samples.median()?);
        Some(match floor.compare {
            Compare::Difference => (own - below, self.unit),
            Compare::Ratio => (own / below, Unit::Ratio),
        })
    }
}

/// A goal, and what was measured of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    /// What has to hold.
    pub goal: Goal,
    /// What is.
    pub value: f64,
}

impl Verdict {
    /// Whether it does.
    #[must_use]
    pub fn is_met(&self) -> bool {
        self.goal.bound.holds(self.value)
    }

    /// Goal, value and verdict, in words.
    #[must_use]
    pub fn words(&self) -> String {
        let verdict = if self.is_met() { "met" } else { "MISSED" };
        format!("{}; measured {}: {verdict}", self.goal, self.goal.unit.show(self.value))
    }
}

/// What one case found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// Its table.
    pub rows: Vec<Row>,
    /// Its goals.
    pub verdicts: Vec<Verdict>,
    /// What has to be said besides.
    pub notes: Vec<String>,
}

impl Findings {
    /// One more row.
    pub fn row(&mut self, row: Row) {
        self.rows.push(row);
    }

    /// Holds a goal against a value. Nothing measured is nothing held.
    pub fn judge(&mut self, goal: Goal, value: Option<f64>) {
        self.verdicts.extend(value.map(|value| Verdict { goal, value }));
    }

    /// Something to be said besides.
    pub fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::goals;

    fn row(compare: Compare) -> Row {
        let floor = Samples::from_iter([100.0, 102.0, 300.0]);
        Row::new("start", Unit::Millis, Samples::from_iter([110.0, 108.0, 400.0])).over(floor, compare)
    }

    #[test]
    fn medians_are_held_against_medians() {
        assert_eq!(row(Compare::Difference).against_floor(), Some((8.0, Unit::Millis)));
        let (ratio, unit) = row(Compare::Ratio).against_floor().unwrap();
        assert!((ratio - 110.0 / 102.0).abs() < 1e-9);
        assert_eq!(unit, Unit::Ratio);
        assert_eq!(Row::of_one("size", Unit::Megabytes, 1.0).against_floor(), None);
    }

    #[test]
    fn a_verdict_says_goal_value_and_whether_it_holds() {
        let mut findings = Findings::default();
        findings.judge(goals::BINARY_SIZE, Some(9.5));
        findings.judge(goals::BINARY_SIZE, Some(15.1));
        findings.judge(goals::BINARY_SIZE, None);
        let words: Vec<_> = findings.verdicts.iter().map(Verdict::words).collect();
        assert_eq!(
            words,
            [
                "the stripped release binary: at most 15.0 MB; measured 9.50 MB: met",
                "the stripped release binary: at most 15.0 MB; measured 15.1 MB: MISSED"
            ]
        );
    }
}
