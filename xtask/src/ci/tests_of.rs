//! The suites of tests, for nextest where it is there and for `cargo test` elsewhere.
//!
//! What is in which suite is said twice, here for `cargo test` and in `.config/nextest.toml` as profiles.

use super::counts::Counts;
use crate::command::Cmd;

/// Tests of this package need a Docker engine, all of them.
const ENGINE_PACKAGE: &str = "lighterman-docker-tests";

/// The integration tests of this package are the store tests: slow and counted.
const STORE_PACKAGE: &str = "lighterman-checkpoint";

/// Modules of store tests that need root: they mount file systems.
const STORE_NEEDS_ROOT: &[&str] = &["failing_device::", "full_disk::", "power_cuts::"];

/// Modules of tests on the engine that need root: they start a second engine in a network namespace.
const ENGINE_NEEDS_ROOT: &[&str] = &["needs_root::"];

/// The whole workspace with all features: every build, test and lint of CI takes the same, so that nothing is compiled
/// twice.
pub(crate) const WHOLE: [&str; 2] = ["--workspace", "--all-features"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Suite {
    /// Unit, property and snapshot tests: no engine, no root.
    Unit,
    Store,
    StoreAsRoot,
    Engine,
    EngineAsRoot,
}

impl Suite {
    fn profile(self) -> &'static str {
        match self {
            Self::Unit => "default",
            Self::Store | Self::StoreAsRoot => "store",
            Self::Engine | Self::EngineAsRoot => "docker",
        }
    }

    /// Modules that only root can test, and whether this suite is about them.
    fn root_modules(self) -> (&'static [&'static str], bool) {
        match self {
            Self::Unit => (&[], false),
            Self::Store => (STORE_NEEDS_ROOT, false),
            Self::StoreAsRoot => (STORE_NEEDS_ROOT, true),
            Self::Engine => (ENGINE_NEEDS_ROOT, false),
            Self::EngineAsRoot => (ENGINE_NEEDS_ROOT, true),
        }
    }

    /// The commands that run the suite, told its counts. `extra` goes to the runner behind its own arguments.
    pub(crate) fn commands(self, counts: Counts, has_nextest: bool, extra: &[String]) -> Vec<Cmd> {
        let commands = if has_nextest { vec![self.nextest(extra)] } else { self.cargo_test(extra) };
        let told = |command| {
            self.env(counts).into_iter().fold(command, |command: Cmd, (name, value)| command.env(name, value))
        };
        commands.into_iter().map(told).collect()
    }

    fn env(self, counts: Counts) -> Vec<(&'static str, String)> {
        match self {
            Self::Unit => Vec::new(),
            Self::Store | Self::StoreAsRoot => counts.of_store(),
            Self::Engine | Self::EngineAsRoot => counts.of_engine(),
        }
    }

    /// The profile chooses the packages.
    fn nextest(self, extra: &[String]) -> Cmd {
        let run = ["run", "--profile", self.profile(), "--no-fail-fast"];
        let command = Cmd::cargo("nextest").args(run).args(WHOLE);
        let (modules, are_meant) = self.root_modules();
        let patterns: Vec<String> = modules.iter().map(|module| format!("test(/^{module}/)")).collect();
        let patterns = patterns.join(" | ");
        let command = match (patterns.is_empty(), are_meant) {
            (true, _) => command,
            (false, true) => command.arg("--filterset").arg(patterns),
            (false, false) => command.arg("--filterset").arg(format!("not ({patterns})")),
        };
        command.args(extra)
    }

    fn cargo_test(self, extra: &[String]) -> Vec<Cmd> {
        let tests = || Cmd::cargo("test").args(["--no-fail-fast", "--all-features"]);
        let package = |name: &str| tests().args(["--package", name]);
        let integration = ["--test", "*", "--"];
        let filter = self.cargo_test_filter();
        match self {
            Self::Unit => {
                let others = ["--workspace", "--exclude", ENGINE_PACKAGE, "--exclude", STORE_PACKAGE];
                let targets = ["--lib", "--bins", "--tests"];
                vec![tests().args(others).args(targets).args(extra), package(STORE_PACKAGE).arg("--lib").args(extra)]
            }
            Self::Store | Self::StoreAsRoot => vec![package(STORE_PACKAGE).args(integration).args(filter).args(extra)],
            Self::Engine | Self::EngineAsRoot => {
                let one_at_a_time = ["--test-threads", "1"];
                vec![package(ENGINE_PACKAGE).args(integration).args(one_at_a_time).args(filter).args(extra)]
            }
        }
    }

    fn cargo_test_filter(self) -> Vec<&'static str> {
        let (modules, are_meant) = self.root_modules();
        if are_meant { modules.to_vec() } else { modules.iter().flat_map(|module| ["--skip", module]).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(suite: Suite, has_nextest: bool) -> Vec<String> {
        suite.commands(Counts::of(false), has_nextest, &[]).iter().map(Cmd::line).collect()
    }

    #[test]
    fn nextest_runs_a_profile_with_or_without_the_tests_for_root() {
        let rows = [
            (Suite::Unit, "--profile default", ""),
            (Suite::Store, "--profile store", "'not (test(/^failing_device::/) | test(/^full_disk::/) |"),
            (Suite::StoreAsRoot, "--profile store", "'test(/^failing_device::/) | test(/^full_disk::/) |"),
            (Suite::Engine, "--profile docker", "'not (test(/^needs_root::/))'"),
            (Suite::EngineAsRoot, "--profile docker", "'test(/^needs_root::/)'"),
        ];
        for (suite, profile, filter) in rows {
            let lines = lines(suite, true);
            assert!(matches!(&lines[..], [line] if line.contains(profile) && line.contains(filter)), "{lines:?}");
            assert_eq!(lines[0].contains("--filterset"), !filter.is_empty(), "{lines:?}");
        }
    }

    #[test]
    fn cargo_test_keeps_engine_and_store_out_of_the_unit_tests() {
        let unit = lines(Suite::Unit, false);
        assert!(unit[0].contains("--exclude lighterman-docker-tests --exclude lighterman-checkpoint"), "{unit:?}");
        assert!(unit[1].contains("--package lighterman-checkpoint --lib"), "{unit:?}");
        let root = lines(Suite::StoreAsRoot, false);
        assert!(root[0].ends_with("-- failing_device:: full_disk:: power_cuts::"), "{root:?}");
        let engine = lines(Suite::Engine, false);
        assert!(engine[0].ends_with("-- --test-threads 1 --skip needs_root::"), "{engine:?}");
    }

    #[test]
    fn each_suite_is_told_its_own_count_of_kills() {
        assert!(!lines(Suite::Unit, true)[0].contains("LIGHTERMAN_KILLS"));
        assert!(lines(Suite::Store, true)[0].starts_with("LIGHTERMAN_KILLS=50 "));
        assert!(lines(Suite::Engine, true)[0].starts_with("LIGHTERMAN_KILLS=20 "));
    }
}
