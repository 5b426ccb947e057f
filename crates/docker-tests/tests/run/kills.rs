//! `kill -9` of the command at random moments of its life.

use std::{
    collections::BTreeMap,
    env,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use futures_util::future::join;
use serde_json::Value;

use crate::{
    corner::{Corner, in_corner},
    definition::Task,
    engine::{Watch, times},
    launch::{Ended, Launch, text},
};

const CREATE_LIMIT: &str = "LIGHTERMAN_RUNTIME_CREATE_TIMEOUT";

/// After so many more starts, a second each, no create call can be in doubt any more.
const STARTS_IN_DOUBT: usize = 10;

/// How often; the command's life takes about a second.
fn kills() -> u32 {
    env::var("LIGHTERMAN_KILLS").ok().map_or(20, |text| text.parse().unwrap())
}

/// A generator from `LIGHTERMAN_SEED`, or from a seed of the moment; it is printed.
struct Moments(u64);

impl Moments {
    #[expect(clippy::print_stderr, reason = "to repeat what failed")]
    fn new() -> Self {
        let now = || u64::from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().subsec_nanos()) | 1;
        let seed = env::var("LIGHTERMAN_SEED").ok().map_or_else(now, |text| text.parse().unwrap());
        eprintln!("LIGHTERMAN_SEED={seed}");
        Self(seed)
    }

    /// xorshift64*.
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn within(&mut self, life: Duration) -> Duration {
        life.mul_f64(f64::from(u32::try_from(self.next() >> 32).unwrap()) / f64::from(u32::MAX))
    }
}

/// A task that ends by itself with this code, and at once, with 77, when it is asked to.
fn task(corner: &Corner, code: u32) -> Task {
    corner.task(&["trap", "77", "+", "print", "once", "+", "sleep", "0.2", "+", "exit", &code.to_string()])
}

/// A run of that task. Its create calls are in doubt for seconds rather than for a minute.
fn run(corner: &Corner, code: u32) -> Launch {
    corner.run(&task(corner, code)).env(CREATE_LIMIT, "2s")
}

/// How long the command lives when nobody kills it.
async fn life(corner: &Corner) -> Duration {
    run(corner, 1).start().end().await.assert_code(1);
    let ended = run(corner, 1).start().end().await;
    ended.assert_code(1);
    // A little longer: the end belongs to life, too.
    ended.took.mul_f64(1.1)
}

/// Exit codes that were told of containers, by their name in the engine.
fn codes_told(ended: &Ended) -> BTreeMap<String, i64> {
    let of_containers = ended
        .of("container")
        .filter_map(|event| Some((event["runtime_name"].as_str()?.to_owned(), event["exit_code"].as_i64()?)));
    let cleaned = |event: &&Value| event["state"] == "cleaned";
    let of_leftovers = ended
        .of("leftover")
        .filter(cleaned)
        .filter_map(|event| Some((text(event, "container"), event["exit_code"].as_i64()?)));
    of_containers.chain(of_leftovers).collect()
}

/// What is true after every round: one start at most, one exit code, told, of each container that ran, and all gone.
struct Judge<'a> {
    corner: &'a Corner,
    watch: Watch,
    told: BTreeMap<String, i64>,
    instances: Vec<String>,
}

impl<'a> Judge<'a> {
    async fn new(corner: &'a Corner) -> Self {
        Self { corner, watch: corner.engine().watch().await, told: BTreeMap::new(), instances: Vec::new() }
    }

    fn hear(&mut self, ended: &Ended) {
        self.told.extend(codes_told(ended));
        self.instances.extend(ended.of("started").map(|event| text(event, "instance")));
    }

    /// A create call that was cut off may still be carried out. Until it cannot be, its state is kept, and every start
    /// looks for it again.
    async fn settle(&mut self) {
        for _ in 0..STARTS_IN_DOUBT {
            if self.corner.states().is_empty() {
                return;
            }
            let next = run(self.corner, 63).start().end().await;
            next.assert_code(63);
            self.hear(&next);
        }
    }

    /// `what`: which round.
    async fn judge(&mut self, what: &str) {
        self.settle().await;
        self.corner.nothing_is_left().await;
        let stories = self.watch.until_all_gone().await;
        for (id, story) in &stories {
            assert!(times(story, "start") <= 1, "{what}: {id} ran twice: {story:?}");
            let facts = self.watch.facts(id);
            assert!(self.instances.contains(&facts.instance), "{what}: {id} is nobody's: {facts:?}");
            if let Some(code) = facts.exit_code {
                assert_eq!(self.told.get(&facts.name), Some(&code), "{what}: the exit code of {id}: {story:?}");
            }
        }
    }
}

#[tokio::test]
async fn b019_a_command_that_is_killed_at_any_moment_is_made_up_for() {
    in_corner(async |corner| {
        let (mut moments, life) = (Moments::new(), life(corner).await);
        let mut judge = Judge::new(corner).await;
        for round in 0..kills() {
            let code = 1 + round % 60;
            let after = moments.within(life);
            let what = format!("round {round}, killed after {after:?}");
            let killed = match run(corner, code).start().end_within(after).await {
                Ok(ended) => ended,
                Err(run) => run.kill().await,
            };
            judge.hear(&killed);
            if round % 2 == 0 {
                if round % 4 == 0 {
                    // Whoever cleans up is killed, too.
                    let next = match run(corner, 62).start().end_within(moments.within(life)).await {
                        Ok(ended) => ended,
                        Err(run) => run.kill().await,
                    };
                    judge.hear(&next);
                }
                let next = run(corner, 61).start().end().await;
                assert_eq!(next.code, Some(61), "{what}: {}", next.story());
                judge.hear(&next);
            } else {
                resume(corner, &mut judge, &killed, code, &what).await;
            }
            judge.judge(&what).await;
        }
    })
    .await;
}

/// Goes on with what is left, to the same end as if nobody had been killed.
async fn resume(corner: &Corner, judge: &mut Judge<'_>, killed: &Ended, code: u32, what: &str) {
    let Some(state) = corner.states().pop() else { return };
    let instance = state.file_name().unwrap().to_str().unwrap().to_owned();
    let resumed =
        corner.lighterman(&["run", "--json", "--resume", &instance]).env(CREATE_LIMIT, "2s").start().end().await;
    judge.hear(&resumed);
    let story = || format!("{what}: {}\n{}", killed.story(), resumed.story());
    if resumed.of("task").next().is_some() {
        assert_eq!(resumed.code, Some(i32::try_from(code).unwrap()), "{}", story());
        return;
    }
    // There is no task when it was not accepted yet, or had gone through all of its life.
    assert!(resumed.code == Some(125) && resumed.failure().contains("no task to go on with"), "{}", story());
    let was_over = !codes_told(killed).is_empty();
    assert!(was_over || killed.of("task").next().is_none(), "a task is lost: {}", story());
}

/// One run lives through it all, others beside it are killed, and yet others clean up after those.
#[tokio::test]
async fn runs_side_by_side_do_not_touch_what_is_not_theirs() {
    in_corner(async |corner| {
        let (mut moments, life) = (Moments::new(), life(corner).await);
        let watch = corner.engine().watch().await;
        let mut living = corner.run(&corner.task(&["trap", "5", "+", "print", "ready", "+", "sleep", "600"])).start();
        living.until_said("ready").await;
        let container = corner.engine().the_container().await;
        let mut told = BTreeMap::new();
        let mut instances = vec![container.instance.clone()];
        for round in 0..kills().div_ceil(2) {
            let after = moments.within(life);
            let (first, second) = (run(corner, 11).start(), run(corner, 12).start());
            let first = match first.end_within(after).await {
                Ok(ended) => ended,
                Err(run) => run.kill().await,
            };
            let (second, third) = join(second.end(), run(corner, 13).start().end()).await;
            let what = format!("round {round}, killed after {after:?}");
            assert_eq!((second.code, third.code), (Some(12), Some(13)), "{what}: {}{}", second.story(), third.story());
            let is_listed = |event: &Value| event["state"] == "living" && event["pid"] == living.pid();
            assert!(third.of("leftover").any(is_listed), "{what}: {}", third.story());
            for ended in [&first, &second, &third] {
                told.extend(codes_told(ended));
                instances.extend(ended.of("started").map(|event| text(event, "instance")));
            }
            for _ in 0..STARTS_IN_DOUBT {
                if corner.states().len() > 1 {
                    let next = run(corner, 14).start().end().await;
                    told.extend(codes_told(&next));
                    instances.extend(next.of("started").map(|event| text(event, "instance")));
                }
            }
            assert_eq!(corner.states().len(), 1, "{what}");
            assert_eq!(corner.engine().the_container().await.id, container.id, "{what}: only the living one is left");
        }
        corner.engine().kill(&container.id, "TERM").await;
        let ended = living.end().await;
        ended.assert_code(5);
        told.extend(codes_told(&ended));
        let stories = watch.until_all_gone().await;
        for (id, story) in &stories {
            let facts = watch.facts(id);
            assert!(instances.contains(&facts.instance), "{id} is nobody's: {facts:?}");
            assert!(times(story, "start") <= 1, "{id} ran twice: {story:?}");
            if let Some(code) = facts.exit_code {
                assert_eq!(told.get(&facts.name), Some(&code), "the exit code of {id}: {story:?}");
            }
        }
        assert_eq!(times(&stories[&container.id], "kill"), 1, "only by this test: {stories:#?}");
        corner.nothing_is_left().await;
    })
    .await;
}
