//! Drawing one of the open values.

use rand::{Rng, RngExt};

use crate::gene::Sampling;

/// One of `open`, all alike; `None` when there is none.
pub(crate) fn uniform(open: &[u16], rng: &mut dyn Rng) -> Option<u16> {
    if open.is_empty() { None } else { Some(open[rng.random_range(0..open.len())]) }
}

/// One of `open` by the gene's own distribution; `None` when there is none.
pub(crate) fn draw(open: &[u16], sampling: Sampling, rng: &mut dyn Rng) -> Option<u16> {
    match sampling {
        Sampling::Uniform => uniform(open, rng),
        Sampling::Logarithmic { last } => {
            let (&largest, rest) = open.split_last()?;
            if rest.is_empty() || rng.random::<f64>() < last {
                return Some(largest);
            }
            let among = if last > 0.0 { rest } else { open };
            let place = ((among.len() + 1) as f64).powf(rng.random::<f64>()) as usize - 1;
            Some(among[place.min(among.len() - 1)])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand::rngs::Xoshiro256PlusPlus;

    #[test]
    fn a_logarithmic_draw_gives_each_doubling_its_share_and_the_last_its_own() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let open: Vec<u16> = (0..256).collect();
        let mut doublings = [0_u32; 8];
        let mut last = 0;
        for _ in 0..20_000 {
            match draw(&open, Sampling::Logarithmic { last: 0.2 }, &mut rng).unwrap() {
                255 => last += 1,
                index => doublings[(index + 1).ilog2() as usize] += 1,
            }
        }
        assert!((3_700..4_300).contains(&last), "{last}");
        assert!(doublings.iter().all(|count| (1_700..2_300).contains(count)), "{doublings:?}");
    }

    #[test]
    fn nothing_open_gives_nothing_and_one_gives_that_one() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        for sampling in [Sampling::Uniform, Sampling::Logarithmic { last: 0.0 }] {
            assert_eq!(draw(&[], sampling, &mut rng), None);
            assert_eq!(draw(&[7], sampling, &mut rng), Some(7));
        }
    }
}
