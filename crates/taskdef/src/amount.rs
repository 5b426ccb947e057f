//! Amounts of a task, which the API writes as text with or without a unit (taskdef.md 1.6).

/// Units of 1/1024 CPU: `512`, `.5 vCPU`. `None` when it is no whole number of units.
pub(crate) fn cpu_units(text: &str) -> Option<u32> {
    let text = text.trim().to_ascii_lowercase();
    match text.strip_suffix("vcpus").or_else(|| text.strip_suffix("vcpu")) {
        Some(number) => times_1024(number.trim_end()),
        None => whole(&text),
    }
}

/// MiB: `2048`, `2 GB`, `.5GB`, `512MB`. `None` when it is no whole number of MiB.
pub(crate) fn mebibytes(text: &str) -> Option<u32> {
    let text = text.trim().to_ascii_lowercase();
    let number = |units: [&str; 3]| units.iter().find_map(|unit| text.strip_suffix(unit)).map(str::trim_end);
    if let Some(number) = number(["gb", "gib", "g"]) {
        return times_1024(number);
    }
    whole(number(["mb", "mib", "m"]).unwrap_or(&text))
}

fn whole(digits: &str) -> Option<u32> {
    all_digits(digits).then(|| digits.parse().ok()).flatten()
}

fn all_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// `[0-9]+` or `[0-9]*\.[0-9]+`, times 1024, exactly.
fn times_1024(number: &str) -> Option<u32> {
    // Ten places behind the point are more than 1/1024 needs; the product then fits in 64 bits.
    const PLACES: usize = 10;
    let Some((before, after)) = number.split_once('.') else { return whole(number)?.checked_mul(1024) };
    let after = after.trim_end_matches('0');
    if !all_digits(&number.replacen('.', "", 1)) || number.ends_with('.') || after.len() > PLACES {
        return None;
    }
    let scale = 10_u64.pow(u32::try_from(after.len()).ok()?);
    let part = |digits: &str| if digits.is_empty() { Some(0) } else { whole(digits).map(u64::from) };
    let fraction = if after.is_empty() { 0 } else { after.parse::<u64>().ok()? };
    let scaled = part(before)?.checked_mul(scale)?.checked_add(fraction)?.checked_mul(1024)?;
    (scaled % scale == 0).then(|| u32::try_from(scaled / scale).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t11_t12_amounts_with_and_without_unit() {
        for (text, wanted) in [
            ("512", Some(512)),
            (".5 vcpu", Some(512)),
            ("0.5 vCPU", Some(512)),
            ("0.5vCPU", Some(512)),
            ("0.500 vCPU", Some(512)),
            ("1 vCPU", Some(1024)),
            ("1VCPU", Some(1024)),
            ("2   vcpus", Some(2048)),
            (" 1024 ", Some(1024)),
            ("1.0 vcpu", Some(1024)),
            ("0.3 vCPU", None),
            ("1. vCPU", None),
            (". vCPU", None),
            ("1 core", None),
            ("-1", None),
            ("0.5", None),
            ("1,5 vcpu", None),
            ("vcpu", None),
            ("", None),
            ("4294967296", None),
            ("4294967295 vcpu", None),
            ("99999999999999999999.5 vcpu", None),
            ("0.00000000000000000001 vcpu", None),
        ] {
            assert_eq!(cpu_units(text), wanted, "{text:?}");
        }
        for (text, wanted) in [
            ("2GB", Some(2048)),
            ("2 GB", Some(2048)),
            ("2 gib", Some(2048)),
            ("2048", Some(2048)),
            ("2048MB", Some(2048)),
            ("2048 m", Some(2048)),
            (".5GB", Some(512)),
            ("0.5 GB", Some(512)),
            ("1,5 GB", None),
            ("0.5 MB", None),
            ("GB", None),
            ("2TB", None),
        ] {
            assert_eq!(mebibytes(text), wanted, "{text:?}");
        }
    }
}
