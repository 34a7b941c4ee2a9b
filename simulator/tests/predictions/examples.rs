//! Programs of every kind get a finite prediction, though the model is made for contractions on a CPU.

use tilewright_ir::examples;
use tilewright_simulator::{chips, simulate};

#[test]
fn every_example_has_a_finite_time() {
    for program in examples::all() {
        for chip in chips() {
            let prediction = simulate(&program, chip).unwrap();
            assert!(prediction.time_ns.is_finite() && prediction.time_ns > 0.0, "{}", program.name);
        }
    }
}
