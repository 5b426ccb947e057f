//! How often: the counts of a CI run, and those of `--full`.

/// The simulation takes its counts as arguments; tests read theirs from the environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Seeds of the simulation.
    pub(crate) seeds: u32,
    /// Seeds that are run twice and compared byte for byte.
    pub(crate) seeds_twice: u32,
    /// kill -9 of a process that writes to the store.
    store_kills: u32,
    /// Cuts of power under the store.
    power_cuts: u32,
    /// Bits flipped in a closed store.
    bit_flips: u32,
    /// Places at which the end of a store's file is cut off.
    cut_tails: u32,
    /// kill -9 of `lighterman run` at random moments.
    run_kills: u32,
    /// Random sequences of calls against the real engine and its model.
    differential: u32,
}

pub(crate) const FAST: Counts = Counts {
    seeds: 10_000,
    seeds_twice: 20,
    store_kills: 50,
    power_cuts: 40,
    bit_flips: 150,
    cut_tails: 60,
    run_kills: 20,
    differential: 50,
};

pub(crate) const FULL: Counts = Counts {
    seeds: 100_000,
    seeds_twice: 200,
    store_kills: 200,
    power_cuts: 200,
    bit_flips: 1_500,
    cut_tails: 600,
    run_kills: 200,
    differential: 200,
};

impl Counts {
    pub(crate) fn of(full: bool) -> Self {
        if full { FULL } else { FAST }
    }

    /// What the store tests read.
    pub(crate) fn of_store(self) -> Vec<(&'static str, String)> {
        vec![
            ("LIGHTERMAN_KILLS", self.store_kills.to_string()),
            ("LIGHTERMAN_POWER_CUTS", self.power_cuts.to_string()),
            ("LIGHTERMAN_BIT_FLIPS", self.bit_flips.to_string()),
            ("LIGHTERMAN_CUT_TAILS", self.cut_tails.to_string()),
        ]
    }

    /// What the tests on the engine read.
    pub(crate) fn of_engine(self) -> Vec<(&'static str, String)> {
        vec![
            ("LIGHTERMAN_KILLS", self.run_kills.to_string()),
            ("LIGHTERMAN_DIFFERENTIAL", self.differential.to_string()),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_counts_are_above_those_of_ci() {
        let numbers = |counts: Counts| -> Vec<u32> {
            let all = counts.of_store().into_iter().chain(counts.of_engine());
            all.map(|(_, value)| value.parse().unwrap()).chain([counts.seeds, counts.seeds_twice]).collect()
        };
        for (fast, full) in numbers(Counts::of(false)).into_iter().zip(numbers(Counts::of(true))) {
            assert!(full > fast, "{full} {fast}");
        }
    }
}
