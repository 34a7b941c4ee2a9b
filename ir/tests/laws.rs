//! Laws that hold for all values: layouts are one to one, affine expressions form a module.

use proptest::prelude::*;
use tilewright_ir::affine::{Affine, Variable};
use tilewright_ir::program::Layout;

fn shapes() -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(1_u64..=20, 1..=3)
}

fn layouts(rank: usize) -> impl Strategy<Value = Layout> {
    prop_oneof![
        Just(Layout::RowMajor),
        (0..rank, 1_u64..=9).prop_map(|(dimension, width)| Layout::Panels { dimension, width }),
        (0_u64..=5).prop_map(|by| Layout::Padded { by }),
    ]
}

/// Whether each element has a place of its own inside the buffer, and (without padding) each place an element.
fn is_one_to_one(layout: &Layout, shape: &[u64], bytes: u64) -> bool {
    let elements = layout.elements(shape);
    let mut taken = vec![false; elements as usize];
    for flat in 0..shape.iter().product::<u64>() {
        let mut rest = flat;
        let mut at = vec![0; shape.len()];
        for (index, &extent) in at.iter_mut().zip(shape).rev() {
            *index = (rest % extent) as i64;
            rest /= extent;
        }
        let offset = layout.offset(&at, shape, bytes);
        if offset >= elements || std::mem::replace(&mut taken[offset as usize], true) {
            return false;
        }
    }
    !matches!(layout, Layout::RowMajor | Layout::Swizzled) || taken.into_iter().all(|taken| taken)
}

fn affines() -> impl Strategy<Value = Affine> {
    (-50_i64..50, prop::collection::vec((0_u32..5, -9_i64..9), 0..6)).prop_map(|(constant, terms)| {
        terms.into_iter().fold(Affine::from(constant), |sum, (variable, coefficient)| {
            sum + Affine::from(Variable(variable)) * coefficient
        })
    })
}

fn assignments() -> impl Strategy<Value = Vec<i64>> {
    prop::collection::vec(-100_i64..100, 5)
}

proptest! {
    #[test]
    fn every_element_of_a_buffer_has_a_place_of_its_own(
        (shape, layout) in shapes().prop_flat_map(|shape| {
            let rank = shape.len();
            (Just(shape), layouts(rank))
        }),
        bytes in prop::sample::select(vec![1_u64, 2, 4, 8]),
    ) {
        prop_assert!(is_one_to_one(&layout, &shape, bytes), "{layout:?} {shape:?}");
    }

    #[test]
    fn a_swizzle_of_whole_groups_is_one_to_one(
        rows in prop::collection::vec(1_u64..=9, 0..=2),
        groups in prop::sample::select(vec![1_u64, 2, 4, 8, 16, 24]),
        bytes in prop::sample::select(vec![1_u64, 2, 4, 8]),
    ) {
        let shape = [rows.as_slice(), &[groups * (16 / bytes)]].concat();
        prop_assert!(is_one_to_one(&Layout::Swizzled, &shape, bytes), "{shape:?}");
    }

    #[test]
    fn every_swizzle_is_one_to_one(
        shape in shapes(), bytes in prop::sample::select(vec![1_u64, 2, 4, 8]),
    ) {
        prop_assert!(is_one_to_one(&Layout::Swizzled, &shape, bytes), "{shape:?}");
    }

    #[test]
    fn affine_arithmetic_agrees_with_that_of_the_values(
        x in affines(), y in affines(), z in affines(), factor in -9_i64..9, values in assignments(),
    ) {
        let at = |affine: &Affine| affine.evaluate(|variable| values[variable.0 as usize]);
        prop_assert_eq!(at(&(x.clone() + y.clone())), at(&x) + at(&y));
        prop_assert_eq!(at(&(x.clone() - y.clone())), at(&x) - at(&y));
        prop_assert_eq!(at(&(x.clone() * factor)), at(&x) * factor);
        // The form is canonical: equal functions are equal values.
        prop_assert_eq!(x.clone() + y.clone(), y.clone() + x.clone());
        prop_assert_eq!((x.clone() + y.clone()) + z.clone(), x.clone() + (y.clone() + z));
        prop_assert_eq!((x.clone() + y.clone()) * factor, x.clone() * factor + y * factor);
        prop_assert_eq!(x.clone() - x.clone(), Affine::default());
        prop_assert!(x.terms().iter().all(|term| term.1 != 0) && x.terms().is_sorted_by(|a, b| a.0 < b.0));
    }

    #[test]
    fn substitution_is_evaluation_in_two_steps(
        x in affines(), by in affines(), variable in 0_u32..5, values in assignments(),
    ) {
        let at = |affine: &Affine| affine.evaluate(|variable| values[variable.0 as usize]);
        let inner = at(&by);
        let outer = x.evaluate(|v| if v.0 == variable { inner } else { values[v.0 as usize] });
        prop_assert_eq!(at(&x.substitute(Variable(variable), &by)), outer);
    }
}
