//! The chips that come with Tilewright: one file and one line each.

use std::sync::LazyLock;

use crate::chip::Chip;

/// Text of every file, the one for unknown hosts last.
const FILES: [&str; 4] = [
    include_str!("../chips/amd_zen3.toml"),
    include_str!("../chips/amd_zen4.toml"),
    include_str!("../chips/amd_zen4_avx512.toml"),
    include_str!("../chips/generic_avx2.toml"),
];

static CHIPS: LazyLock<Vec<Chip>> = LazyLock::new(|| {
    let read = |text: &&str| Chip::from_toml(text).expect("invariant: a test reads every file");
    FILES.iter().map(read).collect()
});

/// All chips.
pub fn chips() -> &'static [Chip] {
    &CHIPS
}

/// The chip of this name.
pub fn chip_named(id: &str) -> Option<&'static Chip> {
    chips().iter().find(|chip| chip.id == id)
}

/// The chip whose file names this processor, with vectors of so many bytes where there is such a file; else
/// the generic one.
pub fn chip_for_host(vendor: &str, family: u32, model: u32, vector_bytes: u64) -> &'static Chip {
    let describes = |chip: &&Chip| {
        chip.processors.iter().any(|processors| {
            processors.vendor == vendor
                && processors.family == family
                && (processors.models.0..=processors.models.1).contains(&model)
        })
    };
    let same_width = |chip: &&Chip| chip.vectors.bytes.v as u64 == vector_bytes;
    let described = || chips().iter().filter(describes);
    described()
        .find(same_width)
        .or_else(|| described().next())
        .unwrap_or_else(|| chips().last().expect("invariant: the list is not empty"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_reads_and_checks() {
        for text in FILES {
            Chip::from_toml(text).unwrap();
        }
    }

    #[test]
    fn hosts_find_their_file() {
        assert_eq!(chip_for_host("AuthenticAMD", 25, 1, 32).id, "amd_zen3");
        assert_eq!(chip_for_host("AuthenticAMD", 25, 1, 64).id, "amd_zen3");
        assert_eq!(chip_for_host("AuthenticAMD", 25, 17, 32).id, "amd_zen4");
        assert_eq!(chip_for_host("AuthenticAMD", 25, 17, 64).id, "amd_zen4_avx512");
        assert_eq!(chip_for_host("nobody", 0, 0, 32).id, "generic_avx2");
    }

    #[test]
    fn names_are_unique() {
        for chip in chips() {
            assert_eq!(chip_named(&chip.id), Some(chip));
        }
    }
}
