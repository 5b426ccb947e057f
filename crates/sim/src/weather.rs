//! How often things go wrong, and how, while they are under way.

use std::time::Duration;

use lighterman_calls::{Call, LostCause, Refusal, RefusalClass, RequestKind};
use lighterman_runtime_model::Disturbance;

use crate::dice::Dice;

/// Chances in thousandths that something befalls a call, an event, a commit.
///
/// Each is drawn per run, most of them to nothing, so that some runs see one kind of trouble in plenty and
/// others a little of everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Weather {
    /// The runtime takes its time.
    pub slow: u32,
    /// The answer is on its way for long: what it tells is old.
    pub stale: u32,
    /// The connection ends before the answer.
    pub lost: u32,
    /// The answer cannot be read.
    pub garbled: u32,
    /// The call reaches the runtime late, when nobody waits for it any more, or not.
    pub late: u32,
    /// The call never reaches the runtime, and nothing says so before its limit.
    pub hangs: u32,
    /// The runtime says no.
    pub refused: u32,
    /// Somebody takes the name right before a create.
    pub name_taken: u32,
    /// A late call may come after its limit, which is more than the core counts on.
    pub overlong: bool,
    /// An event is late, and those behind it.
    pub event_late: u32,
    /// An event comes twice.
    pub event_doubled: u32,
    /// An event overtakes another.
    pub event_swapped: u32,
    /// An event does not come, and nothing says so.
    pub event_dropped: u32,
    /// Nothing comes of the stream though it stands: no event at all.
    pub events_silent: bool,
    /// The end of a container's output is told to whoever reads it.
    pub output_ends: u32,
    /// The stream breaks at an event.
    pub stream_breaks: u32,
    /// A watch does not open.
    pub watch_fails: u32,
    /// A commit takes long.
    pub commit_slow: u32,
    /// A commit fails.
    pub commit_fails: u32,
    /// A cancelled call is answered all the same.
    pub cancel_late: u32,
    /// How many deeds of others there are.
    pub mishaps: u32,
    /// One of them may damage the store.
    pub damages_store: bool,
}

impl Weather {
    /// Nothing goes wrong.
    pub const CLEAR: Self = Self {
        slow: 0,
        stale: 0,
        lost: 0,
        garbled: 0,
        late: 0,
        hangs: 0,
        refused: 0,
        name_taken: 0,
        overlong: false,
        event_late: 0,
        event_doubled: 0,
        event_swapped: 0,
        event_dropped: 0,
        events_silent: false,
        output_ends: 0,
        stream_breaks: 0,
        watch_fails: 0,
        commit_slow: 0,
        commit_fails: 0,
        cancel_late: 0,
        mishaps: 0,
        damages_store: false,
    };

    pub(crate) fn draw(dice: &mut Dice) -> Self {
        if dice.chance("weather", 100) {
            return Self::CLEAR;
        }
        let mut rate = |most: u32| match dice.below("weather", 6) {
            0 | 1 => 0,
            2 => most / 20,
            3 | 4 => most / 5,
            _ => most,
        };
        let mut weather = Self {
            slow: rate(250),
            stale: rate(200),
            lost: rate(400),
            garbled: rate(100),
            late: rate(200),
            hangs: rate(80),
            refused: rate(250),
            name_taken: rate(300),
            overlong: false,
            event_late: rate(500),
            event_doubled: rate(300),
            event_swapped: rate(200),
            event_dropped: rate(150),
            events_silent: false,
            output_ends: rate(1_000),
            stream_breaks: rate(150),
            watch_fails: rate(200),
            commit_slow: rate(200),
            commit_fails: rate(100),
            cancel_late: 300,
            mishaps: rate(16),
            damages_store: false,
        };
        weather.events_silent = dice.chance("weather", 60);
        weather.overlong = weather.late > 0 && dice.chance("weather", 150);
        weather.damages_store = dice.chance("weather", 300);
        weather
    }

    /// What befalls this call.
    pub(crate) fn befalls(&self, call: &Call, dice: &mut Dice) -> (Disturbance, &'static str) {
        const MS: Duration = Duration::from_millis(1);
        const LONG: Duration = Duration::from_secs(20);
        let roll = dice.below("call", 1_000);
        let mut up_to = 0;
        let mut hit = |rate: u32| {
            up_to += u64::from(rate);
            roll < up_to
        };
        let none = Disturbance::NONE;
        if hit(self.slow) {
            (Disturbance { slower_by: dice.span("call", 10 * MS, LONG), ..none }, "slow")
        } else if hit(self.stale) {
            (Disturbance { answers_after: dice.span("call", 10 * MS, LONG), ..none }, "stale")
        } else if hit(self.lost) {
            (Disturbance::lost(dice.span("call", MS, Duration::from_millis(400))), "lost")
        } else if hit(self.garbled) {
            let after = dice.span("call", MS, Duration::from_millis(400));
            (Disturbance { lost_after: Some((after, LostCause::Garbled)), ..none }, "garbled")
        } else if hit(self.late) {
            (self.late_by(call, dice), "late")
        } else if hit(self.hangs) {
            (Disturbance::hangs(), "hangs")
        } else if hit(self.refused) {
            (Disturbance::refuses(refusal(call.request.kind(), dice)), "refused")
        } else {
            (none, "undisturbed")
        }
    }

    /// Late, but not later than the core counts on unless that is wanted: what the runtime itself still needs
    /// for the call lies within the limit.
    fn late_by(&self, call: &Call, dice: &mut Dice) -> Disturbance {
        let within = call.limit.saturating_sub(Duration::from_secs(40)).max(call.limit / 2);
        let longest = if self.overlong { call.limit * 2 } else { within };
        let arrives_after = Some(dice.span("call", Duration::from_millis(2), longest));
        let lost_after = dice.chance("call", 600).then(|| {
            (dice.span("call", Duration::from_micros(100), Duration::from_secs(2)), LostCause::ConnectionLost)
        });
        Disturbance { arrives_after, lost_after, ..Disturbance::NONE }
    }
}

fn refusal(kind: RequestKind, dice: &mut Dice) -> Refusal {
    let classes: &[RefusalClass] = match kind {
        RequestKind::Ping
        | RequestKind::Version
        | RequestKind::InspectImage
        | RequestKind::ListImages
        | RequestKind::InspectVolume
        | RequestKind::ListVolumes
        | RequestKind::Inspect
        | RequestKind::List
        | RequestKind::Stop
        | RequestKind::Kill => &[RefusalClass::PeerFault],
        RequestKind::Create => {
            &[RefusalClass::PeerFault, RefusalClass::NoSpace, RefusalClass::Invalid, RefusalClass::NotFound]
        }
        RequestKind::Start => &[RefusalClass::PeerFault, RefusalClass::NoSpace],
        RequestKind::Remove | RequestKind::RemoveImage | RequestKind::RemoveVolume => {
            &[RefusalClass::PeerFault, RefusalClass::Conflict]
        }
        RequestKind::TagImage | RequestKind::CreateVolume => &[RefusalClass::PeerFault, RefusalClass::NoSpace],
        RequestKind::ResolveDigest => &[RefusalClass::RateLimited, RefusalClass::PeerFault],
        RequestKind::Pull => &[RefusalClass::RateLimited, RefusalClass::PeerFault, RefusalClass::NoSpace],
    };
    let class = *dice.pick("call", classes);
    Refusal::new(class, format!("simulated refusal ({class})"))
}
