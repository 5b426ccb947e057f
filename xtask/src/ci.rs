//! `cargo xtask ci`: everything that CI runs, in that order; `--full` with the counts that a release has to pass.
//!
//! The steps are a table, [`steps::STEPS`]. A failed step does not stop the others. A step whose needs this host does
//! not meet is listed at the end; with `CI=true` it counts as failed.

mod counts;
mod plan;
mod steps;
mod tests_of;

use anyhow::{Result, bail};

use self::plan::Plan;
use self::steps::{Group, STEPS, Step};
use crate::sheet::Sheet;

pub(crate) use self::counts::Counts;
pub(crate) use self::plan::BIN_ENV;
pub(crate) use self::tests_of::{Suite, WHOLE};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The counts that a release has to pass: hours, not minutes.
    #[arg(long)]
    full: bool,
    /// Run these steps only (names as in `--list`); what they need is built.
    #[arg(long, value_name = "STEP", num_args = 1..)]
    only: Vec<String>,
    /// Print the steps and what they need, and run nothing.
    #[arg(long)]
    list: bool,
}

pub(crate) fn run(args: &Args, sheet: &mut Sheet) -> Result<()> {
    let steps = chosen(&args.only)?;
    if args.list {
        print!("{}", list(&steps));
        return Ok(());
    }
    let mut plan = Plan::new(args.full)?;
    println!("{}", plan.describe());
    for step in &steps {
        if step.is_for(plan.full) {
            run_step(step, &mut plan, sheet);
        }
    }
    if args.only.is_empty() && !plan.full {
        print!("{}", budgets(sheet));
    }
    Ok(())
}

/// What each group of steps took of what it may take on two cores, from an empty target directory. A slow machine is no
/// failure: the limits of the steps are.
fn budgets(sheet: &Sheet) -> String {
    let mut text = String::from("\n");
    for group in Group::ALL {
        let names: Vec<&str> = STEPS.iter().filter(|step| step.group == group).map(|step| step.name).collect();
        let (took, budget) = (sheet.took(&names), group.budget());
        let mark = if took > budget { "  OVER BUDGET" } else { "" };
        let minutes = |time: std::time::Duration| time.as_secs_f64() / 60.0;
        text.push_str(&format!("{:<20} {:>5.1} of {:>4.1} min{mark}\n", group.name(), minutes(took), minutes(budget)));
    }
    text
}

fn run_step(step: &Step, plan: &mut Plan, sheet: &mut Sheet) {
    println!("\n== {}: {}", step.name, step.what);
    match step.needs.iter().find_map(|need| plan.missing(*need)) {
        Some(missing) => {
            println!("NOT RUN: {}", missing.text);
            sheet.not_run(step.name, &missing.text, missing.is_fatal);
        }
        None => {
            plan.begin(step.limit(plan.full));
            sheet.attempt(step.name, || (step.run)(plan));
        }
    }
}

/// The steps of these names in the order of the table, with the build if they need it; all without names.
fn chosen(only: &[String]) -> Result<Vec<&'static Step>> {
    if let Some(unknown) = only.iter().find(|name| !STEPS.iter().any(|step| step.name == **name)) {
        bail!("there is no step `{unknown}`: see `cargo xtask ci --list`");
    }
    let is_named = |step: &Step| only.is_empty() || only.iter().any(|name| name == step.name);
    let build_is_needed = STEPS.iter().any(|step| is_named(step) && step.needs_build());
    Ok(STEPS.iter().filter(|step| is_named(step) || (step.is_build() && build_is_needed)).collect())
}

fn list(steps: &[&Step]) -> String {
    let width = steps.iter().map(|step| step.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for step in steps {
        let needs: Vec<&str> = step.needs.iter().map(|need| need.name()).collect();
        let needs = if needs.is_empty() { String::new() } else { format!(" (needs {})", needs.join(", ")) };
        text.push_str(&format!("{:width$}  {}{needs}\n", step.name, step.what));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(only: &[&str]) -> Vec<&'static str> {
        let only: Vec<String> = only.iter().map(|name| (*name).to_owned()).collect();
        chosen(&only).unwrap().into_iter().map(|step| step.name).collect()
    }

    #[test]
    fn chosen_steps_bring_the_build_that_they_need() {
        assert_eq!(names(&["tidy", "format"]), ["format", "tidy"]);
        assert_eq!(names(&["simulation"]), ["build", "simulation"]);
        assert_eq!(names(&[]).len(), STEPS.len());
        assert!(chosen(&["nonsense".to_owned()]).is_err());
    }

    #[test]
    fn every_group_is_held_against_its_budget() {
        let text = budgets(&Sheet::default());
        assert_eq!(text.lines().filter(|line| line.ends_with(" min")).count(), Group::ALL.len(), "{text}");
    }

    #[test]
    fn every_step_is_listed_with_its_needs() {
        let text = list(&STEPS.iter().collect::<Vec<_>>());
        assert_eq!(text.lines().count(), STEPS.len());
        let engine = text.lines().find(|line| line.starts_with("engine ")).unwrap();
        assert!(engine.contains("a Docker engine"), "{engine}");
    }
}
