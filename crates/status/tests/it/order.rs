//! The named comparisons over all pairs.

use lighterman_status::{ContainerStatus, ManagedAgentStatus, ResourceStatus, TaskStatus};

/// Compares every pair with the positions in `ALL`, which say the order independently of the numbers.
macro_rules! compare_all_pairs {
    ($status:ty) => {
        for (i, a) in <$status>::ALL.iter().copied().enumerate() {
            assert_eq!(usize::from(a.number()), i, "{a}");
            for (j, b) in <$status>::ALL.iter().copied().enumerate() {
                assert_eq!(a.at_least(b), i >= j, "{a} at least {b}");
                assert_eq!(a.is_before(b), i < j, "{a} before {b}");
                assert_eq!(a.is_after(b), i > j, "{a} after {b}");
                assert_eq!(a.later_of(b), <$status>::ALL[i.max(j)], "later of {a} and {b}");
                assert_eq!(a.earlier_of(b), <$status>::ALL[i.min(j)], "earlier of {a} and {b}");
                assert_eq!(a == b, i == j, "{a} is {b}");
            }
        }
    };
}

#[test]
fn statuses_compare_by_their_place_in_the_table() {
    compare_all_pairs!(ContainerStatus);
    compare_all_pairs!(TaskStatus);
    compare_all_pairs!(ResourceStatus);
    compare_all_pairs!(ManagedAgentStatus);
}

#[test]
fn every_status_is_listed_once() {
    assert_eq!(ContainerStatus::ALL.len(), 7);
    assert_eq!(TaskStatus::ALL.len(), 6);
    assert_eq!(ResourceStatus::ALL.len(), 3);
    assert_eq!(ManagedAgentStatus::ALL.len(), 4);
}
