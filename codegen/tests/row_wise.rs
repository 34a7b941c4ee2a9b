//! Row-wise operators: every one, every instruction set of this processor, schedules of its test workloads drawn from
//! all there are, run and compared with the operator's reference; and the interpreter on the same programs.
//!
//! `TILEWRIGHT_TEST_SHARE=1` takes every schedule instead of one in twelve.

#![expect(clippy::print_stdout, reason = "says what is skipped")]

mod support;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use support::{CACHES, Touch, check, program, schedule};
use tilewright_codegen::{CompileError, Isa, isas};
use tilewright_ir::computation::{Computation, Operand};
use tilewright_ir::{
    PersistentStore, Program, TensorData, TensorView, Workload, default_schedule, interpret, operators,
};

fn available() -> impl Iterator<Item = &'static dyn Isa> {
    isas().iter().copied().filter(|isa| {
        if !isa.available() {
            println!("skipped: this processor has no {}", isa.id());
        }
        isa.available()
    })
}

/// Test workloads of the operators of this family.
fn workloads() -> Vec<Workload> {
    let all = operators().iter().flat_map(|operator| operator.test_workloads());
    let of_family = |workload: &Workload| {
        let computation = workload.operator().describe(workload.parameters());
        matches!(computation.expect("a checked workload"), Computation::RowWise(_))
    };
    all.filter(of_family).collect()
}

/// Every combination of the family's parameters, illegal ones among them.
fn schedules() -> Vec<String> {
    let choices: [&[&str]; 6] = [
        &["", "threads=rows", "threads=rows deal=cyclic", "threads=columns"],
        &["", "vectors=2", "vectors=4", "vectors=8"],
        &["", "unroll=2", "unroll=4"],
        &["", "rest=mask"],
        &["", "keep=recompute"],
        &[""],
    ];
    choices.iter().fold(vec![String::new()], |texts, choices| {
        let longer = |text: &String| -> Vec<String> {
            choices.iter().map(|choice| format!("{text} {choice}")).collect()
        };
        texts.iter().flat_map(longer).collect()
    })
}

/// One in so many schedules is run.
fn share() -> u32 {
    std::env::var("TILEWRIGHT_TEST_SHARE").map_or(12, |text| text.parse().expect("a number"))
}

#[test]
fn schedules_compute_every_test_workload() {
    let schedules = schedules();
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    for isa in available() {
        let (mut computed, mut refused) = (0, 0);
        for workers in [1, 3] {
            let limits = isa.limits(workers, &CACHES);
            for workload in workloads() {
                for text in &schedules {
                    if rng.random_range(0..share()) != 0 {
                        continue;
                    }
                    let Ok(program) = program(&workload, &schedule(text), &limits) else { continue };
                    if workers == 1 && program.workers() > 1 {
                        continue;
                    }
                    let artifact = match isa.compile(&program) {
                        Ok(artifact) => artifact,
                        Err(CompileError::Registers { .. }) => {
                            refused += 1;
                            continue;
                        }
                        Err(error) => panic!("{} {workload} {text}: {error}\n{program}", isa.id()),
                    };
                    let touch = if rng.random() { Touch::Start } else { Touch::End };
                    if let Err(error) = check(&workload, &artifact, &mut rng, touch) {
                        panic!("{} {workload} {text}: {error}\n{program}", isa.id());
                    }
                    computed += 1;
                }
            }
        }
        println!("{}: {computed} schedules computed, {refused} refused for want of registers", isa.id());
        assert!(computed > 200 && refused == 0, "{}: {computed} computed, {refused} refused", isa.id());
    }
}

/// Runs a program in the interpreter and compares with the reference.
fn interpret_and_compare(workload: &Workload, program: &Program, rng: &mut ChaCha8Rng) {
    let operator = workload.operator();
    let computation = operator.describe(workload.parameters()).expect("a checked workload");
    let mut operands: Vec<TensorData> = computation
        .operands()
        .iter()
        .map(|operand| TensorData::from_fn(operand.layout(), |_| rng.random_range(-3.0..3.0)))
        .collect::<Result<_, _>>()
        .expect("operands");
    let before: Vec<Vec<u8>> = operands.iter().map(TensorData::to_bytes).collect();
    if let Err(error) = interpret(program, "run", &mut operands, &[], &mut PersistentStore::new(), rng) {
        panic!("{workload}: {error}\n{program}");
    }
    let layouts: Vec<_> = computation.operands().iter().map(Operand::layout).collect();
    let views: Vec<TensorView<'_>> =
        layouts.iter().zip(&before).map(|(layout, bytes)| TensorView { layout, bytes }).collect();
    let tolerance = operator.tolerance(workload.parameters());
    let output = computation.output();
    let after = operands[output].to_bytes();
    let found = TensorView { layout: &layouts[output], bytes: &after };
    for flat in 0..layouts[output].elements() {
        let at = layouts[output].unravel(flat);
        let reference = operator.reference(workload.parameters(), &views, &at);
        assert!(
            tolerance.accepts(found.get(&at), reference),
            "{workload}: {at:?} is {}, expected {}\n{program}",
            found.get(&at),
            reference.value
        );
    }
}

#[test]
fn the_interpreter_agrees_on_every_schedule() {
    let schedules = schedules();
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let isa = isas()[0];
    let limits = isa.limits(3, &CACHES);
    let mut seen = 0;
    for workload in workloads() {
        let Ok(default) = program(&workload, &default_schedule(&workload, &limits), &limits) else {
            panic!("the default schedule of {workload} is illegal")
        };
        interpret_and_compare(&workload, &default, &mut rng);
        for text in &schedules {
            // The interpreter is slow.
            if rng.random_range(0..2 * share()) == 0
                && let Ok(program) = program(&workload, &schedule(text), &limits)
            {
                interpret_and_compare(&workload, &program, &mut rng);
                seen += 1;
            }
        }
    }
    assert!(seen > 30, "{seen} schedules interpreted");
}
