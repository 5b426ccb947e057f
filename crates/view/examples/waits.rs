//! Every reason to wait, as `explain` prints it.
#![expect(clippy::print_stdout, reason = "an example shows its result")]

use lighterman_calls::RequestKind;
use lighterman_ids::Moment;
use lighterman_view::{Wait, WaitReason};

fn main() {
    let reasons = [
        WaitReason::Call { kind: RequestKind::Create, attempt: 1 },
        WaitReason::Pause { attempt: 2, after: "the registry answered 503".into() },
        WaitReason::Store { text: "no space left".into() },
        WaitReason::RuntimeAway { text: "connection refused".into() },
        WaitReason::Running,
        WaitReason::Cleanup,
        WaitReason::LateCreate,
    ];
    for reason in reasons {
        println!("{}", Wait { reason, since: Moment::default(), until: None });
    }
}
