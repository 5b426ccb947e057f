//! The model of the engine and a real engine, given the same calls.
//!
//! A sequence of at most ten deeds is drawn from a seed. It is performed on the modelled engine, in
//! simulated time, and on the real one through the adapter. Compared are, deed by deed: the outcome with
//! its class and words, and what is seen of every container once things have settled; in the end: what
//! was told of each container, in order. Ids are replaced by a word, names by their part in the play. Left out is
//! what 20.10 itself leaves to chance: whether a kill for memory is noticed, what a probe says that the end of its
//! container meets, and whether a stop in the first instant of a run meets the program or the engine's own starter.
//!
//! `LIGHTERMAN_DIFFERENTIAL` says how many sequences, `LIGHTERMAN_DIFFERENTIAL_SEED` with which seed the
//! first begins; the others follow.

mod deed;
mod side;

use std::{env, time::Duration};

use futures_util::{StreamExt as _, stream};
use lighterman_docker_tests::{Fixture, on_engine};
use lighterman_ids::InstanceId;
use lighterman_testkit::FakeRuntime;

use crate::{
    deed::{Deed, sequence},
    side::{Side, View, agree, agrees},
};

/// How many sequences are performed at a time: each waits most of its time.
const AT_ONCE: usize = 4;
/// How long the engine may take to come to what the model shows.
const PATIENCE: Duration = Duration::from_secs(10);

#[tokio::test]
async fn the_model_and_the_engine_agree() {
    let count = number("LIGHTERMAN_DIFFERENTIAL", 50);
    let first = number("LIGHTERMAN_DIFFERENTIAL_SEED", 0);
    on_engine(async |fixture| {
        let runs = stream::iter(first..first + count).map(|seed| compare(fixture, seed));
        let found: Vec<Option<String>> = runs.buffer_unordered(AT_ONCE).collect().await;
        let differences: Vec<String> = found.into_iter().flatten().collect();
        assert!(differences.is_empty(), "{} of {count} differ:\n\n{}", differences.len(), differences.join("\n\n"));
    })
    .await;
}

#[tokio::test]
async fn a_difference_is_found() {
    on_engine(async |fixture| {
        // What the model expects of one sequence, and what the engine does in another.
        let deeds = [deed::CREATE_AND_RUN, &[Deed::Kill { part: 0, hard: true }]].concat();
        let expected = on_the_model(deeds).await;
        let engine = Side::new(fixture, "differs").await;
        let found = against(&engine, deed::CREATE_AND_RUN, &expected, Duration::from_millis(200)).await;
        assert!(found.is_err());
    })
    .await;
}

fn number(variable: &str, otherwise: u64) -> u64 {
    match env::var(variable) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{variable}={text:?} is no number")),
        Err(_) => otherwise,
    }
}

/// Performs the sequence of this seed on both; what differs, if anything.
async fn compare(fixture: &Fixture, seed: u64) -> Option<String> {
    let deeds = sequence(seed);
    let expected = on_the_model(deeds.clone()).await;
    let engine = Side::new(fixture, &format!("s{seed}")).await;
    let found = against(&engine, &deeds, &expected, PATIENCE).await;
    engine.clean().await;
    let difference = found.err()?;
    let script: Vec<String> = deeds.iter().map(Deed::to_string).collect();
    Some(format!("LIGHTERMAN_DIFFERENTIAL_SEED={seed}\n  {}\n{difference}", script.join("\n  ")))
}

/// What is seen after each deed, and what was told in the end.
struct Expected {
    views: Vec<View>,
    stories: String,
}

/// The modelled engine has time of its own, so it has a thread of its own.
async fn on_the_model(deeds: Vec<Deed>) -> Expected {
    let performing = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        runtime.expect("a runtime without I/O").block_on(async {
            let engine = FakeRuntime::default();
            let image = engine.add_testbox();
            let modelled = side::Modelled { engine, image, instance: InstanceId::from_bits(1) };
            let side = Side::new(&modelled, "model").await;
            let mut views = Vec::new();
            for deed in &deeds {
                let outcome = side.perform(deed).await;
                // Whatever goes on by itself comes to its end in this time.
                tokio::time::advance(Duration::from_secs(4)).await;
                views.push(View { outcome, parts: side.look().await });
            }
            Expected { views, stories: side.stories().await }
        })
    };
    tokio::task::spawn_blocking(performing).await.expect("the model does not fail")
}

/// Performs the deeds; the first thing that is not as expected.
async fn against<E: side::Engine>(
    engine: &Side<'_, E>,
    deeds: &[Deed],
    expected: &Expected,
    patience: Duration,
) -> Result<(), String> {
    for (deed, expected) in deeds.iter().zip(&expected.views) {
        let outcome = engine.perform(deed).await;
        let parts = engine.until(&expected.parts, patience).await;
        let found = View { outcome, parts };
        if found.outcome != expected.outcome || !agree(&expected.parts, &found.parts) {
            return Err(format!("at: {deed}\nmodel:\n{expected}\nengine:\n{found}"));
        }
    }
    let told = engine.until_told(&expected.stories, patience).await;
    if !agrees(&expected.stories, &told) || deeds.len() < expected.views.len() {
        return Err(format!("told by the model:\n{}\ntold by the engine:\n{told}", expected.stories));
    }
    Ok(())
}
