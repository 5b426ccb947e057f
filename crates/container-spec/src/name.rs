//! Runtime names (engine.md 4.3).

use alloc::{format, string::String};

use lighterman_ids::{ContainerName, RuntimeName};
use lighterman_taskdef::TaskDefinition;

/// Longest name the engine gets. Engine 20.10 takes 2,000 (tried); what other tools make of a name,
/// such as a file, ends at 255 (B-085).
const LONGEST: usize = 255;

/// What the container's name keeps at most when the whole would be too long.
const LONGEST_CONTAINER: usize = 100;

/// Digits of the random part.
const DIGITS: usize = 20;

/// `ecs-<family>-<revision>-<container>-<20 hex digits>`, cut to the engine's length.
///
/// Of `random` the low 80 bits count; they are drawn once per container, and the name is persisted
/// before it is used. Names that are cut, or differ only in what is removed, stay unique by them.
///
/// # Panics
/// Never: the parts of a definition are words.
#[must_use]
pub fn runtime_name(task: &TaskDefinition, container: &ContainerName, random: u128) -> RuntimeName {
    const LOW_80_BITS: u128 = (1 << 80) - 1;
    let kept: String = container.as_str().chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
    let ending = format!("-{:0DIGITS$x}", random & LOW_80_BITS);
    let revision = format!("-{}-", task.revision);
    let room = LONGEST - "ecs-".len() - revision.len() - ending.len();
    let family = task.family.as_str();
    // Only a name that does not fit is cut; then the family gives way first.
    let (family, kept) = if family.len() + kept.len() <= room {
        (family, &*kept)
    } else {
        let kept = &kept[..kept.len().min(LONGEST_CONTAINER.max(room.saturating_sub(family.len())))];
        (&family[..family.len().min(room - kept.len())], kept)
    };
    RuntimeName::parse(&format!("ecs-{family}{revision}{kept}{ending}")).expect("words joined by dashes")
}

/// Whether [`runtime_name`] could have given this name. An engine has each name once, while `docker commit` copies
/// labels into an image: a name that we never give shows that the container is somebody else's, or was renamed.
#[must_use]
pub fn is_runtime_name(task: &TaskDefinition, container: &ContainerName, name: &RuntimeName) -> bool {
    let digits = name.as_str().len().checked_sub(DIGITS).and_then(|at| name.as_str().get(at..));
    let random = digits.and_then(|digits| u128::from_str_radix(digits, 16).ok());
    random.is_some_and(|random| runtime_name(task, container, random) == *name)
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use lighterman_ids::Family;
    use proptest::prelude::*;

    use super::*;

    fn name(family: &str, revision: u32, container: &str, random: u128) -> RuntimeName {
        let mut task = TaskDefinition::new(Family::parse(family).unwrap(), Vec::new());
        task.revision = revision;
        runtime_name(&task, &ContainerName::parse(container).unwrap(), random)
    }

    #[test]
    fn b085_every_legal_name_becomes_an_engine_name() {
        assert_eq!(name("f", 1, "a", 1).as_str(), "ecs-f-1-a-00000000000000000001");
        assert_eq!(name("f", 1, "_", u128::MAX).as_str(), "ecs-f-1--ffffffffffffffffffff");
        assert_eq!(name("f", 12, "Web_1-x", 0xab).as_str(), "ecs-f-12-Web1-x-000000000000000000ab");
        let (long, longest) = ("f".repeat(255), "c".repeat(255));
        let both = name(&long, u32::MAX, &longest, 7);
        assert_eq!(both.as_str().len(), 255);
        assert!(both.as_str().contains(&"c".repeat(100)), "the container stays recognisable");
        assert_eq!(name("f", 1, &longest, 7).as_str().len(), 255);
        assert_eq!(name(&long, 1, "c", 7).as_str().len(), 255);
    }

    #[test]
    fn names_that_others_give_are_told_from_ours() {
        let task = TaskDefinition::new(Family::parse("f").unwrap(), Vec::new());
        let web = ContainerName::parse("web").unwrap();
        let ours = |name: &str| is_runtime_name(&task, &web, &RuntimeName::parse(name).unwrap());
        assert!(ours("ecs-f-1-web-00000000000000000abc"));
        for name in [
            "atk-foreign",
            "web",
            "ecs-f-1-web",
            "ecs-f-1-web-abc",
            "ecs-f-1-web-00000000000000000ABC",
            "ecs-f-1-web-0000000000000000000g",
            "ecs-f-2-web-00000000000000000abc",
            "ecs-f-1-db-00000000000000000abc",
            "ecs-f-1-web-00000000000000000abc-2",
            "x-ecs-f-1-web-00000000000000000abc",
        ] {
            assert!(!ours(name), "{name}");
        }
    }

    proptest! {
        #[test]
        fn b085_names_fit_and_end_in_their_random_part(
            family in "[A-Za-z0-9_-]{1,255}", container in "[A-Za-z0-9_-]{1,255}", revision in 1_u32.., random: u128,
        ) {
            let mut task = TaskDefinition::new(Family::parse(&family).unwrap(), Vec::new());
            task.revision = revision;
            let name = name(&family, revision, &container, random);
            prop_assert!(is_runtime_name(&task, &ContainerName::parse(&container).unwrap(), &name));
            prop_assert!(name.as_str().len() <= 255);
            let random = format!("{:020x}", random & ((1 << 80) - 1));
            prop_assert!(name.as_str().ends_with(&random));
            let revision = format!("-{revision}-");
            prop_assert!(name.as_str().contains(&revision));
        }
    }
}
