//! Prints how two operations with one policy wait.
#![expect(clippy::print_stdout, reason = "an example shows its result")]

use core::time::Duration;

use lighterman_backoff::{Backoff, derive};

const PULL: Backoff = Backoff::new(Duration::from_millis(1100), Duration::from_secs(5), 2000, 200);

fn main() {
    let (web, db) = (derive(42, "pull:web"), derive(42, "pull:db"));
    println!("attempt  plain    web      db");
    for attempt in 1..=5 {
        let plain = PULL.plain_delay(attempt);
        println!("{attempt:<7}  {plain:<7.3?}  {:<7.3?}  {:<7.3?}", PULL.delay(attempt, web), PULL.delay(attempt, db));
    }
    println!("never longer than {:?}", PULL.longest());
}
