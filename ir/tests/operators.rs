//! What holds for every operator of the list.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tilewright_ir::computation::Operand;
use tilewright_ir::{Parameters, TensorData, TensorView, Workload, operators};

#[test]
fn a_workload_is_read_back_from_its_text() {
    for operator in operators() {
        let workloads = operator.test_workloads();
        assert!(!workloads.is_empty(), "{}", operator.id());
        for workload in workloads {
            assert_eq!(workload.to_string().parse::<Workload>().as_ref(), Ok(&workload));
            let computation = operator.describe(workload.parameters()).unwrap();
            assert!(computation.operations() >= 0.0 && computation.compulsory_bytes() > 0, "{workload}");
            let output = &computation.operands()[computation.output()];
            assert_ne!(output.role, tilewright_ir::program::Role::Input, "{workload}");
        }
    }
}

#[test]
fn a_wrong_or_missing_field_lists_the_right_ones() {
    for operator in operators() {
        let workload = &operator.test_workloads()[0];
        let names = operator.parameter_names();
        let error_of = |change: &dyn Fn(&mut Parameters)| {
            let mut parameters = workload.parameters().clone();
            change(&mut parameters);
            Workload::new(*operator, &parameters).unwrap_err().to_string()
        };
        let unknown = error_of(&|parameters| {
            parameters.insert("colour".to_owned(), "red".to_owned());
        });
        let missing = error_of(&|parameters| {
            parameters.remove("dtype");
        });
        for name in names {
            assert!(unknown.contains(name), "{unknown}");
            assert!(missing.contains(name), "{missing}");
        }
        let wrong_type = error_of(&|parameters| {
            parameters.insert("dtype".to_owned(), "q8_1".to_owned());
        });
        for data_type in operator.types() {
            assert!(wrong_type.contains(data_type.name()), "{wrong_type}");
        }
        for name in workload.parameters().keys().filter(|name| *name != "dtype") {
            for value in ["", "-1", "0", "1e3", "99999999999999999999", "ja"] {
                let text = error_of(&|parameters| {
                    parameters.insert(name.clone(), value.to_owned());
                });
                assert!(text.contains(name.as_str()), "{text}");
            }
        }
    }
}

#[test]
fn a_row_of_the_reference_is_its_elements() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    for operator in operators() {
        for workload in operator.test_workloads() {
            let computation = operator.describe(workload.parameters()).unwrap();
            let layouts: Vec<_> = computation.operands().iter().map(Operand::layout).collect();
            let contents: Vec<Vec<u8>> = layouts
                .iter()
                .map(|layout| {
                    let data = TensorData::from_fn(layout.clone(), |_| rng.random_range(-2.0..2.0));
                    data.unwrap().to_bytes()
                })
                .collect();
            let views: Vec<TensorView<'_>> =
                layouts.iter().zip(&contents).map(|(layout, bytes)| TensorView { layout, bytes }).collect();
            let layout = &layouts[computation.output()];
            let length = *layout.shape.last().unwrap();
            let first = layout.unravel(0);
            let outer = &first[..first.len() - 1];
            let row = operator.reference_row(workload.parameters(), &views, outer, length);
            assert_eq!(row.len() as u64, length);
            for (found, index) in row.iter().zip(0..) {
                let at = [outer, &[index]].concat();
                let expected = operator.reference(workload.parameters(), &views, &at);
                assert_eq!(found, &expected, "{workload} {at:?}");
            }
        }
    }
}
