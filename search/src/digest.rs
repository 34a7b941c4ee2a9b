//! FNV-1a, 64 bits (Fowler, Noll, Vo 1991): tells texts apart that nobody forges.

/// The digest of nothing.
pub(crate) const EMPTY: u64 = 0xCBF2_9CE4_8422_2325;

/// The digest of what `digest` stands for with `bytes` behind it.
pub(crate) fn extend(digest: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(digest, |digest, &byte| (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3))
}
