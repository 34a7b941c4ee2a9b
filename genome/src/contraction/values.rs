//! Value lists of the contraction family's numeric genes.

/// Below this every count is a value of its own; above, each doubling has [`PER_DOUBLING`] values.
const DENSE: u64 = 512;
const PER_DOUBLING: u64 = 64;

/// Numbers of register tiles in a cache tile, ascending: all below [`DENSE`], round ones above, and last
/// `extent`, which stands for a tile that covers the whole axis whatever the register tile.
pub(super) fn tile_counts(extent: u64) -> Vec<u64> {
    let mut counts = Vec::new();
    let mut count = 1;
    while count < extent {
        counts.push(count);
        count += if count < DENSE { 1 } else { (1 << count.ilog2()) / PER_DOUBLING };
    }
    counts.push(extent);
    counts
}

/// Rows of a register tile: each needs at least one register for its sums.
pub(super) fn rows(extent: u64, registers: u64) -> Vec<u64> {
    (1..=extent.min(registers).max(1)).collect()
}

/// Columns of a register tile: any number where lanes run along the reduction, whole vectors where they run
/// along the columns.
pub(super) fn columns(extent: u64, lanes: u64, registers: u64) -> Vec<u64> {
    let mut values = rows(extent, registers);
    values.extend(vectors(extent, lanes, registers));
    values.sort_unstable();
    values.dedup();
    values
}

/// Whole vectors up to the extent rounded up.
pub(super) fn vectors(extent: u64, lanes: u64, registers: u64) -> Vec<u64> {
    (1..=extent.div_ceil(lanes).min(registers).max(1)).map(|vectors| vectors * lanes).collect()
}

/// Numbers of slices of the reduction: multiples of the workers, at most 32 a worker.
pub(super) fn slices(workers: u64) -> Vec<u64> {
    (1..=32).map(|each| each * workers.max(1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tile_counts_are_ascending_bounded_and_end_with_the_extent() {
        for extent in [1, 2, 3, 7, 64, 511, 512, 513, 1024, 50_000, 1 << 31] {
            let counts = tile_counts(extent);
            assert!(counts.windows(2).all(|pair| pair[0] < pair[1]), "{extent}");
            assert_eq!((counts[0].min(extent), *counts.last().unwrap()), (1, extent));
            assert!(counts.len() < 2_048, "{extent}: {}", counts.len());
        }
        assert!(tile_counts(50_000).contains(&1_536));
        assert!(tile_counts(50_000).len() < 1_024);
    }

    #[test]
    fn columns_hold_single_ones_and_whole_vectors() {
        assert_eq!(columns(3, 8, 16), [1, 2, 3, 8]);
        assert!(columns(1_000, 8, 16).contains(&128) && !columns(1_000, 8, 16).contains(&17));
    }
}
