//! Health of one container over time (engine.md 1.7).

use lighterman_ids::Wall;
use lighterman_status::{Health, HealthRecord};

#[track_caller]
fn check(record: &HealthRecord, status: Health, since: Option<Wall>, output: &str, exit_code: Option<i32>) {
    assert_eq!(record, &HealthRecord::Checked { status, since, output: output.to_owned(), exit_code });
}

#[test]
fn e007_only_a_change_moves_since_and_only_unhealthy_stores_the_exit_code() {
    let mut record = HealthRecord::checked();
    assert!(record.learn(Wall(1), Health::Healthy, "fine", Some(0)));
    check(&record, Health::Healthy, Some(Wall(1)), "fine", None);
    assert!(!record.learn(Wall(2), Health::Healthy, "still fine", Some(0)));
    check(&record, Health::Healthy, Some(Wall(1)), "fine", None);
    assert!(record.learn(Wall(3), Health::Unhealthy, "broken", Some(1)));
    check(&record, Health::Unhealthy, Some(Wall(3)), "broken", Some(1));
    assert!(record.learn(Wall(4), Health::Healthy, "fine", Some(0)));
    check(&record, Health::Healthy, Some(Wall(4)), "fine", Some(1));
}

#[test]
fn the_first_result_unknown_is_no_change() {
    let mut record = HealthRecord::checked();
    assert!(!record.learn(Wall(1), Health::Unknown, "starting", None));
    assert_eq!(record, HealthRecord::checked());
}

#[test]
fn e008_without_a_check_health_stays_unknown() {
    let mut record = HealthRecord::Unchecked;
    for health in Health::ALL {
        assert!(!record.learn(Wall(1), *health, "x", Some(1)));
        assert_eq!(record, HealthRecord::Unchecked);
        assert_eq!(record.status(), Health::Unknown);
    }
}

#[test]
fn output_is_cut_between_characters() {
    let mut record = HealthRecord::checked();
    record.learn(Wall(1), Health::Healthy, &format!("x{}", "ö".repeat(600)), None);
    let HealthRecord::Checked { output, .. } = &record else { panic!("a checked record stays one") };
    assert_eq!(output.len(), HealthRecord::OUTPUT_LIMIT - 1);
    record.learn(Wall(2), Health::Unhealthy, &"y".repeat(1024), None);
    let HealthRecord::Checked { output, .. } = &record else { panic!("a checked record stays one") };
    assert_eq!(output.len(), HealthRecord::OUTPUT_LIMIT);
}
