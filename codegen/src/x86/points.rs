//! Points of an instruction's axes.

/// All points below `extents`, the last axis running fastest.
pub(super) fn points(extents: &[u64]) -> Vec<Vec<u64>> {
    let mut all = vec![vec![0; extents.len()]];
    for (axis, &extent) in extents.iter().enumerate() {
        let mut longer = Vec::with_capacity(all.len() * extent as usize);
        for point in all {
            for at in 0..extent {
                let mut point = point.clone();
                point[axis] = at;
                longer.push(point);
            }
        }
        all = longer;
    }
    all
}

/// All points of the axes in `chosen`; the other axes stay 0.
pub(super) fn points_along(extents: &[u64], chosen: impl Fn(usize) -> bool) -> Vec<Vec<u64>> {
    let extents: Vec<u64> =
        extents.iter().enumerate().map(|(axis, &extent)| if chosen(axis) { extent } else { 1 }).collect();
    points(&extents)
}
