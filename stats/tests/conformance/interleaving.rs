//! Why pairs are measured in turns: the same samples, taken one side after the other, deceive.

use crate::environment::{ENVIRONMENTS, Environment, drifting};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use tilewright_stats::{Decision, Evidence, Gate, Racing, SignEProcess, significance::mann_whitney};

const DRIFTING: Environment = Environment { name: "drifting", noise: drifting };

// U027
#[test]
fn one_side_after_the_other_tells_a_kernel_from_itself() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let (mut recorded, mut paired) = (0, 0);
    for _ in 0..200 {
        let (incumbent, candidate) = DRIFTING.back_to_back(31, &mut rng);
        recorded += u32::from(mann_whitney(&incumbent, &candidate).unwrap().two_sided() < 0.01);
        let pairs = Evidence::Pairs { incumbent, candidate };
        paired += u32::from(SignEProcess::DEFAULT.judge(&pairs).kind != Decision::Inconclusive);
    }
    assert!(recorded > 180 && paired > 180, "{recorded} {paired}");
}

// U026
#[test]
fn in_turns_the_most_lenient_gate_keeps_its_level_on_the_same_machine() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let wins = (0..1000)
        .filter(|_| Racing::DEFAULT.judge(&DRIFTING.pairs(31, 1.0, &mut rng)).kind == Decision::Faster);
    let wins = wins.count();
    assert!(wins < 75, "{wins}");
    assert_eq!(ENVIRONMENTS[3].name, DRIFTING.name);
}
