//! Chips that cannot be, and programs that refer to nothing.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tilewright_ir::affine::{Affine, Variable};
use tilewright_ir::program::{BufferId, Operation, Program, Statement, Target, TensorId};
use tilewright_simulator::{Chip, ChipError, HostMeasurements, SimulateError, chip_named, chips, simulate};

use crate::support::{cube, program};

const ZEN3: &str = include_str!("../../chips/amd_zen3.toml");

#[test]
fn impossible_values_are_named() {
    for (from, to, key) in [
        ("v = 3.75", "v = 0", "bytes_per_cycle"),
        ("v = 3.75", "v = -1", "bytes_per_cycle"),
        ("v = 3.75", "v = nan", "bytes_per_cycle"),
        ("v = 3.75", "v = inf", "bytes_per_cycle"),
        ("v = 32768", "v = 1e300", "bytes"),
        ("reorder_entries = { v = 256", "reorder_entries = { v = 0", "core.reorder_entries"),
        ("embedded_broadcast = { v = 0", "embedded_broadcast = { v = 7", "vectors.embedded_broadcast"),
    ] {
        let error = Chip::from_toml(&ZEN3.replacen(from, to, 1)).unwrap_err();
        assert!(
            matches!(&error, ChipError::Value { key: found, .. } if found.ends_with(key)),
            "{to}: {error}"
        );
    }
}

#[test]
fn what_is_missing_or_unknown_is_named() {
    let without =
        ZEN3.lines().filter(|line| !line.starts_with("reorder_entries")).collect::<Vec<_>>().join("\n");
    assert!(Chip::from_toml(&without).unwrap_err().to_string().contains("reorder_entries"));
    let error = Chip::from_toml(&ZEN3.replace("src = \"fog\"", "src = \"hearsay\"")).unwrap_err();
    assert!(matches!(error, ChipError::Source { .. }), "{error}");
    let error = Chip::from_toml(&ZEN3.replace("class = \"cpu\"", "class = \"abacus\"")).unwrap_err();
    assert!(matches!(error, ChipError::Class { .. }), "{error}");
    let memory_first = ZEN3.replacen("bytes = { v = 32768, kind = \"vendor\", src = \"amd\" }\n", "", 1);
    assert!(matches!(Chip::from_toml(&memory_first).unwrap_err(), ChipError::Levels { .. }));
    assert!(matches!(Chip::from_toml("").unwrap_err(), ChipError::Syntax(_)));
}

#[test]
fn damaged_files_never_panic_and_readable_ones_give_finite_times() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let program = program(&cube(100), "register.m=6 register.n=16 tile.k=24 pack.b=tile");
    let mut read = 0;
    for _ in 0..3000 {
        let mut bytes = ZEN3.as_bytes().to_vec();
        for _ in 0..rng.random_range(1..4) {
            let at = rng.random_range(0..bytes.len());
            match rng.random_range(0..3) {
                0 => bytes[at] = b"0123456789.-e\n[]{}=\""[rng.random_range(0..20)],
                1 => drop(bytes.remove(at)),
                _ => bytes.insert(at, b"0123456789.-e"[rng.random_range(0..13)]),
            }
        }
        let Ok(chip) = Chip::from_toml(&String::from_utf8_lossy(&bytes)) else { continue };
        read += 1;
        let prediction = simulate(&program, &chip).unwrap();
        assert!(prediction.time_ns.is_finite() && prediction.time_ns > 0.0, "{chip:?}");
    }
    assert!(read > 100, "{read}");
}

#[test]
fn measured_hosts_are_checked_too() {
    let base = chip_named("amd_zen3").unwrap();
    let host = HostMeasurements {
        cores: Some(2),
        multiply_add_gflops: Some(102.3),
        cache_bytes: vec![32 << 10, 512 << 10, 32 << 20],
        read_gbps: vec![203.0, 68.0, 60.0, 12.0],
        read_gbps_all: vec![400.0, 135.0, 115.0, 20.0],
        ..HostMeasurements::default()
    };
    let chip = host.apply(base).unwrap();
    assert!((chip.clock_ghz.v - 3.197).abs() < 0.01);
    let zero = HostMeasurements { read_gbps: vec![203.0, 0.0], ..HostMeasurements::default() };
    assert!(matches!(zero.apply(base), Err(ChipError::Value { .. })));
}

/// The first instruction found.
fn first_operation(body: &mut [Statement]) -> Option<&mut Operation> {
    body.iter_mut().find_map(|statement| match statement {
        Statement::Instruction(instruction) => Some(&mut instruction.operation),
        Statement::Loop(repeated) => first_operation(&mut repeated.body),
        _ => None,
    })
}

#[test]
fn programs_that_refer_to_nothing_are_errors() {
    let whole = program(&cube(64), "register.m=4 register.n=16 pack.b=tile");
    let damaged = |damage: &dyn Fn(&mut Operation)| {
        let mut program: Program = whole.clone();
        damage(first_operation(&mut program.entries[0].phases[0]).unwrap());
        simulate(&program, &chips()[0])
    };
    let copy_of = |target| {
        move |operation: &mut Operation| {
            if let Operation::Copy { source, .. } = operation {
                source.target = target;
            }
        }
    };
    for target in [Target::Tensor(TensorId(99)), Target::Buffer(BufferId(u32::MAX))] {
        assert!(matches!(damaged(&copy_of(target)), Err(SimulateError::Dangling { .. })));
    }
    let unknown_variable = damaged(&|operation| {
        if let Operation::Copy { source, .. } = operation {
            source.indices[0] = Affine::from(Variable(u32::MAX)).into();
        }
    });
    assert!(matches!(unknown_variable, Err(SimulateError::Dangling { .. })));
    let missing_dimension = damaged(&|operation| {
        if let Operation::Copy { source, .. } = operation {
            source.indices.clear();
        }
    });
    assert!(matches!(missing_dimension, Err(SimulateError::Dangling { .. })));
    let mut program = whole.clone();
    program.entries.clear();
    assert!(matches!(simulate(&program, &chips()[0]), Err(SimulateError::NoEntry { .. })));
}
