//! Tile instructions that treat each point by itself: `fill`, `copy`, `map`, and `contract`.

use std::collections::BTreeSet;

use super::access::Prepared;
use super::block::round_block;
use super::error::InterpretError;
use super::evaluate::{binary, unary, uniform};
use super::machine::{Machine, Worker};
use super::plan::{Planned, Value};
use crate::data_type::DataType;
use crate::program::{Number, Operation};
use crate::tensor::round_to;

/// Working state of one execution of an instruction.
pub(super) struct Execution<'e, 'p> {
    pub(super) planned: &'e Planned<'p>,
    /// Accesses ready for their points, in the order of [`Planned::accesses`].
    pub(super) prepared: Vec<Prepared>,
    /// Active extent of each axis.
    pub(super) sizes: Vec<i64>,
    /// Current point.
    pub(super) point: Vec<i64>,
}

impl Execution<'_, '_> {
    /// Sets the point, and the worker's values of these axes, to 0.
    pub(super) fn reset(&mut self, axes: &[usize], worker: &mut Worker) {
        for &axis in axes {
            self.point[axis] = 0;
            worker.values[self.planned.variables[axis].0 as usize] = 0;
        }
    }

    /// Moves to the next point of `0..sizes` over these axes, the last one running fastest; false after the last
    /// point, when all are 0 again.
    #[inline]
    pub(super) fn next(&mut self, axes: &[usize], sizes: &[i64], worker: &mut Worker) -> bool {
        for &axis in axes.iter().rev() {
            let more = self.point[axis] + 1 < sizes[axis];
            self.point[axis] = if more { self.point[axis] + 1 } else { 0 };
            worker.values[self.planned.variables[axis].0 as usize] = self.point[axis];
            if more {
                return true;
            }
        }
        false
    }
}

/// How a contraction adds a product to its accumulator.
#[derive(Clone, Copy)]
enum Fusion {
    /// Fused in single precision.
    Single,
    /// Fused in double precision, then rounded to the accumulator's type.
    Rounded(DataType),
    /// Summed in double precision, rounded once when the instruction ends (factors of block types).
    Deferred,
}

impl Machine<'_> {
    /// Executes an instruction.
    pub(super) fn execute(
        &mut self,
        planned: &Planned<'_>,
        worker: &mut Worker,
    ) -> Result<(), InterpretError> {
        let mut sizes = Vec::with_capacity(planned.variables.len());
        for (limits, &extent) in planned.limits.iter().zip(&planned.extents) {
            sizes.push(self.bound(limits.iter().copied(), worker)?.clamp(0, extent as i64));
        }
        let prepared = std::iter::repeat_with(Prepared::default).take(planned.accesses.len()).collect();
        let point = vec![0; sizes.len()];
        let mut execution = Execution { planned, prepared, sizes, point };
        execution.reset(&planned.order, worker);
        match &planned.source.operation {
            Operation::Fill { .. } | Operation::Copy { .. } | Operation::Map { .. } => {
                self.pointwise(&mut execution, worker)?;
            }
            Operation::Contract { .. } => self.contract(&mut execution, worker)?,
            Operation::Reduce { combine, accumulate, .. } => {
                self.reduce(&mut execution, worker, *combine, *accumulate)?;
            }
            Operation::Scan { combine, axis, .. } => self.scan(&mut execution, worker, *combine, *axis)?,
            Operation::Select { axis, count, .. } => self.select(&mut execution, worker, *axis, *count)?,
            Operation::Collective { kind, .. } => self.collective(&mut execution, worker, *kind)?,
            Operation::Prefetch { .. } => {}
        }
        self.round_blocks()
    }

    /// Prepares accesses from number `first` on for the active points.
    pub(super) fn prepare_from(
        &mut self,
        first: usize,
        execution: &mut Execution<'_, '_>,
        worker: &mut Worker,
    ) -> Result<(), InterpretError> {
        let accesses = execution.planned.accesses.iter().zip(&mut execution.prepared);
        for (access, prepared) in accesses.skip(first) {
            self.prepare(access, worker, &execution.sizes, prepared)?;
        }
        Ok(())
    }

    fn pointwise(
        &mut self,
        execution: &mut Execution<'_, '_>,
        worker: &mut Worker,
    ) -> Result<(), InterpretError> {
        let planned = execution.planned;
        let (constant, pad) = match &planned.source.operation {
            Operation::Fill { value, .. } => (Some(value.value()), None),
            Operation::Copy { pad, .. } => (None, pad.map(Number::value)),
            _ => (None, None),
        };
        let space: Vec<i64> = match pad {
            Some(_) => planned.extents.iter().map(|&extent| extent as i64).collect(),
            None => execution.sizes.clone(),
        };
        if space.contains(&0) {
            return Ok(());
        }
        self.prepare(&planned.accesses[0], worker, &space, &mut execution.prepared[0])?;
        self.prepare_from(1, execution, worker)?;
        let mut scattered = planned.accesses[0].wanders.then(BTreeSet::new);
        loop {
            let inside = execution.point.iter().zip(&execution.sizes).all(|(at, size)| at < size);
            let active = inside && (planned.mask.is_empty() || self.holds(&planned.mask, worker)?);
            let value = match (active, pad) {
                (false, None) => None,
                (false, pad) => pad,
                (true, _) => Some(match (&planned.expression, constant) {
                    (_, Some(constant)) => constant,
                    (Some(expression), None) => self.value(expression, execution, worker)?,
                    (None, None) => self.load(1, execution, worker)?,
                }),
            };
            if let Some(value) = value {
                let access = &planned.accesses[0];
                if let Some(scattered) = &mut scattered {
                    let (indices, rank) = self.indices(access, worker)?;
                    if !scattered.insert(indices) {
                        return Err(InterpretError::Overlap {
                            target: self.slot_name(access.slot),
                            indices: indices[..rank].to_vec(),
                        });
                    }
                }
                self.write(access, &execution.prepared[0], &execution.point, worker, value)?;
            }
            if !execution.next(&planned.order, &space, worker) {
                return Ok(());
            }
        }
    }

    fn contract(
        &mut self,
        execution: &mut Execution<'_, '_>,
        worker: &mut Worker,
    ) -> Result<(), InterpretError> {
        if execution.sizes.contains(&0) {
            return Ok(());
        }
        self.prepare_from(0, execution, worker)?;
        let planned = execution.planned;
        let types: Vec<DataType> = execution
            .prepared
            .iter()
            .map(|prepared| self.storages[prepared.storages[0] as usize].data_type)
            .collect();
        let is_block = |data_type: &DataType| data_type.block().elements > 1;
        let is_single =
            |data_type: &DataType| !matches!(data_type, DataType::F64 | DataType::Int32 | DataType::Int64);
        let fusion = if is_block(&types[0]) {
            return super::plan::invalid("a contraction accumulates in a block type");
        } else if types[1..].iter().any(is_block) {
            Fusion::Deferred
        } else if types[0] == DataType::F32 && types[1..].iter().all(is_single) {
            Fusion::Single
        } else {
            Fusion::Rounded(types[0])
        };
        let mut touched = Vec::new();
        let sizes = execution.sizes.clone();
        loop {
            if planned.mask.is_empty() || self.holds(&planned.mask, worker)? {
                let a = self.load(1, execution, worker)?;
                let b = self.load(2, execution, worker)?;
                let sum = self.load(0, execution, worker)?;
                let sum = match fusion {
                    Fusion::Single => f64::from((a as f32).mul_add(b as f32, sum as f32)),
                    Fusion::Rounded(data_type) => round_to(data_type, a.mul_add(b, sum)),
                    Fusion::Deferred => a.mul_add(b, sum),
                };
                let (access, prepared) = (&planned.accesses[0], &execution.prepared[0]);
                let offset = self.write_exact(access, prepared, &execution.point, worker, sum)?;
                if matches!(fusion, Fusion::Deferred) {
                    touched.push(offset);
                }
            }
            if !execution.next(&planned.order, &sizes, worker) {
                break;
            }
        }
        for &storage in &execution.prepared[0].storages {
            for &offset in &touched {
                let cell = &mut self.storages[storage as usize].cells[offset];
                cell.value = round_to(types[0], cell.value);
            }
        }
        Ok(())
    }

    /// The element of access number `at` at the current point.
    #[inline]
    pub(super) fn load(
        &mut self,
        at: usize,
        execution: &Execution<'_, '_>,
        worker: &Worker,
    ) -> Result<f64, InterpretError> {
        self.read(&execution.planned.accesses[at], &execution.prepared[at], &execution.point, worker)
    }

    /// Value of an expression at the current point, in f64 throughout.
    pub(super) fn value(
        &mut self,
        value: &Value<'_>,
        execution: &Execution<'_, '_>,
        worker: &Worker,
    ) -> Result<f64, InterpretError> {
        Ok(match value {
            Value::Constant(value) => *value,
            Value::Load(access) => self.load(*access, execution, worker)?,
            Value::Position(index) => self.index(index, worker)? as f64,
            Value::Unary(function, value) => unary(*function, self.value(value, execution, worker)?),
            Value::Binary(function, first, second) => {
                let first = self.value(first, execution, worker)?;
                binary(*function, first, self.value(second, execution, worker)?)
            }
            Value::Choose { condition, then, otherwise } => {
                let chosen = if self.holds(condition, worker)? { then } else { otherwise };
                self.value(chosen, execution, worker)?
            }
            Value::Random { seed, counter } => uniform(*seed, self.index(counter, worker)?),
        })
    }

    /// Rounds the blocks that the instruction wrote; each must have been written whole.
    fn round_blocks(&mut self) -> Result<(), InterpretError> {
        for ((number, first), written) in std::mem::take(&mut self.blocks) {
            let storage = &self.storages[number as usize];
            let (start, extent) = match (first.last(), storage.shape.last()) {
                (Some(&start), Some(&extent)) => (start, extent as i64),
                _ => (0, 1),
            };
            let elements = (extent - start).min(super::block::BLOCK as i64) as usize;
            if written != elements {
                return Err(InterpretError::PartialBlock {
                    target: self.slot_name(storage.slot),
                    data_type: storage.data_type,
                    indices: first,
                    written,
                    elements,
                });
            }
            let mut indices = first;
            let offsets: Vec<usize> = (0..elements as i64)
                .map(|lane| {
                    if let Some(last) = indices.last_mut() {
                        *last = start + lane;
                    }
                    storage.offset(&indices)
                })
                .collect();
            let mut values: Vec<f64> = offsets.iter().map(|&offset| storage.cells[offset].value).collect();
            round_block(storage.data_type, &mut values);
            let cells = &mut self.storages[number as usize].cells;
            for (offset, value) in offsets.into_iter().zip(values) {
                cells[offset].value = value;
            }
        }
        Ok(())
    }
}
