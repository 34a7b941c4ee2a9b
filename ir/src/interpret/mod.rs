//! What a program means: the interpreter is the definition, and everything else is checked against it.
//!
//! **Values.** All arithmetic is f64; a value is rounded to its target's type when it is stored (nearest even;
//! integers saturate). `contract` in f32 rounds once a product, as fused multiply-add in the order of the axes
//! does; in other types it is fused in f64 and rounded after each product; with a factor of a block type the
//! products of one instruction are summed in f64 and rounded once (scale · scale · Σ integers is exact there).
//! `reduce` and `scan` combine in f64. Block types are rounded a block of 32 at a time along the last
//! dimension, when the instruction ends that wrote it; it must have written the whole block. Maximum and
//! minimum are those of IEEE 754-2019: NaN wins, +0 is above −0; a position is that of the first NaN or of the
//! first extreme value. `select` puts NaN first, and −∞ at position −1 where too few points are active.
//! `Expression::Random` is SplitMix64.
//!
//! **Points.** An instruction is done for the points within the extents, limits and mask of its axes, in no
//! order that a program may rely on (here: the last axis fastest). `copy … pad` also writes the points of the
//! full extents outside them. A reduction writes each destination point that its own axes admit, if need be
//! with the combination of nothing; its position counts along the reduced axis from 0, and an accumulating
//! reduction leaves the position alone unless the maximum or minimum moves. Reads and writes outside a
//! tensor, and reads of what was never written since its declaration, are errors. A scatter must go to
//! distinct places.
//!
//! **Instances.** Outside the loops over a resource, all its instances do a statement together, once. A loop
//! over a resource deals its iterations; instances run in an order drawn from the generator, each until it is
//! done or waits at a barrier of a scope around it, and all in that scope must arrive equally often. A grid
//! has one instance an iteration. A buffer has one instance for each instance of its owner; when all of them
//! together read it, the contents must agree, and what they write goes to each. `stages` and the hints of
//! loops (`rest`, `unroll`, `prefetch`) do not change what a program means.
//!
//! **Races.** Two accesses to one element, one of them a write, by different scope instances (all together
//! counts as one instance, different from each single one) need a barrier around both in between; a
//! collective is one, and so is the end of a phase. Each iteration of a `dynamic` loop counts as an instance
//! of its own on what is shared. What one scope instance does follows its program order.
//!
//! **Collectives** run over the axes of one part. `all-gather` puts instance i's source at `i · r` along the
//! last dimension of the destination, `r` being the source's last extent; `reduce-scatter` reads there, `r`
//! being the destination's last extent. A broadcast takes the source of instance 0.
//!
//! An entry that writes an output at all must write all of it.

mod access;
mod block;
mod check;
mod collective;
mod combine;
mod data;
mod error;
mod evaluate;
mod index;
mod instruction;
mod machine;
mod order;
mod plan;
mod storage;
mod task;

use std::collections::BTreeMap;

use rand::Rng;

pub use data::{PersistentStore, TensorData};
pub use error::{Action, InterpretError};
pub(crate) use evaluate::error_function;

use check::Checker;
use index::evaluate;
use machine::{Machine, Worker};
use order::{Cell, Order};
use storage::{Place, Storage};
use task::{Pause, Task};

use crate::affine::Affine;
use crate::program::{Lifetime, Program, Role};
use crate::tensor::TensorLayout;

/// Runs one entry of a program on operands in the order of its tensors.
///
/// `extents` are the run-time lengths in the program's order, derived ones left out; `persistent` holds the
/// persistent workspaces between calls; `rng` draws the order of instances and the dealing of dynamic loops.
/// Operands and persistent workspaces change only when the run succeeds.
///
/// # Errors
/// When the program is malformed, the call does not fit it, or the run breaks a rule of the form.
pub fn interpret(
    program: &Program,
    entry: &str,
    operands: &mut [TensorData],
    extents: &[u64],
    persistent: &mut PersistentStore,
    rng: &mut dyn Rng,
) -> Result<(), InterpretError> {
    let mut checker = Checker::new(program)?;
    let phases = program.entries.iter().find(|candidate| candidate.name == entry);
    let Some(phases) = phases.map(|entry| &entry.phases) else {
        return call_error("entry", entry, "a name of the program's entries");
    };
    let plans = phases.iter().map(|phase| checker.body(phase)).collect::<Result<Vec<_>, _>>()?;
    let values = bind_extents(program, extents)?;
    let mut machine = Machine {
        program,
        storages: Vec::new(),
        instances: BTreeMap::new(),
        buffers: Vec::new(),
        order: Order::new(),
        persistent,
        rng,
        blocks: BTreeMap::new(),
    };
    let worker = machine.worker(values);
    machine.storages = bind_operands(program, operands, &worker)?;
    for buffer in &program.buffers {
        let depth = match &buffer.owner {
            Some(owner) => checker.resource(owner)? + 1,
            None => 0,
        };
        let shape = shape(&buffer.shape, &worker, &buffer.name)?;
        storage::check_layout(buffer, &shape)?;
        machine.buffers.push((depth, shape));
    }
    for steps in &plans {
        let mut task = Task::new(worker.clone(), steps);
        let pause = task.run(&mut machine)?;
        debug_assert!(pause == Pause::Done, "nothing is around the device");
        machine.join(&worker, 0);
    }
    let Machine { storages, instances, .. } = machine;
    for (position, (tensor, storage)) in program.tensors.iter().zip(&storages).enumerate() {
        if tensor.role == Role::Output {
            check_complete(&operands[position], storage, &tensor.name)?;
        }
    }
    for (data, storage) in operands.iter_mut().zip(&storages) {
        for (value, cell) in data.span_mut().iter_mut().zip(&storage.cells) {
            if cell.is_written() {
                *value = cell.value;
            }
        }
    }
    for ((buffer, path), storage) in instances {
        let buffer = &program.buffers[buffer];
        if buffer.lifetime == Lifetime::Persistent {
            let cells = storages[storage as usize].cells.iter();
            let kept = cells.map(|cell| cell.is_written().then_some(cell.value)).collect();
            persistent.buffers.insert((buffer.name.clone(), path), kept);
        }
    }
    Ok(())
}

fn call_error<T>(
    name: &str,
    found: impl Into<String>,
    wanted: impl Into<String>,
) -> Result<T, InterpretError> {
    Err(InterpretError::Call { name: name.to_owned(), found: found.into(), wanted: wanted.into() })
}

fn bind_extents(program: &Program, passed: &[u64]) -> Result<Vec<i64>, InterpretError> {
    let mut values = vec![0; program.variables.len()];
    let mut passed = passed.iter();
    for extent in &program.extents {
        let name = program.variable_name(extent.variable);
        let value = match extent.quotient {
            Some((of, divisor)) => (values[of.0 as usize] as u64).div_ceil(divisor),
            None => match passed.next() {
                Some(&value) => value,
                None => return call_error(name, "nothing", "a run-time extent"),
            },
        };
        let (least, greatest) = extent.range;
        if !(least..=greatest).contains(&value) {
            return call_error(name, value.to_string(), format!("{least}..{greatest}"));
        }
        values[extent.variable.0 as usize] = value as i64;
    }
    match passed.next() {
        Some(extra) => call_error("extents", format!("one more, {extra}"), "as many as the program has"),
        None => Ok(values),
    }
}

fn shape(shape: &[Affine], worker: &Worker, name: &str) -> Result<Vec<u64>, InterpretError> {
    let extents: Vec<i64> = shape.iter().map(|extent| evaluate(extent, worker)).collect();
    if extents.iter().any(|&extent| extent < 0) || extents.len() > storage::MOST_DIMENSIONS {
        return call_error(name, format!("shape {extents:?}"), "up to 8 extents of at least 0");
    }
    Ok(extents.into_iter().map(|extent| extent as u64).collect())
}

fn bind_operands(
    program: &Program,
    operands: &[TensorData],
    worker: &Worker,
) -> Result<Vec<Storage>, InterpretError> {
    if operands.len() != program.tensors.len() {
        return call_error("operands", operands.len().to_string(), program.tensors.len().to_string());
    }
    let bind = |(slot, (tensor, data)): (usize, (&crate::program::Tensor, &TensorData))| {
        let shape = shape(&tensor.shape, worker, &tensor.name)?;
        let strides = tensor.strides.clone();
        let wanted =
            TensorLayout { data_type: tensor.data_type, shape: shape.clone(), strides: strides.clone() };
        if *data.layout() != wanted {
            return call_error(&tensor.name, format!("{:?}", data.layout()), format!("{wanted:?}"));
        }
        let cell = |&value: &f64| match tensor.role {
            Role::Output => Cell::unwritten(),
            Role::Input | Role::InputOutput => Cell::holding(value),
        };
        let cells = data.span().iter().map(cell).collect();
        let place = Place::Strided;
        Ok(Storage { slot, data_type: tensor.data_type, shape, strides, place, owned: false, cells })
    };
    program.tensors.iter().zip(operands).enumerate().map(bind).collect()
}

fn check_complete(data: &TensorData, storage: &Storage, name: &str) -> Result<(), InterpretError> {
    if !storage.cells.iter().any(Cell::is_written) {
        return Ok(());
    }
    let layout = data.layout();
    let missing = (0..layout.elements())
        .map(|flat| layout.unravel(flat))
        .find(|at| !storage.cells[layout.offset(at)].is_written());
    match missing {
        Some(indices) => Err(InterpretError::Incomplete { target: name.to_owned(), indices }),
        None => Ok(()),
    }
}
