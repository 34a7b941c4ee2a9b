//! Points of an instruction's axes.

/// Most axes of an instruction.
pub(super) const MOST_AXES: usize = 6;

/// Position along each axis; 0 where there is no axis.
pub(super) type Point = [u64; MOST_AXES];

/// All points below `extents` of the axes in `chosen`, the last axis running fastest; other axes stay 0.
pub(super) fn points_along(extents: &Point, chosen: impl Fn(usize) -> bool) -> Vec<Point> {
    let extent = |axis: usize| if extents[axis] > 1 && chosen(axis) { extents[axis] } else { 1 };
    let extents: Point = std::array::from_fn(extent);
    let mut all = Vec::with_capacity(extents.iter().product::<u64>() as usize);
    let mut point = Point::default();
    loop {
        all.push(point);
        let Some(axis) = (0..MOST_AXES).rev().find(|&axis| point[axis] + 1 < extents[axis]) else {
            return all;
        };
        point[axis] += 1;
        point[axis + 1..].fill(0);
    }
}

/// All points below `extents`.
pub(super) fn points(extents: &Point) -> Vec<Point> {
    points_along(extents, |_| true)
}

/// The sum of two points.
pub(super) fn plus(first: &Point, second: &Point) -> Point {
    std::array::from_fn(|axis| first[axis] + second[axis])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_chosen_axis_runs_fastest() {
        let at = |i, k| [i, 0, k, 0, 0, 0];
        let found = points_along(&[2, 7, 3, 0, 0, 0], |axis| axis != 1);
        assert_eq!(found, [at(0, 0), at(0, 1), at(0, 2), at(1, 0), at(1, 1), at(1, 2)]);
    }
}
