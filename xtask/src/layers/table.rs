//! The table of layers as data: who may depend on whom, and on which foreign crates (ADR 0001).
//!
//! A new crate of the vocabulary or the decisions is added here by name; elsewhere its layer is enough.

use std::fmt;

/// From the words everybody shares to the tools nobody ships.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Layer {
    Vocabulary,
    Decisions,
    Contracts,
    Adapter,
    Driver,
    Edge,
    Composition,
    Proof,
    Tools,
}

impl Layer {
    pub(crate) const ALL: [Self; 9] = [
        Self::Vocabulary,
        Self::Decisions,
        Self::Contracts,
        Self::Adapter,
        Self::Driver,
        Self::Edge,
        Self::Composition,
        Self::Proof,
        Self::Tools,
    ];

    pub(crate) fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|layer| layer.name() == text)
    }

    /// As manifests write it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Vocabulary => "vocabulary",
            Self::Decisions => "decisions",
            Self::Contracts => "contracts",
            Self::Adapter => "adapter",
            Self::Driver => "driver",
            Self::Edge => "edge",
            Self::Composition => "composition",
            Self::Proof => "proof",
            Self::Tools => "tools",
        }
    }

    /// No clock, no I/O, no async: `#![no_std]`.
    pub(crate) fn is_pure(self) -> bool {
        matches!(self, Self::Vocabulary | Self::Decisions)
    }

    /// Part of what users run.
    pub(crate) fn ships(self) -> bool {
        !matches!(self, Self::Proof | Self::Tools)
    }

    /// Layers whose crates any crate of this layer may depend on. Within the vocabulary and the decisions see
    /// [`VOCABULARY`] and [`SINGLE_EDGES`].
    fn may_use_layers(self) -> &'static [Self] {
        match self {
            Self::Vocabulary => &[],
            Self::Decisions | Self::Contracts => &[Self::Vocabulary],
            Self::Adapter | Self::Edge => &[Self::Vocabulary, Self::Contracts],
            Self::Driver => &[Self::Vocabulary, Self::Decisions, Self::Contracts],
            Self::Composition => &[
                Self::Vocabulary,
                Self::Decisions,
                Self::Contracts,
                Self::Adapter,
                Self::Driver,
                Self::Edge,
                Self::Composition,
            ],
            Self::Proof => &[
                Self::Vocabulary,
                Self::Decisions,
                Self::Contracts,
                Self::Adapter,
                Self::Driver,
                Self::Edge,
                Self::Composition,
                Self::Proof,
            ],
            Self::Tools => &Self::ALL,
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The vocabulary in its order: each may depend on those before it.
pub(crate) const VOCABULARY: &[&str] = &["ids", "status", "taskdef", "calls", "view"];

/// Edges that the layers alone do not allow. Every crate of the decisions has a row.
pub(crate) const SINGLE_EDGES: &[(&str, &[&str])] = &[
    ("graph", &[]),
    ("backoff", &[]),
    ("container-spec", &[]),
    ("task-manager", &["graph", "backoff", "container-spec"]),
    ("engine", &["task-manager", "graph", "backoff", "container-spec"]),
    ("records", &["engine", "task-manager"]),
    ("turn", &["engine", "records"]),
    ("runtime-model", &[]),
    ("plan", &["engine", "records", "turn", "runtime-model"]),
    ("rollout", &[]),
    ("uplink", &["backoff"]),
    ("cluster", &["uplink"]),
];

/// Foreign libraries that exactly one crate may know. deny.toml says the same with `wrappers`; a test compares.
pub(crate) const WRAPPED: &[(&str, &str)] = &[("bollard", "docker"), ("sled", "checkpoint"), ("cni-plugin", "cni")];

/// Foreign crates that a pure crate must not reach, at any depth.
pub(crate) const IMPURE: &[&str] = &[
    "async-std",
    "axum",
    "bollard",
    "chrono",
    "getrandom",
    "hyper",
    "jiff",
    "mio",
    "reqwest",
    "rustix",
    "sled",
    "smol",
    "socket2",
    "time",
    "tokio",
];

/// Which foreign crates the crates of a layer may use outside tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Foreign {
    /// Only these.
    Only(&'static [&'static str]),
    /// Any but these. Wrapped libraries are excluded in any case.
    AnyBut(&'static [&'static str]),
}

/// A binary may word errors freely; a library that does takes matching away from its caller.
const ONLY_IN_BINARIES: &[&str] = &["anyhow"];

pub(crate) fn foreign_of_layer(layer: Layer) -> Foreign {
    match layer {
        Layer::Vocabulary => Foreign::Only(&["serde", "thiserror"]),
        Layer::Decisions => Foreign::Only(&["serde", "thiserror", "tracing"]),
        Layer::Contracts => Foreign::Only(&["futures-core", "thiserror"]),
        Layer::Adapter | Layer::Driver => {
            Foreign::Only(&["bytes", "futures-core", "futures-util", "serde", "thiserror", "tokio", "tracing"])
        }
        Layer::Edge | Layer::Composition | Layer::Proof => Foreign::AnyBut(ONLY_IN_BINARIES),
        Layer::Tools => Foreign::AnyBut(&[]),
    }
}

/// Foreign crates that one crate may use beyond its layer's, each with the reason.
pub(crate) const FOREIGN_OF_CRATE: &[(&str, &[&str], &str)] = &[
    ("taskdef", &["serde_json", "toml"], "the readers of task definitions"),
    ("container-spec", &["base64", "miniz_oxide", "serde_json", "sha2"], "the labels `.def` and `.recover`"),
    ("records", &["serde_json", "sha2"], "the codec and the checksums of the checkpoint format"),
    ("uplink", &["serde_json"], "the codec of the cluster protocol"),
    (
        "docker",
        &["base64", "bollard", "http", "http-body-util", "hyper", "hyper-util", "serde_json"],
        "bollard, what its types force, and the header with the credentials",
    ),
    ("checkpoint", &["rustix", "serde_json", "sled"], "sled, locks and syncs of files, export as lines of JSON"),
    ("images", &["serde_json", "sha2", "tar"], "image archives are tar, named by their digest"),
    ("driver", &["rustix"], "boot id, clocks and signals"),
    ("lighterman", &["anyhow"], "a binary words errors for people"),
];

/// Foreign crates that a crate may have only as an optional dependency: who does not read does not pay.
pub(crate) const OPTIONAL: &[(&str, &[&str])] = &[("taskdef", &["serde_json", "toml"])];

/// Why `from` may not depend on `to`, both ours; `None` if it may.
pub(crate) fn forbids_edge(from: (&str, Layer), to: (&str, Layer)) -> Option<String> {
    let (from_name, from_layer) = from;
    let (to_name, to_layer) = to;
    let by_layer = from_layer.may_use_layers().contains(&to_layer);
    let by_order = match (place_in_vocabulary(from_name), place_in_vocabulary(to_name)) {
        (Some(from_place), Some(to_place)) => to_place < from_place,
        (None, _) | (_, None) => false,
    };
    let by_row = SINGLE_EDGES.iter().any(|(name, edges)| *name == from_name && edges.contains(&to_name));
    if by_layer || by_order || by_row {
        return None;
    }
    Some(format!("{from_name} ({from_layer}) may not depend on {to_name} ({to_layer})"))
}

/// Why `from` may not depend on the foreign crate `to` outside tests; `None` if it may.
pub(crate) fn forbids_foreign(from: (&str, Layer), to: &str) -> Option<String> {
    let (name, layer) = from;
    if let Some(text) = forbids_wrapped(name, to) {
        return Some(text);
    }
    let by_layer = match foreign_of_layer(layer) {
        Foreign::Only(allowed) => allowed.contains(&to),
        Foreign::AnyBut(forbidden) => !forbidden.contains(&to),
    };
    let by_crate = FOREIGN_OF_CRATE.iter().any(|(owner, crates, _)| *owner == name && crates.contains(&to));
    if by_layer || by_crate { None } else { Some(format!("{name} ({layer}) may not depend on the foreign crate {to}")) }
}

/// Why `from` may not know the wrapped library `to`, in tests neither.
pub(crate) fn forbids_wrapped(from: &str, to: &str) -> Option<String> {
    let (_, owner) = WRAPPED.iter().find(|(library, owner)| *library == to && *owner != from)?;
    Some(format!("{from} may not know {to}: only {owner} wraps it"))
}

fn place_in_vocabulary(name: &str) -> Option<usize> {
    VOCABULARY.iter().position(|known| *known == name)
}

#[cfg(test)]
mod tests {
    use super::Layer::{Adapter, Composition, Contracts, Decisions, Driver, Edge, Proof, Tools, Vocabulary};
    use super::*;

    #[test]
    fn names_of_layers_round_trip() {
        for layer in Layer::ALL {
            assert_eq!(Layer::parse(layer.name()), Some(layer));
        }
        assert_eq!(Layer::parse("adapters"), None);
    }

    /// Every pair of layers, for crates that no single edge names.
    #[test]
    fn every_pair_of_layers_is_decided() {
        let allowed = |from: Layer| -> Vec<Layer> {
            Layer::ALL.into_iter().filter(|to| forbids_edge(("x", from), ("y", *to)).is_none()).collect()
        };
        assert_eq!(allowed(Vocabulary), []);
        assert_eq!(allowed(Decisions), [Vocabulary]);
        assert_eq!(allowed(Contracts), [Vocabulary]);
        assert_eq!(allowed(Adapter), [Vocabulary, Contracts]);
        assert_eq!(allowed(Driver), [Vocabulary, Decisions, Contracts]);
        assert_eq!(allowed(Edge), [Vocabulary, Contracts]);
        assert_eq!(allowed(Composition), [Vocabulary, Decisions, Contracts, Adapter, Driver, Edge, Composition]);
        assert_eq!(allowed(Proof), [Vocabulary, Decisions, Contracts, Adapter, Driver, Edge, Composition, Proof]);
        assert_eq!(allowed(Tools), Layer::ALL);
    }

    #[test]
    fn the_vocabulary_depends_only_on_what_stands_before_it() {
        for (index, from) in VOCABULARY.iter().enumerate() {
            for (place, to) in VOCABULARY.iter().enumerate() {
                let forbidden = forbids_edge((from, Vocabulary), (to, Vocabulary)).is_some();
                assert_eq!(forbidden, place >= index, "{from} -> {to}");
            }
        }
    }

    #[test]
    fn single_edges_have_one_direction() {
        assert!(forbids_edge(("engine", Decisions), ("task-manager", Decisions)).is_none());
        assert!(forbids_edge(("task-manager", Decisions), ("engine", Decisions)).is_some());
        assert!(forbids_edge(("turn", Decisions), ("task-manager", Decisions)).is_some());
        assert!(forbids_edge(("cluster", Adapter), ("uplink", Decisions)).is_none());
        assert!(forbids_edge(("docker", Adapter), ("uplink", Decisions)).is_some());
    }

    #[test]
    fn foreign_crates_stay_where_the_table_puts_them() {
        let rows: &[(&str, Layer, &str, bool)] = &[
            ("engine", Decisions, "tracing", true),
            ("engine", Decisions, "tokio", false),
            ("ids", Vocabulary, "tracing", false),
            ("records", Decisions, "serde_json", true),
            ("engine", Decisions, "serde_json", false),
            ("contracts", Contracts, "tokio", false),
            ("docker", Adapter, "bollard", true),
            ("docker", Adapter, "sled", false),
            ("checkpoint", Adapter, "sled", true),
            ("app", Composition, "bollard", false),
            ("docker-tests", Proof, "bollard", false),
            ("xtask", Tools, "sled", false),
            ("app", Composition, "anyhow", false),
            ("lighterman", Composition, "anyhow", true),
            ("docker", Adapter, "anyhow", false),
            ("xtask", Tools, "anyhow", true),
            ("driver", Driver, "axum", false),
            ("ui", Edge, "comfy-table", true),
        ];
        for (name, layer, library, allowed) in rows {
            assert_eq!(forbids_foreign((name, *layer), library).is_none(), *allowed, "{name} -> {library}");
        }
    }
}
